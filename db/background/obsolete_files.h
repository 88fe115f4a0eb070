// SPDX-License-Identifier: Apache-2.0
#pragma once

// Deletes files that are proven obsolete, and sets aside those that nothing explains.

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "db/background/engine.h"

namespace varve {

// A file is obsolete when a logged edit removed it (tables), every family's log number has passed
// it (logs), or a newer one is in force (MANIFEST, OPTIONS). Anything else is never deleted.
class ObsoleteFiles {
 public:
  explicit ObsoleteFiles(Engine* engine) : engine_(engine) {}

  // Closes and deletes what is obsolete by now, unless deletions are disabled. mu is held by the
  // caller, and released while files go.
  void Purge();

  // What readers let go of last, and logs that a sync was at, are purged soon, by a job of their
  // own; until Stop.
  void StartListening();
  // Has such a job purge. From any thread, also under mu; not after Stop.
  void PurgeSoon() noexcept;
  // Ends that, if it was started, and what is left goes now. After all other jobs; takes mu.
  void Stop();

  // An obsolete log whose file the next log may take over, or 0. The caller holds mu.
  uint64_t TakeKeptLog();
  // At close: nothing will reuse them any more. Takes mu.
  void DeleteKeptLogs();

  // At open, with the recovered state logged in a new MANIFEST and no job running. Logs below the
  // families' log numbers, older MANIFESTs, temporary files, and tables that the MANIFEST says are
  // gone, are deleted; other tables that no version holds, damaged logs, and those that an earlier
  // opening missed, move to lost/ and are reported, also those that cannot be moved and stay. Of
  // what earlier openings moved there the oldest goes when it is more than 100 files or 4 GiB; of
  // the tables that this one finds no more than that is moved, and the oldest are deleted, if the
  // MANIFEST is known to be whole: then they are what jobs had not finished. `directory_entries`
  // was read before this open created any table; `empty_logs`
  // are paths of logs that held nothing. Takes no lock.
  Status SweepAtOpen(const std::vector<std::string>& directory_entries,
                     const std::vector<uint64_t>& damaged_logs,
                     const std::vector<std::string>& empty_logs, RecoveryReport* report);

 private:
  // Takes mu. Closes the logs, and adds the paths of those whose files no later log will use.
  void RetireLogs(std::vector<LogSet::Retired> logs, std::vector<std::string>* paths);
  // The files that must stay need not stay open. mu is held by the caller, and released meanwhile.
  void CloseObsoleteLogs();
  // The DB mutex is not held: this may wait for readers.
  void Delete(const std::vector<std::string>& paths);
  // The answer: those that are gone.
  std::vector<uint64_t> DeleteTables(std::vector<std::unique_ptr<FileMetaData>> tables);
  Status DeleteTable(FileMetaData* table);
  Status SweepLogs(const std::vector<uint64_t>& damaged_logs, std::vector<std::string>* doomed,
                   RecoveryReport* report);
  // Moves of `tables` to `doomed` what goes beyond the limits of one opening.
  void LimitUnexplained(std::vector<std::string>* tables, std::vector<std::string>* doomed);
  // How many of the files of a directory are within what lost/ keeps.
  size_t CountKept(const std::string& directory,
                   const std::vector<std::pair<uint64_t, std::string>>& newest_first);
  void SetAside(const std::string& directory, const std::vector<std::string>& names,
                RecoveryReport* report);
  void TrimLost(const std::string& lost, const std::vector<std::string>& brought);

  static void RunPurge(void* self);

  Engine* const engine_;
  std::deque<uint64_t> kept_logs_;      // for reuse, oldest first; guarded by the DB mutex
  bool listening_ = false;              // by whoever opens and closes
  std::atomic<bool> scheduled_{false};  // a job that has not begun yet
  std::atomic<int> jobs_{0};            // that have not ended; falls under the DB mutex
};

}  // namespace varve
