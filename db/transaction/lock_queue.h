// SPDX-License-Identifier: Apache-2.0
#pragma once

// LockQueue: who holds one key, who waits for it, and who is next.

#include <atomic>
#include <cstdint>
#include <vector>

#include "db/transaction/lock_owner.h"
#include "db/transaction/lock_sleeper.h"

namespace varve {

// One who waits; on the stack of its thread.
struct LockWaiter {
  // Constant while it waits.
  HeldLock* record = nullptr;  // what it will hold; of an upgrade: what it holds already
  bool exclusive = false;
  bool upgrade = false;
  LockSleeper* sleeper = nullptr;

  // Changed under the latch, but for the sleeper's look at the state.
  std::atomic<WaitState> state{WaitState::kWaiting};
  LockWaiter* previous = nullptr;
  LockWaiter* next = nullptr;
};

// First come, first served, with two exceptions. Whoever wants more than the shared lock that it
// has goes before all who have nothing. And a running thread may pass those that sleep, kPassesMax
// times in a row: a lock that always waits for its next holder to wake up is idle most of the time.
// After that the lock is handed over to the first sleeper when it is free.
//
// Rules: no two holders unless both are shared, or one has joined; a holder that was granted a lock
// while it slept is in the list of holders before it wakes; the first waiter has been woken, or
// somebody holds what it waits for.
//
// Thread safety: under the latch of its part.
class LockQueue {
 public:
  static constexpr uint32_t kPassesMax = 16;

  // A place for a key that nobody holds or waits for. The bytes belong to a record.
  void Begin(const LockKey& key) {
    key_ = key;
    holders_ = nullptr;
    first_ = last_ = nullptr;
    passes_ = 0;
  }

  const LockKey& key() const { return key_; }
  bool Is(const LockKey& key) const {
    return key_.hash == key.hash && key_.family == key.family && key_.key == key.key;
  }
  bool unused() const { return holders_ == nullptr && first_ == nullptr; }
  HeldLock* HolderOf(const LockOwner* owner) const;
  const HeldLock* holders() const { return holders_; }
  HeldLock* holders() { return holders_; }

  // Gives the lock to one who does not wait, if it may have it now: `record` is not held, or it is
  // held, shared, and becomes exclusive. False: it must wait.
  bool TryTake(HeldLock* record, bool exclusive);
  // Gives it the lock, exclusively, beside whoever has it.
  void Join(HeldLock* record);
  // TryTake for a waiter that is awake. On success it is out of the queue.
  bool TryTake(LockWaiter* waiter, WakeList* wakes);
  void Release(HeldLock* record, WakeList* wakes);
  // Back to shared.
  void Downgrade(HeldLock* record, WakeList* wakes);

  void Enqueue(LockWaiter* waiter);
  // Takes a waiter out that has not got the lock.
  void Leave(LockWaiter* waiter, WakeList* wakes);

  // Whom the waiter waits for: holders, and those before it, that want what it excludes.
  void BlockersOf(const LockWaiter& waiter, std::vector<TransactionID>* ids) const;
  const LockWaiter* WaiterOf(TransactionID id) const;
  // When the first of those holders may be robbed, by LockClockMicros; UINT64_MAX: never. Those
  // whose time is over, and who were not robbed, are about to give it up themselves.
  uint64_t NextExpiry(const LockWaiter& waiter) const;

  LockQueue* next_in_chain = nullptr;  // its part's

 private:
  bool FreeFor(const LockOwner* owner, bool exclusive);
  void Link(HeldLock* record, bool exclusive);
  void Unlink(HeldLock* record);
  void Dequeue(LockWaiter* waiter);
  // Hands the lock to those who are next, or wakes them.
  void Promote(WakeList* wakes);
  // The key's bytes are going away with this record.
  void MoveKeyFrom(const HeldLock* record);

  LockKey key_;
  HeldLock* holders_ = nullptr;
  LockWaiter* first_ = nullptr;
  LockWaiter* last_ = nullptr;
  uint32_t passes_ = 0;  // since a waiter had the lock
};

}  // namespace varve
