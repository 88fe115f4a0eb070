// SPDX-License-Identifier: Apache-2.0
#pragma once

// Writes results for people, as a table on a terminal or in Markdown, and for programs, as CSV.

#include <string>
#include <vector>

#include "benchmarks/compare/peers.h"
#include "benchmarks/compare/results.h"

namespace compare {

// Says what was measured, where and how. Each report begins with it.
struct Setting {
  std::vector<Contender> libraries;  // ours first
  Scale scale;
  int rounds = 1;
  std::string machine;  // text
  std::string command;
};

// Returns machine and scale as one line of text.
std::string CaptionOf(const Setting& setting);

void PrintHead(const Setting& setting);
void PrintLines(const Setting& setting, const std::vector<Line>& lines);

// Returns false if the file cannot be written.
bool WriteCsv(const std::string& path, const Setting& setting, const std::vector<Line>& lines);
// Writes between the lines "<!-- compare: begin -->" and "<!-- compare: end -->" if the file has
// them; else the report replaces the file.
bool WriteMarkdown(const std::string& path, const Setting& setting, const std::vector<Line>& lines);

// Returns a line of text about this machine and the file system of `folder`.
std::string DescribeMachine(const std::string& folder);

}  // namespace compare
