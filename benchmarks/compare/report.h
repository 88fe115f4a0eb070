// SPDX-License-Identifier: Apache-2.0
#pragma once

// Results as a person reads them, a table on a terminal or in Markdown, and as a program does, CSV.

#include <string>
#include <vector>

#include "benchmarks/compare/peers.h"
#include "benchmarks/compare/results.h"

namespace compare {

// What was measured, where and how: said at the head of each report.
struct Setting {
  std::vector<Contender> libraries;  // ours first
  Scale scale;
  int rounds = 1;
  std::string machine;  // as text
  std::string command;
};

// Machine and scale, as one line of text.
std::string CaptionOf(const Setting& setting);

void PrintHead(const Setting& setting);
void PrintLines(const Setting& setting, const std::vector<Line>& lines);

// False if the file cannot be written.
bool WriteCsv(const std::string& path, const Setting& setting, const std::vector<Line>& lines);
// Between the lines "<!-- compare: begin -->" and "<!-- compare: end -->" if the file has them;
// else the file is nothing but the report.
bool WriteMarkdown(const std::string& path, const Setting& setting, const std::vector<Line>& lines);

// A line of text about this machine and the file system of `folder`.
std::string DescribeMachine(const std::string& folder);

}  // namespace compare
