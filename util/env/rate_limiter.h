// SPDX-License-Identifier: Apache-2.0
#pragma once

// GenericRateLimiter is the token bucket behind NewGenericRateLimiter().
//
// Tokens (bytes) arrive once per refill period. A request that finds enough of them takes them and
// returns; otherwise it takes what is there and queues, by priority and in order of arrival, for
// the rest. There is no separate thread: one of the waiting requests, the leader, sleeps until the
// next refill and hands the new tokens out; when it is served itself it passes the lead on.
//
// Invariants, under mutex_:
//   1. Tokens are left over only while no request waits.
//   2. While a request waits there is a leader, or one waiter has been woken to become it.
//   3. A request leaves its queue when it is granted, before its thread is woken.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>

#include "varve/rate_limiter.h"
#include "varve/system_clock.h"

#include "util/sync/fork_watch.h"
#include "util/sync/lock_ranks.h"
#include "util/sync/mutex.h"

namespace varve {

// Thread-safe. No request may be in progress when it is destroyed. A child of fork() has a separate
// limiter of the same rate, without its parent's requests.
class GenericRateLimiter final : public RateLimiter, private ForkWatch {
 public:
  // See NewGenericRateLimiter(). Durations are measured with clock->NowNanos().
  GenericRateLimiter(int64_t rate_bytes_per_sec, int64_t refill_period_us, int32_t fairness,
                     Mode mode, std::shared_ptr<SystemClock> clock, bool auto_tuned,
                     int64_t single_burst_bytes = 0);
  ~GenericRateLimiter() override { Forget(); }

  void SetBytesPerSecond(int64_t bytes_per_second) override;
  Status SetSingleBurstBytes(int64_t single_burst_bytes) override;

  using RateLimiter::Request;
  // Requests larger than a burst are granted burst by burst; negative ones count as 0.
  void Request(int64_t bytes, Env::IOPriority pri, Statistics* stats) override;

  int64_t GetSingleBurstBytes() const override;
  int64_t GetTotalBytesThrough(Env::IOPriority pri = Env::IO_TOTAL) const override;
  int64_t GetTotalRequests(Env::IOPriority pri = Env::IO_TOTAL) const override;
  Status GetTotalPendingRequests(int64_t* total_pending_requests,
                                 Env::IOPriority pri = Env::IO_TOTAL) const override;
  int64_t GetBytesPerSecond() const override {
    return rate_bytes_per_sec_.load(std::memory_order_relaxed);
  }

 private:
  // A request that waits. It lies on the stack of its thread.
  struct Waiter {
    Waiter(int64_t bytes, Mutex* mutex) : missing(bytes), cv(mutex) {}

    int64_t missing;  // Bytes still to be granted.
    bool granted = false;
    CondVar cv;
  };

  static constexpr size_t kPriorities = Env::IO_TOTAL;
  using PriorityOrder = std::array<size_t, kPriorities>;

  uint64_t NowMicros() const { return clock_->NowNanos() / 1000; }

  // Returns the number of refills for which this thread waited as the leader.
  uint64_t RequestBurst(int64_t bytes, size_t pri) VARVE_REQUIRES(mutex_);
  // Makes this thread the leader: sleeps once, at most until the next refill, and calls
  // RefillIfDue.
  void LeadUntilRefill(Waiter* self) VARVE_REQUIRES(mutex_);
  // Adds the tokens of all refills that are due, and hands them out.
  void RefillIfDue() VARVE_REQUIRES(mutex_);
  // Grants tokens to waiters, in an order of priorities that DrawOrder draws.
  void HandOut() VARVE_REQUIRES(mutex_);
  // Returns the priorities in the order in which this refill serves them. IO_USER comes first;
  // each of the lower ones changes places with the one above it once in fairness_ draws.
  PriorityOrder DrawOrder() VARVE_REQUIRES(mutex_);
  // Returns some request that waits; null if there is none.
  Waiter* AnyWaiter() const VARVE_REQUIRES(mutex_);
  // Adjusts the rate to the demand since the last adjustment, if that is long enough ago
  // (auto_tuned).
  void TuneIfDue() VARVE_REQUIRES(mutex_);
  // Sets the present rate, which is at least 1, and the bytes of a refill.
  void SetRate(int64_t bytes_per_second) VARVE_REQUIRES(mutex_);
  // True once in fairness_ calls, at random.
  bool OneInFairness() VARVE_REQUIRES(mutex_);
  // Returns the element of a priority, or the sum of all for IO_TOTAL.
  static int64_t Sum(const std::array<int64_t, kPriorities>& per_priority, Env::IOPriority pri);
  void InChild() override VARVE_NO_THREAD_SAFETY_ANALYSIS;

  const std::shared_ptr<SystemClock> clock_;
  const int64_t refill_period_us_;
  const int32_t fairness_;
  const bool auto_tuned_;

  // Published for lock-free reading; written under mutex_. Relaxed, because they are independent
  // numbers.
  std::atomic<int64_t> rate_bytes_per_sec_{1};
  std::atomic<int64_t> refill_bytes_{1};
  std::atomic<int64_t> single_burst_bytes_;  // 0 is one refill.

  mutable Mutex mutex_{lock_ranks::kRateLimiter};
  int64_t max_rate_ VARVE_GUARDED_BY(mutex_);  // Auto-tuning stays at or below it.
  // Tokens that no request has taken.
  int64_t available_ VARVE_GUARDED_BY(mutex_) = 0;
  // Millionths of a byte that the last refill left over.
  int64_t fraction_ VARVE_GUARDED_BY(mutex_) = 0;
  uint64_t next_refill_us_ VARVE_GUARDED_BY(mutex_);
  bool has_leader_ VARVE_GUARDED_BY(mutex_) = false;
  // Requests that wait, by priority, in the order of arrival.
  std::array<std::deque<Waiter*>, kPriorities> queues_ VARVE_GUARDED_BY(mutex_);
  std::array<int64_t, kPriorities> total_bytes_ VARVE_GUARDED_BY(mutex_){};
  std::array<int64_t, kPriorities> total_requests_ VARVE_GUARDED_BY(mutex_){};
  uint32_t random_ VARVE_GUARDED_BY(mutex_) = 0x9e3779b9;
  // Number of refills since last_tune_us_ that found a request waiting.
  int64_t drains_ VARVE_GUARDED_BY(mutex_) = 0;
  uint64_t last_tune_us_ VARVE_GUARDED_BY(mutex_);
};

}  // namespace varve
