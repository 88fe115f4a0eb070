// SPDX-License-Identifier: Apache-2.0
#pragma once

// The logs of a database at its opening: which are replayed, and what becomes of their files.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "db/recovery/log_directory.h"
#include "db/recovery/log_replay.h"
#include "db/recovery/table_directories.h"

namespace varve {

// Used once, by an opening, while nothing else touches the database.
class LogRecovery {
 public:
  struct Wanted {
    wal::SyncedMark synced;  // what was known to be durable before the logs were looked at
    LogLocation place;
    // What was in the database's directory, and in those of tables, before anything was made.
    const DirectoryListing& directories;
    bool repairs = false;  // as of LogReplay
    bool error_if_any = false;
    bool leave_out = false;  // all of them: the tables are older than what they follow on
  };
  LogRecovery(const LogReplay::Parts& parts, const Wanted& wanted);

  // The logs' batches are in memtables and, of those that were full, in tables. No number of a file
  // that is there will be used.
  Status Replay() VARVE_EXCLUDES(kDbMutex);

  // Whether the memtables may stay as they are, with the logs that they came from.
  bool CanKeepLogs() const;
  // Of an opening that writes: the logs that named positions want stay, too; those that were
  // replayed only if they are not kept anyway. Before KeepLogs.
  Status KeepForPositions() VARVE_EXCLUDES(kDbMutex);
  // These logs stay, but for those without batches, of which each opening would leave one. They end
  // where their last records do: zeros after them, which a mapped log that was not closed has, are
  // no business of other readers.
  Status KeepLogs() VARVE_EXCLUDES(kDbMutex);
  // Paths of logs that need not stay.
  const std::vector<std::string>& empty_logs() const { return empty_logs_; }

  LogReplay& replay() { return replay_; }

 private:
  // It ends where its last record does, is durable, and is in the log set.
  IOStatus Keep(uint64_t number, uint64_t end);
  // min_log: the oldest log that the MANIFEST asks for. Where logs are left out, all are found.
  Status FindLogs(uint64_t* min_log) VARVE_EXCLUDES(kDbMutex);
  // Of a read-only opening: its logs are those that were replayed.
  void ListLogs();
  // Hands what is undecided to the state.
  void TakeSections();
  // Whether it may be opened with that.
  Status CheckSections() const;
  // The oldest log of all that are there and wanted: those before the families' own are for
  // sections.
  Status FindOldestWanted(const std::vector<uint64_t>& logs, uint64_t* oldest) const
      VARVE_EXCLUDES(kDbMutex);
  void MarkNumbersUsed(const std::vector<std::string>& names) VARVE_EXCLUDES(kDbMutex);
  // In lost/, wherever the database has files.
  std::vector<std::string> NamesSetAside() const;

  const DbContext& context_;
  DbState& state_;
  const Wanted wanted_;
  LogReplay replay_;
  std::vector<uint64_t> log_numbers_;  // ascending
  std::vector<std::string> empty_logs_;
};

}  // namespace varve
