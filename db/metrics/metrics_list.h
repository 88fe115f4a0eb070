// SPDX-License-Identifier: Apache-2.0
#pragma once

// Declares the list of metrics: names, units and help. The texts for collectors and the page of
// documentation (METRICS.md) are made from it, and the dashboard is checked against it.

#include <cstdint>
#include <span>
#include <string>

namespace varve {

// The unit of a metric's value in the library; times are exported in seconds.
enum class MetricUnit { kCount, kBytes, kMicros, kNanos, kUnixSeconds };
// Says if a metric has one sample, or one for each column family.
enum class MetricScope { kDatabase, kFamily };

// A ticker or a histogram of Statistics.
struct StatisticsMetric {
  uint32_t number;   // In Tickers or Histograms.
  const char* name;  // Without prefix and "_total".
  MetricUnit unit;
  const char* help;
};

// A property that is a number (DB::GetIntProperty).
struct PropertyMetric {
  const std::string* property;
  const char* name;
  MetricUnit unit;
  MetricScope scope;
  const char* help;
};

// Return the tickers and the histograms that this library feeds; the others of Statistics are left
// out.
std::span<const StatisticsMetric> CounterMetrics();
std::span<const StatisticsMetric> HistogramMetrics();
// Returns the properties of a database, and those of a column family.
std::span<const PropertyMetric> GaugeMetrics();

}  // namespace varve
