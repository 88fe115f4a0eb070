// SPDX-License-Identifier: Apache-2.0
#pragma once

// Counts the requests to keep obsolete files for a while.

#include "db/db_mutex.h"
#include "util/base/assert.h"

namespace varve {

// While there is a request, by Disable or Keep, obsolete files stay. Whoever withdraws the last
// request calls for the purge that deletes them. Thread safety: none; guarded by the DB mutex.
class FileDeletions {
 public:
  FileDeletions() = default;
  FileDeletions(const FileDeletions&) = delete;
  FileDeletions& operator=(const FileDeletions&) = delete;

  // True if obsolete files may be deleted now.
  bool allowed() const VARVE_REQUIRES(kDbMutex) { return disabled_ == 0 && keepers_ == 0; }

  // Called by users, any number of times.
  void Disable() VARVE_REQUIRES(kDbMutex) { disabled_++; }
  // Undoes one Disable, if any is left. Returns true if it was the last; a Keep may still be there.
  bool Enable() VARVE_REQUIRES(kDbMutex) { return disabled_ > 0 && --disabled_ == 0; }
  // True if a user has disabled deletions.
  bool disabled() const VARVE_REQUIRES(kDbMutex) { return disabled_ > 0; }

  // Called by calls that read files by their names, for their duration.
  void Keep() VARVE_REQUIRES(kDbMutex) { keepers_++; }
  void EndKeep() VARVE_REQUIRES(kDbMutex) {
    VARVE_ASSERT(keepers_ > 0);
    keepers_--;
  }

 private:
  // Calls of DisableFileDeletions that were not undone, and calls of Keep.
  int disabled_ VARVE_GUARDED_BY(kDbMutex) = 0;
  int keepers_ VARVE_GUARDED_BY(kDbMutex) = 0;
};

}  // namespace varve
