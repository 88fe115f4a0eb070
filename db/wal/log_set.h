// SPDX-License-Identifier: Apache-2.0
#pragma once

// The logs that recovery would still need: which exist, which are durable, which are open. Only
// tickets (commit_log.h) decide what is durable, never sizes.

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

// Locking: has its own mutex, which may be taken under the DB mutex, and is not held over I/O.
// Switch and AddTimestampSizes require that the caller keeps all writers out
// (CommitPath::EnterExclusive); Reserve is for the one thread that assigns sequence numbers at a
// time; any thread may call the rest.
//
// Errors: a log that failed an append or a sync is never written again; Switch replaces it. Files
// or names that a failed sync was to make durable stay in doubt: a later sync that succeeds does
// not prove that they are durable, so syncs return the error until the contents are in tables.
//
// End of life: CloseAll closes the files; the destructor alone makes nothing durable. No thread may
// be in a call when the set is destroyed, and every LogHold is released before.
class LogSet {
 public:
  // Syncs use fsync if `use_fsync` is set, else fdatasync. `marks`, which is not owned and may be
  // null, is notified of what is durable.
  explicit LogSet(bool use_fsync, wal::SyncedMarks* marks = nullptr);
  ~LogSet();

  // Makes `log`, which may contain a predecessor record, the current one. `directory`, which must
  // outlive the set, is synced to make its name durable. Requires that all places of the previous
  // log are filled, and that it holds nothing back in memory (FlushCurrent). That log is truncated
  // to its records at once, and closed once it is durable or obsolete. Does I/O; a failure shows
  // when the log is synced.
  void Switch(std::unique_ptr<wal::CommitLog> log, FSDirectory* directory);
  // Makes the names of all logs durable. Must be called before the next log is created: a crash
  // must not leave a log whose predecessor's name is lost.
  IOStatus SyncNames();
  // Gives the file system the records of the current log that manual_wal_flush keeps in memory.
  // Must be called before the next log is created: a record must not follow one that was lost.
  IOStatus FlushCurrent();
  // Reserves a place in the current log, to be filled and waited for through place->log.
  IOStatus Reserve(size_t bytes, wal::LogReservation* place) {
    VARVE_ASSERT(current_ != nullptr);
    return current_->Reserve(bytes, place);
  }
  // Adds a record of timestamp sizes to the current log, after syncing what precedes it, because
  // zeros before such a record would not be recognised as a loss. No place may be reserved or
  // filled meanwhile.
  IOStatus AddTimestampSizes(const Slice& payload);
  // Gives the file system the records of all logs that manual_wal_flush keeps in memory. Also fails
  // if an earlier log has lost records, until the contents of that log are in tables.
  IOStatus FlushBuffers();
  // Returns the bytes that FlushBuffers would write now for the current log.
  uint64_t held_back() const;
  // Makes every record reserved before the call durable, in all logs, and the new logs' names too.
  IOStatus Sync() { return SyncLogs(/*current=*/true); }
  // Makes a record, which must be whole, and all before it durable. Returns at once if a sync that
  // began after its reservation has covered it; of concurrent callers one syncs for all.
  IOStatus SyncTo(const wal::LogReservation& place);
  // Does what Sync does, for all logs except the current one. Closes logs that are durable then.
  IOStatus SyncClosed();
  // Must be called when the contents of all logs before the current one are in tables: they need no
  // sync any more, even if they failed.
  void MarkClosedFlushed();
  // True if everything appended is durable, or in tables (MarkClosedFlushed).
  bool AllSynced() const;

  // Adds a log found by recovery that is kept until its memtables are flushed; it is never written.
  void AddRecovered(uint64_t number, uint64_t bytes);
  // A log that is no longer needed.
  struct Retired {
    uint64_t number = 0;
    std::shared_ptr<wal::CommitLog> writer;  // Null: closed.
    bool recyclable = false;                 // Once closed, a later log may reuse its file.
    bool doubtful = false;                   // See LogView.
  };
  // Removes the logs below `min_number` and returns them, for CloseRetired and then deletion. Does
  // no I/O and does not wait: it ends before the first log that is being sealed, synced or closed,
  // or that somebody copies (Pin) or reads (LogHold); the waker is called when that may have ended.
  std::vector<Retired> TakeObsolete(uint64_t min_number);
  // Must be called when the files of the taken logs have been moved or deleted; an opening, beside
  // which no other call asks for logs, may call it before.
  void NoteGone(const std::vector<Retired>& taken) noexcept;
  // Sets the function that is called when TakeObsolete may find more logs; null: none. It is called
  // under locks.
  void SetWaker(std::function<void()> waker);
  // Closes the files of logs that TakeObsolete has returned, and sets `recyclable`. A failure loses
  // nothing, and only makes a log not recyclable. Does I/O.
  static void CloseRetired(std::vector<Retired>* logs);
  // Closes the files of logs that stay but that no thread will write or sync: durable ones, and
  // those below `min_number`, whose records are in tables. Does I/O.
  void CloseKept(uint64_t min_number);
  // Closes all logs and returns the first error, which does not keep it from closing the others; an
  // error of a log that had failed before is not returned again. With `sync` it makes them durable
  // first, and notes that as the last mark. Called at the end, when nobody writes: afterwards there
  // is no current log, and Reserve must not be called.
  IOStatus CloseAll(bool sync);

  // A log that is being copied.
  struct PinnedLog {
    uint64_t number = 0;
    uint64_t bytes = 0;    // Bytes of the log; if it has a writer, at the time of the call.
    bool settled = false;  // Durable, and its file will not be written any more: it may be linked.
    std::shared_ptr<wal::CommitLog> writer;  // Null: closed.
  };
  // Pins the logs from `oldest` on: until they are unpinned, neither they nor later logs become
  // obsolete or are closed. The last one is the current log, if there is one.
  std::vector<PinnedLog> Pin(uint64_t oldest);
  // Sets the sizes of pinned logs to their whole records at this moment, all of which are then with
  // the operating system. The last log may have grown since it was pinned. Does I/O.
  static IOStatus HandOver(std::vector<PinnedLog>* logs);
  // Unpins the logs. Allocates nothing. Calls the waker if a log has become obsolete.
  void Unpin(const std::vector<PinnedLog>& logs) noexcept;

  // A log as readers beside its writers see it.
  struct LogView {
    uint64_t number = 0;
    uint64_t bytes = 0;         // Bytes of whole records.
    uint64_t held_back = 0;     // Part that only this process has (manual_wal_flush).
    uint64_t synced_bytes = 0;  // Lower bound of the durable bytes.
    bool current = false;
    bool recovered = false;  // It existed when the database was opened.
    // True, permanently, if the writes of some of its records have failed; which ones is unknown.
    bool doubtful = false;
  };
  // Sets *view to the oldest log that is not below `number`. Returns false if there is none. Waits
  // for threads that are storing records in it.
  bool View(uint64_t number, LogView* view) const;
  // Must be called if the write of a record failed after it was added to the current log.
  void NoteDoubtful();
  // Returns the number from which on LogHolds keep logs in the set; UINT64_MAX if there is none.
  uint64_t oldest_held() const;

  // A log, and the bytes of its records.
  struct LogInfo {
    uint64_t number;
    uint64_t bytes;
  };
  // Returns what the next log's predecessor record says of the current log. Requires that no thread
  // appends to it meanwhile. If the number is 0, the next log needs no such record, because there
  // is no current log, or it is empty or has failed.
  LogInfo CurrentEnd() const;
  uint64_t current_number() const;  // 0: there is no log.
  uint64_t total_bytes() const;     // Bytes of all logs.
  // Returns the number of SyncTo calls since the set was made.
  uint64_t sync_requests() const;
  // Returns the bytes of logs that are neither durable nor in tables.
  uint64_t unsynced_bytes() const;
  uint64_t oldest_number() const;  // 0: there is no log.
  // True if nothing was appended to the current log since it became that.
  bool current_empty() const;
  // True if the current log has failed or is in doubt, or there is none.
  bool current_failed() const;
  std::vector<LogInfo> List() const;
  // Returns the numbers of all logs, preceded by those taken whose files are not gone yet.
  std::vector<uint64_t> ListWithLeaving() const;

 private:
  friend class LogHold;

  // A log of the set, and how far it is made durable.
  struct Log {
    uint64_t number = 0;
    uint64_t closed_bytes = 0;  // Bytes of a log without a writer.
    // Last ticket when it became current: of a predecessor record, or 0.
    uint64_t first_ticket = 0;
    wal::LogExtent synced;
    uint64_t name = 0;                       // Count of its name since the opening; 0: recovered.
    std::shared_ptr<wal::CommitLog> writer;  // Null when recovered or closed.
    bool sealed = false;                     // It is truncated, and will not be written.
    bool busy = false;                       // A thread is syncing or closing it, without mu_.
    uint32_t pins = 0;
    bool recyclable = false;    // Closed, and a later log may reuse its file.
    bool flushed = false;       // Its contents are in tables, so it needs no sync.
    bool in_doubt = false;      // A sync of it, or of its name, has failed, and it is not flushed.
    bool was_in_doubt = false;  // Was ever in doubt, or a write of a record in it failed.

    uint64_t bytes() const { return writer != nullptr ? writer->size() : closed_bytes; }
    bool empty() const { return writer == nullptr || writer->last_ticket() <= first_ticket; }
    bool durable() const {
      return flushed || writer == nullptr || writer->last_ticket() <= synced.ticket;
    }
    bool failed() const { return in_doubt || (writer != nullptr && writer->failed()); }
    bool doubtful() const { return was_in_doubt || failed(); }
  };

  // A log that is being synced, and what the sync has made durable.
  struct Dirty {
    std::shared_ptr<wal::CommitLog> log;
    wal::LogExtent covered;
  };

  // Syncs all logs, or with `current` false all but the current one, and waits for a running round
  // before.
  IOStatus SyncLogs(bool current);
  // Does this as one round, without waiting: no round may be running. Releases mu_ meanwhile.
  IOStatus SyncDirty(bool current) VARVE_REQUIRES(mu_);
  // Collects the logs that must be synced now, oldest first; or returns the error that prevents it.
  IOStatus CollectDirty(bool current, std::vector<Dirty>* dirty) VARVE_REQUIRES(mu_);
  // Returns the error of a sync that leaves one of the logs in doubt.
  IOStatus Doubt(bool current) const VARVE_REQUIRES(mu_);
  IOStatus SyncFiles(std::vector<Dirty>* dirty);  // Called without mu_.
  // Keeps the first error of a sync.
  void RememberError(const IOStatus& error) noexcept VARVE_REQUIRES(mu_);
  // Notes the result of a sync at each log.
  void NoteSynced(const std::vector<Dirty>& dirty, const IOStatus& result) VARVE_REQUIRES(mu_);
  // Returns null if all names are durable.
  FSDirectory* DirtyDirectory() const VARVE_REQUIRES(mu_);
  // Makes the names of all logs durable; releases mu_ meanwhile.
  IOStatus SyncDirectory() VARVE_REQUIRES(mu_);
  // Waits a moment for writers that will be in the same sync.
  void AwaitOtherWriters() VARVE_REQUIRES(mu_);
  // Returns the word on which callers of SyncTo sleep that sync number `round` covers: it changes
  // when that sync ends, and when one of them must begin it. Only two rounds are ever waited for:
  // the running one and the next.
  std::atomic<uint32_t>& FutexOf(uint64_t round) { return round_futexes_[round % 2]; }
  // True if sync number `round` has made everything durable.
  bool HasSucceeded(uint64_t round) const;
  // Notes the result of a round, and wakes those that it covers.
  void EndRound(uint64_t round, bool good) VARVE_REQUIRES(mu_);
  // Wakes a thread that waits for the next round, so that it begins that.
  void CallNextLeader() VARVE_REQUIRES(mu_);
  Log* Find(const wal::CommitLog* log) VARVE_REQUIRES(mu_);
  // Takes the writers of logs that need not stay open, for the caller to close: those that are
  // durable, and those below the number.
  std::vector<Retired> TakeKept(uint64_t min_number);
  // Called by LogHold.
  void Hold(uint64_t from);
  void LetGo(uint64_t from) noexcept;
  // Calls the waker if TakeObsolete has left a log that is obsolete now.
  void CallWaker() VARVE_REQUIRES(mu_);

  const bool use_fsync_;
  wal::SyncedMarks* const marks_;
  mutable Mutex mu_{lock_ranks::kLogSet};
  CondVar sync_done_;  // For those that only wait until no sync is running.
  CondVar directory_done_;
  std::deque<Log> logs_ VARVE_GUARDED_BY(mu_);  // Oldest first; the last is current.
  // Numbers of logs that are being taken out.
  std::set<uint64_t> leaving_ VARVE_GUARDED_BY(mu_);
  std::multiset<uint64_t> held_ VARVE_GUARDED_BY(mu_);  // First log held by each LogHold.
  // The log of logs_.back(). Only Switch changes it, when no writer is active.
  wal::CommitLog* current_ = nullptr;
  std::function<void()> waker_ VARVE_GUARDED_BY(mu_);
  bool left_obsolete_ VARVE_GUARDED_BY(mu_) = false;  // TakeObsolete left a log: call the waker.
  bool syncing_ VARVE_GUARDED_BY(mu_) = false;
  // Error of the first failed sync, while anything is in doubt because of it; operations that
  // depend on that fail with it.
  IOStatus sync_error_ VARVE_GUARDED_BY(mu_);
  // Syncs are numbered, so that a waiter is woken only for the one that covers it.
  uint64_t rounds_begun_ VARVE_GUARDED_BY(mu_) = 0;
  uint64_t rounds_done_ VARVE_GUARDED_BY(mu_) = 0;
  // The last round that made everything durable, and the last that did not. Stored (release) under
  // mu_; waiters covered by a good round leave without the mutex, for which they would all queue.
  std::atomic<uint64_t> last_good_round_{0};
  std::atomic<uint64_t> last_bad_round_{0};
  std::array<std::atomic<uint32_t>, 2> round_futexes_{};  // Changed under mu_.
  // Threads that sleep on either word, or are about to. Raised under mu_, so that 0 seen under mu_
  // means that there is no thread to wake; publishes nothing.
  std::atomic<uint64_t> sleepers_{0};
  uint64_t sync_requests_ VARVE_GUARDED_BY(mu_) = 0;
  std::atomic<uint64_t> callers_{0};  // SyncTo calls that have not returned; publishes nothing.
  uint64_t released_ VARVE_GUARDED_BY(mu_) = 0;  // Value of callers_ when the last round began.
  FSDirectory* directory_ VARVE_GUARDED_BY(mu_) = nullptr;
  // Names are counted when logs are switched to, so that a sync of the directory counts as covering
  // those that existed when it began.
  uint64_t names_ VARVE_GUARDED_BY(mu_) = 0;
  uint64_t synced_names_ VARVE_GUARDED_BY(mu_) = 0;
  // Directory syncs do not overlap, because the system would report a failure to only one of two.
  bool syncing_directory_ VARVE_GUARDED_BY(mu_) = false;
};

// Keeps the log of a number and all later ones in the set, with their files. The set must outlive
// it. Thread safety: none.
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

  // Holds the logs from that number on instead.
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
