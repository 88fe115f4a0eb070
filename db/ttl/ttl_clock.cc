// SPDX-License-Identifier: Apache-2.0

// The clock never goes back, not even over a reopening: an entry that a reader has seen expire must
// stay expired, although a compaction may not have dropped it yet.
//
//      last       the latest time that was used; only grows
//      granted    saved in the MANIFEST: times up to it may be used without a write
//      Wall()     the machine's clock, which may be set back or jump
//
// Before a time beyond `granted` is used, a later one (by kGrantSeconds) is saved, so that one
// write serves for a while. If saving fails with an error that lasts, the clock goes on all the
// same, and the LOG says so once.

#include "db/ttl/ttl_clock.h"

#include <algorithm>
#include <utility>

#include "db/ttl/ttl_stamp.h"
#include "util/env/info_log.h"

namespace varve {

namespace {

// The saved time may be this far ahead of the wall clock without a warning.
constexpr uint32_t kAheadSeconds = 86400;

}  // namespace

TtlClock::TtlClock(SystemClock* wall)
    : wall_(wall), times_(Times{.last = kEarliestStamp, .granted = UINT32_MAX}) {}

uint32_t TtlClock::Wall() const {
  int64_t seconds = 0;
  if (!wall_->GetCurrentTime(&seconds).ok()) return 0;
  // The largest number is left out, since `granted` has it while there is no limit yet.
  return static_cast<uint32_t>(std::clamp<int64_t>(seconds, 0, UINT32_MAX - 1));
}

// If the database is read-only, the clock gets no host, and there stays no limit: it saves
// nothing.
void TtlClock::Start(TtlHost* host, bool read_only, std::shared_ptr<Logger> log) {
  const auto saved =
      static_cast<uint32_t>(std::min<uint64_t>(host->SavedTtlClock(), UINT32_MAX - 1));
  // Before Start the time may have been the wall clock's, if something read it: it is not set back
  // here either.
  Raise(saved);
  if (saved > kAheadSeconds && Wall() < saved - kAheadSeconds) {
    LogWarn(log.get(),
            "DBWithTTL: the database has seen second %u, more than a day ahead of the machine's "
            "clock, and judges lifetimes by that until the clock has caught up",
            saved);
  }
  if (read_only) return;
  MutexLock lock(&save_mu_);
  host_ = host;
  log_ = std::move(log);
  SetGranted(std::max(saved, kEarliestStamp));
}

void TtlClock::Stop() {
  MutexLock lock(&save_mu_);
  host_ = nullptr;
}

void TtlClock::Settle() {
  MutexLock lock(&save_mu_);
  if (host_ == nullptr) return;
  // Until the limit is stored again, time stands still: Grant does not wait for this lock, and
  // Raise does not go beyond this limit.
  const Times before = SetGranted(kEarliestStamp);
  // If the last time cannot be saved the larger granted time stays in the MANIFEST. The next
  // opening then begins up to a minute ahead, and its time stands still until the wall clock has
  // caught up.
  const bool saved = before.last == before.granted || host_->SaveTtlClock(before.last).ok();
  SetGranted(saved ? before.last : before.granted);
}

TtlClock::Times TtlClock::SetGranted(uint32_t granted) {
  Times times = times_.load(std::memory_order_acquire);
  while (!times_.compare_exchange_weak(times, {times.last, granted}, std::memory_order_acq_rel,
                                       std::memory_order_acquire)) {
  }
  return times;
}

uint32_t TtlClock::Raise(uint32_t now) {
  Times times = times_.load(std::memory_order_acquire);
  for (;;) {
    const uint32_t raised = std::min(now, times.granted);
    if (raised <= times.last) return times.last;
    if (times_.compare_exchange_weak(times, {raised, times.granted}, std::memory_order_acq_rel,
                                     std::memory_order_acquire)) {
      return raised;
    }
  }
}

uint32_t TtlClock::ConfirmedWall(uint32_t last) const {
  const uint32_t wall = Wall();
  // A single wrong reading would make entries expire that are alive, and could not be taken back.
  return wall > last && wall - last > kJumpSeconds ? std::min(wall, Wall()) : wall;
}

uint32_t TtlClock::TimeAt(uint32_t wall) {
  const Times times = times_.load(std::memory_order_acquire);
  if (wall <= times.last) return times.last;
  // The usual case is one comparison; a save is due once in kGrantSeconds.
  if (wall > times.granted) Grant(wall);
  return Raise(wall);
}

uint32_t TtlClock::Now() {
  return TimeAt(ConfirmedWall(Last()));
}

uint32_t TtlClock::ForStamps() {
  const uint32_t wall = ConfirmedWall(Last());
  return std::max(TimeAt(wall), wall);
}

// A failure that passes (Busy, closing) leaves the limit where it is. Any other failure raises it
// without a save, so that time does not stand still on a full disk.
void TtlClock::Grant(uint32_t now) {
  // While another thread saves, this one does not wait for its I/O: it gets the latest time that is
  // granted already.
  if (!save_mu_.TryLock()) return;
  if (now > times_.load(std::memory_order_acquire).granted && host_ != nullptr) {
    const uint32_t wanted = now + std::min(kGrantSeconds, UINT32_MAX - 1 - now);
    const Status s = host_->SaveTtlClock(wanted);
    const bool waits = s.IsBusy() || s.IsShutdownInProgress();
    if (!s.ok() && !waits && !complained_) {
      complained_ = true;
      LogWarn(log_.get(),
              "DBWithTTL: second %u could not be saved, so that entries that expire from now on "
              "may be seen again after a reopening with a clock that was set back: %s",
              wanted, s.ToString().c_str());
    }
    if (!waits) SetGranted(wanted);
  }
  save_mu_.Unlock();
}

}  // namespace varve
