// SPDX-License-Identifier: Apache-2.0
#pragma once

// Stores notes of statistics in a column family, in RocksDB's form: a key is the time, in ten
// decimal digits of seconds, '#' and a ticker's name; its value is the ticker's growth since the
// note before, in decimal digits. Two more keys have the version of that form.

#include <cstdint>
#include <memory>
#include <vector>

#include "varve/iterator.h"
#include "varve/stats_history.h"
#include "varve/write_batch.h"

namespace varve {

// Adds a note to the batch; `growth` has a value for each ticker.
Status AddNote(uint64_t seconds, const std::vector<uint64_t>& growth, ColumnFamilyHandle* family,
               WriteBatch* batch);

// Returns the notes of [start, end) in seconds; `entries` iterates over the whole family.
std::unique_ptr<StatsHistoryIterator> WalkNotes(std::unique_ptr<Iterator> entries, uint64_t start,
                                                uint64_t end);

}  // namespace varve
