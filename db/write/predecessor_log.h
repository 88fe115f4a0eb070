// SPDX-License-Identifier: Apache-2.0
#pragma once

// Records that say where a log ends: batches that change nothing. A predecessor record is the first
// record of a log that follows another one: otherwise a loss of that log's whole tail could not be
// detected. An end record is the last record of a log whose writer has closed the database.
//
//      log 7: [batch][batch]...[batch][end]           the writer has closed the database
//      log 9: [pred: log 7 ended at byte 5120, found by an opening][batch]...
//      log 12: [pred: log 9 ended at byte 88000][batch]...
//
// A recovery that reads log 9 up to byte 60000 and then finds log 12 knows that 28000 bytes are
// missing, and does not apply log 12 on top of the gap. Other programs skip both records, as a
// batch with log data and without updates.

#include <cstddef>
#include <cstdint>
#include <string>

#include "varve/slice.h"
#include "varve/types.h"

namespace varve {

// The contents of a predecessor record.
struct PredecessorLog {
  uint64_t number = 0;  // Number of the previous log.
  uint64_t bytes = 0;   // End of its last record.
  // An opening found the previous log, so a crash may have taken more records from its end. False:
  // one opening wrote both logs, and these are all bytes that it wrote.
  bool found = false;
};

// Returns a batch without counted records, whose blob other readers skip. `next` is the sequence
// number of the next batch.
std::string MakePredecessorRecord(const PredecessorLog& predecessor, SequenceNumber next);

// Returns true, and sets *predecessor, if a log's first record is a predecessor record; otherwise
// *predecessor is undefined. Accepts any bytes.
bool ParsePredecessorRecord(const Slice& record, PredecessorLog* predecessor);

// Returns an end record, a batch like a predecessor record: no later record was in its log.
std::string MakeEndRecord(SequenceNumber next);
// Its header, the tag and the length of its blob, and the 16 bytes of the blob.
inline constexpr size_t kEndRecordBytes = 30;
// Returns true if a record of an end record's size has its mark.
bool HasEndMark(const Slice& record);
// Returns true if the record is an end record. Accepts any bytes.
inline bool IsEndRecord(const Slice& record) {
  return record.size() == kEndRecordBytes && HasEndMark(record);
}

}  // namespace varve
