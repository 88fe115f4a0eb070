// SPDX-License-Identifier: Apache-2.0
#pragma once

// LockPart is a part of the lock table with its own latch.
//
// The table is cut into parts so that transactions on different keys rarely meet at one latch. A
// part is a hash table from keys to queues:
//
//      few locks:    latch | only_chain_ -> queue -> queue -> queue
//      many locks:   latch | chains_[0] -> queue
//                          | chains_[1] -> -
//                          | chains_[2] -> queue -> queue       bits 32.. of the hash select
//
// The bits of a key's hash are used once each: the low ones for the part, those from 32 on for the
// chain. A part is aligned to cache lines, so that two latches are never in one.

#include <cstddef>
#include <memory>
#include <vector>

#include "db/transaction/lock_queue.h"
#include "db/write/tiny_lock.h"

namespace varve {

// Holds a latch for a scope, or for a part of it.
class VARVE_SCOPED_CAPABILITY LatchGuard {
 public:
  explicit LatchGuard(TinyLock* latch) VARVE_ACQUIRE(latch) : latch_(latch) { latch_->Lock(); }
  ~LatchGuard() VARVE_RELEASE() {
    if (held_) latch_->Unlock();
  }
  LatchGuard(const LatchGuard&) = delete;
  LatchGuard& operator=(const LatchGuard&) = delete;

  // Releases the latch before the end of the scope.
  void Unlock() VARVE_RELEASE() {
    held_ = false;
    latch_->Unlock();
  }
  // Takes the latch again after Unlock.
  void Lock() VARVE_ACQUIRE() {
    latch_->Lock();
    held_ = true;
  }

 private:
  TinyLock* const latch_;
  bool held_ = true;
};

// A chained hash table of queues, which grows by doubling. Its first chain lies beside the latch,
// because most parts never have more than a few locks. Queues are allocated in blocks and reused.
class alignas(64) LockPart {
 public:
  // Guards the part, its queues, and these members of the HeldLocks of its keys: `held`,
  // `exclusive`, `queue`, `next_holder` and, as described there, `place_in_order`. At most one
  // latch is held at a time. If the mutex of the ranges (LockRanges) is held, too, it is locked
  // first.
  TinyLock latch;

  // Returns the queue of the key, or nullptr. The low bits of the hash select the part, so the high
  // ones select the chain.
  LockQueue* Find(const LockKey& key) VARVE_REQUIRES(latch) {
    if (used_ == 0) return nullptr;
    LockQueue* queue = *ChainOf(key.hash);
    while (queue != nullptr && !queue->Is(key)) queue = queue->next_in_chain;
    return queue;
  }
  // Adds a queue. Requires that the key has none. Throws std::bad_alloc, with nothing changed.
  LockQueue* Add(const LockKey& key) VARVE_REQUIRES(latch);
  // Removes an unused queue from its chain, and keeps it for another key.
  void Remove(LockQueue* queue) VARVE_REQUIRES(latch);

  // Calls `visit` for every queue.
  template <typename Visit>  // void(LockQueue&)
  void VisitAll(Visit visit) VARVE_REQUIRES(latch) {
    const auto visit_chain = [&](LockQueue* queue) {
      for (; queue != nullptr; queue = queue->next_in_chain) visit(*queue);
    };
    visit_chain(only_chain_);
    for (LockQueue* const queue : chains_) visit_chain(queue);
  }
  // Visits some of the queues, beginning at *chain, so that the latch is not held for long; returns
  // false if these were the last. The table may grow between two calls: queues from before the
  // first call are all visited, perhaps twice.
  template <typename Visit>  // void(LockQueue&)
  bool VisitSome(size_t* chain, Visit visit) VARVE_REQUIRES(latch) {
    if (used_ == 0) return false;
    size_t seen = 0;
    const auto visit_chain = [&](LockQueue* queue) {
      for (; queue != nullptr; queue = queue->next_in_chain, seen++) visit(*queue);
    };
    visit_chain(only_chain_);
    for (; *chain < chains_.size() && seen < kVisitedAtOnce; seen++) {
      visit_chain(chains_[(*chain)++]);
    }
    return *chain < chains_.size();
  }

 private:
  // Maximum number of queues of a part without a table of chains.
  static constexpr size_t kInOnlyChain = 4;
  // Number of chains of the first table; it doubles when there are as many queues as chains.
  static constexpr size_t kFirstChains = 64;
  // Queues allocated at once.
  static constexpr size_t kBlock = 32;
  // Queues visited in one hold of the latch.
  static constexpr size_t kVisitedAtOnce = 64;

  // Returns the place of the chain's first queue.
  LockQueue** ChainOf(uint64_t hash) VARVE_REQUIRES(latch) {
    return chains_.empty() ? &only_chain_ : &chains_[(hash >> 32) & (chains_.size() - 1)];
  }
  // Doubles the number of chains, and moves the queues.
  void Grow() VARVE_REQUIRES(latch);
  // Puts each queue of an old chain into its new one.
  void MoveChain(LockQueue* queue) VARVE_REQUIRES(latch);
  // Allocates unused queues. Throws std::bad_alloc, with nothing changed.
  void AddBlock() VARVE_REQUIRES(latch);

  // Holds all queues while chains_ is empty; null afterwards.
  LockQueue* only_chain_ VARVE_GUARDED_BY(latch) = nullptr;
  std::vector<LockQueue*> chains_ VARVE_GUARDED_BY(latch);  // The first queue of each, or null.
  // Number of queues that have a key.
  size_t used_ VARVE_GUARDED_BY(latch) = 0;
  // Unused queues, linked by next_in_chain.
  LockQueue* free_ VARVE_GUARDED_BY(latch) = nullptr;
  // Memory of all queues; it never shrinks before the table is destroyed.
  std::vector<std::unique_ptr<LockQueue[]>> blocks_ VARVE_GUARDED_BY(latch);
};

}  // namespace varve
