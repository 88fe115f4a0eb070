// SPDX-License-Identifier: Apache-2.0

// A part starts with one chain of a few queues, as most parts of most databases never need more; a
// table of chains comes with the fifth queue, and doubles. Queues are allocated in blocks and
// reused, so their addresses stay: records and waiters point to them.

#include "db/transaction/lock_part.h"

#include <algorithm>
#include <utility>

#include "util/base/assert.h"

namespace varve {

void LockPart::Grow() {
  // The allocation comes first, so that a failure leaves the part as it was.
  std::vector<LockQueue*> old(chains_.empty() ? kFirstChains : chains_.size() * 2);
  old.swap(chains_);
  VARVE_ASSERT((chains_.size() & (chains_.size() - 1)) == 0);
  MoveChain(std::exchange(only_chain_, nullptr));
  for (LockQueue* const queue : old) MoveChain(queue);
}

void LockPart::MoveChain(LockQueue* queue) {
  while (queue != nullptr) {
    LockQueue* const next = std::exchange(queue->next_in_chain, nullptr);
    LockQueue** const chain = ChainOf(queue->key().hash);
    queue->next_in_chain = *chain;
    *chain = queue;
    queue = next;
  }
}

void LockPart::AddBlock() {
  auto block = std::make_unique<LockQueue[]>(kBlock);
  blocks_.push_back(std::move(block));
  for (size_t i = 0; i < kBlock; i++) {
    LockQueue* const queue = &blocks_.back()[i];
    queue->next_in_chain = free_;
    free_ = queue;
  }
}

LockQueue* LockPart::Add(const LockKey& key) {
  VARVE_ASSERT(Find(key) == nullptr);  // A key has one queue.
  if (used_ >= std::max(chains_.size(), kInOnlyChain)) [[unlikely]]
    Grow();
  // Both allocations are done before the queue is linked: Add throws with nothing changed but room.
  if (free_ == nullptr) AddBlock();
  LockQueue* const queue = free_;
  free_ = queue->next_in_chain;
  queue->Begin(key);
  LockQueue** const chain = ChainOf(key.hash);
  queue->next_in_chain = *chain;
  *chain = queue;
  used_++;
  return queue;
}

void LockPart::Remove(LockQueue* queue) {
  VARVE_ASSERT(queue->unused());
  VARVE_ASSERT(used_ > 0);
  LockQueue** place = ChainOf(queue->key().hash);
  while (*place != queue) place = &(*place)->next_in_chain;
  *place = queue->next_in_chain;
  queue->next_in_chain = free_;
  free_ = queue;
  used_--;
}

}  // namespace varve
