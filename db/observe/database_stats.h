// SPDX-License-Identifier: Apache-2.0
#pragma once

// Describes what the whole database has written, logged and waited for: the properties
// rocksdb.dbstats and the end of rocksdb.stats, in the lines that programs parse.

#include <map>
#include <string>

#include "db/db_mutex.h"

namespace varve {

struct Engine;

// Returns the text. Its intervals begin where the last text ended, and this call ends them.
std::string DatabaseStatsText(Engine& e) VARVE_REQUIRES(kDbMutex);
// Returns the same figures since the opening, or ResetStats, by RocksDB's names.
std::map<std::string, std::string> DatabaseStatsMap(const Engine& e) VARVE_REQUIRES(kDbMutex);
// Makes all figures start at 0 now, as ResetStats does.
void ResetDatabaseStats(Engine& e) VARVE_REQUIRES(kDbMutex);

}  // namespace varve
