// SPDX-License-Identifier: Apache-2.0
#pragma once

// The sparse index of a PlainTable, built in memory when the table is opened: the key and the
// offset of every few rows, in the order of keys. The index that RocksDB may store in the file is
// not read.

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

// A span is an indexed row and the rows after it, up to the next indexed row. Spans are numbered
// from 0 in the order of keys; rows can be decoded from the beginning of a span on.
//
// Thread safety: immutable after Finish, before which only Add and size() may be called.
class PlainIndex {
 public:
  // Adds a row with which a span begins (PlainRowCursor::starts_alone), at `offset` of the file.
  // The first `shared_bytes` of its key are not stored in the row. Requires ascending keys, and
  // offsets and a sum of all keys below 4 GiB.
  void Add(const Slice& internal_key, size_t shared_bytes, uint64_t offset);
  // Ends the index: the last span ends at the offset `data_end`. `icmp` is the order of the keys.
  void Finish(const InternalKeyComparator& icmp, uint64_t data_end);

  // Returns the number of spans.
  [[nodiscard]] size_t size() const { return rows_.size(); }
  // These require i < size(). Slices live as long as the index. Keys are internal keys.
  [[nodiscard]] Slice first_key(size_t i) const {
    VARVE_ASSERT(i < size());
    const size_t begin = i == 0 ? 0 : rows_[i - 1].key_end;
    return Slice(keys_.data() + begin, rows_[i].key_end - begin);
  }
  // Returns what the span's first key begins with and its row does not store.
  [[nodiscard]] Slice shared_prefix(size_t i) const {
    return Slice(first_key(i).data(), rows_[i].shared_bytes);
  }
  // Return the offsets in the file at which the span begins and ends.
  [[nodiscard]] uint64_t begin(size_t i) const {
    VARVE_ASSERT(i < size());
    return rows_[i].offset;
  }
  [[nodiscard]] uint64_t end(size_t i) const {
    return i + 1 < size() ? rows_[i + 1].offset : data_end_;
  }

  // Returns the span that has the internal key, or would have it: the last one whose first key does
  // not sort after it, or the first one for a key that sorts before all. Requires size() > 0 and
  // the order of Finish.
  [[nodiscard]] size_t Find(const InternalKeyComparator& icmp, const Slice& internal_key) const;

  [[nodiscard]] size_t MemoryUsage() const;

 private:
  // A row that is indexed: its offset, and what is needed to decode from there.
  struct Row {
    uint32_t offset;
    uint32_t key_end;  // offset in keys_ after the row's key
    uint32_t shared_bytes;
  };

  std::vector<Row> rows_;
  std::string keys_;  // internal keys, one after the other
  uint64_t data_end_ = 0;
  // Eight bytes of each user key, searched before whole keys; not built if bytes do not order keys.
  SeparatorPrefixes words_;
};

}  // namespace varve
