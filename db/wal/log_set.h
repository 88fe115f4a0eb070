// SPDX-License-Identifier: Apache-2.0
#pragma once

// The logs that recovery would still need: which exist, which are durable, which are still open.
// What is durable is decided by tickets (commit_log.h) alone, never by how large something is.

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "varve/file_system.h"

#include "db/lock_ranks.h"
#include "db/wal/commit_log.h"
#include "db/wal/synced_marks.h"
#include "util/base/assert.h"
#include "util/sync/mutex.h"

namespace varve {

// Locking: its own mutex, a leaf below the DB mutex. Switch is for the exclusive holder of the
//   commit path, Reserve for the thread that gives out sequence numbers; the rest is for any
//   thread.
// Errors: a log that failed an append or a sync is never written again; Switch leaves it behind.
//   What a failed sync was to make durable, files or names, stays in doubt: no later sync is
//   believed to have done that, until the logs are flushed.
class LogSet {
 public:
  // `marks`, borrowed, is told what is durable; may be null.
  explicit LogSet(bool use_fsync, wal::SyncedMarks* marks = nullptr);
  ~LogSet();

  // Makes `log`, which may hold a predecessor record, the current one. The one before, in which
  // every place has been filled, and nothing is held back (FlushCurrent), is closed once it is
  // durable or obsolete; what is not log of its file is cut off at once. I/O.
  void Switch(std::unique_ptr<wal::CommitLog> log, FSDirectory* directory);
  // Makes the names of all logs durable. Asked for before the next log is made: a crash must not
  // leave a log whose predecessor has vanished with its name.
  IOStatus SyncNames();
  // Hands what manual_wal_flush holds back of the current log to the file system. Asked for before
  // the next log is made: a record must not follow on one that has been lost.
  IOStatus FlushCurrent();
  // A place in the current log, to be filled and waited for through place->log.
  IOStatus Reserve(size_t bytes, wal::LogReservation* place) {
    VARVE_ASSERT(current_ != nullptr);
    return current_->Reserve(bytes, place);
  }
  // Adds a record of timestamp sizes to the current log, after what a power loss cannot take any
  // more: zeros before such a record would not be known for a loss. No place is reserved or filled
  // meanwhile.
  IOStatus AddTimestampSizes(const Slice& payload);
  // Hands all that manual_wal_flush holds back to the file system. Fails also for a log before the
  // current one that has lost something, until the logs are flushed.
  IOStatus FlushBuffers();
  // How much that would be now, of the current log.
  uint64_t held_back() const;
  // Makes every record reserved before the call durable, in all logs, and the new logs' names too.
  IOStatus Sync() { return SyncLogs(/*current=*/true); }
  // Makes a record, which is whole, durable, and all before it. Returns at once when a sync that
  // began after it was reserved has covered it; of many callers one syncs for all.
  IOStatus SyncTo(const wal::LogReservation& place);
  // The same for all logs but the current one. Logs that are durable then are closed.
  IOStatus SyncClosed();
  // What the logs before the current one hold is in tables now: none of it needs syncing, not even
  // of logs that failed.
  void MarkClosedFlushed();
  // True when everything appended is durable.
  bool AllSynced() const;

  // A log found by recovery that is kept until its memtables are flushed; read-only, for good.
  void AddRecovered(uint64_t number, uint64_t bytes);
  // A log that is not needed any more.
  struct Retired {
    uint64_t number = 0;
    std::shared_ptr<wal::CommitLog> writer;  // null: closed
    bool recyclable = false;                 // once it is closed: a later log may take its file
    bool doubtful = false;                   // as of LogView
  };
  // Forgets the logs below `min_number`, and hands them over: for CloseRetired, and then for
  // deletion. No I/O; waits for nothing: what a sync is at, a thread closes, or somebody holds,
  // stays, and the waker is called when that is over.
  std::vector<Retired> TakeObsolete(uint64_t min_number);
  // The files of what was taken are where they will stay, or gone.
  void NoteGone(const std::vector<Retired>& taken) noexcept;
  // Whom to tell that TakeObsolete may find more; null: nobody any more. Is called under locks.
  void SetWaker(std::function<void()> waker);
  // Closes their files. I/O.
  static void CloseRetired(std::vector<Retired>* logs);
  // Closes the files of logs that stay, and that no thread will write or sync: those that are
  // durable, and those below `min_number`, whose records are in tables. I/O.
  void CloseKept(uint64_t min_number);
  IOStatus CloseAll(bool sync);

  // A log that somebody copies.
  struct PinnedLog {
    uint64_t number = 0;
    uint64_t bytes = 0;    // what there is, or, with a writer, was
    bool settled = false;  // durable, and nothing will write to its file while it is pinned
    std::shared_ptr<wal::CommitLog> writer;  // null: closed
  };
  // The logs from `oldest` on, which stay, with those after them, until they are unpinned: neither
  // is obsolete, or closed. The last is the current one, if any is.
  std::vector<PinnedLog> Pin(uint64_t oldest);
  // Sets the sizes of pinned logs to what they hold as whole records now, all of it with the
  // operating system. The last may hold more than when it was pinned. I/O.
  static IOStatus HandOver(std::vector<PinnedLog>* logs);
  // Allocates nothing. What is obsolete by now the waker is called for.
  void Unpin(const std::vector<PinnedLog>& logs) noexcept;

  // A log as those see it who read it beside its writers.
  struct LogView {
    uint64_t number = 0;
    uint64_t bytes = 0;         // of whole records
    uint64_t held_back = 0;     // bytes of that which only this process has (manual_wal_flush)
    uint64_t synced_bytes = 0;  // no more than is known to be durable
    bool current = false;
    bool recovered = false;  // it was there when the database was opened
    // Of some of its records the writes have failed, and nothing tells which. It stays so.
    bool doubtful = false;
  };
  // Sets *view to the oldest log that is not below `number`. False: there is none. Waits for those
  // who store records in it.
  bool View(uint64_t number, LogView* view) const;
  // The write of a record in the current log failed after it was logged.
  void NoteDoubtful();
  // The oldest log that somebody holds; UINT64_MAX: nobody holds any.
  uint64_t oldest_held() const;

  // What the next log's predecessor record says of the current one, which no thread appends to
  // meanwhile. Number 0: nothing can be said, as it holds no record or has failed.
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
  // Numbers of all, and before them of those that were taken and are not gone yet.
  std::vector<uint64_t> ListWithLeaving() const;

 private:
  friend class LogHold;

  struct Log {
    uint64_t number = 0;
    uint64_t closed_bytes = 0;  // what there is without a writer
    uint64_t first_ticket = 0;  // the last when it became current: of a predecessor record, or none
    wal::LogExtent synced;
    uint64_t name = 0;                       // the how-manieth log since the opening; 0: recovered
    std::shared_ptr<wal::CommitLog> writer;  // null when recovered, or closed
    bool sealed = false;                     // it is cut off, and will not be written
    bool busy = false;                       // synced or closed by a thread, without mu_
    uint32_t pins = 0;
    bool recyclable = false;  // closed, and a later log may take its file
    bool flushed = false;
    bool in_doubt = false;      // a sync that was to make it, or its name, durable has failed
    bool was_in_doubt = false;  // that, or the write of a record in it, at any time

    uint64_t bytes() const { return writer != nullptr ? writer->size() : closed_bytes; }
    bool empty() const { return writer == nullptr || writer->last_ticket() <= first_ticket; }
    bool durable() const {
      return flushed || writer == nullptr || writer->last_ticket() <= synced.ticket;
    }
    bool failed() const { return in_doubt || (writer != nullptr && writer->failed()); }
    bool doubtful() const { return was_in_doubt || failed(); }
  };

  // A log that a sync is at, and what it has made durable of it.
  struct Dirty {
    std::shared_ptr<wal::CommitLog> log;
    wal::LogExtent covered;
  };

  IOStatus SyncLogs(bool current);
  IOStatus SyncDirty(bool current) VARVE_REQUIRES(mu_);
  // What has to be synced now, oldest first; or the error that says why nothing can be.
  IOStatus CollectDirty(bool current, std::vector<Dirty>* dirty) VARVE_REQUIRES(mu_);
  // The error of a sync that leaves any of them in doubt.
  IOStatus Doubt(bool current) const VARVE_REQUIRES(mu_);
  IOStatus SyncFiles(std::vector<Dirty>* dirty);  // without mu_
  void RememberError(const IOStatus& error) noexcept VARVE_REQUIRES(mu_);
  void NoteSynced(const std::vector<Dirty>& dirty, const IOStatus& result) VARVE_REQUIRES(mu_);
  // Null when all names are durable.
  FSDirectory* DirtyDirectory() const VARVE_REQUIRES(mu_);
  // Makes the names of all logs durable; releases mu_ meanwhile.
  IOStatus SyncDirectory() VARVE_REQUIRES(mu_);
  void AwaitOtherWriters() VARVE_REQUIRES(mu_);
  // What the callers of SyncTo sleep on that sync number `round` covers: it changes when that sync
  // is over, and when one of them is to begin it. Only two rounds are ever waited for: the one that
  // runs, and the next.
  std::atomic<uint32_t>& FutexOf(uint64_t round) { return round_futexes_[round % 2]; }
  bool HasSucceeded(uint64_t round) const;
  void EndRound(uint64_t round, bool good) VARVE_REQUIRES(mu_);
  void CallNextLeader() VARVE_REQUIRES(mu_);
  Log* Find(const wal::CommitLog* log) VARVE_REQUIRES(mu_);
  std::vector<Retired> TakeKept(uint64_t min_number);
  void Hold(uint64_t from);
  void LetGo(uint64_t from) noexcept;
  void CallWaker() VARVE_REQUIRES(mu_);

  const bool use_fsync_;
  wal::SyncedMarks* const marks_;
  mutable Mutex mu_{lock_ranks::kLogSet};
  CondVar sync_done_;  // for those that want no sync, but that none is under way
  CondVar directory_done_;
  std::deque<Log> logs_ VARVE_GUARDED_BY(mu_);  // oldest first; the last is current
  std::set<uint64_t> leaving_ VARVE_GUARDED_BY(mu_);
  std::multiset<uint64_t> held_ VARVE_GUARDED_BY(mu_);  // from which log on, by each LogHold
  // That of logs_.back(). Changed by Switch alone, when no writer is under way.
  wal::CommitLog* current_ = nullptr;
  std::function<void()> waker_ VARVE_GUARDED_BY(mu_);
  bool left_obsolete_ VARVE_GUARDED_BY(mu_) = false;  // TakeObsolete did: the waker is due
  bool syncing_ VARVE_GUARDED_BY(mu_) = false;
  // Of the first sync that failed, while anything is in doubt for it: what all fail with that
  // depend on it.
  IOStatus sync_error_ VARVE_GUARDED_BY(mu_);
  // Syncs are numbered, so that a waiter wakes for the one that covers it, and not for each.
  uint64_t rounds_begun_ VARVE_GUARDED_BY(mu_) = 0;
  uint64_t rounds_done_ VARVE_GUARDED_BY(mu_) = 0;
  // The last round that made everything durable, and the last that did not. Stored (release) under
  // mu_; those whom a good one covers leave without the mutex, or all would queue for it at once.
  std::atomic<uint64_t> last_good_round_{0};
  std::atomic<uint64_t> last_bad_round_{0};
  std::array<std::atomic<uint32_t>, 2> round_futexes_{};  // changed under mu_
  // On either word, or about to be. Raised under mu_, so that under mu_ 0 means that nobody is to
  // be woken; publishes nothing.
  std::atomic<uint64_t> sleepers_{0};
  std::atomic<uint64_t> callers_{0};             // of SyncTo; a count, publishes nothing
  uint64_t released_ VARVE_GUARDED_BY(mu_) = 0;  // callers when the last sync began
  FSDirectory* directory_ VARVE_GUARDED_BY(mu_) = nullptr;
  // Names are counted as logs are switched to, so that a sync of the directory is believed to have
  // covered those that were there when it began.
  uint64_t names_ VARVE_GUARDED_BY(mu_) = 0;
  uint64_t synced_names_ VARVE_GUARDED_BY(mu_) = 0;
  // One at a time: of two, the system would tell only one of a failure.
  bool syncing_directory_ VARVE_GUARDED_BY(mu_) = false;
};

// Keeps the log of a number, and all later ones, in a set, with their files as they are. The set
// lives longer. Thread safety: none of its own.
class LogHold {
 public:
  LogHold() = default;
  LogHold(LogSet* logs, uint64_t from) : logs_(logs), from_(from) { logs_->Hold(from_); }
  LogHold(LogHold&& other) noexcept
      : logs_(std::exchange(other.logs_, nullptr)), from_(other.from_) {}
  LogHold& operator=(LogHold&& other) noexcept {
    std::swap(logs_, other.logs_);
    std::swap(from_, other.from_);
    return *this;
  }
  ~LogHold() { Release(); }

  // From now on it is from that one on.
  void MoveTo(uint64_t from) {
    if (logs_ == nullptr || from == from_) return;
    *this = LogHold(logs_, from);
  }
  void Release() noexcept {
    if (logs_ != nullptr) logs_->LetGo(from_);
    logs_ = nullptr;
  }

 private:
  LogSet* logs_ = nullptr;
  uint64_t from_ = 0;
};

}  // namespace varve
