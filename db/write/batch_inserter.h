// SPDX-License-Identifier: Apache-2.0
#pragma once

// Checks a batch against the open column families, and puts its records into their memtables.

#include <cstdint>

#include "db/column_family/memtable_resolver.h"
#include "db/write/batch_reader.h"

namespace varve {

class WriteBatch;

struct BatchCheckOptions {
  bool ignore_missing_families = false;
};

// Everything that could make the insertion fail, found before anything is logged: structure, count,
// unknown families (unless ignored), reversed ranges, records of features that are not supported.
Status CheckBatch(const Slice& rep, MemTableResolver* resolver, const BatchCheckOptions& options);

struct BatchInsertResult {
  SequenceNumber next_sequence = 0;  // one past the batch's last
  uint64_t inserted = 0;             // entries that reached a memtable
};

// Inserts the records with sequences from `sequence` on. Records of unknown families are skipped
// (they still consume a sequence); nothing else is.
Status InsertBatch(const Slice& rep, SequenceNumber sequence, MemTableResolver* resolver,
                   BatchInsertResult* result);

}  // namespace varve
