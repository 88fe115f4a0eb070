// SPDX-License-Identifier: Apache-2.0
#pragma once

// Histogram is a distribution of integers in buckets that grow by half.
//
// Bucket i holds the values in (limit[i-1], limit[i]]; limits are 1, 2, and then 2 * 1.5^k
// truncated to two significant decimal digits, so that they are readable in reports. 109 buckets
// span 64 bits and a percentile is off by at most a half. Values above the last limit belong to the
// last bucket.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include "varve/statistics.h"

#include "util/sync/mutex.h"

namespace varve {

inline constexpr size_t kHistogramBuckets = 109;
extern const std::array<uint64_t, kHistogramBuckets> kHistogramLimits;

// Returns the index of the bucket that holds `value`, in constant time.
size_t HistogramBucketOf(uint64_t value);

// Thread safety: one thread at a time changes it, and any thread may read it meanwhile. A reader
// may see a value in the sum and not yet in its bucket, so results during a change are approximate.
class Histogram {
 public:
  Histogram() = default;
  Histogram(const Histogram&) = delete;
  Histogram& operator=(const Histogram&) = delete;

  // Adds one value.
  void Add(uint64_t value);
  // Adds all values of the other histogram, which may be changing meanwhile.
  void Merge(const Histogram& other);
  // Forgets all values.
  void Clear();

  // Returns the number of values: the sum over the buckets.
  uint64_t count() const;
  uint64_t sum() const { return sum_.load(std::memory_order_relaxed); }
  // Returns the smallest value; 0 if empty.
  uint64_t min() const;
  uint64_t max() const { return max_.load(std::memory_order_relaxed); }

  // These return 0.0 if empty. `percent` is in 0..100; the result is interpolated inside its bucket
  // and lies within [min, max].
  double Percentile(double percent) const;
  double Median() const { return Percentile(50.0); }
  double Average() const;
  double StandardDeviation() const;

  // Sets all members of the public summary.
  void FillData(HistogramData* data) const;

  // Returns a summary, percentiles and a bar chart of the filled buckets; ends in a newline.
  std::string ToString() const;

 private:
  std::atomic<uint64_t> min_{UINT64_MAX};
  std::atomic<uint64_t> max_{0};
  std::atomic<uint64_t> sum_{0};
  // Floating point, because sums of squared nanoseconds soon exceed 64 bits.
  std::atomic<double> sum_of_squares_{0.0};
  std::array<std::atomic<uint64_t>, kHistogramBuckets> buckets_{};
};

// A thread-safe histogram for measurements that take much longer than a lock.
class SharedHistogram {
 public:
  void Add(uint64_t value) {
    const MutexLock lock(&mu_);
    histogram_.Add(value);
  }
  void Clear() {
    const MutexLock lock(&mu_);
    histogram_.Clear();
  }
  std::string ToString() const {
    const MutexLock lock(&mu_);
    return histogram_.ToString();
  }

 private:
  mutable Mutex mu_;
  Histogram histogram_ VARVE_GUARDED_BY(mu_);
};

}  // namespace varve
