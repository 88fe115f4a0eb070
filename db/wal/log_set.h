// SPDX-License-Identifier: Apache-2.0
#pragma once

// The logs that recovery would still need: which exist, how large they are, which are durable.

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "varve/file_system.h"

#include "db/wal/log_writer.h"
#include "util/sync/mutex.h"

namespace varve {

// Locking: its own mutex, a leaf below the DB mutex. Append, Switch, FlushBuffer and Sync are for
// the
//   head of the commit path, or whoever holds the path exclusively; the rest is for any thread.
// Errors: a log that failed an append or a sync is never written again; Switch leaves it behind.
class LogSet {
 public:
  LogSet(std::string directory, std::shared_ptr<FileSystem> fs, bool use_fsync);
  ~LogSet();

  // Makes `writer` the current log. The one before is closed once it is durable or obsolete.
  void Switch(std::unique_ptr<wal::LogWriter> writer, FSDirectory* directory);
  // Makes the names of all logs durable. Asked for before the next log is made: a crash must not
  // leave a log whose predecessor has vanished with its name.
  IOStatus SyncNames();
  IOStatus Append(const Slice& record);
  // Hands the current log's buffer to the file system (manual_wal_flush).
  IOStatus FlushBuffer();
  // Makes every byte appended before the call durable, in all logs, and the new logs' names too.
  IOStatus Sync() { return SyncLogs(/*current=*/true); }
  // The same for all logs but the current one; may run beside appends.
  IOStatus SyncClosed() { return SyncLogs(/*current=*/false); }
  // What the logs before the current one hold is in tables now: none of it needs syncing, not even
  // of logs that failed.
  void ExcuseClosed();
  // True when everything appended is durable.
  bool AllSynced() const;

  // A log found by recovery that is kept until its memtables are flushed.
  void AddRecovered(uint64_t number, uint64_t bytes);
  // Forgets (and closes) logs below `min_number`; returns their numbers, for deletion.
  std::vector<uint64_t> TakeObsolete(uint64_t min_number);
  IOStatus CloseAll(bool sync);

  uint64_t current_number() const;
  uint64_t total_bytes() const;
  uint64_t unsynced_bytes() const;
  uint64_t oldest_number() const;
  bool current_empty() const;
  bool current_failed() const;
  struct LogInfo {
    uint64_t number;
    uint64_t bytes;
  };
  std::vector<LogInfo> List() const;

 private:
  struct Log {
    uint64_t number = 0;
    uint64_t bytes = 0;
    uint64_t synced_bytes = 0;
    std::unique_ptr<wal::LogWriter> writer;  // null when recovered or closed
    bool failed = false;
  };

  IOStatus SyncLogs(bool current);

  const std::string directory_path_;
  const std::shared_ptr<FileSystem> fs_;
  const bool use_fsync_;
  mutable Mutex mu_;
  CondVar sync_done_;
  std::deque<Log> logs_ VARVE_GUARDED_BY(mu_);  // oldest first; the last is current
  bool syncing_ VARVE_GUARDED_BY(mu_) = false;
  FSDirectory* directory_ VARVE_GUARDED_BY(mu_) = nullptr;
  bool directory_dirty_ VARVE_GUARDED_BY(mu_) = false;
};

}  // namespace varve
