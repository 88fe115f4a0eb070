// SPDX-License-Identifier: Apache-2.0
#pragma once

// TtlClock is the time by which lifetimes are judged: seconds since 1970 that never go back, within
// an opening or across openings, whatever happens to the machine's clock (the wall clock).
//
//  1. No time is used that is later than the one in the MANIFEST (`granted`), which is therefore
//     saved ahead of use, for kGrantSeconds at once, and exactly when the database is closed. So
//     after a crash the time may be ahead of the wall clock by as much, and stands still until that
//     has caught up.
//  2. If the MANIFEST cannot be written at that moment, as in a callback that holds it up, the time
//     stands still at the granted one. If writing it fails, the time goes on, as entries must not
//     live for ever on a full disk; an entry then stays expired only within this opening.
//  3. Stamps of writes do not stand still: they are the wall clock's time where that is later, as a
//     stamp ahead of the saved time only makes an entry live longer. The time at which the clock
//     stands still may be as old as the last use of the database; as a stamp it could end an
//     entry's life at once.
//  4. A jump of the wall clock ahead by more than kJumpSeconds counts only if a second reading
//     confirms it.

#include <atomic>
#include <cstdint>
#include <memory>

#include "varve/env.h"
#include "varve/status.h"
#include "varve/system_clock.h"

#include "db/ttl/ttl_host.h"
#include "util/sync/mutex.h"

namespace varve {

// Thread safety: any thread. Before Start the time is the wall clock's.
class TtlClock {
 public:
  // Seconds beyond the present time that one save grants.
  static constexpr uint32_t kGrantSeconds = 60;
  // A jump of the wall clock by more than this is read a second time.
  static constexpr uint32_t kJumpSeconds = 3600;

  // `wall` outlives this object.
  explicit TtlClock(SystemClock* wall);

  // Continues from the time that the database has saved. Nothing is saved if it is `read_only`.
  // `host` is borrowed until Stop; `log` may be null.
  void Start(TtlHost* host, bool read_only, std::shared_ptr<Logger> log);
  // Called when the database closes. Later readings stay within the granted time.
  void Stop();
  // Saves the last time that was used, in place of the granted one, for Close. If that fails the
  // granted one stays saved.
  void Settle();

  // Returns the time in seconds since the Unix epoch, which never goes back. May save a time.
  uint32_t Now();
  // Returns the time for stamps: that of Now, or the wall clock's if that is later.
  uint32_t ForStamps();
  // Returns the last result of Now. Does no I/O.
  uint32_t Last() const { return times_.load(std::memory_order_acquire).last; }

 private:
  // Returns the wall clock's time; 0 if it is unknown.
  uint32_t Wall() const;
  // Returns the wall clock's time, read again if it is far ahead of `last`.
  uint32_t ConfirmedWall(uint32_t last) const;
  // Returns what Now returns if the wall clock says `wall`.
  uint32_t TimeAt(uint32_t wall);
  // Saves a later limit if `now` is beyond the present one.
  void Grant(uint32_t now);
  // Raises the last time to `now`, or to the granted time if that is earlier. Returns the last
  // time.
  uint32_t Raise(uint32_t now);

  // Aligned like one word; otherwise Clang calls a library for each access.
  struct alignas(sizeof(uint64_t)) Times {
    uint32_t last;     // Latest time that was used; it only rises.
    uint32_t granted;  // Latest time that may be used without a save.
  };
  // Replaces the granted time. Returns the times before.
  Times SetGranted(uint32_t granted);

  SystemClock* const wall_;
  // Both are one word, so that no time is used whose grant was withdrawn meanwhile.
  std::atomic<Times> times_;
  static_assert(std::atomic<Times>::is_always_lock_free);
  Mutex save_mu_;  // Held while a time is saved.
  TtlHost* host_ VARVE_GUARDED_BY(save_mu_) = nullptr;
  std::shared_ptr<Logger> log_ VARVE_GUARDED_BY(save_mu_);
  bool complained_ VARVE_GUARDED_BY(save_mu_) = false;  // True once a failed save was logged.
};

}  // namespace varve
