// SPDX-License-Identifier: Apache-2.0
#pragma once

// Walks the rows of a PlainTable in both directions, span by span: rows can only be decoded
// forward, so all rows of a span are found before the first of them is shown.

#include <cstdint>
#include <string>
#include <vector>

#include "table/plain/plain_table_reader.h"
#include "util/base/assert.h"
#include "util/iter/internal_iterator.h"

namespace varve {

// After an error it is not Valid(), and status() has the error until the next seek. Values are
// slices of the mapping, or of the bytes read last: then they live until the next step.
//
// Thread safety: none.
class PlainTableIterator final : public InternalIterator {
 public:
  // `table`, `options` and iter.bytes_visited must outlive the iterator; of `iter` only that and
  // for_compaction are used. Keys and targets of seeks are internal keys.
  PlainTableIterator(const PlainTableReader* table, const ReadOptions& options,
                     const TableIterOptions& iter);

  void SeekToFirst() override;
  void SeekToLast() override;
  void Seek(const Slice& target) override;
  void SeekForPrev(const Slice& target) override;
  void Next() override;
  void Prev() override;
  size_t NextBatch(BatchEntry* out, size_t max) override;
  Status status() const override { return status_; }
  bool IsValuePinned() const override { return valid_ && !table_->parts().mapped.empty(); }

 private:
  // One row of the current span.
  struct Row {
    // The shared part of the key, at this place of shared_keys_, then the part that is stored.
    size_t shared_at;
    size_t shared_bytes;
    Slice stored;
    uint64_t trailer;
    Slice value;
  };
  enum class Direction : uint8_t { kForward, kBackward };

  // Fills rows_ with the rows of a span, unless they are there. Returns false, with status_ set, if
  // that fails.
  bool Load(size_t span, Direction direction);
  // Sets *rows to the bytes of a span, in the mapping or in window_, for which it also reads some
  // spans beyond in the walk's direction.
  Status Fetch(size_t span, Direction direction, Slice* rows);
  // Appends the internal key of a row to *key.
  void AppendKey(const Row& row, std::string* key) const;
  // Makes the row at pos_ the current entry.
  void Publish();
  // Ends the walk with an error. Returns false.
  bool Fail(const Status& status);

  const PlainTableReader* const table_;
  const ReadOptions& options_;
  const Env::IOActivity activity_;  // what reads count as unless the options name one
  // Gets the bytes of the spans that the walk decodes; may be null.
  uint64_t* const bytes_visited_;
  // Size of the next read of a file that is not mapped. Doubles at each read, up to the limit.
  const size_t read_bytes_max_;
  size_t read_bytes_;

  std::string window_;  // spans that were read together; empty if the file is mapped
  // Offsets in the file of the first byte in window_, and of the one after the last.
  uint64_t window_begin_ = 0;
  uint64_t window_end_ = 0;
  // True if rows_ has the rows of span_.
  bool loaded_ = false;
  // Number of the span in the index.
  size_t span_ = 0;
  // Begins with the part of the span's first key that its row does not store; then come the keys of
  // which later rows store only suffixes.
  std::string shared_keys_;
  std::vector<Row> rows_;
  size_t pos_ = 0;  // in rows_
  // Internal key of the shown row.
  std::string current_key_;
  // Keys of rows that a seek compares, and of a batch.
  std::string probed_key_;
  std::string batch_keys_;
  Status status_;
};

}  // namespace varve
