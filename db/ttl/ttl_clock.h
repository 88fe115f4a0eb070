// SPDX-License-Identifier: Apache-2.0
#pragma once

// The time by which lifetimes are judged: seconds since 1970 that never go back, within an opening
// or across openings, whatever happens to the machine's clock.
//
//  1. No time is used that is later than the one in the MANIFEST (`granted_`), which is therefore
//     saved ahead of use, for kGrantSeconds at once, and exactly when the database is closed. So
//     after a crash the time may be ahead of the wall clock by as much, and stands until that has
//     caught up.
//  2. If the MANIFEST cannot be written at that moment, as in a callback that holds it up, the time
//     stands at the granted one. If writing it fails, the time goes on, as entries must not live
//     for ever on a full disk; an entry then stays expired only within this opening.
//  3. A jump ahead by more than kJumpSeconds is believed when a second reading confirms it.

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
  static constexpr uint32_t kGrantSeconds = 60;
  static constexpr uint32_t kJumpSeconds = 3600;

  // `wall` outlives this object.
  explicit TtlClock(SystemClock* wall);

  // Continues from the time that the database has saved. Saves nothing if it is read-only. The log
  // may be null.
  void Start(TtlHost* host, bool read_only, std::shared_ptr<Logger> log);
  // Called when the database closes. Later readings stay within the granted time.
  void Stop();
  // Saves the last time that was used, in place of the granted one.
  void Settle();

  uint32_t Now();
  // Returns the last result of Now. Does no I/O.
  uint32_t Last() const { return last_.load(std::memory_order_acquire); }

 private:
  uint32_t Wall() const;
  // Returns `now`, or the latest time that may be used if that is earlier.
  uint32_t Grant(uint32_t now);
  uint32_t Raise(uint32_t now);

  SystemClock* const wall_;
  std::atomic<uint32_t> last_;  // Latest time that was used; it only rises.
  std::atomic<uint32_t> granted_{UINT32_MAX};
  Mutex save_mu_;  // Held while a time is saved.
  TtlHost* host_ VARVE_GUARDED_BY(save_mu_) = nullptr;
  std::shared_ptr<Logger> log_ VARVE_GUARDED_BY(save_mu_);
  bool complained_ VARVE_GUARDED_BY(save_mu_) = false;
};

}  // namespace varve
