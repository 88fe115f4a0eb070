// SPDX-License-Identifier: Apache-2.0
#pragma once

// Summarizes the samples of a row: medians and spreads, and how many times better the first
// library, ours, is than each of the others.

#include <string>
#include <vector>

#include "benchmarks/compare/child.h"
#include "benchmarks/compare/row.h"

namespace compare {

struct Spread {
  double median = 0;
  double low = 0;
  double high = 0;
};

// Returns the median, the lowest and the highest value. Requires: not empty.
Spread SpreadOf(std::vector<double> values);

struct Cell {
  bool measured = false;  // else the engine cannot do it, or failed
  Spread value;
  // Tells how many times better ours is, compared round by round: our rate over the peer's, or the
  // peer's time or size over ours. 0 if there is nothing to compare.
  Spread better;
  double own_mb = 0;  // medians of peaks
  double resident_mb = 0;
};

// Holds one figure of all libraries.
struct Line {
  std::string row;
  std::string figure;
  Unit unit = Unit::kPerSecond;
  std::vector<Cell> cells;  // by library, ours first
};

struct RowResult {
  std::vector<Line> lines;
  // Problems: a library that failed, or answers that differ from the others'.
  std::vector<std::string> problems;
};

// `samples` are ordered by library and round. Requires the same number of rounds for each library.
RowResult Summarize(const std::vector<Contender>& libraries,
                    const std::vector<std::vector<Sample>>& samples);

}  // namespace compare
