// SPDX-License-Identifier: Apache-2.0
#pragma once

// What became of one column family's data: the properties rocksdb.cfstats and its kin.

#include <map>
#include <string>

#include "db/db_mutex.h"

namespace varve {

class ColumnFamily;
struct Engine;

// Levels, what flushes and compactions have done, and how often writes stalled.
std::string FamilyStatsText(Engine& e, ColumnFamily& f) VARVE_REQUIRES(kDbMutex);
// The same under RocksDB's names: compaction.L<n>.<figure> of each level that has tables or work,
// compaction.Sum.<figure>, io_stalls.<condition>, and the figures of cf-write-stall-stats.
std::map<std::string, std::string> FamilyStatsMap(ColumnFamily& f) VARVE_REQUIRES(kDbMutex);
// How long reads of the files of each level took. Without DBOptions::statistics none is timed.
std::string FileReadsText(const ColumnFamily& f);

}  // namespace varve
