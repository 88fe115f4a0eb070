// SPDX-License-Identifier: Apache-2.0
#include "db/follow/follower.h"

#include <algorithm>

#include "db/active_work.h"
#include "db/follow/secondary.h"
#include "util/base/assert.h"
#include "util/base/canary.h"
#include "util/base/caught_exception.h"
#include "util/env/info_log.h"

namespace varve {

namespace {

// Longest sleep, a century, so that times do not overflow.
constexpr uint64_t kMillisMost = uint64_t{100} * 365 * 24 * 3600 * 1000;

}  // namespace

void Follower::Start() {
  // Without a period, the program calls TryCatchUpWithPrimary.
  if (engine_->context.options().follower_refresh_catchup_period_ms == 0) return;
  VARVE_ASSERT(!thread_.joinable());
  thread_ = std::thread([this] { Run(); });
}

void Follower::Stop() {
  {
    MutexLock lock(&mu_);
    stopping_ = true;
    stop_.SignalAll();
  }
  // Close and the destructor may both call Stop; the second one waits for the first and finds
  // nothing to join.
  MutexLock lock(&joining_);
  if (thread_.joinable()) thread_.join();
}

bool Follower::Sleep(uint64_t millis) {
  const DbContext& context = engine_->context;
  const uint64_t end = context.MonotonicMicros() + std::min(millis, kMillisMost) * 1000;
  MutexLock lock(&mu_);
  for (;;) {
    if (stopping_) return false;
    const uint64_t now = context.MonotonicMicros();
    if (now >= end) return true;
    // The deadline is one of the Env's clock, which may differ from the clock of the wait, so it is
    // checked once a second.
    stop_.WaitFor(std::min<uint64_t>(end - now, 1000 * 1000));
  }
}

void Follower::Run() {
  const ActiveWork work(ActiveWork::kBackground, &engine_->lifecycle,
                        "the catching up of a follower,");
  while (Sleep(engine_->context.options().follower_refresh_catchup_period_ms)) CatchUp();
}

// Each attempt is a call of its own, so that Close waits for at most one.
void Follower::CatchUp() {
  const DBOptions& options = engine_->context.options();
  // An attempt fails when the leader is faster, or its files cannot be accessed for a moment. Until
  // an attempt of a later period succeeds, readers see the old state.
  const uint64_t attempts = std::max<uint64_t>(options.follower_catchup_retry_count, 1);
  for (uint64_t attempt = 1;; attempt++) {
    const Status s = Guarded([this] {
      const OpenCall call(&engine_->lifecycle);
      return call.inside() ? secondary_->CatchUp() : Status::OK();
    });
    if (s.ok()) return;
    BestEffort([&] {
      LogWarn(engine_->context.info_log(), "attempt %llu to catch up with the leader: %s",
              static_cast<unsigned long long>(attempt), s.ToString().c_str());
    });
    if (VARVE_CANARY(kFollowerTriesOnce)) return;
    if (attempt == attempts || !Sleep(options.follower_catchup_retry_wait_ms)) return;
  }
}

}  // namespace varve
