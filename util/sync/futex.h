// SPDX-License-Identifier: Apache-2.0
#pragma once

// Sleeps until a word changes, without a mutex for which woken threads would queue.
//
//      sleeper:  seen = word; if (must wait on seen) FutexWait(word, seen)
//      waker:    word = other; FutexWakeOne(word)
//
// The kernel compares the word with `seen` and puts the thread to sleep in one step, under its own
// lock. So a change between the sleeper's look and its sleep is noticed, and no wake-up is lost.
// Sleeps may end early; callers look at the word again in a loop.

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <cstdint>
#include <ctime>

namespace varve {

// Sleeps while `word` is `seen`; may return early. Unlike std::atomic's wait it releases the
// processor at once, instead of yielding several times before: use it for waits that are long for
// sure.
inline void FutexWait(const std::atomic<uint32_t>& word, uint32_t seen) {
  static_assert(sizeof(word) == sizeof(uint32_t) && std::atomic<uint32_t>::is_always_lock_free);
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, seen, nullptr, nullptr, 0);
}

// Like FutexWait, but for up to that time.
inline void FutexWaitFor(const std::atomic<uint32_t>& word, uint32_t seen, uint64_t nanos) {
  constexpr uint64_t kNanosPerSecond = 1000 * 1000 * 1000;
  timespec time{};
  time.tv_sec = static_cast<time_t>(nanos / kNanosPerSecond);
  time.tv_nsec = static_cast<long>(nanos % kNanosPerSecond);
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, seen, &time, nullptr, 0);
}

// Wake sleepers, after `word` was changed. They cost a system call even without sleepers.
inline void FutexWakeOne(const std::atomic<uint32_t>& word) {
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}
inline void FutexWakeAll(const std::atomic<uint32_t>& word) {
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace varve
