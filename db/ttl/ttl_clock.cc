// SPDX-License-Identifier: Apache-2.0
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
  return static_cast<uint32_t>(std::clamp<int64_t>(seconds, 0, UINT32_MAX - 1));
}

void TtlClock::Start(TtlHost* host, bool read_only, std::shared_ptr<Logger> log) {
  const auto saved =
      static_cast<uint32_t>(std::min<uint64_t>(host->SavedTtlClock(), UINT32_MAX - 1));
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
  // From here on a later time needs a new grant, and waits for this lock.
  const uint32_t granted = granted_.exchange(kEarliestStamp, std::memory_order_acq_rel);
  const uint32_t last = last_.load(std::memory_order_acquire);
  const bool saved = last == granted || host_->SaveTtlClock(last).ok();
  granted_.store(saved ? last : granted, std::memory_order_release);
}

uint32_t TtlClock::Raise(uint32_t now) {
  uint32_t last = last_.load(std::memory_order_relaxed);
  while (last < now && !last_.compare_exchange_weak(last, now, std::memory_order_acq_rel)) {
  }
  return std::max(last, now);
}

uint32_t TtlClock::Now() {
  const uint32_t last = last_.load(std::memory_order_acquire);
  uint32_t now = Wall();
  if (now <= last) return last;
  if (now - last > kJumpSeconds) now = std::min(now, Wall());
  if (now > granted_.load(std::memory_order_acquire)) now = Grant(now);
  return Raise(now);
}

uint32_t TtlClock::Grant(uint32_t now) {
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
