// SPDX-License-Identifier: Apache-2.0

// Implements the debug record of which locks a thread holds, and waiting on a condition.

#include "util/sync/mutex.h"

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>

namespace varve {
namespace lock_checks {
namespace {

struct Held {
  const void* lock;
  MutexRank rank;
};

// Trivially destructible, so that destructors of other thread-locals may still take locks.
struct HeldLocks {
  // Builds without checks keep thread-local storage small: see util/metrics/perf_counters.cc.
  static constexpr size_t kMaxHeld = kEnabled ? 64 : 1;
  Held locks[kMaxHeld];
  size_t count;
};

thread_local HeldLocks held_locks;

[[noreturn]] void Fail(const char* what, unsigned rank, unsigned held_rank) {
  std::fprintf(stderr, "varve: lock misuse: %s (rank %u, holding rank %u)\n", what, rank,
               held_rank);
  std::abort();
}

}  // namespace

void BeforeLock(const void* lock, MutexRank rank) {
  for (size_t i = 0; i < held_locks.count; i++) {
    const Held& held = held_locks.locks[i];
    if (held.lock == lock) Fail("taken twice by one thread", rank, held.rank);
    if (rank != kUnranked && held.rank >= rank) Fail("taken out of order", rank, held.rank);
  }
}

void AfterLock(const void* lock, MutexRank rank) {
  if (held_locks.count == HeldLocks::kMaxHeld) Fail("too many held by one thread", rank, 0);
  held_locks.locks[held_locks.count++] = {lock, rank};
}

void AfterUnlock(const void* lock) {
  // The search begins at the end, as a lock is usually the last one that was taken.
  for (size_t i = held_locks.count; i-- > 0;) {
    if (held_locks.locks[i].lock != lock) continue;
    for (size_t j = i + 1; j < held_locks.count; j++) held_locks.locks[j - 1] = held_locks.locks[j];
    held_locks.count--;
    return;
  }
  Fail("unlocked but not held by this thread", kUnranked, kUnranked);
}

void AssertHeld(const void* lock) {
  for (size_t i = 0; i < held_locks.count; i++) {
    if (held_locks.locks[i].lock == lock) return;
  }
  Fail("required but not held by this thread", kUnranked, kUnranked);
}

}  // namespace lock_checks

void CondVar::Wait() {
  if constexpr (lock_checks::kEnabled) lock_checks::AfterUnlock(mu_);
  std::unique_lock<std::mutex> lock(mu_->mu_, std::adopt_lock);
  cv_.wait(lock);
  lock.release();
  if constexpr (lock_checks::kEnabled) lock_checks::AfterLock(mu_, mu_->rank_);
}

bool CondVar::WaitFor(uint64_t micros) {
  // Long enough to mean "for ever" without overflowing the clock.
  constexpr uint64_t kMaxMicros = uint64_t{365} * 24 * 3600 * 1000000;
  const std::chrono::microseconds wait(micros < kMaxMicros ? micros : kMaxMicros);
  if constexpr (lock_checks::kEnabled) lock_checks::AfterUnlock(mu_);
  std::unique_lock<std::mutex> lock(mu_->mu_, std::adopt_lock);
  const std::cv_status status = cv_.wait_for(lock, wait);
  lock.release();
  if constexpr (lock_checks::kEnabled) lock_checks::AfterLock(mu_, mu_->rank_);
  return status == std::cv_status::no_timeout;
}

}  // namespace varve
