// SPDX-License-Identifier: Apache-2.0
#pragma once

// The first record of a log that follows another one: a batch that changes nothing, and tells where
// the previous log ends. Otherwise a loss of that log's whole tail could not be detected.

#include <cstdint>
#include <string>

#include "varve/slice.h"
#include "varve/types.h"

namespace varve {

struct PredecessorLog {
  uint64_t number = 0;  // Number of the previous log.
  uint64_t bytes = 0;   // End of its last record.
};

// Returns a batch without counted records, whose blob other readers skip. `next` is the sequence
// number of the next batch.
std::string MakePredecessorRecord(const PredecessorLog& predecessor, SequenceNumber next);

// Returns true if a log's first record is a predecessor record. Accepts any bytes.
bool ParsePredecessorRecord(const Slice& record, PredecessorLog* predecessor);

}  // namespace varve
