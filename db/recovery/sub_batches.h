// SPDX-License-Identifier: Apache-2.0
#pragma once

// Inserts batches of RocksDB's WRITE_PREPARED transactions, whose updates share sequence numbers.

#include <cstdint>

#include "varve/slice.h"
#include "varve/status.h"
#include "varve/types.h"

#include "db/column_family/memtable_resolver.h"

namespace varve {

// Inserts updates (records without a batch header) with their writer's numbering: all updates of a
// sub-batch have the same sequence number, and a new sub-batch begins before a key that the current
// one already has. Numbers begin with *next_sequence, which is set to one past the last; if each
// update had its own number, they would collide with those of later records.
Status InsertSubBatches(const Slice& updates, uint32_t count, MemTableResolver* resolver,
                        SequenceNumber* next_sequence);

}  // namespace varve
