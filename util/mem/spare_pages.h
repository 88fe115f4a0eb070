// SPDX-License-Identifier: Apache-2.0
#pragma once

// Huge pages that are there before somebody needs one.
//
// The system clears a huge page when it is first touched: a fraction of a millisecond, or several
// on a virtual machine whose host has to find the memory. A read that needs room for a block should
// not wait for that, so a thread of the process's touches the next pages ahead.

#include <array>
#include <atomic>
#include <cstddef>

#include "util/sync/mutex.h"
#include "util/sync/shared_timer.h"

namespace varve {

// Thread safety: all methods from any thread. In a child of fork() there are those that there were,
// and no more.
class SparePages final : private SharedTimer::Client {
 public:
  static constexpr size_t kMost = 2;

  // Lives for ever.
  static SparePages& Default();

  // A huge page, as AllocateHugePages gives it, or null.
  char* Take() noexcept;
  // As many as `wanted`, which is at most kMost, shall be ready. Not with a lock held that is taken
  // over a fork().
  void Refill(size_t wanted) noexcept;
  // Takes one that is not needed, unless there are enough; false: it stays the caller's.
  bool Give(char* page) noexcept;

  // For a child of fork().
  [[nodiscard]] Mutex& mutex() VARVE_RETURN_CAPABILITY(mu_) { return mu_; }

 private:
  uint64_t OnTime() noexcept override;

  Mutex mu_;  // without a rank: it is locked over a fork()
  std::array<char*, kMost> pages_ VARVE_GUARDED_BY(mu_) = {};
  size_t count_ VARVE_GUARDED_BY(mu_) = 0;
  size_t wanted_ VARVE_GUARDED_BY(mu_) = 0;
  std::atomic<bool> has_thread_{false};
};

}  // namespace varve
