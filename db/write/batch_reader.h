// SPDX-License-Identifier: Apache-2.0
#pragma once

// Parses the records of a batch's bytes without trusting them (FORMAT.md).

#include <cstdint>

#include "varve/slice.h"
#include "varve/status.h"

#include "util/key/internal_key.h"

namespace varve {

constexpr size_t kBatchHeaderBytes = 12;  // Fixed64 sequence, fixed32 count.

struct BatchRecord {
  ValueType type = kTypeValue;  // Column-family types are mapped to the plain ones.
  uint32_t column_family = 0;
  Slice key;            // Range deletion: begin. Log data: the blob. Markers: the name, if any.
  Slice value;          // Range deletion: end.
  bool counted = true;  // Uses a sequence number.
};

// Thread safety: none. The bytes must outlive the reader and its records.
class BatchReader {
 public:
  explicit BatchReader(const Slice& rep);
  // Begins with the record at `offset`; count() is then not that of the header.
  BatchReader(const Slice& rep, size_t offset)
      : input_(rep.data() + offset, rep.size() - offset), begin_(rep.data()) {}
  // Returns false at the end or at damage; status() tells which.
  bool Next(BatchRecord* record);
  const Status& status() const { return status_; }
  SequenceNumber sequence() const { return sequence_; }  // Taken from the header.
  uint32_t count() const { return count_; }              // Taken from the header.
  uint32_t counted_so_far() const { return seen_; }
  // Returns the offset in the batch where the next record begins; the batch's size after the last.
  size_t offset() const { return static_cast<size_t>(input_.data() - begin_); }

 private:
  Slice input_;
  const char* begin_;
  Status status_;
  SequenceNumber sequence_ = 0;
  uint32_t count_ = 0;
  uint32_t seen_ = 0;
};

// True if the record marks a step of two-phase commit: such a batch is not applied record by record
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

// Checks the structure of a whole batch: every record, and the count of the header. Sets
// *has_marks, unless null, to true if the well-formed part has marks of two-phase commit.
Status CheckBatchStructure(const Slice& rep, bool* has_marks = nullptr);

}  // namespace varve
