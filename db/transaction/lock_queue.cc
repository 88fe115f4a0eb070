// SPDX-License-Identifier: Apache-2.0

// The queue of one key. Its holders are a list in no order; its waiters are a list in the order of
// service, upgrades first. Promote is the only place where a waiter is woken or becomes a holder,
// and is called after everything that may free the key: a release, a downgrade, a waiter that
// leaves, and a waiter that took the key shared and lets the next one share it.
//
// A waiter is woken first and takes the key itself, so that a running thread may overtake it. Only
// after kPassesMax such overtakings in a row the key is handed over to the sleeper.

#include "db/transaction/lock_queue.h"

#include <algorithm>

#include "util/base/assert.h"

namespace varve {

HeldLock* LockQueue::HolderOf(const LockOwner* owner) const {
  HeldLock* holder = holders_;
  while (holder != nullptr && holder->owner != owner) holder = holder->next_holder;
  return holder;
}

bool LockQueue::FreeFor(const LockOwner* owner, bool exclusive) {
  // Unlink invalidates the link of a holder, so the next one is read before.
  for (HeldLock* holder = holders_; holder != nullptr;) {
    HeldLock* const next = holder->next_holder;
    const bool conflicts = holder->owner != owner && (exclusive || holder->exclusive);
    if (conflicts) {
      const bool may_expire = holder->owner->expires_at() != 0;
      if (!may_expire || !holder->owner->LosesLocksAt(LockClockMicros())) return false;
      Unlink(holder);
    }
    holder = next;
  }
  return true;
}

void LockQueue::Link(HeldLock* record, bool exclusive) {
  record->exclusive = exclusive;
  if (!record->held) {
    record->held = true;
    record->queue = this;
    record->next_holder = holders_;
    holders_ = record;
    // The key's bytes must outlive the queue's use of them, so the newest holder lends its own.
    key_.key = record->key.key;
  }
}

void LockQueue::Unlink(HeldLock* record) {
  VARVE_ASSERT(record->held && record->queue == this);  // Invariant 2 of README.md.
  HeldLock** place = &holders_;
  while (*place != record) place = &(*place)->next_holder;
  *place = record->next_holder;
  record->held = false;
  MoveKeyFrom(record);
}

// The queue stores no bytes of its own: key_ points into the record of a holder or waiter. When
// that record leaves, another one that is still here takes over. Without any, the queue gets its
// next holder, or is removed, in the same hold of the latch.
//
//      key_ ---> bytes of T4's record       T4 releases, T1 still holds
//      key_ ---> bytes of T1's record
void LockQueue::MoveKeyFrom(const HeldLock* record) {
  // If the bytes belong to another record, that one is still here.
  if (key_.key.data() != record->key.key.data()) return;
  if (holders_ != nullptr) {
    key_.key = holders_->key.key;
  } else if (first_ != nullptr) {
    key_.key = first_->record->key.key;
  }
}

// Serves a thread that is running. It may pass those who sleep; an upgrade by the only holder
// passes without being counted, since no waiter could have the key before it anyway.
bool LockQueue::TryTake(HeldLock* record, bool exclusive) {
  VARVE_ASSERT(!record->held || exclusive);
  // An upgrade by the only holder is not delayed by waiters.
  const bool passes = first_ != nullptr && !record->held;
  if (passes && passes_ >= kPassesMax) return false;
  if (!FreeFor(record->owner, exclusive)) return false;
  if (passes) passes_++;
  Link(record, exclusive);
  // Invariant 1 of README.md.
  VARVE_ASSERT(holders_->next_holder == nullptr || (!exclusive && !holders_->exclusive));
  return true;
}

void LockQueue::Join(HeldLock* record) {
  Link(record, /*exclusive=*/true);
}

bool LockQueue::TryTake(LockWaiter* waiter, WakeList* wakes) {
  VARVE_ASSERT(waiter->state != WaitState::kGranted);
  // A waiter that is not the first must not overtake those before it, even if the key is free for
  // it.
  if (first_ != waiter || !FreeFor(waiter->record->owner, waiter->exclusive)) {
    waiter->state.store(WaitState::kWaiting, std::memory_order_relaxed);
    return false;
  }
  Dequeue(waiter);
  Link(waiter->record, waiter->exclusive);
  passes_ = 0;
  Promote(wakes);
  return true;
}

void LockQueue::Release(HeldLock* record, WakeList* wakes) {
  Unlink(record);
  Promote(wakes);
}

void LockQueue::Downgrade(HeldLock* record, WakeList* wakes) {
  VARVE_ASSERT(record->held && record->exclusive);
  record->exclusive = false;
  Promote(wakes);
}

void LockQueue::Enqueue(LockWaiter* waiter) {
  VARVE_ASSERT(waiter->sleeper != nullptr);
  VARVE_ASSERT(waiter->state == WaitState::kWaiting);
  VARVE_ASSERT(waiter->upgrade == waiter->record->held);
  LockWaiter* after = last_;
  if (waiter->upgrade) {
    // Inserts before the first waiter that holds nothing.
    after = nullptr;
    for (LockWaiter* w = first_; w != nullptr && w->upgrade; w = w->next) after = w;
  }
  waiter->previous = after;
  waiter->next = after == nullptr ? first_ : after->next;
  (after == nullptr ? first_ : after->next) = waiter;
  (waiter->next == nullptr ? last_ : waiter->next->previous) = waiter;
}

void LockQueue::Dequeue(LockWaiter* waiter) {
  // Invariant 3 of README.md: the waiter is in this queue.
  VARVE_ASSERT(first_ != nullptr && (waiter->previous != nullptr || waiter == first_));
  (waiter->previous == nullptr ? first_ : waiter->previous->next) = waiter->next;
  (waiter->next == nullptr ? last_ : waiter->next->previous) = waiter->previous;
}

void LockQueue::Leave(LockWaiter* waiter, WakeList* wakes) {
  VARVE_ASSERT(waiter->state != WaitState::kGranted);
  Dequeue(waiter);
  if (!waiter->upgrade) MoveKeyFrom(waiter->record);
  Promote(wakes);
}

// The state of the first waiter decides what happens when the key is free for it:
//
//      kWaiting --Promote--> kWoken --it runs, TryTake--> holder
//          ^                    |
//          +--- key was taken --+
//      kWaiting or kWoken --Promote, after kPassesMax passes--> kGranted, and holder at once
void LockQueue::Promote(WakeList* wakes) {
  while (first_ != nullptr) {
    LockWaiter* const waiter = first_;
    // Invariant 4 of README.md: the first waiter must wait for a holder, or is woken below.
    if (!FreeFor(waiter->record->owner, waiter->exclusive)) return;
    if (passes_ < kPassesMax) {
      if (waiter->state.load(std::memory_order_relaxed) == WaitState::kWaiting) {
        waiter->state.store(WaitState::kWoken, std::memory_order_release);
        wakes->Add(waiter->sleeper);
      }
      return;
    }
    Dequeue(waiter);
    Link(waiter->record, waiter->exclusive);
    // The lock is linked before the state says so: the waiter may act on the state without the
    // latch.
    waiter->state.store(WaitState::kGranted, std::memory_order_release);
    wakes->Add(waiter->sleeper);
    // Shared waiters that follow a shared one are granted together and do not reset the count.
    if (waiter->exclusive || first_ == nullptr || first_->exclusive) passes_ = 0;
  }
}

void LockQueue::BlockersOf(const LockWaiter& waiter, std::vector<TransactionID>* ids) const {
  for (const HeldLock* holder = holders_; holder != nullptr; holder = holder->next_holder) {
    // A waiter that wants to upgrade is among the holders itself, and does not wait for itself.
    if (holder->owner != waiter.record->owner && (waiter.exclusive || holder->exclusive)) {
      ids->push_back(holder->owner->id());
    }
  }
  for (const LockWaiter* w = first_; w != nullptr && w != &waiter; w = w->next) {
    // Waiters before this one block it as well, because the queue serves them first. Without these
    // edges a deadlock through the order of the queue would not be found.
    if (waiter.exclusive || w->exclusive) ids->push_back(w->record->owner->id());
  }
}

const LockWaiter* LockQueue::WaiterOf(TransactionID id) const {
  const LockWaiter* waiter = first_;
  while (waiter != nullptr && waiter->record->owner->id() != id) waiter = waiter->next;
  return waiter;
}

uint64_t LockQueue::NextExpiry(const LockWaiter& waiter) const {
  uint64_t soonest = UINT64_MAX;
  for (const HeldLock* holder = holders_; holder != nullptr; holder = holder->next_holder) {
    if (holder->owner != waiter.record->owner) {
      soonest = std::min(soonest, holder->owner->NextExpiryCheck());
    }
  }
  return soonest;
}

}  // namespace varve
