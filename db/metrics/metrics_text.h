// SPDX-License-Identifier: Apache-2.0
#pragma once

// MetricsText puts metrics into the form of a collector. It knows the forms, not the metrics.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "varve/utilities/metrics.h"

namespace varve {

// Labels of one sample, in the order in which they are shown.
using MetricLabels = std::vector<std::pair<std::string_view, std::string_view>>;

// Not thread-safe. All samples of a metric follow its Begin.
class MetricsText {
 public:
  enum class Type { kCounter, kGauge, kSummary };

  explicit MetricsText(const MetricsOptions& options) : options_(options) {}

  // Begins a metric. `name` comes without the prefix and without "_total".
  void Begin(Type type, std::string_view name, std::string_view help);
  void Sample(const MetricLabels& labels, double value);
  // Adds one sample of a summary, beside Count and Sum.
  void Quantile(const MetricLabels& labels, const char* quantile, double value);
  void Sum(const MetricLabels& labels, double value);
  void Count(const MetricLabels& labels, double value);

  // Ends the text and returns it.
  std::string Finish();

 private:
  void Line(std::string_view suffix, const MetricLabels& labels, const char* quantile,
            double value);
  void JsonLine(std::string_view suffix, const MetricLabels& labels, const char* quantile,
                double value);
  [[nodiscard]] bool json() const { return options_.format == MetricsOptions::Format::kJson; }

  const MetricsOptions& options_;
  Type type_ = Type::kGauge;
  std::string name_;
  std::string text_;
};

}  // namespace varve
