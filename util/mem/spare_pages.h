// SPDX-License-Identifier: Apache-2.0
#pragma once

// Provides huge pages that are touched before they are needed.
//
// The system clears a huge page when it is first touched: a fraction of a millisecond, or several
// on a virtual machine whose host has to find the memory. A read that needs room for a block should
// not wait for that, so a thread of the process touches the next pages ahead.

#include <array>
#include <atomic>
#include <cstddef>

#include "util/sync/mutex.h"
#include "util/sync/shared_timer.h"

namespace varve {

// Thread safety: all methods may be called from any thread. A child of fork() has the parent's
// spare pages, and gets no more.
class SparePages final : private SharedTimer::Client {
 public:
  static constexpr size_t kMost = 8;

  // Returns the process's instance, which is never destroyed.
  static SparePages& Default();

  // Returns a huge page, like those of AllocateHugePages, or null.
  char* Take() noexcept;
  // Requests that `wanted` pages, at most kMost, be ready. Must not be called with a lock that is
  // held over a fork().
  void Refill(size_t wanted) noexcept;
  // Takes an unneeded page, unless there are enough. Returns false if the caller keeps it.
  bool Give(char* page) noexcept;
  // Lowers the number of pages to be ready to `wanted`. Returns a page that is then too much, which
  // becomes the caller's, or null.
  char* TakeSurplus(size_t wanted) noexcept;

  // Returns the mutex, for the handlers of fork().
  [[nodiscard]] Mutex& mutex() VARVE_RETURN_CAPABILITY(mu_) { return mu_; }

 private:
  uint64_t OnTime() noexcept override;

  Mutex mu_;  // Unranked: it is locked over a fork().
  std::array<char*, kMost> pages_ VARVE_GUARDED_BY(mu_) = {};
  size_t count_ VARVE_GUARDED_BY(mu_) = 0;
  size_t wanted_ VARVE_GUARDED_BY(mu_) = 0;
  std::atomic<bool> has_thread_{false};
};

}  // namespace varve
