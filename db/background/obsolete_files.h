// SPDX-License-Identifier: Apache-2.0
#pragma once

// Deletes obsolete files, and moves unexplained files to lost/.

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

// A table is obsolete if an edit in the MANIFEST removed it, a log if every family's log number is
// above it, and a MANIFEST if CURRENT names a newer one. Unexplained files are deleted only by
// SweepAtOpen, and only beyond its limits. OPTIONS files are handled by OptionsKeeper.
//
// Thread safety: as annotated. Purges release the mutex while files are deleted, and may run
// concurrently: each has removed its files from the lists.
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

  // Deletes all files that are obsolete now. Releases the mutex meanwhile.
  void Purge() override VARVE_REQUIRES(kDbMutex);

  // Until Stop, a purge job is scheduled whenever a reader releases the last reference to an
  // obsolete table, or the sync of an obsolete log ends.
  void StartListening();
  // Schedules a purge job. May be called from any thread, with or without the mutex, until Stop.
  void PurgeSoon() noexcept;
  // Ends the scheduling, and purges once more; does nothing if StartListening was not called. Must
  // be called after all other jobs have ended.
  void Stop() VARVE_EXCLUDES(kDbMutex);
  // Schedules a job that deletes archived logs beyond the limits of the options, and expires named
  // positions of change streams (db/engine/change_positions.h).
  void PurgeKeptSoon() noexcept;
  // Returns the period in microseconds at which PurgeKeptSoon must be called, or 0 for never.
  uint64_t kept_period_micros() const;
  // Deletes log files that were kept for reuse (recycle_log_file_num). Called by Close, when no log
  // will begin any more.
  void DeleteKeptLogs() VARVE_EXCLUDES(kDbMutex);

  // The files that an opening found.
  struct Leftovers {
    // By directory: the names in the database's own directory and in those of tables, listed before
    // this opening created any table.
    const std::map<std::string, std::vector<std::string>>& directories;
    const std::vector<uint64_t>& damaged_logs;
    const std::vector<std::string>& empty_logs;  // paths of empty logs
    bool keep_manifests = false;                 // some are newer than the recovered state
  };

  // Called by an opening, when the recovered state is in a new MANIFEST and no job runs. Deletes,
  // or archives, logs below the families' log numbers that no change stream needs. Deletes older
  // MANIFESTs, temporary files, and tables that the MANIFEST has removed. Moves other tables that
  // no version has, damaged logs, logs that an earlier opening did not find, and MANIFESTs that
  // must be kept to lost/, and reports them, as well as those that cannot be moved. Limits lost/ to
  // 100 files and 4 GiB: deletes the oldest files of earlier openings beyond that, and, if the
  // MANIFEST is known to be complete, so that unknown tables are unfinished outputs of jobs, the
  // oldest of these beyond the limits. Returns an error only if the directory of logs cannot be
  // listed.
  Status SweepAtOpen(const Leftovers& leftovers, RecoveryReport* report) VARVE_EXCLUDES(kDbMutex);

 private:
  // Closes the logs, archives or keeps for reuse those for which the options ask that, and adds the
  // paths of the others to *paths.
  void RetireLogs(std::vector<LogSet::Retired>* logs, std::vector<std::string>* paths)
      VARVE_EXCLUDES(kDbMutex);
  // Closes obsolete logs without deleting them. Releases the mutex meanwhile.
  void CloseObsoleteLogs() VARVE_REQUIRES(kDbMutex);
  // Deletes files, or schedules their deletion at the SstFileManager's rate. Failures are only
  // logged: the next opening deletes the files.
  void Delete(const std::vector<std::string>& paths) VARVE_EXCLUDES(kDbMutex);
  // Deletes the tables. Returns the numbers of those that cannot reappear after a power loss once
  // the database's own directory is synced.
  std::vector<uint64_t> DeleteTables(std::vector<std::unique_ptr<FileMetaData>> tables)
      VARVE_EXCLUDES(kDbMutex);
  // Deletes the file of a table, or a blob file, and notifies listeners. A missing one counts as
  // deleted.
  Status DeleteTable(FileMetaData* table);
  // Punches holes into blob files where no reader needs their garbage any more, unless files must
  // not change now, or obsolete tables are still there. Releases the mutex meanwhile.
  void PunchReadyHoles() VARVE_REQUIRES(kDbMutex);
  // Gives the storage of the holes back to the file system, unless a file has more than one name.
  // Failures are logged and counted.
  void PunchHoles(const std::vector<BlobHoles::Task>& tasks) VARVE_EXCLUDES(kDbMutex);
  // Deletes the file at once, or schedules its deletion at the rate in the options.
  IOStatus DeleteTableFile(const std::string& path) const;
  // Adds the obsolete files of one directory to `doomed`, and the unexplained ones to
  // `unexplained`. In directories other than the database's own only tables are considered, and
  // those that were renamed to wait for their deletion.
  void SortOut(const Leftovers& leftovers, const std::string& directory,
               std::vector<std::string>* doomed, std::vector<std::string>* unexplained)
      VARVE_EXCLUDES(kDbMutex);
  // Deletes the traces of interrupted repairs in lost/, by which another repair would undo them.
  void DeleteTracesOfRepairs();
  // Removes staged files of unfinished ingestions.
  void UnlinkStaged(const std::string& directory);
  // Adds the logs to be deleted to `doomed`, archives others or moves them to lost/, and reports
  // the latter. Returns an error only if the directory of logs cannot be listed.
  Status SweepLogs(const std::vector<uint64_t>& damaged_logs, std::vector<std::string>* doomed,
                   RecoveryReport* report);
  // Moves the oldest of the names in *unexplained, beyond the limits of one opening, to *doomed, as
  // paths.
  void LimitUnexplained(const std::string& directory, std::vector<std::string>* unexplained,
                        std::vector<std::string>* doomed);
  // Returns how many of the files, from the newest on, are within the limits of lost/.
  size_t CountKept(const std::string& directory,
                   const std::vector<std::pair<uint64_t, std::string>>& newest_first);
  // Moves the files to the directory's lost/, and adds them to the report.
  void SetAside(const std::string& directory, const std::vector<std::string>& names,
                RecoveryReport* report);
  // Deletes the oldest files in `lost` beyond its limits, except those in `brought`.
  void TrimLost(const std::string& lost, const std::vector<std::string>& brought);

  // Expires named positions of change streams that keep more log bytes than max_bytes, or keep any
  // and have been idle longer than max_seconds; logs no longer stay for them.
  void ExpirePositions() VARVE_REQUIRES(kDbMutex);
  // Stores and reports the expired positions. Releases the mutex meanwhile.
  void TellExpired() VARVE_REQUIRES(kDbMutex);

  // Entry point of the job on a thread of the Env; calls PurgeInJob.
  static void RunPurge(void* self);
  void PurgeInJob() VARVE_EXCLUDES(kDbMutex);

  // Counts a purge that deletes files; made and destroyed under the mutex.
  class DeletingNow;

  const Parts with_;
  const LogArchive archive_;
  std::atomic<bool> archive_due_{false};
  std::atomic<bool> no_holes_{false};            // the file system cannot punch holes
  int deleting_ VARVE_GUARDED_BY(kDbMutex) = 0;  // purges that delete files now
  bool listening_ = false;                       // used only by the threads that open and close
  std::atomic<bool> scheduled_{false};           // a job is scheduled and has not begun
  std::atomic<int> jobs_{0};  // jobs that have not ended; decreases under the DB mutex
};

}  // namespace varve
