// SPDX-License-Identifier: Apache-2.0
#pragma once

// Searches for cycles among waiting transactions while their waits begin and end, and stores the
// deadlocks that were found.

#include <cstdint>
#include <deque>
#include <vector>

#include "varve/utilities/transaction_db.h"

#include "db/transaction/lock_ranks.h"
#include "util/sync/mutex.h"

namespace varve {

// A wait as it is now, and the transactions it waits for.
struct WaitEdges {
  uint64_t number = 0;  // Unique among all waits.
  DeadlockInfo wait;
  std::vector<TransactionID> blockers;
};

// Provides the waits that exist now to a search. They may change between two calls.
class WaitGraph {
 public:
  virtual ~WaitGraph() = default;
  // Sets *edges, which must be new, to the wait of `waiter`. Returns false if it does not wait now.
  virtual bool EdgesOf(TransactionID waiter, WaitEdges* edges) = 0;
};

// The result of a search: no cycle, a cycle, or a search that ended after visits_max transactions,
// which counts as a deadlock.
enum class DeadlockAnswer { kNone, kCycle, kTooDeep };

// Searches for a cycle through `root`, which waits. After kCycle, *cycle is the cycle in the form
// of DeadlockPath.
//
// A cycle is walked twice, because one that was found edge by edge may never have existed as a
// whole. If all waits are the same the second time, they lasted throughout, and waiters release
// nothing: so all edges existed at the end of the first walk.
DeadlockAnswer SearchDeadlock(WaitGraph* graph, TransactionID root, int64_t visits_max,
                              std::vector<DeadlockInfo>* cycle);

// Stores the newest deadlocks.
//
// Thread safety: any thread.
class DeadlockHistory {
 public:
  explicit DeadlockHistory(uint32_t size) : size_(size) {}

  // Adds a deadlock, and drops the oldest if there are too many.
  void Add(DeadlockPath path) VARVE_EXCLUDES(mu_);
  // Sets how many deadlocks are kept.
  void Resize(uint32_t size) VARVE_EXCLUDES(mu_);
  // Returns copies of the deadlocks.
  std::vector<DeadlockPath> NewestFirst() const VARVE_EXCLUDES(mu_);

 private:
  mutable Mutex mu_{kDeadlockHistoryRank};
  uint32_t size_ VARVE_GUARDED_BY(mu_);
  std::deque<DeadlockPath> paths_ VARVE_GUARDED_BY(mu_);  // Newest first.
};

}  // namespace varve
