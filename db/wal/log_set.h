// SPDX-License-Identifier: Apache-2.0
#pragma once

// The logs that recovery would still need: which exist, how large they are, which are durable.

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "varve/file_system.h"

#include "db/wal/commit_log.h"
#include "db/wal/synced_marks.h"
#include "util/sync/mutex.h"

namespace varve {

// Locking: its own mutex, a leaf below the DB mutex. Switch is for whoever holds the commit path
//   exclusively, Reserve for whoever gives out sequence numbers; the rest is for any thread.
// Errors: a log that failed an append or a sync is never written again; Switch leaves it behind.
class LogSet {
 public:
  // `marks`, borrowed, is told what is durable; may be null.
  explicit LogSet(bool use_fsync, wal::SyncedMarks* marks = nullptr);
  ~LogSet();

  // Makes `log`, which may hold a mark, the current one. The one before, in which every place has
  // been filled, is closed once it is durable or obsolete; what is not log of its file is cut off
  // at once.
  void Switch(std::unique_ptr<wal::CommitLog> log, FSDirectory* directory);
  // Makes the names of all logs durable. Asked for before the next log is made: a crash must not
  // leave a log whose predecessor has vanished with its name.
  IOStatus SyncNames();
  // A place in the current log, to be filled and waited for through place->log.
  IOStatus Reserve(size_t bytes, wal::LogPlace* place) { return current_->Reserve(bytes, place); }
  // Adds a record of timestamp sizes to the current log, behind what a power loss cannot take any
  // more: zeros before such a record would not be known for a loss. No place is reserved or filled
  // meanwhile.
  IOStatus AddTimestampSizes(const Slice& payload);
  // Hands the current log's buffer to the file system (manual_wal_flush).
  IOStatus FlushBuffer();
  // Makes every record reserved before the call durable, in all logs, and the new logs' names too.
  IOStatus Sync() { return SyncLogs(/*current=*/true); }
  // Makes a record, which is whole, durable, and all before it. Returns at once when a sync that
  // began after it was reserved has covered it; of many callers one syncs for all.
  IOStatus SyncTo(const wal::LogPlace& place);
  // The same for all logs but the current one; may run beside appends.
  IOStatus SyncClosed() { return SyncLogs(/*current=*/false); }
  // What the logs before the current one hold is in tables now: none of it needs syncing, not even
  // of logs that failed.
  void ExcuseClosed();
  // True when everything appended is durable.
  bool AllSynced() const;

  // A log found by recovery that is kept until its memtables are flushed.
  void AddRecovered(uint64_t number, uint64_t bytes);
  // Forgets (and closes) logs below `min_number`; returns their numbers, for deletion. Those of
  // them whose files a later log may take over are named in *recyclable, too, unless it is null.
  std::vector<uint64_t> TakeObsolete(uint64_t min_number,
                                     std::vector<uint64_t>* recyclable = nullptr);
  IOStatus CloseAll(bool sync);

  // What a mark in the next log says of the current one, which nobody appends to meanwhile. Number
  // 0: nothing can be said, as it holds no record or has failed.
  struct LogInfo {
    uint64_t number;
    uint64_t bytes;
  };
  LogInfo CurrentEnd() const;
  uint64_t current_number() const;
  uint64_t total_bytes() const;
  uint64_t unsynced_bytes() const;
  uint64_t oldest_number() const;
  // Nothing was appended since it became the current one.
  bool current_empty() const;
  bool current_failed() const;
  std::vector<LogInfo> List() const;

 private:
  struct Log {
    uint64_t number = 0;
    uint64_t recovered_bytes = 0;  // what there is without a writer
    uint64_t first_bytes = 0;      // what was there when it became current: a mark, or nothing
    uint64_t synced_bytes = 0;
    uint64_t synced_ticket = 0;
    std::unique_ptr<wal::CommitLog> writer;  // null when recovered or closed

    uint64_t bytes() const { return writer != nullptr ? writer->size() : recovered_bytes; }
    bool empty() const { return bytes() <= first_bytes; }
    bool failed() const { return writer != nullptr && writer->failed(); }
  };

  // What one log will be known to hold durably when the sync that is about to begin is over.
  struct Dirty {
    wal::CommitLog* log = nullptr;
    uint64_t bytes = 0;
    uint64_t ticket = 0;
  };

  IOStatus SyncLogs(bool current);
  IOStatus SyncDirty(bool current) VARVE_REQUIRES(mu_);
  // Without mu_. The directory may be null.
  IOStatus SyncFiles(const std::vector<Dirty>& dirty, FSDirectory* directory);
  void LetOthersCome() VARVE_REQUIRES(mu_);
  // What the callers of SyncTo sleep on that sync number `round` covers: it changes when that sync
  // is over, and when one of them is to begin it. Only two rounds are ever waited for: the one that
  // runs, and the next.
  std::atomic<uint32_t>& WordOf(uint64_t round) { return round_words_[round % 2]; }
  bool WasGood(uint64_t round) const;
  void EndRound(uint64_t round, bool good) VARVE_REQUIRES(mu_);
  void CallNextLeader() VARVE_REQUIRES(mu_);
  Log* Find(const wal::CommitLog* log) VARVE_REQUIRES(mu_);

  const bool use_fsync_;
  wal::SyncedMarks* const marks_;
  mutable Mutex mu_;
  CondVar sync_done_;  // for those that want no sync, but that none is under way
  std::deque<Log> logs_ VARVE_GUARDED_BY(mu_);  // oldest first; the last is current
  // That of logs_.back(). Changed by Switch alone, when no writer is under way.
  wal::CommitLog* current_ = nullptr;
  bool syncing_ VARVE_GUARDED_BY(mu_) = false;
  // Of the first sync that failed: what all fail with that depend on it.
  IOStatus sync_error_ VARVE_GUARDED_BY(mu_);
  // Syncs are numbered, so that a waiter wakes for the one that covers it, and not for each.
  uint64_t rounds_begun_ VARVE_GUARDED_BY(mu_) = 0;
  uint64_t rounds_done_ VARVE_GUARDED_BY(mu_) = 0;
  // The last round that made everything durable, and the last that did not. Stored (release) under
  // mu_; those whom a good one covers leave without the mutex, or all would queue for it at once.
  std::atomic<uint64_t> last_good_round_{0};
  std::atomic<uint64_t> last_bad_round_{0};
  std::array<std::atomic<uint32_t>, 2> round_words_{};  // changed under mu_
  // On either word, or about to be. Raised under mu_, so that under mu_ 0 means that nobody is to
  // be woken; publishes nothing.
  std::atomic<uint64_t> sleepers_{0};
  std::atomic<uint64_t> callers_{0};             // of SyncTo; a count, publishes nothing
  uint64_t released_ VARVE_GUARDED_BY(mu_) = 0;  // callers when the last sync began
  FSDirectory* directory_ VARVE_GUARDED_BY(mu_) = nullptr;
  bool directory_dirty_ VARVE_GUARDED_BY(mu_) = false;
};

}  // namespace varve
