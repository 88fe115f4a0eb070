// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reports the writes, log syncs and write stalls of the whole database: the property
// rocksdb.dbstats and the end of rocksdb.stats, in the format that programs parse.

#include <map>
#include <string>

#include "db/db_mutex.h"

namespace varve {

struct Engine;

// Returns the text. Its "interval" figures count from the previous call, and this call begins the
// next interval.
std::string DatabaseStatsText(Engine& e) VARVE_REQUIRES(kDbMutex);
// Returns the figures since the opening, or the last ResetStats, by RocksDB's names.
std::map<std::string, std::string> DatabaseStatsMap(const Engine& e) VARVE_REQUIRES(kDbMutex);
// Sets all figures to 0, for DB::ResetStats.
void ResetDatabaseStats(Engine& e) VARVE_REQUIRES(kDbMutex);

}  // namespace varve
