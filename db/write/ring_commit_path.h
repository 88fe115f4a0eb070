// SPDX-License-Identifier: Apache-2.0
#pragma once

// The commit path that every mode shares: reserve, copy, insert, complete; and the gate that keeps
// writers out.

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

// What a mode adds is what it does with a write that is inserted, and how it answers reads.
class RingCommitPath : public CommitPath, private CommitRing::Listener {
 public:
  RingCommitPath(const CommitOptions& options, CommitHost* host, SequenceNumber last_sequence);

  Status Commit(const WriteOptions& options, WriteRequest* request,
                UserWriteCallback* callback) final;
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
  // What is left to do for a write that succeeded when its slot is complete.
  virtual void Finish(CommitRing::Ticket ticket) = 0;

  SequenceNumber newest() const { return newest_.load(std::memory_order_acquire); }
  SequenceNumber visible() const { return visible_.load(std::memory_order_acquire); }
  // Returns when every slot taken before has retired.
  void Drain();
  // Returns when this slot has retired, too.
  void WaitInOrder(CommitRing::Ticket ticket) { ring_.WaitRetired(ticket); }

 private:
  // A write's place in everything that is ordered.
  struct Reservation {
    CommitRing::Ticket ticket = 0;
    SequenceNumber sequence = 0;
    wal::LogReservation place;
    bool filled = false;
    const KeyHashes* keys = nullptr;  // null: they are not watched, or were not when it came
  };

  void Publish(SequenceNumber sequence) override;
  // Gives out numbers that no write has; returns when they are visible. `change` is called first,
  // in the same hold of the lock.
  template <typename Change>
  SequenceNumber GiveOut(uint64_t count, Change change) VARVE_EXCLUDES(lock_);
  Status Reserve(const WriteOptions& options, WriteRequest* request, Reservation* reservation);
  // Nothing but numbers is touched under the lock, and a small record copied.
  Status ReserveLocked(const WriteOptions& options, WriteRequest* request, Reservation* reservation)
      VARVE_REQUIRES(lock_);
  Status LogAndInsert(const WriteOptions& options, const WriteRequest& request,
                      const Reservation& reservation, UserWriteCallback* callback);
  Status WaitForLog(const wal::LogReservation& place, bool sync);
  Status Insert(const WriteRequest& request, SequenceNumber sequence);
  Status WaitAtGate(const WriteOptions& options);
  void CloseGate() VARVE_REQUIRES(gate_mu_);

  CommitHost* const host_;
  const bool insert_one_at_a_time_;
  // What is in stamps_, for those who do not hold lock_; it stays until the end.
  std::atomic<const KeyStamps*> watched_{nullptr};

  // Away from what is only read.
  alignas(64) TinyLock lock_;
  bool closed_ VARVE_GUARDED_BY(lock_) = false;                // nobody may take a slot for a write
  std::unique_ptr<KeyStamps> stamps_ VARVE_GUARDED_BY(lock_);  // null: keys are not watched
  int additions_ VARVE_GUARDED_BY(lock_) = 0;                  // begun and not ended
  // Changed under lock_; read without it by those who want to know what was given out (acquire: a
  // write that has returned is in).
  std::atomic<SequenceNumber> newest_;
  CommitRing ring_;  // Take and HasRoom under lock_
  // What was published; never above newest_. Changed by the one who retires slots.
  alignas(64) std::atomic<SequenceNumber> visible_;

  Mutex gate_mu_{lock_ranks::kCommitGate};
  CondVar gate_opened_{&gate_mu_};
  bool exclusive_ VARVE_GUARDED_BY(gate_mu_) =
      false;  // there is an exclusive holder, or about to be
  bool shut_down_ VARVE_GUARDED_BY(gate_mu_) = false;

  Mutex insert_mu_{lock_ranks::kInsertOne};  // with insert_one_at_a_time_
};

std::unique_ptr<CommitPath> NewOrderedCommitPath(const CommitOptions& options, CommitHost* host,
                                                 SequenceNumber last_sequence);
std::unique_ptr<CommitPath> NewUnorderedCommitPath(const CommitOptions& options, CommitHost* host,
                                                   SequenceNumber last_sequence);

}  // namespace varve
