// SPDX-License-Identifier: Apache-2.0
#pragma once

// Deletes files that are proven obsolete, and sets aside those that nothing explains.

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

// A file is obsolete when a logged edit removed it (tables), every family's log number has passed
// it (logs), or a newer one is in force (MANIFEST, OPTIONS). Anything else is never deleted.
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

  // What readers release last, and logs that a sync was at, are purged soon, by a job of their own;
  // until Stop.
  void StartListening();
  // Has such a job purge. From any thread, with the mutex or without it; not after Stop.
  void PurgeSoon() noexcept;
  // Ends that, if it was started, and what is left goes now. After all other jobs.
  void Stop() VARVE_EXCLUDES(kDbMutex);
  // Has a job delete what has become too old among logs that are kept, or is too much.
  void PurgeKeptSoon() noexcept;
  // How often that is worth while; 0: none is kept.
  uint64_t kept_period_micros() const;
  // At close: no log will take over the files of old ones any more.
  void DeleteKeptLogs() VARVE_EXCLUDES(kDbMutex);

  // What an opening found.
  struct Leftovers {
    // The database's own and those of tables, read before this opening created any table.
    const std::map<std::string, std::vector<std::string>>& directories;
    const std::vector<uint64_t>& damaged_logs;
    const std::vector<std::string>& empty_logs;  // paths of logs that held nothing
    bool keep_manifests = false;                 // what was recovered is older than some of them
  };

  // At open, with the recovered state logged in a new MANIFEST and no job running. Logs below the
  // families' log numbers, older MANIFESTs, temporary files, and tables that the MANIFEST says are
  // gone, are deleted; other tables that no version holds, damaged logs, and those that an earlier
  // opening missed, move to lost/ and are reported, also those that cannot be moved and stay. Of
  // what earlier openings moved there the oldest goes when it is more than 100 files or 4 GiB; of
  // the tables that this one finds no more than that is moved, and the oldest are deleted, if the
  // MANIFEST is known to be whole: then they are what jobs had not finished. MANIFESTs that are to
  // be kept go to lost/, too.
  Status SweepAtOpen(const Leftovers& leftovers, RecoveryReport* report) VARVE_EXCLUDES(kDbMutex);

 private:
  // Closes the logs, moves to the archive what belongs there, and adds the paths of those whose
  // files no later log will use.
  void RetireLogs(std::vector<LogSet::Retired>* logs, std::vector<std::string>* paths)
      VARVE_EXCLUDES(kDbMutex);
  // The files that must stay need not stay open. The mutex is released meanwhile.
  void CloseObsoleteLogs() VARVE_REQUIRES(kDbMutex);
  // May wait for readers.
  void Delete(const std::vector<std::string>& paths) VARVE_EXCLUDES(kDbMutex);
  // Returns those that are gone, and will not be back after a power loss once the database's own
  // directory is synced.
  std::vector<uint64_t> DeleteTables(std::vector<std::unique_ptr<FileMetaData>> tables)
      VARVE_EXCLUDES(kDbMutex);
  Status DeleteTable(FileMetaData* table);
  // At once, or at the rate that the options ask for.
  IOStatus DeleteTableFile(const std::string& path) const;
  // Of one directory: what is known to be obsolete, and what nothing explains. From others than the
  // database's own nothing but tables goes, also those that wait for their deletion.
  void SortOut(const Leftovers& leftovers, const std::string& directory,
               std::vector<std::string>* doomed, std::vector<std::string>* unexplained)
      VARVE_EXCLUDES(kDbMutex);
  void DeleteTracesOfRepairs();
  // What ingestions that came to no end have staged.
  void UnlinkStaged(const std::string& directory);
  Status SweepLogs(const std::vector<uint64_t>& damaged_logs, std::vector<std::string>* doomed,
                   RecoveryReport* report);
  // Moves of `tables` to `doomed` what goes beyond the limits of one opening.
  void LimitUnexplained(const std::string& directory, std::vector<std::string>* tables,
                        std::vector<std::string>* doomed);
  // How many of the files of a directory are within what lost/ keeps.
  size_t CountKept(const std::string& directory,
                   const std::vector<std::pair<uint64_t, std::string>>& newest_first);
  void SetAside(const std::string& directory, const std::vector<std::string>& names,
                RecoveryReport* report);
  void TrimLost(const std::string& lost, const std::vector<std::string>& brought);

  // Named positions of change streams that keep too much, or were left for too long, keep nothing
  // any more.
  void ExpirePositions() VARVE_REQUIRES(kDbMutex);
  // Notes, and tells, which did. Releases the mutex meanwhile.
  void TellExpired() VARVE_REQUIRES(kDbMutex);

  static void RunPurge(void* self);
  void PurgeInJob() VARVE_EXCLUDES(kDbMutex);

  const Parts with_;
  const LogArchive archive_;
  std::atomic<bool> archive_due_{false};
  bool listening_ = false;              // of the threads that open and close
  std::atomic<bool> scheduled_{false};  // a job that has not begun yet
  std::atomic<int> jobs_{0};            // that have not ended; falls under the DB mutex
};

}  // namespace varve
