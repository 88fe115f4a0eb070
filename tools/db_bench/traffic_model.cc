// SPDX-License-Identifier: Apache-2.0

// The sampling behind mixgraph. Each draw inverts a distribution at a uniform share:
//
//      range:   up_to_ = [w1, w1+w2, ..., W]    share * W lies in one of the intervals
//      key:     rank = ceil((share / a)^(1/b))  then a place of the range by a hash of the rank
//      sizes:   generalised Pareto quantile, cut to the bounds of the flags
//
// The hash of a rank is the first draw of a generator seeded by it. The same rank of a range hence
// means the same key in each thread and run, which is what makes that key hot.

#include "tools/db_bench/traffic_model.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <utility>

#include "tools/db_bench/flags.h"

namespace varve::bench {

namespace {

// The places of ranges are the same in every run, so that runs can be compared.
constexpr uint64_t kPlacesSeed = 0x6d69786772617068;

// Returns a number in (0, 1]. Zero is excluded, since its logarithm and its negative powers are
// infinite.
double UpperShare(Random& random) {
  return 1.0 - random.Share();
}

bool HasRangeModel() {
  return FLAGS_keyrange_dist_a != 0 || FLAGS_keyrange_dist_b != 0 || FLAGS_keyrange_dist_c != 0 ||
         FLAGS_keyrange_dist_d != 0;
}

int64_t Capped(double value, int64_t least, int64_t most) {
  // Written so that NaN, from strange parameters, becomes `least`. The second comparison keeps the
  // cast below defined for values beyond int64_t.
  if (!(value > static_cast<double>(least))) return least;
  return value >= static_cast<double>(most) ? most : static_cast<int64_t>(value);
}

bool Refuse(const char* what) {
  std::fprintf(stderr, "%s\n", what);
  return false;
}

}  // namespace

double ParetoQuantile(double u, double theta, double k, double sigma) {
  if (k == 0.0) return theta - sigma * std::log(u);
  return theta + sigma * (std::pow(u, -k) - 1) / k;
}

KeyTraffic::KeyTraffic(int64_t keys) : keys_(static_cast<uint64_t>(keys)) {
  const uint64_t ranges = std::clamp<uint64_t>(static_cast<uint64_t>(FLAGS_keyrange_num), 1, keys_);
  range_size_ = keys_ / ranges;
  double sum = 0;
  for (uint64_t x = 1; x <= ranges; x++) {
    const auto at = static_cast<double>(x);
    const double share = HasRangeModel()
                             ? FLAGS_keyrange_dist_a * std::exp(FLAGS_keyrange_dist_b * at) +
                                   FLAGS_keyrange_dist_c * std::exp(FLAGS_keyrange_dist_d * at)
                             : 1.0;
    // A negative weight, which the flags allow, would make up_to_ fall and the binary search
    // meaningless.
    sum += std::max(share, 0.0);
    up_to_.push_back(sum);
  }
  places_.resize(ranges);
  std::iota(places_.begin(), places_.end(), uint64_t{0});
  Random random(kPlacesSeed);
  // Fisher-Yates. std::shuffle would do, but its result differs between standard libraries.
  for (uint64_t i = ranges - 1; i > 0; i--) std::swap(places_[i], places_[random.Below(i + 1)]);
}

uint64_t KeyTraffic::Draw(Random& random) const {
  const double share = random.Share() * up_to_.back();
  const auto range = std::ranges::upper_bound(up_to_, share);
  const auto x = std::min<size_t>(static_cast<size_t>(range - up_to_.begin()), places_.size() - 1);
  uint64_t offset = 0;
  if (FLAGS_key_dist_a == 0 || FLAGS_key_dist_b == 0) {
    offset = random.Below(range_size_);
  } else {
    // The power law gives the rank of a key by its heat; keys of one rank lie anywhere in the
    // range.
    const double rank =
        std::ceil(std::pow(random.Share() / FLAGS_key_dist_a, 1 / FLAGS_key_dist_b));
    Random place(static_cast<uint64_t>(std::min(std::abs(rank), 9e18)));
    offset = place.Below(range_size_);
  }
  // The remainder of keys_ / ranges at the end of the key space is never drawn.
  return std::min(places_[x] * range_size_ + offset, keys_ - 1);
}

TrafficKind DrawKind(Random& random) {
  const double sum = FLAGS_mix_get_ratio + FLAGS_mix_put_ratio + FLAGS_mix_seek_ratio;
  const double at = random.Share() * sum;
  if (at < FLAGS_mix_get_ratio) return TrafficKind::kGet;
  return at < FLAGS_mix_get_ratio + FLAGS_mix_put_ratio ? TrafficKind::kPut : TrafficKind::kSeek;
}

int64_t DrawValueSize(Random& random) {
  return Capped(
      ParetoQuantile(UpperShare(random), FLAGS_value_theta, FLAGS_value_k, FLAGS_value_sigma), 10,
      FLAGS_mix_max_value_size);
}

int64_t DrawScanLength(Random& random) {
  return Capped(
      ParetoQuantile(UpperShare(random), FLAGS_iter_theta, FLAGS_iter_k, FLAGS_iter_sigma), 0,
      FLAGS_mix_max_scan_len);
}

double SineRate(double seconds) {
  return std::max(1.0,
                  FLAGS_sine_a * std::sin(FLAGS_sine_b * seconds + FLAGS_sine_c) + FLAGS_sine_d);
}

bool CheckTrafficFlags() {
  const double sum = FLAGS_mix_get_ratio + FLAGS_mix_put_ratio + FLAGS_mix_seek_ratio;
  if (!(FLAGS_mix_get_ratio >= 0 && FLAGS_mix_put_ratio >= 0 && FLAGS_mix_seek_ratio >= 0 &&
        sum > 0)) {
    return Refuse("--mix_get_ratio, --mix_put_ratio and --mix_seek_ratio are shares, not all 0");
  }
  if (FLAGS_keyrange_num < 1 || FLAGS_keyrange_num > 10000000) {
    return Refuse("--keyrange_num is not between 1 and 10000000");
  }
  if (FLAGS_mix_max_value_size < 10 || FLAGS_mix_max_value_size > (1 << 30)) {
    return Refuse("--mix_max_value_size is not between 10 and 1073741824");
  }
  if (FLAGS_mix_max_scan_len < 0) return Refuse("--mix_max_scan_len is negative");
  if (!(FLAGS_sine_mix_rate_noise >= 0 && FLAGS_sine_mix_rate_noise < 1)) {
    return Refuse("--sine_mix_rate_noise is not from 0 to 1");
  }
  return true;
}

}  // namespace varve::bench
