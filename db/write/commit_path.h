// SPDX-License-Identifier: Apache-2.0
#pragma once

// The interface of commit paths, which bring all writes into one order, and what they need from the
// database.

#include <cstdint>
#include <memory>
#include <optional>

#include "varve/options.h"
#include "varve/slice.h"
#include "varve/status.h"
#include "varve/types.h"
#include "varve/user_write_callback.h"

#include "db/active_work.h"
#include "db/wal/commit_log.h"
#include "db/write/write_request.h"

namespace varve {

struct WriteCondition;  // Declared in key_stamps.h.

// Time that a write with no_slowdown waits for a thread that keeps writes out (a memtable switch,
// LockWAL) before it gives up.
constexpr uint64_t kNoSlowdownMicros = 1000;

// The calls that a commit path needs from the database. None of the calls waits for stalls or full
// memtables, because write admission has done so before (db/engine/write_admission.h). The host
// must outlive the path.
//
// Thread safety: Refuses and ReserveLog are called under the path's lock, and Publish by one thread
// at a time. The others may be called by several writers' threads at once.
class CommitHost {
 public:
  virtual ~CommitHost() = default;
  // True if keys with different bytes are always different keys of the column family. Any thread.
  virtual bool BytesDecideIn(uint32_t column_family) = 0;
  // Refuses returns true if the write may have to be refused (two loads). Then the path calls
  // Refusal without its lock, which returns the error, or OK: then Refuses is asked again. Refuses
  // is called where the order is assigned: conditions that made the database refuse writes before
  // an EnterExclusive, and families dropped there, are seen by every later write.
  virtual bool Refuses(const WriteRequest& request) const = 0;
  virtual Status Refusal(WriteRequest* request) = 0;
  // Reserves the place of the next record in the log, and sets *place. Calls must not overlap, and
  // their order is that of sequence numbers. The place is filled and waited for through its log.
  virtual Status ReserveLog(size_t bytes, wal::LogReservation* place) = 0;
  // Makes the log durable up to this place. Any thread.
  virtual Status SyncLog(const wal::LogReservation& place) = 0;
  // Applies the updates to the memtables with sequence numbers from `sequence` on. Any thread.
  virtual Status Insert(const WriteRequest& request, SequenceNumber sequence) = 0;
  // Makes everything up to `sequence` visible to readers. Never called with a smaller one.
  virtual void Publish(SequenceNumber sequence) = 0;
  // Called by each write whose log append or sync failed, perhaps several at once. The database
  // decides what still works, and refuses writes when this returns. Each caller returns the
  // resulting status.
  virtual Status OnLogError(const Status& status) = 0;
  // Called when an insertion failed. When this returns, updates of these sequence numbers that are
  // in memtables can never become visible. Visibility has not reached the caller's write yet.
  virtual Status OnInsertError(const Status& status, SequenceNumber first, SequenceNumber last) = 0;
};

// Says when a write returns, and when it becomes visible. README.md and varve/options.h describe
// the consequences.
enum class CommitMode {
  kOrdered,    // A write returns when it and all before it are visible.
  kUnordered,  // A write returns when it is inserted; visibility follows.
};

// Says how a commit path works; chosen at the opening.
struct CommitOptions {
  CommitMode mode = CommitMode::kOrdered;
  bool insert_one_at_a_time = false;  // For memtables that take only one writer.
};

// Counts of the writes that got a place in the order since the path was made. Those that failed
// later are among them.
struct CommitTotals {
  uint64_t writes = 0;
  uint64_t keys = 0;   // Sequence numbers.
  uint64_t bytes = 0;  // Bytes of batches.
  uint64_t logged_writes = 0;
  uint64_t logged_bytes = 0;
};

// Commits requests in one order; the order of the log is that of sequence numbers.
//
// Thread safety: any thread may call any method.
class CommitPath {
 public:
  virtual ~CommitPath() = default;
  // Requires that the request was checked (CheckRequest). On OK the write is in the log (unless
  // disableWAL), inserted and, in ordered mode, visible. After a failure it is absent; if the
  // database is opened again before it has recovered from the failure, it is whole or absent,
  // depending on its log. Busy, with no effect: the request's condition refuses it (and `refused`
  // is set), or the thread holds up writers, or has the DB mutex. Incomplete: a thread keeps
  // writers out, and the write has no_slowdown. ShutdownInProgress: Shutdown was called. Otherwise
  // returns the error of CommitHost. The callback may be null.
  virtual Status Commit(const WriteOptions& options, WriteRequest* request,
                        UserWriteCallback* callback) = 0;

  // Returns the newest sequence number assigned. In unordered mode, a read at it sees every write
  // that has returned OK.
  virtual SequenceNumber NewestSequence() const = 0;
  // Returns the counts of writes for users' statistics.
  virtual CommitTotals Totals() const = 0;
  // Waits until everything that was assigned before the call is visible (or has failed).
  virtual void WaitUntilVisible() = 0;

  // Makes all sequence numbers up to `last` visible; the next write follows it. Requires that there
  // are no writers, as when another process writes.
  virtual void StartFrom(SequenceNumber /*last*/) {}

  // From now on the order of writes is tracked by key (key_stamps.h), and requests may have
  // conditions. Cannot be undone.
  virtual void WatchKeys() = 0;
  // Prefetches the memory that checking this condition will need.
  virtual void ExpectCondition(const WriteCondition& condition) = 0;
  // Waits until everything that was assigned before the call is inserted and visible.
  virtual void WaitForAll() = 0;

  // Assigns all sequence numbers up to this one to no write, because tables that have such are
  // about to be added. The caller must hold the path exclusively, and not the DB mutex.
  virtual void RaiseTo(SequenceNumber sequence) = 0;

  // Must be called before tables are added to the database by a caller that knows their place in
  // the order of writes. Assigns `count` sequence numbers to no write, and returns the first. They
  // are visible at once, although readers do not have the tables yet; so requests with conditions
  // are refused until EndAddition. With a count above 0 the path must be held exclusively.
  virtual SequenceNumber BeginAddition(uint64_t count) = 0;
  // Must be called when readers have the tables. If keys are tracked, one more number is assigned,
  // and conditions that rely on older ones are refused, because they may rely on reads without the
  // tables. Returns the newest number assigned. Must not be called under the DB mutex.
  virtual SequenceNumber EndAddition() = 0;

  // Keeps all writers out until ExitExclusive: no insertion is running, the log is whole, and the
  // calling thread may change the log and the memtables. Throws RefusedCall if the thread has a
  // write in progress, or already keeps writers out. Another thread may call ExitExclusive. Writes
  // with no_slowdown that meet an exclusive holder return Incomplete after a moment.
  virtual void EnterExclusive() = 0;
  // Does what EnterExclusive does, but returns false, and has not entered, if another exclusive
  // holder has not left within that time; for writes with no_slowdown.
  virtual bool EnterExclusiveWithin(uint64_t micros) = 0;
  virtual void ExitExclusive() = 0;
  // Refuses all writes from now on, and returns when none is running. Does not wait for a thread
  // that is between EnterExclusive and ExitExclusive; both may still be called.
  virtual void Shutdown() = 0;
};

// Keeps every writer out until Leave or the end of its scope. Thread safety: none; the thread that
// makes it also ends it, since it notes work of that thread (ActiveWork).
class ExclusiveCommit {
 public:
  explicit ExclusiveCommit(CommitPath* path) : path_(path) {
    path_->EnterExclusive();
    BeginActiveWork();
  }
  // Selects the constructor for a caller that has entered already.
  struct Entered {};
  ExclusiveCommit(CommitPath* path, Entered) : path_(path) { BeginActiveWork(); }
  ~ExclusiveCommit() { Leave(); }
  ExclusiveCommit(const ExclusiveCommit&) = delete;
  ExclusiveCommit& operator=(const ExclusiveCommit&) = delete;

  void Leave() {
    active_work_.reset();
    if (path_ != nullptr) path_->ExitExclusive();
    path_ = nullptr;
  }

 private:
  void BeginActiveWork() {
    active_work_.emplace(ActiveWork::kCommit, path_, "writers, who are kept out,");
  }

  CommitPath* path_;
  std::optional<ActiveWork> active_work_;
};

// `last_sequence` is the newest sequence number in use.
std::unique_ptr<CommitPath> NewCommitPath(const CommitOptions& options, CommitHost* host,
                                          SequenceNumber last_sequence);

}  // namespace varve
