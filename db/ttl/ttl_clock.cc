// SPDX-License-Identifier: Apache-2.0

// The clock never goes back, not even over a reopening: an entry that a reader has seen expire must
// stay expired, although a compaction may not have dropped it yet.
//
//      last_       the latest time that was used; only grows
//      granted_    saved in the MANIFEST: times up to it may be used without a write
//      Wall()      the machine's clock, which may be set back or jump
//
// Before a time beyond granted_ is used, a later one (by kGrantSeconds) is saved, so that one write
// serves for a while. If saving fails with an error that lasts, the clock goes on all the same, and
// the LOG says so once.

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

TtlClock::TtlClock(SystemClock* wall) : wall_(wall), last_(kEarliestStamp) {}

uint32_t TtlClock::Wall() const {
  int64_t seconds = 0;
  if (!wall_->GetCurrentTime(&seconds).ok()) return 0;
  // The largest number is left out, since granted_ has it while there is no limit yet.
  return static_cast<uint32_t>(std::clamp<int64_t>(seconds, 0, UINT32_MAX - 1));
}

// If the database is read-only, the clock gets no host, and granted_ stays without a limit: it
// saves nothing.
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
  granted_.store(std::max(saved, kEarliestStamp), std::memory_order_release);
}

void TtlClock::Stop() {
  MutexLock lock(&save_mu_);
  host_ = nullptr;
}

void TtlClock::Settle() {
  MutexLock lock(&save_mu_);
  if (host_ == nullptr) return;
  // Until the limit is stored again, time stands still: a later time needs a grant, and Grant,
  // which does not wait for this lock, returns no time beyond this limit.
  const uint32_t granted = granted_.exchange(kEarliestStamp, std::memory_order_acq_rel);
  const uint32_t last = last_.load(std::memory_order_acquire);
  // If `last` cannot be saved the larger granted time stays in the MANIFEST. The next opening then
  // begins up to a minute ahead, and its time stands still until the wall clock has caught up.
  const bool saved = last == granted || host_->SaveTtlClock(last).ok();
  granted_.store(saved ? last : granted, std::memory_order_release);
}

uint32_t TtlClock::Raise(uint32_t now) {
  uint32_t last = last_.load(std::memory_order_relaxed);
  while (last < now && !last_.compare_exchange_weak(last, now, std::memory_order_acq_rel)) {
  }
  return std::max(last, now);
}

uint32_t TtlClock::ConfirmedWall(uint32_t last) const {
  const uint32_t wall = Wall();
  // A single wrong reading would make entries expire that are alive, and could not be taken back.
  return wall > last && wall - last > kJumpSeconds ? std::min(wall, Wall()) : wall;
}

uint32_t TtlClock::TimeAt(uint32_t wall) {
  const uint32_t last = last_.load(std::memory_order_acquire);
  if (wall <= last) return last;
  // The usual case is one comparison; a save is due once in kGrantSeconds.
  return Raise(wall > granted_.load(std::memory_order_acquire) ? Grant(wall) : wall);
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
uint32_t TtlClock::Grant(uint32_t now) {
  // While another thread saves, this one does not wait for its I/O: it gets the latest time that is
  // granted already.
  if (!save_mu_.TryLock()) return std::min(now, granted_.load(std::memory_order_acquire));
  uint32_t granted = granted_.load(std::memory_order_acquire);
  if (now > granted && host_ != nullptr) {
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
    if (!waits) granted = wanted;
    granted_.store(granted, std::memory_order_release);
  }
  save_mu_.Unlock();
  return std::min(now, granted);
}

}  // namespace varve
