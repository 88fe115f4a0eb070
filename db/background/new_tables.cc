// SPDX-License-Identifier: Apache-2.0

#include "db/background/new_tables.h"

#include <memory>
#include <set>
#include <utility>

#include "db/engine/event_log.h"
#include "db/engine/events.h"
#include "db/version/obsolete_file_queue.h"
#include "util/base/caught_exception.h"
#include "util/env/io_error.h"

namespace varve {

namespace {

using PlacedFiles = std::vector<std::pair<int, FileRef>>;

// Returns those of the tables that the version still has, with their levels.
PlacedFiles FindTables(const Version& version, const std::vector<NewFile>& tables) {
  // Sorted by level, so that each level is searched once, for all of its tables.
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
  // `files` may hold last references to tables. Closing a table takes milliseconds, and is left to
  // the purge.
  const ObsoleteFileQueue::LeaveOpen leave_open;
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

// Makes metadata of each file, so that a file that cannot be deleted now can be put into the queue
// of obsolete files.
void DeleteNewTables(const DbContext& context, DbState* state, const ColumnFamily& family,
                     int job_id, const std::vector<NewFile>& tables) {
  std::vector<std::unique_ptr<FileMetaData>> doomed;
  for (const NewFile& table : tables) {
    // The failed edit may be on disk, and the MANIFEST may name the table; deleting it could make
    // the database unreadable.
    if (state->versions->TableInDoubt(table.number)) continue;
    auto file = std::make_unique<FileMetaData>();
    static_cast<TableFacts&>(*file) = table;
    file->paths = family.versions()->paths;
    file->notes.last_job = job_id;
    file->obsolete.store(true, std::memory_order_relaxed);  // the queue's mutex publishes it
    doomed.push_back(std::move(file));
  }
  if (doomed.empty()) return;
  // Deleting a large file takes long, and listeners are called.
  DbUnlock unlock(&state->mu);
  for (std::unique_ptr<FileMetaData>& file : doomed) {
    const IOStatus s = context.fs()->DeleteFile(file->FileName(), IOOptions(), nullptr);
    if (IsMissing(s)) continue;
    event_log::FileDeleted(context, file->kind, job_id, file->number, s);
    events::DataFileDeleted(context, file->kind, file->FileName(), job_id, s);
    if (s.ok()) continue;
    // The next purge tries again.
    state->versions->obsolete_files()->Requeue(std::move(file));
  }
}

}  // namespace varve
