// SPDX-License-Identifier: Apache-2.0

// The three formats of a sample, where p is the prefix:
//
//       Prometheus      # HELP p_x_total ...    # TYPE p_x_total counter     p_x_total{db="d"} 1
//       OpenMetrics     # HELP p_x ...          # TYPE p_x counter           p_x_total{db="d"} 1
//                       and "# EOF" at the end, without which the text counts as cut off
//       JSON            {"name": "p_x_total", "type": "counter", "labels": {"db": "d"}, "value": 1}
//
// Labels of the metric come before those of the options, which are the same for all lines.

#include "db/metrics/metrics_text.h"

#include <cmath>
#include <cstdio>

#include "util/coding/decimal.h"

namespace varve {

namespace {

// These are in the order of MetricsText::Type.
constexpr const char* kTypeNames[] = {"counter", "gauge", "summary"};

// Appends a number, which must be finite, because JSON has no form for infinities and NaN. Whole
// numbers have no decimal point.
void AppendNumber(double value, std::string* out) {
  // A whole number below 1e18 is written with all of its digits, where nine significant ones would
  // round it.
  const bool whole = std::abs(value) < 1e18 && std::floor(value) == value;
  out->append(whole ? FixedDigits(value, 0) : SignificantDigits(value, 9));
}

// Appends text in quotes. Bytes other than printable ASCII are escaped in hexadecimal, so that the
// text is valid UTF-8 and one line, whatever the name of a family or a directory is.
void AppendQuoted(std::string_view text, bool json, std::string* out) {
  out->push_back('"');
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out->push_back('\\');
      out->push_back(c);
    } else if (byte < 0x20 || byte >= 0x7f) {
      char escape[8];
      // JSON has an escape for each byte. The other formats have none for these bytes, which are
      // escaped as in a URL.
      std::snprintf(escape, sizeof(escape), json ? "\\u%04x" : "%%%02x",
                    static_cast<unsigned>(byte));
      out->append(escape);
    } else {
      out->push_back(c);
    }
  }
  out->push_back('"');
}

}  // namespace

void MetricsText::Begin(Type type, std::string_view name, std::string_view help) {
  type_ = type;
  name_ = options_.prefix;
  name_ += name;
  if (json()) return;
  // In OpenMetrics the name of a counter has no "_total", which its samples have; in Prometheus's
  // older format it has.
  const bool suffix =
      type == Type::kCounter && options_.format == MetricsOptions::Format::kPrometheus;
  const std::string shown = suffix ? name_ + "_total" : name_;
  text_ += "# HELP " + shown + " ";
  text_ += help;
  text_ += "\n# TYPE " + shown + " " + kTypeNames[static_cast<int>(type)] + "\n";
}

void MetricsText::Sample(const MetricLabels& labels, double value) {
  Line(type_ == Type::kCounter ? "_total" : "", labels, nullptr, value);
}

void MetricsText::Quantile(const MetricLabels& labels, const char* quantile, double value) {
  Line("", labels, quantile, value);
}

void MetricsText::Sum(const MetricLabels& labels, double value) {
  Line("_sum", labels, nullptr, value);
}

void MetricsText::Count(const MetricLabels& labels, double value) {
  Line("_count", labels, nullptr, value);
}

std::string MetricsText::Finish() {
  // The list was opened with the first sample; without any it is opened here.
  if (json()) return (text_.empty() ? "{\"metrics\": [" : text_) + "]}\n";
  if (options_.format == MetricsOptions::Format::kOpenMetrics) text_ += "# EOF\n";
  return std::move(text_);
}

void MetricsText::Line(std::string_view suffix, const MetricLabels& labels, const char* quantile,
                       double value) {
  if (json()) return JsonLine(suffix, labels, quantile, value);
  text_ += name_;
  text_ += suffix;
  // The brace opens with the first label, so a sample without labels has none.
  char before = '{';
  const auto add = [&](std::string_view name, std::string_view label) {
    text_ += before;
    text_ += name;
    text_ += '=';
    AppendQuoted(label, /*json=*/false, &text_);
    before = ',';
  };
  for (const auto& [name, label] : labels) add(name, label);
  for (const auto& [name, label] : options_.labels) add(name, label);
  if (quantile != nullptr) add("quantile", quantile);
  if (before == ',') text_ += '}';
  text_ += ' ';
  AppendNumber(std::isfinite(value) ? value : 0, &text_);
  text_ += '\n';
}

void MetricsText::JsonLine(std::string_view suffix, const MetricLabels& labels,
                           const char* quantile, double value) {
  text_ += text_.empty() ? "{\"metrics\": [\n" : ",\n";
  text_ += "{\"name\": \"" + name_;
  text_ += suffix;
  text_ +=
      std::string("\", \"type\": \"") + kTypeNames[static_cast<int>(type_)] + "\", \"labels\": {";
  bool first = true;
  const auto add = [&](std::string_view name, std::string_view label) {
    if (!first) text_ += ", ";
    first = false;
    AppendQuoted(name, /*json=*/true, &text_);
    text_ += ": ";
    AppendQuoted(label, /*json=*/true, &text_);
  };
  for (const auto& [name, label] : labels) add(name, label);
  for (const auto& [name, label] : options_.labels) add(name, label);
  if (quantile != nullptr) add("quantile", quantile);
  text_ += "}, \"value\": ";
  AppendNumber(std::isfinite(value) ? value : 0, &text_);
  text_ += '}';
}

}  // namespace varve
