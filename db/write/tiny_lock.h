// SPDX-License-Identifier: Apache-2.0
#pragma once

// A lock for critical sections of a few dozen instructions.
//
//      kFree --Lock--> kHeld --Unlock--> kFree              no system call
//      kHeld --another thread gives up spinning--> kWanted --Unlock--> kFree, and wakes one sleeper
//
// It has four bytes, no rank and no owner. Nothing that may block, allocate much or call a user's
// code belongs under it.

#include <atomic>
#include <cstdint>

#include "util/base/assert.h"
#include "util/sync/futex.h"
#include "util/sync/spin.h"
#include "util/sync/thread_annotations.h"

namespace varve {

// Locking costs one compare-and-swap if it is free, unlocking one exchange. A thread that finds it
// held spins for the expected time of a section, then sleeps, since the holder has probably been
// preempted: with more threads than cores the holder needs the processor.
class VARVE_CAPABILITY("mutex") TinyLock {
 public:
  TinyLock() = default;
  TinyLock(const TinyLock&) = delete;
  TinyLock& operator=(const TinyLock&) = delete;

  // Takes the lock. Not recursive, and not fair: a running thread may take it before one that
  // sleeps.
  void Lock() VARVE_ACQUIRE() {
    uint32_t free = kFree;
    if (!word_.compare_exchange_strong(free, kHeld, std::memory_order_acquire,
                                       std::memory_order_relaxed)) {
      LockSlowly();
    }
  }
  // Releases the lock, and wakes one sleeper if there may be one.
  void Unlock() VARVE_RELEASE() {
    const uint32_t before = word_.exchange(kFree, std::memory_order_release);
    VARVE_ASSERT(before != kFree);
    if (before == kWanted) FutexWakeOne(word_);
  }

 private:
  // States of the word.
  static constexpr uint32_t kFree = 0;
  static constexpr uint32_t kHeld = 1;
  static constexpr uint32_t kWanted = 2;  // Held, and a thread may sleep.

  // Spins for a while, then sleeps until the holder wakes it.
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
    // A thread that has slept cannot know if others still sleep, so it takes the lock as kWanted;
    // at worst its Unlock wakes nobody.
    while (word_.exchange(kWanted, std::memory_order_acquire) != kFree) {
      FutexWait(word_, kWanted);
    }
  }

  // Acquired and released like any lock: publishes what was done under it.
  std::atomic<uint32_t> word_{kFree};
};

}  // namespace varve
