// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/compare/results.h"

#include <algorithm>
#include <utility>

namespace compare {
namespace {

using Samples = std::vector<std::vector<Sample>>;

// Returns the values of figure `index` in all rounds, or none if a round lacks it.
std::vector<double> ValuesOf(const std::vector<Sample>& rounds, size_t index) {
  std::vector<double> values;
  for (const Sample& sample : rounds) {
    if (!sample.finished || index >= sample.figures.size()) return {};
    values.push_back(sample.figures[index].value);
  }
  return values;
}

double MedianOf(const std::vector<Sample>& rounds, double Sample::*member) {
  std::vector<double> values;
  for (const Sample& sample : rounds) values.push_back(sample.*member);
  return SpreadOf(std::move(values)).median;
}

std::vector<double> TimesBetter(const std::vector<double>& ours, const std::vector<double>& theirs,
                                Unit unit) {
  std::vector<double> times;
  for (size_t i = 0; i < std::min(ours.size(), theirs.size()); i++) {
    const double above = MoreIsBetter(unit) ? ours[i] : theirs[i];
    const double below = MoreIsBetter(unit) ? theirs[i] : ours[i];
    if (below > 0) times.push_back(above / below);
  }
  return times;
}

Line LineOf(const Samples& samples, const Sample& example, size_t index) {
  Line line{example.row, example.figures[index].name, example.figures[index].unit, {}};
  const std::vector<double> ours = ValuesOf(samples[0], index);
  for (const std::vector<Sample>& rounds : samples) {
    Cell cell;
    const std::vector<double> values = ValuesOf(rounds, index);
    if (!values.empty()) {
      cell.measured = true;
      cell.value = SpreadOf(values);
      cell.own_mb = MedianOf(rounds, &Sample::own_mb);
      cell.resident_mb = MedianOf(rounds, &Sample::resident_mb);
      const std::vector<double> times = TimesBetter(ours, values, line.unit);
      if (!times.empty()) cell.better = SpreadOf(times);
    }
    line.cells.push_back(cell);
  }
  return line;
}

}  // namespace

Spread SpreadOf(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  const double median =
      values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
  return {median, values.front(), values.back()};
}

RowResult Summarize(const std::vector<Contender>& libraries, const Samples& samples) {
  RowResult result;
  const Sample* example = nullptr;  // a sample with figures: all have the same
  for (size_t i = 0; i < libraries.size(); i++) {
    for (const Sample& sample : samples[i]) {
      if (sample.skipped) continue;
      if (!sample.finished || sample.figures.empty()) {
        result.problems.push_back(sample.row + ": no figure of " + libraries[i].name);
        continue;
      }
      if (example == nullptr) {
        example = &sample;
      } else if (sample.answers != example->answers) {
        result.problems.push_back(sample.row + ": " + libraries[i].name + " answers " +
                                  sample.answers + ", others " + example->answers);
      }
    }
  }
  if (example == nullptr) return result;
  for (size_t i = 0; i < example->figures.size(); i++) {
    result.lines.push_back(LineOf(samples, *example, i));
  }
  return result;
}

}  // namespace compare
