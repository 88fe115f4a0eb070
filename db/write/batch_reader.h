// SPDX-License-Identifier: Apache-2.0
#pragma once

// Walks the records of a batch's bytes, trusting nothing (FORMAT.md).

#include <cstdint>

#include "varve/slice.h"
#include "varve/status.h"

#include "util/key/internal_key.h"

namespace varve {

constexpr size_t kBatchHeaderBytes = 12;  // fixed64 sequence, fixed32 count

struct BatchRecord {
  ValueType type = kTypeValue;  // column-family forms folded into the plain ones
  uint32_t column_family = 0;
  Slice key;            // range deletion: begin. log data: the blob. markers: the name, if any
  Slice value;          // range deletion: end
  bool counted = true;  // consumes a sequence number
};

// Thread safety: none. The bytes outlive the reader and its records.
class BatchReader {
 public:
  explicit BatchReader(const Slice& rep);
  // From the record at `offset` on; the count is not that of the header then.
  BatchReader(const Slice& rep, size_t offset)
      : input_(rep.data() + offset, rep.size() - offset), begin_(rep.data()) {}
  // False at the end or at damage; status() tells which.
  bool Next(BatchRecord* record);
  const Status& status() const { return status_; }
  SequenceNumber sequence() const { return sequence_; }  // of the header
  uint32_t count() const { return count_; }              // of the header
  uint32_t counted_so_far() const { return seen_; }
  // Where the next record begins, from the batch's beginning; its end after the last.
  size_t offset() const { return static_cast<size_t>(input_.data() - begin_); }

 private:
  Slice input_;
  const char* begin_;
  Status status_;
  SequenceNumber sequence_ = 0;
  uint32_t count_ = 0;
  uint32_t seen_ = 0;
};

// Whether it marks a step of two-phase commit: such a batch is not applied record by record
// (section_records.h).
inline bool IsSectionMark(ValueType type) {
  switch (type) {
    case kTypeBeginPrepareXID:
    case kTypeEndPrepareXID:
    case kTypeCommitXID:
    case kTypeRollbackXID:
    case kTypeBeginPersistedPrepareXID:
    case kTypeBeginUnprepareXID:
    case kTypeCommitXIDAndTimestamp:
      return true;
    default:
      return false;
  }
}

// Structure of a whole batch: every record, and the count of the header. *has_marks, unless null:
// whether there are marks of two-phase commit in it, as far as it is well-formed.
Status CheckBatchStructure(const Slice& rep, bool* has_marks = nullptr);

}  // namespace varve
