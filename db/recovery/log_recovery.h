// SPDX-License-Identifier: Apache-2.0
#pragma once

// LogRecovery selects the logs that an opening replays, and decides whether their files are kept.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "db/recovery/log_directory.h"
#include "db/recovery/log_replay.h"
#include "db/recovery/table_directories.h"

namespace varve {

// Used once, by an opening, while nothing else uses the database. Thread safety: none. Borrows
// everything that is passed by reference.
class LogRecovery {
 public:
  struct Wanted {
    // The synced mark, which has the durable size of a log, read before the logs.
    wal::SyncedMark synced;
    LogLocation place;
    // Names in the database's directory and those of tables, listed before anything was created.
    const DirectoryListing& directories;
    bool repairs = false;       // See LogReplay.
    bool error_if_any = false;  // Replay returns Corruption if a needed log exists.
    // Skips all logs, because the recovered tables are older than the state that the logs continue.
    bool leave_out = false;
  };
  LogRecovery(const LogReplay::Parts& parts, const Wanted& wanted);

  // Replays the logs' batches into memtables, and writes full ones to tables. Marks the numbers of
  // all existing files as used, unless the database is read-only.
  Status Replay() VARVE_EXCLUDES(kDbMutex);

  // Returns true if the memtables and their logs may be kept instead of being flushed.
  bool CanKeepLogs() const;
  // Keeps the logs that named positions of change streams need, except damaged ones, and those that
  // KeepLogs will keep. Called by an opening that writes, before KeepLogs.
  Status KeepForPositions() VARVE_EXCLUDES(kDbMutex);
  // Keeps the replayed logs except those without batches, since each opening would leave one.
  // Truncates them after their last record, because other readers do not expect the zeros at the
  // end of a mapped log that was not closed.
  Status KeepLogs() VARVE_EXCLUDES(kDbMutex);
  // Returns the paths of logs without batches, which need not be kept.
  const std::vector<std::string>& empty_logs() const { return empty_logs_; }

  LogReplay& replay() { return replay_; }

 private:
  // Truncates a log to `end` bytes, syncs it, and adds it to the log set.
  IOStatus Keep(uint64_t number, uint64_t end);
  // Sets log_numbers_ to the existing logs that are needed, or to all logs if leave_out is set, and
  // *min_log to the number of the oldest that is needed.
  Status FindLogs(uint64_t* min_log) VARVE_EXCLUDES(kDbMutex);
  // Adds the replayed logs of a read-only opening to the log set.
  void ListLogs();
  // Moves the undecided transactions to the engine's state.
  void TakePrepared();
  // Returns an error if the database cannot be opened with these transactions.
  Status CheckPrepared() const;
  // Sets *oldest to the oldest existing log that is needed. Logs older than those that families
  // need may be needed for prepared transactions.
  Status FindOldestWanted(const std::vector<uint64_t>& logs, uint64_t* oldest) const
      VARVE_EXCLUDES(kDbMutex);
  // Marks the numbers of the logs among these names, and of files in lost/, as used.
  void MarkNumbersUsed(const std::vector<std::string>& names) VARVE_EXCLUDES(kDbMutex);
  // Returns the names of files in lost/ of all directories of the database.
  std::vector<std::string> NamesSetAside() const;

  const DbContext& context_;
  DbState& state_;
  const Wanted wanted_;
  LogReplay replay_;
  std::vector<uint64_t> log_numbers_;  // Ascending.
  std::vector<std::string> empty_logs_;
};

}  // namespace varve
