// SPDX-License-Identifier: Apache-2.0
#pragma once

// Parses the records of a batch's bytes without trusting them (FORMAT.md).
//
//      fixed64 sequence | fixed32 count | record | record | ...
//      0                  8               12
//                                         ^ offset() before the first Next
//
// The count of the header is that of the records which use a sequence number. It is compared with
// the records only at the end (counted_so_far), as a reader may begin in the middle.

#include <cstdint>

#include "varve/slice.h"
#include "varve/status.h"

#include "util/key/internal_key.h"

namespace varve {

constexpr size_t kBatchHeaderBytes = 12;  // Fixed64 sequence, fixed32 count.

// One record of a batch. The slices point into the batch.
struct BatchRecord {
  ValueType type = kTypeValue;  // Column-family types are mapped to the plain ones.
  uint32_t column_family = 0;
  // The user key, with its timestamp or room for one. Range deletion: begin. Log data: the blob.
  // Markers: the name, if any.
  Slice key;
  Slice value;          // Range deletion: end.
  bool counted = true;  // Uses a sequence number.
};

// Thread safety: none. The bytes must outlive the reader and its records.
class BatchReader {
 public:
  // Reads from the header on. Bytes shorter than a header give an error at the first Next.
  explicit BatchReader(const Slice& rep);
  // Begins with the record at `offset`. The header is not read: sequence() and count() are 0. The
  // caller must not call Next once offset() is the size of the batch, because the count would then
  // be found wrong, which is Corruption.
  BatchReader(const Slice& rep, size_t offset)
      : input_(rep.data() + offset, rep.size() - offset), begin_(rep.data()) {}
  // Returns false at the end or at damage; status() tells which.
  bool Next(BatchRecord* record);
  // Returns Corruption if the records ended at damage.
  const Status& status() const { return status_; }
  SequenceNumber sequence() const { return sequence_; }  // Taken from the header.
  uint32_t count() const { return count_; }              // Taken from the header.
  // Returns the number of records read that use a sequence number.
  uint32_t counted_so_far() const { return seen_; }
  // Returns the offset in the batch where the next record begins; the batch's size after the last.
  // Must not be called after damage.
  size_t offset() const { return static_cast<size_t>(input_.data() - begin_); }

 private:
  // The records that are not read yet.
  Slice input_;
  const char* begin_;
  Status status_;
  // Header of the batch: first sequence number and number of updates; and how many were read.
  SequenceNumber sequence_ = 0;
  uint32_t count_ = 0;
  uint32_t seen_ = 0;
};

// True if the record marks a step of two-phase commit: such a batch is not applied record by record
// (two_phase_records.h).
inline bool IsTwoPhaseMark(ValueType type) {
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
