// SPDX-License-Identifier: Apache-2.0
#pragma once

// MetricsText writes metrics in the text formats of collectors. It knows the formats, not the
// metrics.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "varve/utilities/metrics.h"

namespace varve {

// Labels of one sample, in the order in which they are shown.
using MetricLabels = std::vector<std::pair<std::string_view, std::string_view>>;

// Collects the text of one scrape. The samples of a metric must follow its Begin. Not thread-safe.
class MetricsText {
 public:
  enum class Type { kCounter, kGauge, kSummary };

  // Borrows the options, which must have passed the checks of WriteMetrics.
  explicit MetricsText(const MetricsOptions& options) : options_(options) {}

  // Begins a metric. `name` comes without the prefix and without "_total".
  void Begin(Type type, std::string_view name, std::string_view help);
  // Adds a sample of a counter or a gauge. A value that is not finite is written as 0, here and
  // below.
  void Sample(const MetricLabels& labels, double value);
  // Add the samples of a summary: quantiles ("0.5"), the sum of all values, and their number.
  void Quantile(const MetricLabels& labels, const char* quantile, double value);
  void Sum(const MetricLabels& labels, double value);
  void Count(const MetricLabels& labels, double value);

  // Ends the text and returns it.
  std::string Finish();

 private:
  // Adds one sample of the metric, whose name gets this suffix. `quantile` may be null.
  void Line(std::string_view suffix, const MetricLabels& labels, const char* quantile,
            double value);
  // Does Line for JSON.
  void JsonLine(std::string_view suffix, const MetricLabels& labels, const char* quantile,
                double value);
  [[nodiscard]] bool json() const { return options_.format == MetricsOptions::Format::kJson; }

  const MetricsOptions& options_;
  Type type_ = Type::kGauge;
  std::string name_;
  std::string text_;
};

}  // namespace varve
