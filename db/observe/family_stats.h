// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reports the levels, flushes, compactions and stalls of one column family: the property
// rocksdb.cfstats and related ones.

#include <map>
#include <string>

#include "db/db_mutex.h"

namespace varve {

class ColumnFamily;
struct Engine;

// Returns a text about levels, flushes, compactions and write stalls, in the format that programs
// parse. Its "interval" figures count from the previous call for this family, and this call begins
// the next interval.
std::string FamilyStatsText(Engine& e, ColumnFamily& f) VARVE_REQUIRES(kDbMutex);
// Returns the same under RocksDB's names: compaction.L<n>.<figure> for each level with tables or
// work, compaction.Sum.<figure>, io_stalls.<condition>, and the figures of cf-write-stall-stats.
std::map<std::string, std::string> FamilyStatsMap(ColumnFamily& f) VARVE_REQUIRES(kDbMutex);
// Returns histograms of the latencies of file reads at each level, in microseconds. Without
// DBOptions::statistics there are none.
std::string FileReadsText(const ColumnFamily& f);

}  // namespace varve
