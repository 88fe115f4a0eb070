// SPDX-License-Identifier: Apache-2.0
#pragma once

// RateLimiter: one budget of bytes per second, shared by everything that is given the same object.

#include <cstddef>
#include <cstdint>

#include "varve/env.h"
#include "varve/export.h"
#include "varve/statistics.h"
#include "varve/status.h"

namespace varve {

// Thread safe. Implementations must not throw.
class VARVE_EXPORT RateLimiter {
 public:
  enum class OpType {
    kRead,
    kWrite,
  };

  // Which operations have to pay.
  enum class Mode {
    kReadsOnly,
    kWritesOnly,
    kAllIo,
  };

  explicit RateLimiter(Mode mode = Mode::kWritesOnly) : mode_(mode) {}
  RateLimiter(const RateLimiter&) = delete;
  RateLimiter& operator=(const RateLimiter&) = delete;
  virtual ~RateLimiter();

  // Changes the rate from the next refill on. Requires bytes_per_second > 0.
  virtual void SetBytesPerSecond(int64_t bytes_per_second) = 0;

  // Changes the largest single grant; 0 returns to one refill's worth. Default: NotSupported.
  virtual Status SetSingleBurstBytes(int64_t single_burst_bytes);

  // Blocks until `bytes` are granted. Requires 0 <= bytes <= GetSingleBurstBytes().
  // Implementations override one of the three forms; the longer ones fall back on the shorter.
  virtual void Request(int64_t bytes, Env::IOPriority pri);
  // `stats` may be null; counts NUMBER_RATE_LIMITER_DRAINS.
  virtual void Request(int64_t bytes, Env::IOPriority pri, Statistics* stats);
  // Returns at once when operations of `op_type` are not limited.
  virtual void Request(int64_t bytes, Env::IOPriority pri, Statistics* stats, OpType op_type);

  // Blocks for as much of `bytes` as one grant may hold and returns that number. With alignment > 0
  // the grant is rounded down to a multiple of it, but is at least one `alignment`.
  virtual size_t RequestToken(size_t bytes, size_t alignment, Env::IOPriority io_priority,
                              Statistics* stats, OpType op_type);

  // Largest number of bytes one Request may ask for.
  virtual int64_t GetSingleBurstBytes() const = 0;

  // Bytes and requests granted so far at `pri`; Env::IO_TOTAL sums all priorities.
  virtual int64_t GetTotalBytesThrough(Env::IOPriority pri = Env::IO_TOTAL) const = 0;
  virtual int64_t GetTotalRequests(Env::IOPriority pri = Env::IO_TOTAL) const = 0;

  // Requests now waiting. Default: NotSupported.
  virtual Status GetTotalPendingRequests(int64_t* total_pending_requests,
                                         Env::IOPriority pri = Env::IO_TOTAL) const;

  // The rate in force, which auto-tuning may have moved.
  virtual int64_t GetBytesPerSecond() const = 0;

  // Whether operations of this type have to pay.
  virtual bool IsRateLimited(OpType op_type);

 protected:
  Mode GetMode() { return mode_; }

 private:
  const Mode mode_;
};

// A token bucket. The caller owns the result (hand it to a shared_ptr).
//
// rate_bytes_per_sec: > 0. The rate, or with auto_tuned the upper end of it.
// refill_period_us: > 0. Tokens arrive once per period; longer periods mean larger bursts.
// fairness: 1..100; others are clamped. A waiting lower priority goes ahead of a higher one with
//   probability 1/fairness per refill, so that it is never starved.
// auto_tuned: follows demand within [rate / 20, rate].
// single_burst_bytes: largest grant; 0 means the bytes of one refill.
// Out-of-range rates and periods are raised to 1.
VARVE_EXPORT RateLimiter* NewGenericRateLimiter(
    int64_t rate_bytes_per_sec, int64_t refill_period_us = 100 * 1000, int32_t fairness = 10,
    RateLimiter::Mode mode = RateLimiter::Mode::kWritesOnly, bool auto_tuned = false,
    int64_t single_burst_bytes = 0);

}  // namespace varve
