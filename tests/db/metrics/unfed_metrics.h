// SPDX-License-Identifier: Apache-2.0
#pragma once

// Names the tickers and histograms of Statistics that the library never feeds, each with the
// reason. What is named here has no row in the list of metrics.

#include <cstdint>
#include <span>
#include <vector>

namespace varve::testing {

struct UnfedMetrics {
  const char* reason;  // A whole sentence.
  std::vector<uint32_t> numbers;
};

std::span<const UnfedMetrics> UnfedTickers();
std::span<const UnfedMetrics> UnfedHistograms();

}  // namespace varve::testing
