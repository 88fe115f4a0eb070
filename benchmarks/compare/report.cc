// SPDX-License-Identifier: Apache-2.0

// All forms of a report (terminal, Markdown, CSV) are made of the same lines (results.h): one for
// each figure of a row, with a cell for each library. Medians and spreads are of the rounds; "times
// better" is ours against a peer, above 1 if ours is ahead, whatever the unit. Markdown marks the
// rows in which ours is behind, and names them below the table.

#include "benchmarks/compare/report.h"

#include <cstdio>
#include <fstream>
#include <iterator>
#include <sstream>

namespace compare {
namespace {

constexpr char kBegin[] = "<!-- compare: begin -->\n";
constexpr char kEnd[] = "<!-- compare: end -->\n";

template <typename... Values>
std::string Text(const char* format, Values... values) {
  char text[200];
  std::snprintf(text, sizeof(text), format, values...);
  return text;
}

// Returns the value with three significant digits.
std::string Rounded(double value) {
  return Text(value < 10 ? "%.2f" : value < 100 ? "%.1f" : "%.0f", value);
}

std::string ValueText(Unit unit, double value) {
  switch (unit) {
    case Unit::kPerSecond:
      if (value >= 1e6) return Rounded(value / 1e6) + " M/s";
      if (value >= 1e3) return Rounded(value / 1e3) + " k/s";
      return Rounded(value) + " /s";
    case Unit::kMicroseconds:
      return value >= 1e3 ? Rounded(value / 1e3) + " ms" : Rounded(value) + " us";
    case Unit::kMegabytes:
      break;
  }
  return Text(value < 10 ? "%.2f MB" : "%.0f MB", value);
}

// Returns half the distance from lowest to highest, in percent of the median; empty for one round.
std::string SpreadText(const Spread& spread, int rounds) {
  if (spread.median == 0 || rounds == 1) return "";
  return Text("±%.0f%%", 50 * (spread.high - spread.low) / spread.median);
}

// Returns an empty text if there is nothing to compare.
std::string BetterText(const Cell& cell) {
  if (cell.better.median == 0) return "";
  return Text(cell.better.median < 0.1 ? "%.2g" : "%.2f", cell.better.median);
}

std::string NameOf(const Line& line) {
  return line.figure.empty() ? line.row : line.row + " " + line.figure;
}

const char* UnitName(Unit unit) {
  switch (unit) {
    case Unit::kPerSecond:
      return "1/s";
    case Unit::kMicroseconds:
      return "us";
    case Unit::kMegabytes:
      break;
  }
  return "MB";
}

std::string SettingText(const Setting& setting) {
  const Scale& scale = setting.scale;
  return Text("n = %llu, ", static_cast<unsigned long long>(scale.n)) +
         (scale.compresses ? "LZ4" : "no compression") +
         Text(", tails of %g s, medians of %d", scale.seconds, setting.rounds) +
         (setting.rounds == 1 ? " round" : " rounds");
}

bool IsBehind(const Cell& cell) {
  return cell.better.median > 0 && cell.better.median < 1;
}

// Returns the lines in which our median is behind that of library `peer`.
std::string BehindText(const Setting& setting, const std::vector<Line>& lines, size_t peer) {
  size_t behind = 0;
  size_t compared = 0;
  std::string names;
  for (const Line& line : lines) {
    if (line.cells[peer].better.median > 0) compared++;
    if (!IsBehind(line.cells[peer])) continue;
    names += (behind == 0 ? ": `" : ", `") + NameOf(line) + "`";
    behind++;
  }
  return "- Behind " + setting.libraries[peer].name + " in " + std::to_string(behind) + " of " +
         std::to_string(compared) + names + ".\n";
}

std::string MarkdownTable(const Setting& setting, const std::vector<Line>& lines) {
  std::string text = "| row | " + setting.libraries[0].name + " |";
  std::string rule = "|---|---|";
  for (size_t i = 1; i < setting.libraries.size(); i++) {
    text += " " + setting.libraries[i].name + " | times better |";
    rule += "---|---|";
  }
  text += "\n" + rule + "\n";
  for (const Line& line : lines) {
    text += "| `" + line.row + "`" + (line.figure.empty() ? "" : " " + line.figure) + " |";
    for (size_t i = 0; i < line.cells.size(); i++) {
      const Cell& cell = line.cells[i];
      const std::string spread = SpreadText(cell.value, setting.rounds);
      text += cell.measured ? " " + ValueText(line.unit, cell.value.median) +
                                  (spread.empty() ? "" : " " + spread) + " |"
                            : " - |";
      if (i == 0) continue;
      const std::string better = BetterText(cell);
      if (better.empty()) {
        text += " |";
      } else {
        text += IsBehind(cell) ? " **" + better + "** |" : " " + better + " |";
      }
    }
    text += "\n";
  }
  return text;
}

std::string MarkdownOf(const Setting& setting, const std::vector<Line>& lines) {
  std::string text =
      "Measured on " + CaptionOf(setting) + ".\n\n```sh\n" + setting.command + "\n```\n\n";
  text += MarkdownTable(setting, lines);
  text += "\n";
  for (size_t i = 1; i < setting.libraries.size(); i++) text += BehindText(setting, lines, i);
  return text;
}

std::string TextIn(const std::string& path) {
  std::ifstream file(path);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

std::string Quoted(const std::string& text) {
  return '"' + text + '"';
}

}  // namespace

std::string CaptionOf(const Setting& setting) {
  return setting.machine + ": " + SettingText(setting);
}

void PrintHead(const Setting& setting) {
  std::printf("%s\n", CaptionOf(setting).c_str());
  std::printf(
      "Each library: median, half its spread, peak of its own memory (not pages of mapped files);\n"
      "x: how many times better %s is.\n\n%-34s %21s",
      setting.libraries[0].name.c_str(), "row", setting.libraries[0].name.c_str());
  for (size_t i = 1; i < setting.libraries.size(); i++) {
    std::printf(" | %21s     x", setting.libraries[i].name.c_str());
  }
  std::printf("\n");
  std::fflush(stdout);
}

void PrintLines(const Setting& setting, const std::vector<Line>& lines) {
  for (const Line& line : lines) {
    std::printf("%-34s", NameOf(line).c_str());
    for (size_t i = 0; i < line.cells.size(); i++) {
      const Cell& cell = line.cells[i];
      std::printf(i == 0 ? " " : " | ");
      if (!cell.measured) {
        std::printf("%21s", "-");
      } else {
        const std::string spread = SpreadText(cell.value, setting.rounds);
        // The "±" has two bytes and takes one column.
        std::printf("%9s %*s %4.0fMB", ValueText(line.unit, cell.value.median).c_str(),
                    spread.empty() ? 4 : 5, spread.c_str(), cell.own_mb);
      }
      if (i == 0) continue;
      const std::string better = BetterText(cell);
      std::printf(" %5s", better.empty() ? "-" : better.c_str());
    }
    std::printf("\n");
  }
  std::fflush(stdout);
}

bool WriteCsv(const std::string& path, const Setting& setting, const std::vector<Line>& lines) {
  std::ofstream file(path);
  file << "row,figure,unit,library,rounds,median,lowest,highest,times_better,times_better_lowest,"
          "times_better_highest,peak_own_mb,peak_resident_mb,unfit\n";
  for (const Line& line : lines) {
    for (size_t i = 0; i < line.cells.size(); i++) {
      const Cell& cell = line.cells[i];
      if (!cell.measured) continue;
      file << line.row << ',' << line.figure << ',' << UnitName(line.unit) << ','
           << Quoted(setting.libraries[i].name) << ',' << setting.rounds << ','
           << Text("%.6g,%.6g,%.6g,", cell.value.median, cell.value.low, cell.value.high)
           << Text("%.4g,%.4g,%.4g,", cell.better.median, cell.better.low, cell.better.high)
           << Text("%.1f,%.1f,", cell.own_mb, cell.resident_mb) << setting.libraries[i].unfit
           << '\n';
    }
  }
  file.close();
  return !file.fail();
}

bool WriteMarkdown(const std::string& path, const Setting& setting,
                   const std::vector<Line>& lines) {
  std::string text = MarkdownOf(setting, lines);
  const std::string there = TextIn(path);
  const size_t begin = there.find(kBegin);
  const size_t end = there.find(kEnd);
  if (begin != std::string::npos && end != std::string::npos && begin < end) {
    text = there.substr(0, begin) + kBegin + text + there.substr(end);
  }
  std::ofstream file(path);
  file << text;
  file.close();
  return !file.fail();
}

}  // namespace compare
