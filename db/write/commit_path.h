// SPDX-License-Identifier: Apache-2.0
#pragma once

// How writers become one order: the interface of a commit path, and what it asks of the database.

#include <cstdint>
#include <memory>
#include <optional>

#include "varve/options.h"
#include "varve/slice.h"
#include "varve/status.h"
#include "varve/types.h"
#include "varve/user_write_callback.h"

#include "db/thread_duties.h"
#include "db/wal/commit_log.h"
#include "db/write/write_request.h"

namespace varve {

struct WriteCondition;  // key_stamps.h

// How long a write with no_slowdown waits for a thread that keeps writes out (a memtable switch,
// LockWAL) before it gives up.
constexpr uint64_t kNoSlowdownMicros = 1000;

// What a commit path asks of the database. None of it waits for stalls or full memtables: that is
// over before a write enters the path (db/engine/write_admission.h).
class CommitHost {
 public:
  virtual ~CommitHost() = default;
  // Whether keys of different bytes are different keys of the column family. Any thread.
  virtual bool BytesDecideIn(uint32_t column_family) = 0;
  // Whether the write may be refused (two loads), and why; OK: it is not. Asked where order is
  // given out: what made the database refuse writes before an EnterExclusive is seen by every write
  // after it, and so are the families that were dropped there.
  virtual bool Refuses(const WriteRequest& request) const = 0;
  virtual Status Refusal(WriteRequest* request) = 0;
  // The place of the next record in the log. Calls must not overlap, and their order is the order
  // of sequence numbers. The place is filled and waited for through its log.
  virtual Status ReserveLog(size_t bytes, wal::LogReservation* place) = 0;
  // Makes durable what is in the log up to this place. Any thread.
  virtual Status SyncLog(const wal::LogReservation& place) = 0;
  // Applies the updates to the memtables with the sequences from `sequence` on. Any thread.
  virtual Status Insert(const WriteRequest& request, SequenceNumber sequence) = 0;
  // Makes everything up to `sequence` visible to readers. Never called with a smaller one.
  virtual void Publish(SequenceNumber sequence) = 0;
  // A log append or sync failed: the database decides what still works, and refuses writes when
  // this returns. Each write that failed says so, several at once, and gives its caller what this
  // returns.
  virtual Status OnLogError(const Status& status) = 0;
  // The same of an insertion. Whatever of these sequences has got into the memtables is never seen
  // any more when this returns. Visibility has not passed the caller yet.
  virtual Status OnInsertError(const Status& status, SequenceNumber first, SequenceNumber last) = 0;
};

// When a write may return, and when it is seen. README.md and varve/options.h say what follows.
enum class CommitMode {
  kOrdered,    // a write returns when it and all before it are visible
  kUnordered,  // a write returns when it is inserted; what is visible follows
};

struct CommitOptions {
  CommitMode mode = CommitMode::kOrdered;
  bool insert_one_at_a_time = false;  // for memtables that take one writer only
};

// Commits requests in one order; the order of the log is the order of sequences.
//
// Thread safety: every method from any thread.
class CommitPath {
 public:
  virtual ~CommitPath() = default;
  // The request has been checked (CheckRequest). On OK it is in the log (unless disableWAL),
  // inserted and, in ordered mode, visible. After a failure it is absent; if the database is opened
  // again before it has recovered from the failure, it is whole or absent, as its log may have it.
  // Busy, and nothing has happened, if the request's condition refuses. The callback may be null.
  virtual Status Commit(const WriteOptions& options, WriteRequest* request,
                        UserWriteCallback* callback) = 0;

  // The newest sequence given out. Without order, a read at it sees every write that has returned
  // OK.
  virtual SequenceNumber NewestSequence() const = 0;
  // Returns when everything given out before the call is visible (or has failed).
  virtual void WaitUntilVisible() = 0;

  // The next write comes after `last`, and all up to it is visible. While nobody writes: where
  // another process does.
  virtual void StartFrom(SequenceNumber /*last*/) {}

  // From now on the order of writes is watched by key (key_stamps.h), and requests may have
  // conditions. Cannot be undone.
  virtual void WatchKeys() = 0;
  // A request with this condition is on its way: asks for the memory that it will need.
  virtual void ExpectCondition(const WriteCondition& condition) = 0;
  // Returns when everything given out before the call has been inserted, and is visible.
  virtual void WaitForAll() = 0;

  // Gives out all numbers up to this one, which are nobody's: tables are about to be added that
  // have such. Held exclusively by the caller, who does not have the DB mutex.
  virtual void RaiseTo(SequenceNumber sequence) = 0;

  // Tables are about to be added to the database, by a caller that knows where in the order of
  // writes they belong: gives out `count` numbers that no write has, the first of which is
  // returned. They are visible at once, though readers do not have the tables yet; so requests with
  // conditions are refused until EndAddition. With a count above 0 the path is held exclusively.
  virtual SequenceNumber BeginAddition(uint64_t count) = 0;
  // Readers have them. If keys are watched, one more number is given out, and conditions that go by
  // older ones are refused: they may go by what was read without the tables. Returns the newest
  // number given out. Not under the DB mutex.
  virtual SequenceNumber EndAddition() = 0;

  // Keeps every writer out between the two calls: no insertion is under way, the log is whole, and
  // the calling thread may change the log and the memtables. Throws RefusedCall where the thread
  // has a write on its way, or keeps writers out already. ExitExclusive may come from another
  // thread. Writes with no_slowdown that find an exclusive holder fail as Incomplete after a
  // moment.
  virtual void EnterExclusive() = 0;
  // False when another exclusive holder has not left after so long; for writes with no_slowdown.
  // Throws as EnterExclusive does.
  virtual bool EnterExclusiveWithin(uint64_t micros) = 0;
  virtual void ExitExclusive() = 0;
  // Refuses all writes from now on, and returns when none is under way. Does not wait for a thread
  // that is between EnterExclusive and ExitExclusive; both may still be called.
  virtual void Shutdown() = 0;
};

// Keeps every writer out until it is left or its scope ends, however that comes.
class ExclusiveCommit {
 public:
  explicit ExclusiveCommit(CommitPath* path) : path_(path) {
    path_->EnterExclusive();
    BeginDuty();
  }
  // Of a caller that has entered already.
  struct Entered {};
  ExclusiveCommit(CommitPath* path, Entered) : path_(path) { BeginDuty(); }
  ~ExclusiveCommit() { Leave(); }
  ExclusiveCommit(const ExclusiveCommit&) = delete;
  ExclusiveCommit& operator=(const ExclusiveCommit&) = delete;

  void Leave() {
    duty_.reset();
    if (path_ != nullptr) path_->ExitExclusive();
    path_ = nullptr;
  }

 private:
  void BeginDuty() { duty_.emplace(Duty::kCommit, path_, "writers, who are kept out,"); }

  CommitPath* path_;
  std::optional<Duty> duty_;
};

// `last_sequence` is the newest sequence in use.
std::unique_ptr<CommitPath> NewCommitPath(const CommitOptions& options, CommitHost* host,
                                          SequenceNumber last_sequence);

}  // namespace varve
