// SPDX-License-Identifier: Apache-2.0
#include "tools/varve/metrics_reading.h"

#include <algorithm>
#include <charconv>

#include "varve/env.h"

#include "util/base/status_macros.h"

namespace varve::tool {

namespace {

constexpr std::string_view kPrefix = "varve_";

// True for what only grows: counters, and the counts and sums of latencies.
bool Grows(std::string_view name) {
  return name.ends_with("_total") || name.ends_with("_count") || name.ends_with("_sum") ||
         name == "uptime_seconds";
}

}  // namespace

Status MetricsReading::Read(const std::string& path, MetricsReading* reading) {
  std::string text;
  VARVE_RETURN_IF_ERROR(ReadFileToString(Env::Default(), path, &text));
  std::string_view rest = text;
  for (int number = 1; !rest.empty(); number++) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    if (line.empty() || line.front() == '#') continue;
    const Status s = reading->ParseLine(line);
    if (!s.ok()) {
      return Status::InvalidArgument(path + ": line " + std::to_string(number), s.getState());
    }
  }
  if (!reading->Has("uptime_seconds")) {
    return Status::InvalidArgument(path,
                                   "this is no text of DumpMetricsToFile with the default prefix");
  }
  return Status::OK();
}

// The value follows the last space, as labels may hold spaces.
Status MetricsReading::ParseLine(std::string_view line) {
  const size_t space = line.rfind(' ');
  if (space == std::string_view::npos) return Status::InvalidArgument("a sample has no value");
  const std::string_view digits = line.substr(space + 1);
  Sample sample;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), sample.value);
  if (error != std::errc() || end != digits.data() + digits.size()) {
    return Status::InvalidArgument("a value is not a number");
  }
  std::string_view name = line.substr(0, space);
  const size_t brace = name.find('{');
  if (brace != std::string_view::npos) sample.labels = name.substr(brace);
  name = name.substr(0, brace);
  if (!name.starts_with(kPrefix)) return Status::OK();  // Other metrics of the same process.
  samples_.emplace(name.substr(kPrefix.size()), std::move(sample));
  return Status::OK();
}

MetricsReading MetricsReading::Since(const MetricsReading& before) const {
  MetricsReading growth = *this;
  for (auto& [name, sample] : growth.samples_) {
    if (!Grows(name)) continue;
    const auto [first, last] = before.samples_.equal_range(name);
    for (auto old = first; old != last; ++old) {
      // A process that was started again counts from 0.
      if (old->second.labels == sample.labels && old->second.value <= sample.value) {
        sample.value -= old->second.value;
        break;
      }
    }
  }
  return growth;
}

double MetricsReading::Sum(std::string_view name, std::string_view label) const {
  double sum = 0;
  const auto [first, last] = samples_.equal_range(name);
  for (auto at = first; at != last; ++at) {
    if (at->second.labels.find(label) != std::string::npos) sum += at->second.value;
  }
  return sum;
}

bool MetricsReading::Has(std::string_view name) const {
  return samples_.find(name) != samples_.end();
}

}  // namespace varve::tool
