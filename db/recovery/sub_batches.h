// SPDX-License-Identifier: Apache-2.0
#pragma once

// Inserts batches of RocksDB's WRITE_PREPARED transactions, whose updates share sequence numbers.

#include <cstdint>

#include "varve/slice.h"
#include "varve/status.h"
#include "varve/types.h"

#include "db/column_family/memtable_resolver.h"

namespace varve {

// Inserts `count` updates (records without a batch header) with the sequence numbers that RocksDB
// has assigned: all updates of a sub-batch have the same number, and a new sub-batch begins before
// a key that the current one already has. Numbers begin with *next_sequence, which is set to one
// past the last, and stays if there are no updates. Errors: those of InsertBatch, and Corruption
// for ill-formed records.
Status InsertSubBatches(const Slice& updates, uint32_t count, MemTableResolver* resolver,
                        SequenceNumber* next_sequence);

}  // namespace varve
