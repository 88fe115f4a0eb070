// SPDX-License-Identifier: Apache-2.0
#include "db/background/new_tables.h"

#include <memory>
#include <set>
#include <utility>

#include "db/version/obsolete_file_queue.h"
#include "util/base/caught_exception.h"

namespace varve {

namespace {

using PlacedFiles = std::vector<std::pair<int, FileRef>>;

PlacedFiles FindTables(const Version& version, const std::vector<NewFile>& tables) {
  std::set<std::pair<int, uint64_t>> wanted;
  for (const NewFile& table : tables) wanted.emplace(table.level, table.number);
  PlacedFiles found;
  int searched = -1;
  for (const auto& [level, number] : wanted) {
    if (level == searched || level >= version.num_levels()) continue;
    searched = level;
    for (const FileRef& file : version.level(level).files()) {
      if (wanted.contains({level, file->number})) found.emplace_back(level, file);
    }
  }
  return found;
}

}  // namespace

void OpenNewTables(DbMutex* mu, ColumnFamily* family, const std::vector<NewFile>& tables) {
  if (tables.empty() || family->dropped()) return;
  const ObsoleteFileQueue::LeaveOpen leave_open;  // the last share may be this one
  BestEffort([&] {
    AssumeDbMutexHeld();
    const std::shared_ptr<TableCache> cache = family->shared_table_cache();
    PlacedFiles files = FindTables(*family->current(), tables);
    DbUnlock unlock(mu);
    for (const auto& [level, file] : files) {
      TableRef table;
      cache->Find(file.get(), level, ReadOptions(), &table).PermitUncheckedError();
    }
    files.clear();
  });
}

}  // namespace varve
