// SPDX-License-Identifier: Apache-2.0
#pragma once

// Measures how long a request waits for a lock, and when it searches for a deadlock meanwhile.
//
//      BeginWait         first search      searches at growing intervals        deadline
//         |---------------- x ------ x ------------ x ----------- ... ------------ |
//           detect_after_micros
//
// A request may wait several times, since another one may take the lock that it was woken for. The
// deadline is that of the first wait; the searches begin anew with each one, as each waits for
// other holders.
//
// A request that finds its lock free reads no clock.

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "db/transaction/lock_owner.h"
#include "util/base/assert.h"

namespace varve {

// Says how a request waits for a lock: how long, and with which search for deadlocks.
struct LockPatience {
  int64_t timeout_micros = 0;  // 0: does not wait; negative: waits for ever.
  bool detect_deadlocks = false;
  // Time from the beginning of a wait to the first search; a lock is often free before.
  int64_t detect_after_micros = 0;
  // Number of transactions that a search visits before it gives up and reports a deadlock.
  int64_t detect_depth = 50;
  // True for the locks of a recovered transaction, which are taken again beside other holders,
  // beyond any limit and without waiting.
  bool adopts = false;
};

// Returns the seconds since 1970, which may jump when the system's time is set.
inline int64_t WallClockSeconds() {
  return std::chrono::duration_cast<std::chrono::seconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

// The clock of one request, over all of its waits. It reads no time before the first of them.
class LockClock {
 public:
  explicit LockClock(const LockPatience& patience) : patience_(patience) {}

  // Sets the deadline, if this is the first wait, and the time of the next deadlock search.
  void BeginWait() {
    VARVE_ASSERT(patience_.timeout_micros != 0);
    const uint64_t now = LockClockMicros();
    if (deadline_ == 0) {
      const bool ever = patience_.timeout_micros < 0;
      deadline_ = ever ? kNever : Later(now, static_cast<uint64_t>(patience_.timeout_micros));
    }
    if (!patience_.detect_deadlocks) return;
    search_step_ = static_cast<uint64_t>(std::max<int64_t>(patience_.detect_after_micros, 0));
    next_search_ = Later(now, search_step_);
  }
  // True if the request has used up its time.
  bool OverAt(uint64_t now) const { return now >= deadline_; }
  // True if a deadlock search is due. Searches that find nothing are repeated at growing intervals,
  // because the lock may pass to another transaction, which may come to wait in turn.
  bool SearchIsDue(uint64_t now) {
    if (now < next_search_) return false;
    search_step_ = std::clamp(search_step_ * 2, kSearchAgainMicrosMin, kSearchAgainMicrosMax);
    next_search_ = Later(now, search_step_);
    return true;
  }
  // Returns the time until there is something to do; negative: never.
  int64_t MicrosToSleep(uint64_t next_expiry) const {
    const uint64_t at = std::min({deadline_, next_search_, next_expiry});
    if (at == kNever) return -1;
    const uint64_t now = LockClockMicros();
    return at <= now ? 0 : static_cast<int64_t>(std::min(at - now, kSleepMicrosMax));
  }

 private:
  static constexpr uint64_t kNever = UINT64_MAX;
  // Bounds of the time between two searches, which doubles.
  static constexpr uint64_t kSearchAgainMicrosMin = 100;
  static constexpr uint64_t kSearchAgainMicrosMax = 100 * 1000;
  // A longer sleep is cut; the request looks again after it.
  static constexpr uint64_t kSleepMicrosMax = uint64_t{3600} * 1000 * 1000;

  // Adds without wrapping.
  static uint64_t Later(uint64_t now, uint64_t micros) {
    return micros > kNever - now ? kNever : now + micros;
  }

  // Borrowed from the request.
  const LockPatience& patience_;
  uint64_t deadline_ = 0;          // Time of the lock clock; kNever: there is none.
  uint64_t next_search_ = kNever;  // Time of the next search for a deadlock; kNever: there is none.
  uint64_t search_step_ = 0;       // Microseconds between the last search and the next one.
};

}  // namespace varve
