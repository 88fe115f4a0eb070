// SPDX-License-Identifier: Apache-2.0
#pragma once

// The one list of metrics: names, units and help. Texts for collectors, the page of documentation
// and dashboards are made from it.

#include <cstdint>
#include <span>
#include <string>

namespace varve {

enum class MetricUnit { kCount, kBytes, kMicros, kNanos, kUnixSeconds };
enum class MetricScope { kDatabase, kFamily };

// A ticker or a histogram of Statistics. Times are exported in seconds.
struct StatisticsMetric {
  uint32_t number;   // In Tickers or Histograms.
  const char* name;  // Without prefix and "_total".
  MetricUnit unit;
  const char* help;
};

// A property that is a number.
struct PropertyMetric {
  const std::string* property;
  const char* name;
  MetricUnit unit;
  MetricScope scope;
  const char* help;
};

// Return the tickers and the histograms that this library feeds. What it does not feed is left out.
std::span<const StatisticsMetric> CounterMetrics();
std::span<const StatisticsMetric> HistogramMetrics();
// Returns the properties of a database and of a family.
std::span<const PropertyMetric> GaugeMetrics();

}  // namespace varve
