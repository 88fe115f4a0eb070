// SPDX-License-Identifier: Apache-2.0
#pragma once

// Who wants obsolete files to stay for a while.

#include "db/db_mutex.h"
#include "util/base/assert.h"

namespace varve {

class FileDeletions {
 public:
  FileDeletions() = default;
  FileDeletions(const FileDeletions&) = delete;
  FileDeletions& operator=(const FileDeletions&) = delete;

  bool allowed() const VARVE_REQUIRES(kDbMutex) { return disabled_ == 0 && keepers_ == 0; }

  // By users, as often as they like.
  void Disable() VARVE_REQUIRES(kDbMutex) { disabled_++; }
  // True: that was the last of them.
  bool Enable() VARVE_REQUIRES(kDbMutex) { return disabled_ > 0 && --disabled_ == 0; }
  bool disabled() const VARVE_REQUIRES(kDbMutex) { return disabled_ > 0; }

  // By calls that read files by their names, for the time that they take.
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
