// SPDX-License-Identifier: Apache-2.0
#pragma once

// Stores records of statistics in a column family, in RocksDB's format: a key is the time, in ten
// decimal digits of seconds since 1970, '#' and a ticker's name; its value is the ticker's growth
// since the record before, in decimal digits. Two more keys have the version of that format.

#include <cstdint>
#include <memory>
#include <vector>

#include "varve/iterator.h"
#include "varve/stats_history.h"
#include "varve/write_batch.h"

namespace varve {

// Adds a record to the batch; `growth` has one value for each ticker, by its number.
Status AddStatisticsRecord(uint64_t seconds, const std::vector<uint64_t>& growth,
                           ColumnFamilyHandle* family, WriteBatch* batch);

// Returns an iterator over the records of [start, end), in seconds since 1970; `entries` iterates
// over the whole family.
std::unique_ptr<StatsHistoryIterator> WalkStatisticsRecords(std::unique_ptr<Iterator> entries,
                                                            uint64_t start, uint64_t end);

}  // namespace varve
