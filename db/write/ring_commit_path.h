// SPDX-License-Identifier: Apache-2.0
#pragma once

// The common part of all commit paths: reserve, copy, insert, complete; and the gate that keeps
// writers out. ring_commit_path.cc has the order of the steps and the invariants.
//
// Three locks, in this order: gate_mu_ (who may close the gate), lock_ (a few instructions in which
// a write gets its place in all orders), and, below both, the state of the log. Threads sleep at
// three places: at the gate, for room in the ring, and for the log or visibility. None of these is
// reached with lock_ held.

#include <atomic>
#include <memory>

#include "db/lock_ranks.h"
#include "db/write/commit_path.h"
#include "db/write/commit_ring.h"
#include "db/write/key_stamps.h"
#include "db/write/tiny_lock.h"
#include "util/key/internal_key.h"
#include "util/sync/mutex.h"

namespace varve {

// Subclasses decide what happens to an inserted write, and how reads are answered. Thread safety:
// that of CommitPath. No writer or waiter may be inside when the path is destroyed.
class RingCommitPath : public CommitPath, private CommitRing::Listener {
 public:
  RingCommitPath(const CommitOptions& options, CommitHost* host, SequenceNumber last_sequence);

  Status Commit(const WriteOptions& options, WriteRequest* request,
                UserWriteCallback* callback) final;
  CommitTotals Totals() const final VARVE_EXCLUDES(lock_);
  void StartFrom(SequenceNumber last) final {
    newest_.store(last, std::memory_order_release);
    visible_.store(last, std::memory_order_release);
  }
  void WatchKeys() final;
  void ExpectCondition(const WriteCondition& condition) final;
  void WaitForAll() final { Drain(); }
  void RaiseTo(SequenceNumber sequence) final;
  SequenceNumber BeginAddition(uint64_t count) final;
  SequenceNumber EndAddition() final;
  void EnterExclusive() final;
  bool EnterExclusiveWithin(uint64_t micros) final;
  void ExitExclusive() final;
  void Shutdown() final;

 protected:
  // Finishes a write that succeeded, after its slot is complete.
  virtual void Finish(CommitRing::Ticket ticket) = 0;

  // Returns the newest number that was assigned.
  SequenceNumber newest() const { return newest_.load(std::memory_order_acquire); }
  // Returns the newest number that readers may use.
  SequenceNumber visible() const { return visible_.load(std::memory_order_acquire); }
  // Waits until every slot taken before has retired.
  void Drain();
  // Waits until this slot has retired, too.
  void WaitInOrder(CommitRing::Ticket ticket) { ring_.WaitRetired(ticket); }

 private:
  // A write's place in all orders.
  struct Reservation {
    CommitRing::Ticket ticket = 0;
    SequenceNumber sequence = 0;
    wal::LogReservation place;
    // True if the record was copied into the log while its place was assigned.
    bool filled = false;
    const KeyHashes* keys = nullptr;  // Null: keys were not tracked when it came.
  };

  // Called by the ring when everything up to `sequence` is complete; makes it visible.
  void Publish(SequenceNumber sequence) override;
  // Assigns numbers that belong to no write; returns the newest number before them, when they are
  // visible. Calls `change` first, under the same hold of the lock, which may change the count.
  template <typename Change>
  SequenceNumber GiveOut(uint64_t count, Change change) VARVE_EXCLUDES(lock_);
  // Commits a write whose keys are stamped; apart from the usual way, whose stack need not have
  // room for the hashes of the keys.
  [[gnu::noinline]] Status CommitWatched(const WriteOptions& options, WriteRequest* request,
                                         UserWriteCallback* callback, const KeyStamps& watched);
  // Does a write's steps. `keys` are null if its keys are not stamped.
  Status CommitWithKeys(const WriteOptions& options, WriteRequest* request,
                        UserWriteCallback* callback, const KeyHashes* keys);
  // Gets the write its place, after waiting for the gate, for the host's consent and for room in
  // the ring. On an error it has none.
  Status Reserve(const WriteOptions& options, WriteRequest* request, Reservation* reservation);
  // Under the lock only numbers are assigned, and a small record is copied.
  Status ReserveLocked(const WriteOptions& options, WriteRequest* request, Reservation* reservation)
      VARVE_REQUIRES(lock_);
  // Does everything between a write's place and its completion, and reports failures to the host.
  Status LogAndInsert(const WriteOptions& options, const WriteRequest& request,
                      const Reservation& reservation, UserWriteCallback* callback);
  // Waits until the log is whole up to this record, and durable if `sync`.
  Status WaitForLog(const wal::LogReservation& place, bool sync);
  // Inserts the updates into the memtables, one writer at a time if the options say so.
  Status Insert(const WriteRequest& request, SequenceNumber sequence);
  // Waits until no exclusive holder keeps writers out. With no_slowdown it returns Incomplete after
  // a moment instead. Returns ShutdownInProgress if writers are kept out for good.
  Status WaitAtGate(const WriteOptions& options);
  // Makes Reserve turn writers away. Writers that have a ticket go on.
  void CloseGate() VARVE_REQUIRES(gate_mu_);

  // Borrowed; outlives the path.
  CommitHost* const host_;
  // True if a memtable of the database takes only one writer.
  const bool insert_one_at_a_time_;
  // Equals stamps_, for threads that do not hold lock_; once set it does not change.
  std::atomic<const KeyStamps*> watched_{nullptr};

  // On its own cache line, away from read-only members.
  alignas(64) mutable TinyLock lock_;
  bool closed_ VARVE_GUARDED_BY(lock_) = false;                // No write may take a slot.
  std::unique_ptr<KeyStamps> stamps_ VARVE_GUARDED_BY(lock_);  // Null: keys are not tracked.
  // Changed under lock_; read without it to find what was assigned (acquire: includes every write
  // that has returned).
  std::atomic<SequenceNumber> newest_;
  CommitTotals totals_ VARVE_GUARDED_BY(lock_);  // Ends the line that each write changes anyway.
  int additions_ VARVE_GUARDED_BY(lock_) = 0;    // Begun but not ended.
  CommitRing ring_;                              // Take and HasRoom are called under lock_.
  // Newest published number; never above newest_. Changed by the thread that retires slots.
  alignas(64) std::atomic<SequenceNumber> visible_;

  Mutex gate_mu_{lock_ranks::kCommitGate};
  CondVar gate_opened_{&gate_mu_};
  // True while a thread keeps writers out, or waits for those that are inside to end.
  bool exclusive_ VARVE_GUARDED_BY(gate_mu_) = false;
  // True once Shutdown was called; the gate stays closed.
  bool shut_down_ VARVE_GUARDED_BY(gate_mu_) = false;

  Mutex insert_mu_{lock_ranks::kInsertOne};  // Used with insert_one_at_a_time_.
};

std::unique_ptr<CommitPath> NewOrderedCommitPath(const CommitOptions& options, CommitHost* host,
                                                 SequenceNumber last_sequence);
std::unique_ptr<CommitPath> NewUnorderedCommitPath(const CommitOptions& options, CommitHost* host,
                                                   SequenceNumber last_sequence);

}  // namespace varve
