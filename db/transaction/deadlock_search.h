// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finding a cycle among those who wait for each other, while they go on waiting and ending; and the
// memory of what was found.

#include <cstdint>
#include <deque>
#include <vector>

#include "varve/utilities/transaction_db.h"

#include "db/transaction/lock_ranks.h"
#include "util/sync/mutex.h"

namespace varve {

// A wait as it is now, and whom it waits for.
struct WaitEdges {
  uint64_t number = 0;  // no two waits have the same
  DeadlockInfo wait;
  std::vector<TransactionID> blockers;
};

class WaitGraph {
 public:
  virtual ~WaitGraph() = default;
  // False: it does not wait now.
  virtual bool EdgesOf(TransactionID waiter, WaitEdges* edges) = 0;
};

enum class DeadlockAnswer { kNone, kCycle, kTooDeep };

// Whether `root` waits for itself. After kCycle *cycle is it, as DeadlockPath says.
//
// A cycle is walked twice: when it was found edge by edge, it may never have been whole. If all
// waits are still the same the second time, they went on in between, and no waiter gives anything
// up: then all of the edges existed at the end of the first walk.
DeadlockAnswer SearchDeadlock(WaitGraph* graph, TransactionID root, int64_t visits_max,
                              std::vector<DeadlockInfo>* cycle);

// The newest deadlocks.
//
// Thread safety: any thread.
class DeadlockHistory {
 public:
  explicit DeadlockHistory(uint32_t size) : size_(size) {}

  void Add(DeadlockPath path) VARVE_EXCLUDES(mu_);
  void Resize(uint32_t size) VARVE_EXCLUDES(mu_);
  std::vector<DeadlockPath> NewestFirst() const VARVE_EXCLUDES(mu_);

 private:
  mutable Mutex mu_{kDeadlockHistoryRank};
  uint32_t size_ VARVE_GUARDED_BY(mu_);
  std::deque<DeadlockPath> paths_ VARVE_GUARDED_BY(mu_);  // newest first
};

}  // namespace varve
