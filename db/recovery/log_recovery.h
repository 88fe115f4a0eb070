// SPDX-License-Identifier: Apache-2.0
#pragma once

// Selects the logs that an opening replays, and decides whether their files are kept.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "db/recovery/log_directory.h"
#include "db/recovery/log_replay.h"
#include "db/recovery/table_directories.h"

namespace varve {

// Used once, by an opening, while nothing else uses the database. Thread safety: none. Everything
// that the constructor is given by reference must outlive it.
class LogRecovery {
 public:
  struct Wanted {
    // Says what is durable in the logs. The opening found it before they were read.
    wal::SyncedMark synced;
    LogLocation place;
    // Contents of the database's directory and those of tables before anything was created.
    const DirectoryListing& directories;
    bool repairs = false;       // See LogReplay.
    bool error_if_any = false;  // Replay returns Corruption if there is a log that is needed.
    // Skips all logs: the recovered tables are older than the state they continue.
    bool leave_out = false;
  };
  LogRecovery(const LogReplay::Parts& parts, const Wanted& wanted);

  // Replays the logs' batches into memtables, and writes full ones to tables. Reserves the numbers
  // of all existing files.
  Status Replay() VARVE_EXCLUDES(kDbMutex);

  // True if the memtables and their logs may be kept.
  bool CanKeepLogs() const;
  // Keeps the logs that named positions of change streams need, except for those that KeepLogs will
  // keep. Used by an opening that writes. Must precede KeepLogs.
  Status KeepForPositions() VARVE_EXCLUDES(kDbMutex);
  // Keeps the replayed logs except those without batches, since each opening would leave one.
  // Truncates them to their last record, because other readers do not expect the zeros after it
  // that an unclosed mapped log has.
  Status KeepLogs() VARVE_EXCLUDES(kDbMutex);
  // Paths of logs that need not be kept.
  const std::vector<std::string>& empty_logs() const { return empty_logs_; }

  LogReplay& replay() { return replay_; }

 private:
  // Truncates a log to `end`, syncs it, and adds it to the log set.
  IOStatus Keep(uint64_t number, uint64_t end);
  // Sets log_numbers_ to the existing logs that are needed, or to all of them if leave_out is set,
  // and *min_log to the oldest that is needed.
  Status FindLogs(uint64_t* min_log) VARVE_EXCLUDES(kDbMutex);
  // Lists the replayed logs, which are those of a read-only opening.
  void ListLogs();
  // Moves the undecided transactions to the state.
  void TakeSections();
  // Returns an error if the database cannot be opened with these transactions.
  Status CheckSections() const;
  // Finds the oldest existing log that is needed: those before the families' own are needed for
  // prepared transactions.
  Status FindOldestWanted(const std::vector<uint64_t>& logs, uint64_t* oldest) const
      VARVE_EXCLUDES(kDbMutex);
  // Keeps the numbers of the logs among these names, and of files in lost/, from being given to new
  // files.
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
