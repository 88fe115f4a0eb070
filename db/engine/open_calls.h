// SPDX-License-Identifier: Apache-2.0
#pragma once

// Tracks which calls are inside an open database, so that Close waits for them.
//
// A call that may change files, or reads them by name, is inside from its check that the database
// is open to its end: it happens before Close, which waits for it, or is refused. Three kinds of
// calls need not be inside: writes, which the commit path counts (CommitPath::Shutdown), reads of a
// super-version, which does not change after Close, and calls that only work under the DB mutex.

#include "db/lock_ranks.h"
#include "util/base/assert.h"
#include "util/sync/mutex.h"

namespace varve {

// Thread safety: all methods may be called from any thread.
class OpenCalls {
 public:
  OpenCalls() = default;
  OpenCalls(const OpenCalls&) = delete;
  OpenCalls& operator=(const OpenCalls&) = delete;

  // Returns false once the gate is shut; otherwise Leave must follow.
  [[nodiscard]] bool Enter() {
    MutexLock lock(&mu_);
    if (!shut_) inside_++;
    return !shut_;
  }
  // Ends a call. The last one to leave a shut gate wakes Close.
  void Leave() {
    MutexLock lock(&mu_);
    VARVE_ASSERT(inside_ > 0);
    if (--inside_ == 0 && shut_) all_left_.SignalAll();
  }

  // Shuts the gate for good: no call enters any more.
  void Shut() {
    MutexLock lock(&mu_);
    shut_ = true;
  }
  // Waits for the calls that were inside when the gate was shut.
  void WaitUntilAllLeft() {
    MutexLock lock(&mu_);
    VARVE_ASSERT(shut_);
    while (inside_ > 0) all_left_.Wait();
  }

 private:
  Mutex mu_{lock_ranks::kOpenCalls};
  CondVar all_left_{&mu_};
  // Number of calls between Enter and Leave.
  int inside_ VARVE_GUARDED_BY(mu_) = 0;
  bool shut_ VARVE_GUARDED_BY(mu_) = false;
};

}  // namespace varve
