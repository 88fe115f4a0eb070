// SPDX-License-Identifier: Apache-2.0
#pragma once

// Describes the state of one column family's data: the properties rocksdb.cfstats and related ones.

#include <map>
#include <string>

#include "db/db_mutex.h"

namespace varve {

class ColumnFamily;
struct Engine;

// Returns a text about levels, the work of flushes and compactions, and write stalls, in the lines
// that programs parse. Its "interval" figures count from the previous call for this family, and
// this call begins the next interval.
std::string FamilyStatsText(Engine& e, ColumnFamily& f) VARVE_REQUIRES(kDbMutex);
// Returns the same under RocksDB's names: compaction.L<n>.<figure> for each level with tables or
// work, compaction.Sum.<figure>, io_stalls.<condition>, and the figures of cf-write-stall-stats.
std::map<std::string, std::string> FamilyStatsMap(ColumnFamily& f) VARVE_REQUIRES(kDbMutex);
// Returns the latencies of file reads at each level. Without DBOptions::statistics none is timed.
std::string FileReadsText(const ColumnFamily& f);

}  // namespace varve
