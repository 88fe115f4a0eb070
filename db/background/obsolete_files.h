// SPDX-License-Identifier: Apache-2.0
#pragma once

// Deletes files that are proven obsolete, and sets aside files that nothing explains.

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "db/engine/context.h"
#include "db/engine/db_state.h"
#include "db/engine/error_handler.h"
#include "db/engine/file_deletions.h"
#include "db/engine/job_interfaces.h"
#include "db/engine/lifecycle.h"
#include "db/engine/log_archive.h"
#include "db/engine/new_logs.h"
#include "db/engine/recovery_report.h"

namespace varve {

// A file is obsolete if a logged edit removed it (tables), every family's log number has passed it
// (logs), or a newer one is in force (MANIFEST, OPTIONS). Other files are never deleted.
class ObsoleteFiles final : public FilePurger {
 public:
  struct Parts {
    const DbContext& context;
    DbState& state;
    const Lifecycle& lifecycle;
    const FileDeletions& deletions;
    NewLogs& new_logs;
    ErrorHandler& errors;
  };
  explicit ObsoleteFiles(const Parts& parts) : with_(parts), archive_(parts.context) {}
  ObsoleteFiles(const ObsoleteFiles&) = delete;
  ObsoleteFiles& operator=(const ObsoleteFiles&) = delete;

  void Purge() override VARVE_REQUIRES(kDbMutex);

  // Makes files released last by readers, and logs that were being synced, be purged soon, by a
  // separate job; until Stop.
  void StartListening();
  // Schedules such a job. Any thread, with or without the mutex; not after Stop.
  void PurgeSoon() noexcept;
  // Ends this, if it was started, and purges what is left. Must be called after all other jobs.
  void Stop() VARVE_EXCLUDES(kDbMutex);
  // Schedules a job that deletes kept logs that are too old or too large.
  void PurgeKeptSoon() noexcept;
  // Returns how often that should be called; 0: no logs are kept.
  uint64_t kept_period_micros() const;
  // Called at close, when no log will reuse the files of old ones any more.
  void DeleteKeptLogs() VARVE_EXCLUDES(kDbMutex);

  // Describes what an opening found.
  struct Leftovers {
    // Contents of the database's own directory and those of tables, read before this opening
    // created any table.
    const std::map<std::string, std::vector<std::string>>& directories;
    const std::vector<uint64_t>& damaged_logs;
    const std::vector<std::string>& empty_logs;  // paths of logs without contents
    bool keep_manifests = false;                 // the recovered state is older than some of them
  };

  // Called at open, with the recovered state logged in a new MANIFEST and no job running. Deletes
  // logs below the families' log numbers, older MANIFESTs, temporary files, and tables that the
  // MANIFEST says are gone. Moves to lost/, and reports, other tables that no version has, damaged
  // logs, and those that an earlier opening missed; reports also those that cannot be moved and
  // stay. Of the files in lost/ from earlier openings, deletes the oldest beyond 100 files or 4
  // GiB. Of the tables found by this opening, moves no more than that, and deletes the oldest, if
  // the MANIFEST is known to be complete: then they are unfinished output of jobs. MANIFESTs that
  // are to be kept are moved to lost/, too.
  Status SweepAtOpen(const Leftovers& leftovers, RecoveryReport* report) VARVE_EXCLUDES(kDbMutex);

 private:
  // Closes the logs, moves to the archive those that belong there, and adds the paths of those
  // whose files no later log will use.
  void RetireLogs(std::vector<LogSet::Retired>* logs, std::vector<std::string>* paths)
      VARVE_EXCLUDES(kDbMutex);
  // Closes obsolete logs whose files must stay. Releases the mutex meanwhile.
  void CloseObsoleteLogs() VARVE_REQUIRES(kDbMutex);
  // May wait for readers.
  void Delete(const std::vector<std::string>& paths) VARVE_EXCLUDES(kDbMutex);
  // Returns those that are deleted, and will not reappear after a power loss once the database's
  // own directory is synced.
  std::vector<uint64_t> DeleteTables(std::vector<std::unique_ptr<FileMetaData>> tables)
      VARVE_EXCLUDES(kDbMutex);
  Status DeleteTable(FileMetaData* table);
  // Deletes it at once, or at the rate set in the options.
  IOStatus DeleteTableFile(const std::string& path) const;
  // Sorts the files of one directory into those known to be obsolete, and those that nothing
  // explains. In directories other than the database's own only tables are deleted, including those
  // that wait for their deletion.
  void SortOut(const Leftovers& leftovers, const std::string& directory,
               std::vector<std::string>* doomed, std::vector<std::string>* unexplained)
      VARVE_EXCLUDES(kDbMutex);
  void DeleteTracesOfRepairs();
  // Removes staged files of unfinished ingestions.
  void UnlinkStaged(const std::string& directory);
  Status SweepLogs(const std::vector<uint64_t>& damaged_logs, std::vector<std::string>* doomed,
                   RecoveryReport* report);
  // Moves those of `tables` beyond the limits of one opening to `doomed`.
  void LimitUnexplained(const std::string& directory, std::vector<std::string>* tables,
                        std::vector<std::string>* doomed);
  // Returns how many of the files of a directory are within the limits of lost/.
  size_t CountKept(const std::string& directory,
                   const std::vector<std::pair<uint64_t, std::string>>& newest_first);
  void SetAside(const std::string& directory, const std::vector<std::string>& names,
                RecoveryReport* report);
  void TrimLost(const std::string& lost, const std::vector<std::string>& brought);

  // Expires named positions of change streams that keep too much, or were idle for too long.
  void ExpirePositions() VARVE_REQUIRES(kDbMutex);
  // Stores and reports the expired positions. Releases the mutex meanwhile.
  void TellExpired() VARVE_REQUIRES(kDbMutex);

  static void RunPurge(void* self);
  void PurgeInJob() VARVE_EXCLUDES(kDbMutex);

  const Parts with_;
  const LogArchive archive_;
  std::atomic<bool> archive_due_{false};
  bool listening_ = false;              // used by the threads that open and close
  std::atomic<bool> scheduled_{false};  // a job that has not begun yet
  std::atomic<int> jobs_{0};            // jobs that have not ended; decreases under the DB mutex
};

}  // namespace varve
