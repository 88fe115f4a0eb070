// SPDX-License-Identifier: Apache-2.0
#pragma once

// Counts the requests to keep obsolete files for a while.

#include "db/db_mutex.h"
#include "util/base/assert.h"

namespace varve {

class FileDeletions {
 public:
  FileDeletions() = default;
  FileDeletions(const FileDeletions&) = delete;
  FileDeletions& operator=(const FileDeletions&) = delete;

  bool allowed() const VARVE_REQUIRES(kDbMutex) { return disabled_ == 0 && keepers_ == 0; }

  // Called by users, any number of times.
  void Disable() VARVE_REQUIRES(kDbMutex) { disabled_++; }
  // Returns true if that was the last request.
  bool Enable() VARVE_REQUIRES(kDbMutex) { return disabled_ > 0 && --disabled_ == 0; }
  bool disabled() const VARVE_REQUIRES(kDbMutex) { return disabled_ > 0; }

  // Called by calls that read files by their names, for their duration.
  void Keep() VARVE_REQUIRES(kDbMutex) { keepers_++; }
  void EndKeep() VARVE_REQUIRES(kDbMutex) {
    VARVE_ASSERT(keepers_ > 0);
    keepers_--;
  }

 private:
  int disabled_ VARVE_GUARDED_BY(kDbMutex) = 0;
  int keepers_ VARVE_GUARDED_BY(kDbMutex) = 0;
};

}  // namespace varve
