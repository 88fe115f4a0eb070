// SPDX-License-Identifier: Apache-2.0
#pragma once

// RateLimiter limits the bytes per second of all users of the same object.
//
//   // Flushes and compactions of both databases share 64 MiB per second.
//   std::shared_ptr<varve::RateLimiter> limiter(varve::NewGenericRateLimiter(64 << 20));
//   first_options.rate_limiter = limiter;
//   second_options.rate_limiter = limiter;

#include <cstddef>
#include <cstdint>

#include "varve/env.h"
#include "varve/export.h"
#include "varve/statistics.h"
#include "varve/status.h"

namespace varve {

// Limits the bytes per second of file operations: a caller asks for bytes and waits until they are
// granted. Set it in DBOptions::rate_limiter, or in the options of backups and checkpoints; one
// limiter may be shared by all of them. Thread-safe. Implementations must not throw.
//
// Requests of higher priority are granted first. Flushes use IO_HIGH and compactions IO_LOW, so
// that a compaction does not hold up the flush that a writer waits for.
class VARVE_EXPORT RateLimiter {
 public:
  // The direction of an operation.
  enum class OpType {
    kRead,
    kWrite,
  };

  // Says which operations are limited.
  enum class Mode {
    // Reads are limited, and writes are not.
    kReadsOnly,
    // Writes are limited, and reads are not. The default.
    kWritesOnly,
    // Reads and writes are limited together.
    kAllIo,
  };

  explicit RateLimiter(Mode mode = Mode::kWritesOnly) : mode_(mode) {}
  RateLimiter(const RateLimiter&) = delete;
  RateLimiter& operator=(const RateLimiter&) = delete;
  virtual ~RateLimiter();

  // Sets the rate from the next refill on. Requires bytes_per_second > 0.
  virtual void SetBytesPerSecond(int64_t bytes_per_second) = 0;

  // Sets the largest single grant; 0: the bytes of one refill. NotSupported by default.
  virtual Status SetSingleBurstBytes(int64_t single_burst_bytes);

  // Blocks until `bytes` are granted. Requires 0 <= bytes <= GetSingleBurstBytes(). Implementations
  // override one of the three forms; the longer ones call the shorter by default.
  virtual void Request(int64_t bytes, Env::IOPriority pri);
  // Does the same, and counts NUMBER_RATE_LIMITER_DRAINS in `stats`, which may be null.
  virtual void Request(int64_t bytes, Env::IOPriority pri, Statistics* stats);
  // Does the same, but returns at once if operations of `op_type` are not limited.
  virtual void Request(int64_t bytes, Env::IOPriority pri, Statistics* stats, OpType op_type);

  // Requests `bytes`, or GetSingleBurstBytes() if that is less, blocks until they are granted, and
  // returns their number. With alignment > 0 the number is rounded down to a multiple of it, but is
  // at least `alignment`. Returns `bytes` at once if operations of `op_type` are not limited, or
  // io_priority is IO_TOTAL. `stats` may be null.
  virtual size_t RequestToken(size_t bytes, size_t alignment, Env::IOPriority io_priority,
                              Statistics* stats, OpType op_type);

  // Returns the largest number of bytes for one Request.
  virtual int64_t GetSingleBurstBytes() const = 0;

  // Return the bytes and requests granted so far at `pri`; Env::IO_TOTAL: at all priorities.
  virtual int64_t GetTotalBytesThrough(Env::IOPriority pri = Env::IO_TOTAL) const = 0;
  virtual int64_t GetTotalRequests(Env::IOPriority pri = Env::IO_TOTAL) const = 0;

  // Sets *total_pending_requests to the number of requests of `pri` that wait. NotSupported by
  // default.
  virtual Status GetTotalPendingRequests(int64_t* total_pending_requests,
                                         Env::IOPriority pri = Env::IO_TOTAL) const;

  // Returns the current rate, which auto-tuning may have changed.
  virtual int64_t GetBytesPerSecond() const = 0;

  // True if operations of this type are limited.
  virtual bool IsRateLimited(OpType op_type);

 protected:
  // Returns the kinds of operations that the limiter was made for.
  Mode GetMode() { return mode_; }

 private:
  const Mode mode_;
};

// Makes a token bucket. The caller owns the result and should hand it to a shared_ptr.
//
// rate_bytes_per_sec: > 0. The rate, or with auto_tuned its upper limit.
// refill_period_us: > 0. Microseconds between refills; longer periods mean larger bursts.
// fairness: 1..100; others are clamped. A waiting lower priority is served before a higher one with
//   probability 1/fairness per refill, so that it never starves.
// auto_tuned: the rate follows demand within [rate / 20, rate].
// single_burst_bytes: largest grant; 0: the bytes of one refill.
// Out-of-range rates and periods are raised to 1.
VARVE_EXPORT RateLimiter* NewGenericRateLimiter(
    int64_t rate_bytes_per_sec, int64_t refill_period_us = 100 * 1000, int32_t fairness = 10,
    RateLimiter::Mode mode = RateLimiter::Mode::kWritesOnly, bool auto_tuned = false,
    int64_t single_burst_bytes = 0);

}  // namespace varve
