// SPDX-License-Identifier: Apache-2.0
#pragma once

// Sleeps until a word changes, without a mutex for which woken threads would queue.

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <cstdint>

namespace varve {

// Sleeps while `word` is `seen`; may return early. Unlike std::atomic's wait it releases the
// processor at once, instead of yielding several times before: use it for waits that are long for
// sure.
inline void FutexWait(const std::atomic<uint32_t>& word, uint32_t seen) {
  static_assert(sizeof(word) == sizeof(uint32_t) && std::atomic<uint32_t>::is_always_lock_free);
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, seen, nullptr, nullptr, 0);
}

// Wake sleepers, after `word` was changed. They cost a system call even without sleepers.
inline void FutexWakeOne(const std::atomic<uint32_t>& word) {
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}
inline void FutexWakeAll(const std::atomic<uint32_t>& word) {
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace varve
