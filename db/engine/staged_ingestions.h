// SPDX-License-Identifier: Apache-2.0
#pragma once

// Ingestions that are prepared and not committed: what they have staged is removed when their owner
// gives them up, or at the latest when the database is closed. Also keeps the directories in which
// ingestions and imports stage files.
//
//      PrepareFileIngestion    Add           the list and the user's handle share the ingestion
//      commit, or giving up    Take: true    this caller alone uses or discards it
//      Close                   DiscardAll    all that nobody has taken; closed from then on
//
// Handles outlive the database, so a handle may be given up while Close discards the same
// ingestion. Taking it from the list decides which of both does so.

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "varve/file_system.h"
#include "varve/status.h"

#include "db/lock_ranks.h"
#include "util/sync/io_mutex.h"
#include "util/sync/mutex.h"

namespace varve {

// A prepared ingestion, of which this room knows only how to discard it.
class StagedIngestion {
 public:
  virtual ~StagedIngestion() = default;
  // Removes what is staged, and releases the database. Called at most once.
  virtual void Discard() noexcept = 0;
};

// Thread safety: all methods may be called from any thread. Ownership: shared by the database and
// by handles that outlive it.
class StagedIngestions {
 public:
  StagedIngestions() = default;
  StagedIngestions(const StagedIngestions&) = delete;
  StagedIngestions& operator=(const StagedIngestions&) = delete;

  // Adds an ingestion whose files are staged.
  void Add(std::shared_ptr<StagedIngestion> ingestion) VARVE_EXCLUDES(mu_) {
    MutexLock lock(&mu_);
    staged_.push_back(std::move(ingestion));
  }
  // Makes the directory if it is missing. It stays until as many have left it as have entered;
  // after an error the caller has not entered.
  IOStatus EnterDirectory(FileSystem* fs, const std::string& directory)
      VARVE_EXCLUDES(directories_mu_);
  // The last one to leave removes the directory, if it is empty.
  void LeaveDirectory(FileSystem* fs, const std::string& directory) noexcept
      VARVE_EXCLUDES(directories_mu_);
  // Removes all directories that are empty. Called when nobody stages any more.
  void RemoveDirectories(FileSystem* fs) noexcept VARVE_EXCLUDES(directories_mu_);
  // Returns true to one caller, which then uses or discards what is staged.
  bool Take(const StagedIngestion* ingestion) VARVE_EXCLUDES(mu_) {
    MutexLock lock(&mu_);
    const auto it = std::find_if(staged_.begin(), staged_.end(),
                                 [&](const auto& each) { return each.get() == ingestion; });
    if (it == staged_.end()) return false;
    staged_.erase(it);
    return true;
  }
  // True once DiscardAll was called; nothing may be staged any more.
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
    // Discards without the lock, as that deletes files.
    for (const auto& ingestion : left) ingestion->Discard();
  }

 private:
  mutable Mutex mu_{lock_ranks::kStagedIngestions};
  // Ingestions that were neither taken nor discarded.
  std::vector<std::shared_ptr<StagedIngestion>> staged_ VARVE_GUARDED_BY(mu_);
  bool closed_ VARVE_GUARDED_BY(mu_) = false;
  // Held over I/O: nobody enters a directory that is being removed.
  IoMutex directories_mu_;
  std::map<std::string, int> directories_ VARVE_GUARDED_BY(directories_mu_);  // how many are in it
};

}  // namespace varve
