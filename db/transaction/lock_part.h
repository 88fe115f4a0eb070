// SPDX-License-Identifier: Apache-2.0
#pragma once

// LockPart is a part of the lock table with its own latch.

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

  void Unlock() VARVE_RELEASE() {
    held_ = false;
    latch_->Unlock();
  }
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
  // Requires that the queue is unused.
  void Remove(LockQueue* queue) VARVE_REQUIRES(latch);

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
  static constexpr size_t kInOnlyChain = 4;
  static constexpr size_t kFirstChains = 64;
  static constexpr size_t kBlock = 32;
  static constexpr size_t kVisitedAtOnce = 64;

  LockQueue** ChainOf(uint64_t hash) VARVE_REQUIRES(latch) {
    return chains_.empty() ? &only_chain_ : &chains_[(hash >> 32) & (chains_.size() - 1)];
  }
  void Grow() VARVE_REQUIRES(latch);
  void MoveChain(LockQueue* queue) VARVE_REQUIRES(latch);
  void AddBlock() VARVE_REQUIRES(latch);

  LockQueue* only_chain_ VARVE_GUARDED_BY(latch) = nullptr;  // Holds all queues while
  std::vector<LockQueue*> chains_ VARVE_GUARDED_BY(latch);   // this is empty; otherwise null.
  size_t used_ VARVE_GUARDED_BY(latch) = 0;
  LockQueue* free_ VARVE_GUARDED_BY(latch) = nullptr;
  std::vector<std::unique_ptr<LockQueue[]>> blocks_ VARVE_GUARDED_BY(latch);
};

}  // namespace varve
