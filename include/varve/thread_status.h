// SPDX-License-Identifier: Apache-2.0
#pragma once

// Vocabulary for what a background thread does. Env::GetThreadList is not offered, so this holds
// only the names that other headers use.

namespace varve {

struct ThreadStatus {
  enum ThreadType : int {
    HIGH_PRIORITY = 0,
    LOW_PRIORITY,
    USER,
    BOTTOM_PRIORITY,
    NUM_THREAD_TYPES,
  };
};

}  // namespace varve
