// SPDX-License-Identifier: Apache-2.0
// Implements the bucket limits, recording, and reports of Histogram.

#include "util/metrics/histogram.h"

#include <algorithm>
#include <bit>
#include <cinttypes>
#include <cmath>
#include <cstdio>

namespace varve {

namespace {

constexpr uint64_t CutToTwoDigits(uint64_t value) {
  uint64_t unit = 1;
  while (value / unit >= 100) unit *= 10;
  return value / unit * unit;
}

// Only the printed limit is cut to two digits. The growth goes on from the exact number, or the
// errors of cutting would add up.
constexpr std::array<uint64_t, kHistogramBuckets> MakeLimits() {
  std::array<uint64_t, kHistogramBuckets> limits{};
  limits[0] = 1;
  double exact = 2.0;
  for (size_t i = 1; i < limits.size(); ++i, exact *= 1.5) {
    limits[i] = CutToTwoDigits(static_cast<uint64_t>(exact));
  }
  return limits;
}

constexpr std::array<uint64_t, kHistogramBuckets> kLimits = MakeLimits();
static_assert(kLimits.back() > UINT64_MAX / 3, "the buckets must span 64 bits");

// Returns, for each bit width, the first bucket that can hold a value of that width. At most two
// more limits lie between that bucket's and any value of the width.
constexpr std::array<uint8_t, 65> MakeFirstBuckets() {
  std::array<uint8_t, 65> first{};
  for (size_t width = 1; width <= 64; ++width) {
    const uint64_t smallest = uint64_t{1} << (width - 1);
    size_t bucket = 0;
    while (bucket + 1 < kLimits.size() && kLimits[bucket] < smallest) ++bucket;
    first[width] = static_cast<uint8_t>(bucket);
  }
  return first;
}

constexpr std::array<uint8_t, 65> kFirstBuckets = MakeFirstBuckets();

template <typename... Args>
void AppendFormat(std::string* out, const char* format, Args... args) {
  char buffer[256];
  const int length = std::snprintf(buffer, sizeof(buffer), format, args...);
  if (length > 0) out->append(buffer, std::min(static_cast<size_t>(length), sizeof(buffer) - 1));
}

// Adds for the one thread that changes a histogram, which is cheaper than an atomic addition.
template <typename T>
void AddTo(std::atomic<T>* target, T value) {
  target->store(target->load(std::memory_order_relaxed) + value, std::memory_order_relaxed);
}

// Lower or raise a bound for the same one thread; readers see the old value or the new one.
void LowerTo(std::atomic<uint64_t>* target, uint64_t value) {
  if (value < target->load(std::memory_order_relaxed)) {
    target->store(value, std::memory_order_relaxed);
  }
}

void RaiseTo(std::atomic<uint64_t>* target, uint64_t value) {
  if (value > target->load(std::memory_order_relaxed)) {
    target->store(value, std::memory_order_relaxed);
  }
}

}  // namespace

const std::array<uint64_t, kHistogramBuckets> kHistogramLimits = kLimits;

size_t HistogramBucketOf(uint64_t value) {
  size_t bucket = kFirstBuckets[static_cast<size_t>(std::bit_width(value))];
  while (bucket + 1 < kLimits.size() && kLimits[bucket] < value) ++bucket;
  return bucket;
}

void Histogram::Add(uint64_t value) {
  AddTo(&buckets_[HistogramBucketOf(value)], uint64_t{1});
  AddTo(&sum_, value);
  AddTo(&sum_of_squares_, static_cast<double>(value) * static_cast<double>(value));
  LowerTo(&min_, value);
  RaiseTo(&max_, value);
}

void Histogram::Merge(const Histogram& other) {
  for (size_t i = 0; i < buckets_.size(); ++i) {
    const uint64_t n = other.buckets_[i].load(std::memory_order_relaxed);
    if (n != 0) AddTo(&buckets_[i], n);
  }
  AddTo(&sum_, other.sum());
  AddTo(&sum_of_squares_, other.sum_of_squares_.load(std::memory_order_relaxed));
  LowerTo(&min_, other.min_.load(std::memory_order_relaxed));
  RaiseTo(&max_, other.max());
}

void Histogram::Clear() {
  min_.store(UINT64_MAX, std::memory_order_relaxed);
  max_.store(0, std::memory_order_relaxed);
  sum_.store(0, std::memory_order_relaxed);
  sum_of_squares_.store(0.0, std::memory_order_relaxed);
  for (auto& bucket : buckets_) bucket.store(0, std::memory_order_relaxed);
}

uint64_t Histogram::count() const {
  uint64_t total = 0;
  for (const auto& bucket : buckets_) total += bucket.load(std::memory_order_relaxed);
  return total;
}

// UINT64_MAX is also a value that may have been added; then max() is not 0.
uint64_t Histogram::min() const {
  const uint64_t least = min_.load(std::memory_order_relaxed);
  return least == UINT64_MAX && max() == 0 ? 0 : least;
}

// Finds the bucket with the value of that rank and takes the values in it for evenly spread. The
// buckets are read once more than in count(); if values come in between, the loop may end early,
// which is within the error of the buckets.
double Histogram::Percentile(double percent) const {
  const double rank = static_cast<double>(count()) * percent / 100.0;
  double below = 0.0;
  for (size_t i = 0; i < buckets_.size(); ++i) {
    const auto inside = static_cast<double>(buckets_[i].load(std::memory_order_relaxed));
    if (inside > 0.0 && below + inside >= rank) {
      const double low = i == 0 ? 0.0 : static_cast<double>(kLimits[i - 1]);
      const double width = static_cast<double>(kLimits[i]) - low;
      const double value = low + width * std::max(0.0, rank - below) / inside;
      return std::max(static_cast<double>(min()), std::min(value, static_cast<double>(max())));
    }
    below += inside;
  }
  return static_cast<double>(max());
}

double Histogram::Average() const {
  const uint64_t n = count();
  return n == 0 ? 0.0 : static_cast<double>(sum()) / static_cast<double>(n);
}

double Histogram::StandardDeviation() const {
  const uint64_t n = count();
  if (n == 0) return 0.0;
  const double mean = Average();
  const double mean_square =
      sum_of_squares_.load(std::memory_order_relaxed) / static_cast<double>(n);
  // Rounding may make the difference of two nearly equal numbers negative.
  return std::sqrt(std::max(0.0, mean_square - mean * mean));
}

void Histogram::FillData(HistogramData* data) const {
  data->median = Median();
  data->percentile95 = Percentile(95.0);
  data->percentile99 = Percentile(99.0);
  data->average = Average();
  data->standard_deviation = StandardDeviation();
  data->max = static_cast<double>(max());
  data->count = count();
  data->sum = sum();
  data->min = static_cast<double>(min());
}

std::string Histogram::ToString() const {
  const uint64_t total = count();
  std::string out;
  AppendFormat(&out, "Count: %" PRIu64 " Average: %.4f  StdDev: %.2f\n", total, Average(),
               StandardDeviation());
  AppendFormat(&out, "Min: %" PRIu64 "  Median: %.4f  Max: %" PRIu64 "\n", min(), Median(), max());
  AppendFormat(&out, "Percentiles: P50: %.2f P75: %.2f P99: %.2f P99.9: %.2f P99.99: %.2f\n",
               Percentile(50.0), Percentile(75.0), Percentile(99.0), Percentile(99.9),
               Percentile(99.99));
  out.append(54, '-').push_back('\n');
  const double percent_each = total == 0 ? 0.0 : 100.0 / static_cast<double>(total);
  uint64_t cumulative = 0;
  for (size_t i = 0; i < buckets_.size(); ++i) {
    const uint64_t inside = buckets_[i].load(std::memory_order_relaxed);
    if (inside == 0) continue;
    cumulative += inside;
    const double percent = percent_each * static_cast<double>(inside);
    AppendFormat(&out, "%c %7" PRIu64 ", %7" PRIu64 " ] %8" PRIu64 " %7.3f%% %7.3f%% ",
                 i == 0 ? '[' : '(', i == 0 ? uint64_t{0} : kLimits[i - 1], kLimits[i], inside,
                 percent, percent_each * static_cast<double>(cumulative));
    out.append(static_cast<size_t>(percent / 5.0 + 0.5), '#');  // Twenty marks are 100 %.
    out.push_back('\n');
  }
  return out;
}

}  // namespace varve
