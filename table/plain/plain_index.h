// SPDX-License-Identifier: Apache-2.0
#pragma once

// Holds every few rows' keys of a PlainTable in memory, in the order of keys: so the table can be
// read in any order, whatever index its file has.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "varve/slice.h"

#include "table/index/separator_prefixes.h"
#include "table/plain/plain_row.h"
#include "util/base/assert.h"
#include "util/key/internal_key.h"

namespace varve {

// The rows from one indexed row to the next are a span.
//
// Thread safety: immutable after Finish.
class PlainIndex {
 public:
  // Adds a row that starts alone, at `offset` of the file. The first `shared_bytes` of its key are
  // not stored in the row. Requires ascending keys and offsets below 4 GiB.
  void Add(const Slice& internal_key, size_t shared_bytes, uint64_t offset);
  // Ends the index: the last span ends at `data_end`.
  void Finish(const InternalKeyComparator& icmp, uint64_t data_end);

  // Returns the number of spans.
  [[nodiscard]] size_t size() const { return rows_.size(); }
  // These require i < size().
  [[nodiscard]] Slice first_key(size_t i) const {
    VARVE_ASSERT(i < size());
    const size_t begin = i == 0 ? 0 : rows_[i - 1].key_end;
    return Slice(keys_.data() + begin, rows_[i].key_end - begin);
  }
  // Returns what the span's first key begins with and its row does not store.
  [[nodiscard]] Slice shared_prefix(size_t i) const {
    return Slice(first_key(i).data(), rows_[i].shared_bytes);
  }
  [[nodiscard]] uint64_t begin(size_t i) const {
    VARVE_ASSERT(i < size());
    return rows_[i].offset;
  }
  [[nodiscard]] uint64_t end(size_t i) const {
    return i + 1 < size() ? rows_[i + 1].offset : data_end_;
  }

  // Returns the span that an internal key belongs to, or would belong to; the first one for a key
  // that sorts before all. Requires size() > 0.
  [[nodiscard]] size_t Find(const InternalKeyComparator& icmp, const Slice& internal_key) const;

  [[nodiscard]] size_t MemoryUsage() const;

 private:
  // A row that is indexed: its offset, and what is needed to decode from there.
  struct Row {
    uint32_t offset;
    uint32_t key_end;  // in keys_
    uint32_t shared_bytes;
  };

  std::vector<Row> rows_;
  std::string keys_;  // internal keys, one after the other
  uint64_t data_end_ = 0;
  SeparatorPrefixes words_;  // of the user keys; not built if bytes do not order them
};

}  // namespace varve
