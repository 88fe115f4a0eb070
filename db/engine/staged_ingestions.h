// SPDX-License-Identifier: Apache-2.0
#pragma once

// Ingestions that are prepared and not committed: what they have staged is removed when their owner
// gives them up, or at the latest when the database is closed.

#include <algorithm>
#include <atomic>
#include <memory>
#include <utility>
#include <vector>

#include "varve/status.h"

#include "db/lock_ranks.h"
#include "util/sync/mutex.h"

namespace varve {

class StagedIngestion {
 public:
  virtual ~StagedIngestion() = default;
  // Removes what is staged, and releases the database.
  virtual void Discard() noexcept = 0;
};

// Thread safety: all methods may be called from any thread. Ownership: shared by the database and
// by handles that outlive it.
class StagedIngestions {
 public:
  StagedIngestions() = default;
  StagedIngestions(const StagedIngestions&) = delete;
  StagedIngestions& operator=(const StagedIngestions&) = delete;

  void Add(std::shared_ptr<StagedIngestion> ingestion) VARVE_EXCLUDES(mu_) {
    MutexLock lock(&mu_);
    staged_.push_back(std::move(ingestion));
  }
  // Must be called before anything is staged: there is a directory to remove.
  void NoteDirectory() { any_directory_.store(true, std::memory_order_relaxed); }
  bool any_directory() const { return any_directory_.load(std::memory_order_relaxed); }
  // Returns true to one caller, which then uses or discards what is staged.
  bool Take(const StagedIngestion* ingestion) VARVE_EXCLUDES(mu_) {
    MutexLock lock(&mu_);
    const auto it = std::find_if(staged_.begin(), staged_.end(),
                                 [&](const auto& each) { return each.get() == ingestion; });
    if (it == staged_.end()) return false;
    staged_.erase(it);
    return true;
  }
  bool closed() const VARVE_EXCLUDES(mu_) {
    MutexLock lock(&mu_);
    return closed_;
  }
  // Called when the database is being closed.
  void DiscardAll() noexcept VARVE_EXCLUDES(mu_) {
    std::vector<std::shared_ptr<StagedIngestion>> left;
    {
      MutexLock lock(&mu_);
      closed_ = true;
      left.swap(staged_);
    }
    for (const auto& ingestion : left) ingestion->Discard();
  }

 private:
  mutable Mutex mu_{lock_ranks::kStagedIngestions};
  std::vector<std::shared_ptr<StagedIngestion>> staged_ VARVE_GUARDED_BY(mu_);
  bool closed_ VARVE_GUARDED_BY(mu_) = false;
  std::atomic<bool> any_directory_{false};  // publishes no other data
};

}  // namespace varve
