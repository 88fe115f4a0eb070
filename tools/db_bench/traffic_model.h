// SPDX-License-Identifier: Apache-2.0
#pragma once

// Draws keys, sizes of values, lengths of scans and kinds of operations as the model of "mixgraph"
// has them: Cao et al., "Characterizing, Modeling, and Benchmarking RocksDB Key-Value Workloads at
// Facebook", FAST 2020.

#include <cstdint>
#include <vector>

#include "tools/db_bench/keys.h"

namespace varve::bench {

// Returns the point at which a generalised Pareto distribution reaches the share `u` from above, 0
// < u <= 1.
double ParetoQuantile(double u, double theta, double k, double sigma);

// Draws numbers of keys. The key space is divided into --keyrange_num ranges; the share of accesses
// to the range x falls as a * e^(b x) + c * e^(d x), and hot ranges are scattered over the key
// space. Within a range the accesses follow a power law, by which few keys are hot.
class KeyTraffic {
 public:
  // Requires `keys` > 0.
  explicit KeyTraffic(int64_t keys);

  uint64_t Draw(Random& random) const;
  uint64_t ranges() const { return places_.size(); }

 private:
  uint64_t range_size_;
  uint64_t keys_;
  std::vector<double> up_to_;     // Share of accesses to the ranges up to this one.
  std::vector<uint64_t> places_;  // Where in the key space a range lies.
};

// Kinds of operations of the mix.
enum class TrafficKind : uint8_t { kGet, kPut, kSeek };

// Draws by --mix_get_ratio, --mix_put_ratio and --mix_seek_ratio, of which at least one is above 0.
TrafficKind DrawKind(Random& random);
// Return bytes of a value, at least 10, and steps of a scan.
int64_t DrawValueSize(Random& random);
int64_t DrawScanLength(Random& random);
// Returns operations a second by the sine of --sine_a to --sine_d, `seconds` after the begin.
double SineRate(double seconds);

// Returns false, with a line on stderr, if flags of the model are out of their range.
[[nodiscard]] bool CheckTrafficFlags();

}  // namespace varve::bench
