// SPDX-License-Identifier: Apache-2.0
#pragma once

// The first record of a log that follows on another: a batch that changes nothing, and says where
// the log before ends. A loss of all that was at that log's end cannot be seen otherwise.

#include <cstdint>
#include <string>

#include "varve/slice.h"
#include "varve/types.h"

namespace varve {

struct PredecessorLog {
  uint64_t number = 0;  // of the log before
  uint64_t bytes = 0;   // where its last record ends
};

// A batch without counted records: other readers skip the blob in it. `next` is the sequence number
// that the next batch will have.
std::string MakePredecessorRecord(const PredecessorLog& predecessor, SequenceNumber next);

// Whether a log's first record is such a one. Takes any bytes.
bool ParsePredecessorRecord(const Slice& record, PredecessorLog* predecessor);

}  // namespace varve
