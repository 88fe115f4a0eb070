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
// (logs), or a newer one is in force (MANIFEST). Files that nothing explains are deleted only by
// SweepAtOpen, and only beyond its limits; the OPTIONS file is options_keeper.h's.
//
// Thread safety: as annotated. Purges release the mutex while files are deleted, and two may run at
// once: each has taken what it deletes off the lists.
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

  // Deletes what is obsolete now. Releases the mutex meanwhile.
  void Purge() override VARVE_REQUIRES(kDbMutex);

  // From now until Stop, a purge job is scheduled when a reader releases the last reference to an
  // obsolete table, and when the sync of an obsolete log ends.
  void StartListening();
  // Schedules a purge job. May be called from any thread, with or without the mutex, until Stop.
  void PurgeSoon() noexcept;
  // Ends what StartListening began, and purges what is left; does nothing if it was never called.
  // Must be called after all other jobs have ended.
  void Stop() VARVE_EXCLUDES(kDbMutex);
  // Schedules a job that deletes logs of the archive that are too old or too large, and lets named
  // positions of change streams expire.
  void PurgeKeptSoon() noexcept;
  // Returns how often that should be called; 0: there is nothing of that kind.
  uint64_t kept_period_micros() const;
  // Deletes the logs whose files were to be used again (recycle_log_file_num). Called at close,
  // when no log will begin any more.
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
  // Deletes files, or gives them to the SstFileManager's rate. Failures are only logged: the next
  // opening deletes the files.
  void Delete(const std::vector<std::string>& paths) VARVE_EXCLUDES(kDbMutex);
  // Returns the numbers of the deleted tables that cannot reappear after a power loss, once the
  // database's own directory is synced.
  std::vector<uint64_t> DeleteTables(std::vector<std::unique_ptr<FileMetaData>> tables)
      VARVE_EXCLUDES(kDbMutex);
  // Deletes the file of a table, or a blob file, and tells listeners. A missing one counts as
  // deleted.
  Status DeleteTable(FileMetaData* table);
  // Tells listeners that the deletion was tried, with its outcome.
  void TellDeleted(const FileMetaData& file, const std::string& path, int job,
                   const Status& outcome);
  // Deletes it at once, or at the rate set in the options.
  IOStatus DeleteTableFile(const std::string& path) const;
  // Sorts the files of one directory into those known to be obsolete, and those that nothing
  // explains. In directories other than the database's own only tables are deleted, including those
  // that wait for their deletion.
  void SortOut(const Leftovers& leftovers, const std::string& directory,
               std::vector<std::string>* doomed, std::vector<std::string>* unexplained)
      VARVE_EXCLUDES(kDbMutex);
  // Deletes the notes that interrupted repairs have left in lost/.
  void DeleteTracesOfRepairs();
  // Removes staged files of unfinished ingestions.
  void UnlinkStaged(const std::string& directory);
  // Decides which logs are deleted, archived, or moved to lost/; adds the first to `doomed`.
  Status SweepLogs(const std::vector<uint64_t>& damaged_logs, std::vector<std::string>* doomed,
                   RecoveryReport* report);
  // Moves those of `tables` beyond the limits of one opening to `doomed`.
  void LimitUnexplained(const std::string& directory, std::vector<std::string>* tables,
                        std::vector<std::string>* doomed);
  // Returns how many of the files of a directory are within the limits of lost/.
  size_t CountKept(const std::string& directory,
                   const std::vector<std::pair<uint64_t, std::string>>& newest_first);
  // Moves the files to the directory's lost/, and reports which were moved and which were not.
  void SetAside(const std::string& directory, const std::vector<std::string>& names,
                RecoveryReport* report);
  // Deletes the oldest files in `lost` beyond its limits, but none of `brought`.
  void TrimLost(const std::string& lost, const std::vector<std::string>& brought);

  // Expires named positions of change streams that keep too much, or were idle for too long.
  void ExpirePositions() VARVE_REQUIRES(kDbMutex);
  // Stores and reports the expired positions. Releases the mutex meanwhile.
  void TellExpired() VARVE_REQUIRES(kDbMutex);

  // Called on a thread of the environment; calls PurgeInJob.
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
