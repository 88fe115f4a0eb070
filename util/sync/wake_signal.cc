// SPDX-License-Identifier: Apache-2.0
#include "util/sync/wake_signal.h"

#include <algorithm>

#include "util/sync/futex.h"
#include "util/sync/heavy_fence.h"

namespace varve {

namespace {

// The longest sleep where there is no fence: a wake-up may be lost then, so the sleeper returns
// after this time and looks again.
constexpr uint64_t kNanosUnfenced = 1000 * 1000;

}  // namespace

uint32_t WakeSignal::Arm() {
  // Read before armed_ is set, so that a Notify after that ends a sleep of this round.
  const uint32_t round = rounds_.load(std::memory_order_acquire);
  armed_.store(true, std::memory_order_seq_cst);
  if (!HeavyFence()) has_fence_.store(false, std::memory_order_relaxed);
  return round;
}

void WakeSignal::Sleep(uint32_t round, uint64_t nanos_max) const {
  if (!has_fence_.load(std::memory_order_relaxed)) nanos_max = std::min(nanos_max, kNanosUnfenced);
  FutexWaitFor(rounds_, round, nanos_max);
}

void WakeSignal::Wake() {
  if (!armed_.exchange(false, std::memory_order_seq_cst)) return;
  rounds_.fetch_add(1, std::memory_order_seq_cst);
  FutexWakeAll(rounds_);
}

}  // namespace varve
