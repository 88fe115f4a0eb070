// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads the metrics text that a process writes with DumpMetricsToFile (varve/utilities/metrics.h).

#include <map>
#include <string>
#include <string_view>

#include "varve/status.h"

namespace varve::tool {

// The samples of one text, or the growth of all between two texts. Not thread-safe.
class MetricsReading {
 public:
  // Reads a file. Returns IOError if that fails, and InvalidArgument with the number of the line if
  // it is not such a text.
  static Status Read(const std::string& path, MetricsReading* reading);

  // Returns the growth of counters since `before`; gauges stay as they are here.
  [[nodiscard]] MetricsReading Since(const MetricsReading& before) const;

  // Returns the sum over all samples of a metric, whose name comes without its prefix, that have
  // this text among their labels. An absent metric is 0.
  [[nodiscard]] double Sum(std::string_view name, std::string_view label = {}) const;
  // Returns true if the metric has a sample.
  [[nodiscard]] bool Has(std::string_view name) const;

 private:
  struct Sample {
    std::string labels;
    double value = 0;
  };

  Status ParseLine(std::string_view line);

  std::multimap<std::string, Sample, std::less<>> samples_;
};

}  // namespace varve::tool
