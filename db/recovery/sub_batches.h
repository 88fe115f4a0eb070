// SPDX-License-Identifier: Apache-2.0
#pragma once

// Batches of RocksDB's WRITE_PREPARED transactions, whose updates share sequence numbers.

#include <cstdint>

#include "varve/slice.h"
#include "varve/status.h"
#include "varve/types.h"

#include "db/column_family/memtable_resolver.h"

namespace varve {

// Inserts updates (records without a batch's header) as their writer has numbered them: all of a
// sub-batch have the same sequence number, and a new one begins before a key that the current one
// holds already. Numbers begin with *next_sequence, which becomes one past the last; numbered one
// by one they would run into those of the records that follow.
Status InsertSubBatches(const Slice& updates, uint32_t count, MemTableResolver* resolver,
                        SequenceNumber* next_sequence);

}  // namespace varve
