// SPDX-License-Identifier: Apache-2.0
#pragma once

// LockQueue stores who holds one key, who waits for it, and who is next.

#include <atomic>
#include <cstdint>
#include <vector>

#include "db/transaction/lock_owner.h"
#include "db/transaction/lock_sleeper.h"

namespace varve {

// A waiting request; it lies on the stack of its thread.
struct LockWaiter {
  // These do not change while it waits.
  HeldLock* record = nullptr;  // The lock to acquire; for an upgrade, the one it holds.
  bool exclusive = false;
  bool upgrade = false;
  LockSleeper* sleeper = nullptr;

  // These change under the latch, but the sleeper also reads the state without it.
  std::atomic<WaitState> state{WaitState::kWaiting};
  LockWaiter* previous = nullptr;
  LockWaiter* next = nullptr;
};

// First come, first served, with two exceptions. A holder of a shared lock that wants to upgrade
// comes before all waiters that hold nothing. And a running thread may overtake sleeping ones,
// kPassesMax times in a row, because a lock that always waits for its next holder to wake up is
// idle most of the time. After that the lock is handed over to the first sleeper when it is free.
//
// Keeps invariants 1 to 4 of README.md. Also, a waiter that is granted the lock in its sleep
// becomes a holder before it wakes.
//
// Thread safety: guarded by the latch of its part.
class LockQueue {
 public:
  static constexpr uint32_t kPassesMax = 16;

  // Reinitializes the queue for a key without holders and waiters. The bytes belong to a record.
  void Begin(const LockKey& key) {
    key_ = key;
    holders_ = nullptr;
    first_ = last_ = nullptr;
    passes_ = 0;
  }

  // Returns the key, whose bytes lie in the record of a holder or waiter.
  const LockKey& key() const { return key_; }
  // True if this is the queue of the key. The hash, which differs for nearly all other keys, is
  // compared first.
  bool Is(const LockKey& key) const {
    return key_.hash == key.hash && key_.family == key.family && key_.key == key.key;
  }
  // True if the key has neither holders nor waiters; the part then removes the queue.
  bool unused() const { return holders_ == nullptr && first_ == nullptr; }
  // Returns the owner's lock, or null if it is none of the holders.
  HeldLock* HolderOf(const LockOwner* owner) const;
  // Returns the first holder; next_holder leads to the others. Null: the key is free.
  const HeldLock* holders() const { return holders_; }
  HeldLock* holders() { return holders_; }

  // Gives the lock to a request that does not wait, if it is free for it: `record` is not held, or
  // is held, shared, and becomes exclusive. Returns false if the request must wait.
  bool TryTake(HeldLock* record, bool exclusive);
  // Gives the lock to a recovered transaction, exclusively, even if others hold it.
  void Join(HeldLock* record);
  // Gives the lock to a waiter that is awake, if it is the first and the lock is free for it. On
  // success the waiter has left the queue; otherwise its state is kWaiting.
  bool TryTake(LockWaiter* waiter, WakeList* wakes);
  // Ends a holder's lock, and hands the key on. `wakes` gets the sleepers to wake when the latch is
  // released.
  void Release(HeldLock* record, WakeList* wakes);
  // Makes an exclusive lock shared again.
  void Downgrade(HeldLock* record, WakeList* wakes);

  // Adds a waiter, which must stay where it is until it leaves: an upgrade before all waiters that
  // hold nothing, others at the end.
  void Enqueue(LockWaiter* waiter);
  // Removes a waiter that did not get the lock.
  void Leave(LockWaiter* waiter, WakeList* wakes);

  // Adds to *ids the transactions that the waiter waits for: holders, and waiters before this one,
  // that conflict with it.
  void BlockersOf(const LockWaiter& waiter, std::vector<TransactionID>* ids) const;
  // Returns the transaction's waiter, or null if it does not wait here.
  const LockWaiter* WaiterOf(TransactionID id) const;
  // Returns the earliest time, by LockClockMicros, at which to check again whether a lock of those
  // holders may be taken away; UINT64_MAX: never.
  uint64_t NextExpiry(const LockWaiter& waiter) const;

  LockQueue* next_in_chain = nullptr;  // Next queue in its part's chain.

 private:
  // True if no holder conflicts with the owner. Conflicting holders that have expired lose the
  // lock.
  bool FreeFor(const LockOwner* owner, bool exclusive);
  // Add a holder, and remove one.
  void Link(HeldLock* record, bool exclusive);
  void Unlink(HeldLock* record);
  // Removes a waiter from the list.
  void Dequeue(LockWaiter* waiter);
  // Grants the lock to the next waiters, or wakes them.
  void Promote(WakeList* wakes);
  // Called when this record, to which the key's bytes belong, is released: moves the key to another
  // record.
  void MoveKeyFrom(const HeldLock* record);

  // The key; its bytes are those of a holder's or a waiter's record.
  LockKey key_;
  // Transactions that hold the key, in no order.
  HeldLock* holders_ = nullptr;
  // Waiters in the order in which they are served.
  LockWaiter* first_ = nullptr;
  LockWaiter* last_ = nullptr;
  uint32_t passes_ = 0;  // Number of threads that have overtaken since a waiter got the lock.
};

}  // namespace varve
