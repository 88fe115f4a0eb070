// SPDX-License-Identifier: Apache-2.0

// The picture has 960 by 220 units, which the page scales to its width:
//
//      x:  0 ... 80 labels | 80 ... 940 the frame
//      y:  10 ... 190 the frame | 210 the times
//
// SVG counts y downward, so that Y() turns values over. All text passes HtmlText, and all numbers
// are formatted here: nothing that a LOG holds can end an element or begin one.

#include "tools/varve/svg_chart.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>

namespace varve::tool {

namespace {

constexpr double kLeft = 80;
constexpr double kWidth = 860;
constexpr double kHeight = 180;
constexpr double kTop = 10;

constexpr std::array<const char*, 8> kColors = {"#2b6cb0", "#dd6b20", "#2f855a", "#805ad5",
                                                "#b7791f", "#c53030", "#0987a0", "#4a5568"};

std::string Number(double value) {
  char digits[40];
  std::snprintf(digits, sizeof(digits), "%.1f", value);
  return digits;
}

std::string ClockText(uint64_t micros) {
  const auto seconds = static_cast<time_t>(micros / 1000000);
  std::tm parts{};
  char text[40] = "";
  if (::gmtime_r(&seconds, &parts) != nullptr) {
    std::strftime(text, sizeof(text), "%m-%d %H:%M:%S", &parts);
  }
  return text;
}

}  // namespace

std::string HtmlText(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '&') {
      out += "&amp;";
    } else if (c == '"') {
      out += "&quot;";
    } else if (c == '\'') {
      out += "&#39;";
    } else {
      out += byte < 0x20 || byte >= 0x7f ? '?' : c;
    }
  }
  return out;
}

const char* SeriesColor(size_t n) {
  return kColors[n % kColors.size()];
}

SvgChart::SvgChart(uint64_t begin, uint64_t end, double most, std::string unit)
    // At least one microsecond wide, and of some height: X() and Y() divide by both.
    : begin_(begin), end_(std::max(end, begin + 1)), most_(most > 0 ? most : 1) {
  body_ = "<svg viewBox=\"0 0 960 220\" role=\"img\">\n<rect x=\"" + Number(kLeft) + "\" y=\"" +
          Number(kTop) + "\" width=\"" + Number(kWidth) + "\" height=\"" + Number(kHeight) +
          "\" class=\"frame\"/>\n";
  if (!unit.empty()) {
    Label(most_, Number(most_) + " " + unit);
    Label(0, "0");
  }
  for (int i = 0; i <= 4; i++) {
    const uint64_t time = begin_ + (end_ - begin_) / 4 * static_cast<uint64_t>(i);
    body_ += "<text x=\"" + Number(X(time)) + "\" y=\"210\" text-anchor=\"" +
             (i == 0   ? "start"
              : i == 4 ? "end"
                       : "middle") +
             "\">" + ClockText(time) + "</text>\n";
  }
}

double SvgChart::X(uint64_t time) const {
  const double share = static_cast<double>(std::clamp(time, begin_, end_) - begin_) /
                       static_cast<double>(end_ - begin_);
  return kLeft + kWidth * share;
}

double SvgChart::Y(double value) const {
  return kTop + kHeight * (1 - std::clamp(value / most_, 0.0, 1.0));
}

void SvgChart::Line(const std::vector<std::pair<uint64_t, double>>& points, bool stairs,
                    const char* color) {
  if (points.empty()) return;
  body_ += "<polyline fill=\"none\" stroke=\"" + std::string(color) + "\" points=\"";
  for (size_t i = 0; i < points.size(); i++) {
    if (stairs && i > 0)
      body_ += Number(X(points[i].first)) + "," + Number(Y(points[i - 1].second)) + " ";
    body_ += Number(X(points[i].first)) + "," + Number(Y(points[i].second)) + " ";
  }
  body_ += "\"/>\n";
}

void SvgChart::Box(uint64_t from, uint64_t to, double low, double high, const char* color,
                   const std::string& title) {
  // A short job stays visible.
  const double width = std::max(X(to) - X(from), 1.0);
  body_ += "<rect x=\"" + Number(X(from)) + "\" y=\"" + Number(Y(high)) + "\" width=\"" +
           Number(width) + "\" height=\"" + Number(Y(low) - Y(high)) + "\" fill=\"" + color +
           "\"><title>" + HtmlText(title) + "</title></rect>\n";
}

void SvgChart::Label(double value, const std::string& text) {
  body_ += "<text x=\"" + Number(kLeft - 6) + "\" y=\"" + Number(Y(value) + 4) +
           "\" text-anchor=\"end\">" + HtmlText(text) + "</text>\n";
}

std::string SvgChart::Finish() {
  return std::move(body_) + "</svg>\n";
}

}  // namespace varve::tool
