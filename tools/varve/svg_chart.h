// SPDX-License-Identifier: Apache-2.0
#pragma once

// Draws one chart as SVG within a page: time to the right, values upward. No script, no font and no
// image from elsewhere.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace varve::tool {

// Returns text in which what HTML would take for itself, and bytes that are not printable ASCII,
// are written as references or '?'.
std::string HtmlText(std::string_view text);

// Returns a color for the n-th series.
const char* SeriesColor(size_t n);

// Not thread-safe.
class SvgChart {
 public:
  // Times are in microseconds; `most` is the value at the upper edge, `unit` stands beside it. An
  // empty unit: values get no labels but those of Label().
  SvgChart(uint64_t begin, uint64_t end, double most, std::string unit);

  // Draws a line through points, or stairs, of (time, value).
  void Line(const std::vector<std::pair<uint64_t, double>>& points, bool stairs, const char* color);
  // Fills a rectangle between two times and two values; `title` is shown by the browser.
  void Box(uint64_t from, uint64_t to, double low, double high, const char* color,
           const std::string& title);
  // Writes text to the left of a value.
  void Label(double value, const std::string& text);
  // Returns the SVG element.
  std::string Finish();

 private:
  double X(uint64_t time) const;
  double Y(double value) const;

  const uint64_t begin_;
  const uint64_t end_;
  const double most_;
  std::string body_;
};

}  // namespace varve::tool
