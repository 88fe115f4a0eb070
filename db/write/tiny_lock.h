// SPDX-License-Identifier: Apache-2.0
#pragma once

// A lock for critical sections of some dozen instructions.

#include <atomic>
#include <cstdint>

#include "util/base/assert.h"
#include "util/sync/futex.h"
#include "util/sync/spin.h"
#include "util/sync/thread_annotations.h"

namespace varve {

// Taking it free costs one compare-and-swap, giving it back one exchange. A thread that finds it
// taken spins as long as the section should last, and sleeps if its holder seems to have lost the
// processor: with more threads than cores that is where the holder needs it.
class VARVE_CAPABILITY("mutex") TinyLock {
 public:
  TinyLock() = default;
  TinyLock(const TinyLock&) = delete;
  TinyLock& operator=(const TinyLock&) = delete;

  void Lock() VARVE_ACQUIRE() {
    uint32_t free = kFree;
    if (!word_.compare_exchange_strong(free, kHeld, std::memory_order_acquire,
                                       std::memory_order_relaxed)) {
      LockSlowly();
    }
  }
  void Unlock() VARVE_RELEASE() {
    const uint32_t before = word_.exchange(kFree, std::memory_order_release);
    VARVE_ASSERT(before != kFree);
    if (before == kWanted) FutexWakeOne(word_);
  }

 private:
  static constexpr uint32_t kFree = 0;
  static constexpr uint32_t kHeld = 1;
  static constexpr uint32_t kWanted = 2;  // held, and a thread may sleep

  void LockSlowly() {
    constexpr int kSpins = 200;
    for (int i = 0; i < kSpins; i++) {
      CpuPause();
      uint32_t free = kFree;
      if (word_.load(std::memory_order_relaxed) == kFree &&
          word_.compare_exchange_strong(free, kHeld, std::memory_order_acquire,
                                        std::memory_order_relaxed)) {
        return;
      }
    }
    while (word_.exchange(kWanted, std::memory_order_acquire) != kFree) {
      FutexWait(word_, kWanted);
    }
  }

  // Acquired and released as any lock's word: publishes what was done under the lock.
  std::atomic<uint32_t> word_{kFree};
};

}  // namespace varve
