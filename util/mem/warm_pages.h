// SPDX-License-Identifier: Apache-2.0
#pragma once

// Keeps memory of arenas that are gone for the next ones, while it is likely to be needed soon.
//
// The system clears every page that it adds to a process, and a fault adds it: for large values
// that takes longer than the copy into a memtable. A memtable that is flushed frees as much as the
// next one needs.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "util/sync/fork_watch.h"
#include "util/sync/mutex.h"
#include "util/sync/shared_timer.h"

namespace varve {

// Pieces that were mapped by AllocatePages or AllocateHugePages, or parts of such mappings. What
// was not needed for a second goes back to the system, so an idle process keeps nothing.
//
// Thread safety: all methods may be called from any thread. A child of fork() has the parent's
// pieces.
class WarmPages final : private SharedTimer::Client, private ForkWatch {
 public:
  // Limits of a piece, and of the sum of all pieces.
  static constexpr size_t kLeastBytes = size_t{128} << 10;
  static constexpr size_t kMostBytes = size_t{128} << 20;

  // Returns the process's instance, which is never destroyed. The first call throws std::bad_alloc
  // if there is no memory.
  static WarmPages& Default();
  WarmPages();

  // Returns the piece of exactly `bytes` that was kept last, with any contents, or null.
  char* Take(size_t bytes) noexcept;
  // Keeps a piece. Returns false if the caller must free it: there are enough, it is too small or
  // too large to be kept, or no thread would ever free it.
  bool Keep(char* data, size_t bytes) noexcept;

  // Returns the bytes that are kept.
  [[nodiscard]] size_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

 private:
  struct Piece {
    char* data;
    size_t bytes;
  };

  ~WarmPages() override = default;
  uint64_t OnTime() noexcept override;
  void InChild() override;
  // Removes and returns the oldest pieces, as many bytes as were not needed since the last call.
  std::vector<Piece> TakeIdle() VARVE_EXCLUDES(mu_);
  // Adds this to the clients of the shared timer, unless that was done. Returns false if it cannot
  // be added.
  bool StartTimer() noexcept VARVE_EXCLUDES(mu_);

  Mutex mu_;  // Unranked: it is locked over a fork().
  // Oldest first; has room for all that are allowed.
  std::vector<Piece> pieces_ VARVE_GUARDED_BY(mu_);
  // The least that was kept at any time since the timer's last call.
  size_t least_ VARVE_GUARDED_BY(mu_) = 0;
  // True while the timer's next call comes without a Wake: two calls in one period would take what
  // was just kept for idle.
  bool awake_ VARVE_GUARDED_BY(mu_) = false;
  // Written under mu_, read by any thread as a statistic; publishes nothing.
  std::atomic<size_t> bytes_{0};
  std::atomic<bool> has_timer_{false};
};

}  // namespace varve
