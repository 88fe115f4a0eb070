// SPDX-License-Identifier: Apache-2.0

// The command `report` prints a page of HTML about what a database did, from its LOG files, its
// options and metrics texts of its process.

#include <algorithm>
#include <initializer_list>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tools/varve/commands.h"
#include "tools/varve/database.h"
#include "tools/varve/log_history.h"
#include "tools/varve/metrics_reading.h"
#include "tools/varve/option_differences.h"
#include "tools/varve/svg_chart.h"
#include "util/base/status_macros.h"

namespace varve::tool {

namespace {

constexpr char kHead[] = R"(<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Varve: report</title>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<style>
body { font: 14px sans-serif; max-width: 1000px; margin: 1em auto; padding: 0 1em; color: #1a202c; }
h2 { font-size: 16px; margin: 1.5em 0 0.2em; } p { margin: 0.2em 0; }
svg { width: 100%; } svg text { font: 11px sans-serif; fill: #4a5568; }
.frame { fill: #f7fafc; stroke: #cbd5e0; } polyline { stroke-width: 1.5; }
table { border-collapse: collapse; } td, th { border-bottom: 1px solid #e2e8f0; padding: 2px 10px 2px 0; text-align: left; }
pre { white-space: pre-wrap; font-size: 12px; } .key { padding-right: 1em; }
</style></head><body>
)";

// Pairs of a time and a value.
using Points = std::vector<std::pair<uint64_t, double>>;

constexpr double kMiB = 1024.0 * 1024.0;
// Limits the boxes of a chart, as browsers draw many of them slowly.
constexpr size_t kMaxBoxes = 20000;
// Number of slices of the time for which rates are shown.
constexpr size_t kSlices = 200;

const char* StallColor(const std::string& condition) {
  if (condition == "stopped") return "#c53030";
  return condition == "delayed" ? "#ecc94b" : nullptr;
}

std::string Fixed(double value) {
  char digits[40];
  std::snprintf(digits, sizeof(digits), "%.1f", value);
  return digits;
}

std::string Key(const std::vector<std::pair<std::string, std::string>>& entries) {
  std::string text = "<p>";
  for (const auto& [name, color] : entries) {
    text += "<span class=\"key\"><span style=\"color:" + color + "\">&#9632;</span> " +
            HtmlText(name) + "</span>";
  }
  return text + "</p>\n";
}

// Writes the parts of the page.
class Page {
 public:
  Page(const LogHistory& log, Output* out) : log_(log), out_(*out) {}

  void Head(const std::string& path) {
    out_.Append(kHead);
    out_.Append("<h1>" + HtmlText(path) + "</h1>\n<p>" +
                Fixed(static_cast<double>(log_.last_time - log_.first_time) / 1e6) + " seconds, " +
                std::to_string(log_.lines) + " lines of LOG");
    for (const auto& [name, count] : log_.events) {
      out_.Append(", " + std::to_string(count) + " " + HtmlText(name));
    }
    out_.Append("</p>\n");
    if (log_.dropped > 0) {
      out_.Append("<p>Only the first of them are shown: " + std::to_string(log_.dropped) +
                  " were too many.</p>\n");
    }
  }

  void Rates() {
    Heading("Writes of users, flushes and compactions, in MiB a second");
    const auto flushed = WrittenBy(true);
    const auto compacted = WrittenBy(false);
    Points users;
    for (const LoggedRate& rate : log_.rates) users.emplace_back(rate.time, rate.megabytes);
    double most = 0;
    for (const Points* series :
         std::initializer_list<const Points*>{&users, &flushed, &compacted}) {
      for (const auto& [time, value] : *series) most = std::max(most, value);
    }
    SvgChart chart = Chart(most, "MiB/s");
    chart.Line(users, false, SeriesColor(0));
    chart.Line(flushed, true, SeriesColor(1));
    chart.Line(compacted, true, SeriesColor(2));
    out_.Append(chart.Finish());
    out_.Append(Key({{"users (interval statistics)", SeriesColor(0)},
                     {"flushes", SeriesColor(1)},
                     {"compactions", SeriesColor(2)}}));
  }

  void Stalls() {
    Heading("Stalls");
    std::map<std::string, std::vector<const LoggedStall*>> families;
    for (const LoggedStall& stall : log_.stalls) {
      // More rows could not be told apart.
      if (families.size() < 40 || families.contains(stall.family)) {
        families[stall.family].push_back(&stall);
      }
    }
    if (families.empty()) return out_.Append("<p>There were none.</p>\n");
    SvgChart chart = Chart(static_cast<double>(families.size()), "");
    double row = 0;
    size_t boxes = 0;
    for (const auto& [family, changes] : families) {
      chart.Label(row + 0.5, family);
      for (size_t i = 0; i < changes.size() && boxes < kMaxBoxes; i++) {
        const char* const color = StallColor(changes[i]->condition);
        if (color == nullptr) continue;
        const uint64_t end = i + 1 < changes.size() ? changes[i + 1]->time : log_.last_time;
        chart.Box(changes[i]->time, end, row + 0.1, row + 0.9, color,
                  family + " " + changes[i]->condition + " for " +
                      Fixed(static_cast<double>(end - changes[i]->time) / 1e3) + " ms");
        boxes++;
      }
      row++;
    }
    out_.Append(chart.Finish());
    out_.Append(Key({{"delayed", "#ecc94b"}, {"stopped", "#c53030"}}));
  }

  void Levels() {
    std::map<std::string, std::vector<const LoggedShape*>> families;
    for (const LoggedShape& shape : log_.shapes) families[shape.family].push_back(&shape);
    size_t shown = 0;
    for (const auto& [family, shapes] : families) {
      if (shown++ == 10) break;  // A page has a chart for each of so many families.
      Heading("Tables of the levels of " + family);
      std::map<size_t, std::vector<std::pair<uint64_t, double>>> levels;
      double most = 0;
      for (const LoggedShape* shape : shapes) {
        for (size_t level = 0; level < shape->tables.size(); level++) {
          const auto tables = static_cast<double>(shape->tables[level]);
          levels[level].emplace_back(shape->time, tables);
          most = std::max(most, tables);
        }
      }
      SvgChart chart = Chart(most, "tables");
      std::vector<std::pair<std::string, std::string>> key;
      for (const auto& [level, points] : levels) {
        if (std::ranges::all_of(points, [](const auto& point) { return point.second == 0; })) {
          continue;
        }
        chart.Line(points, true, SeriesColor(level));
        key.emplace_back("L" + std::to_string(level), SeriesColor(level));
      }
      out_.Append(chart.Finish());
      out_.Append(Key(key));
    }
  }

  void Jobs() {
    Heading("Flushes and compactions, by the level that they wrote");
    int deepest = 0;
    for (const LoggedJob& job : log_.jobs) deepest = std::max(deepest, job.level);
    SvgChart chart = Chart(deepest + 1, "");
    for (int level = 0; level <= deepest; level++) {
      chart.Label(level + 0.5, "L" + std::to_string(level));
    }
    for (size_t i = 0; i < std::min(log_.jobs.size(), kMaxBoxes); i++) {
      const LoggedJob& job = log_.jobs[i];
      const double size = static_cast<double>(job.bytes) / kMiB;
      chart.Box(job.begin, job.end, job.level + 0.1, job.level + 0.9, ColorOf(job),
                std::string(job.flush ? "flush" : "compaction") + " of " + job.family + ", " +
                    job.reason + ": " + Fixed(size) + " MiB in " +
                    Fixed(static_cast<double>(job.end - job.begin) / 1e3) + " ms" +
                    (job.failed ? ", failed" : ""));
    }
    out_.Append(chart.Finish());
    out_.Append(Key({{"flush", kFlushColor},
                     {"below 16 MiB", kSizeColors[0]},
                     {"below 256 MiB", kSizeColors[1]},
                     {"larger", kSizeColors[2]},
                     {"failed", kFailedColor}}));
  }

  void Messages() {
    Heading("Newest warnings and errors");
    if (log_.messages.empty()) return out_.Append("<p>There are none.</p>\n");
    out_.Append("<pre>");
    for (const std::string& message : log_.messages) out_.Append(HtmlText(message) + "\n");
    out_.Append("</pre>\n");
  }

  void Options(const std::vector<OptionDifference>& differences) {
    Heading("Options that differ from the defaults");
    if (differences.empty()) return out_.Append("<p>There are none, or they are not known.</p>\n");
    out_.Append("<table><tr><th>option</th><th>value</th><th>default</th></tr>\n");
    for (const OptionDifference& one : differences) {
      const std::string owner = one.family.empty() ? "" : one.family + ".";
      out_.Append("<tr><td>" + HtmlText(owner + one.name) + "</td><td>" + HtmlText(one.value) +
                  "</td><td>" + HtmlText(one.usual) + "</td></tr>\n");
    }
    out_.Append("</table>\n");
  }

  // Writes a row for each kind of latency of each text.
  void Latencies(const std::vector<std::pair<std::string, MetricsReading>>& readings) {
    if (readings.empty()) return;
    Heading("Latencies");
    out_.Append(
        "<table><tr><th>text</th><th>operation</th><th>number</th><th>mean us</th>"
        "<th>p50 us</th><th>p95 us</th><th>p99 us</th></tr>\n");
    for (const auto& [path, reading] : readings) {
      for (const char* name : {"db_get", "db_multiget", "db_seek", "db_write", "wal_file_sync"}) {
        const std::string metric = std::string(name) + "_seconds";
        const double count = reading.Sum(metric + "_count");
        if (count <= 0) continue;
        out_.Append("<tr><td>" + HtmlText(path) + "</td><td>" + name + "</td><td>" +
                    std::to_string(static_cast<uint64_t>(std::min(count, 1e18))) + "</td><td>" +
                    Fixed(reading.Sum(metric + "_sum") / count * 1e6) + "</td>");
        for (const char* quantile : {"0.5", "0.95", "0.99"}) {
          const double value = reading.Sum(metric, "quantile=\"" + std::string(quantile) + "\"");
          out_.Append("<td>" + Fixed(value * 1e6) + "</td>");
        }
        out_.Append("</tr>\n");
      }
    }
    out_.Append("</table>\n");
  }

  void End() { out_.Append("</body></html>\n"); }

 private:
  static constexpr const char* kFlushColor = "#dd6b20";
  static constexpr const char* kFailedColor = "#c53030";
  static constexpr const char* kSizeColors[] = {"#90cdf4", "#4299e1", "#2a4365"};

  static const char* ColorOf(const LoggedJob& job) {
    if (job.failed) return kFailedColor;
    if (job.flush) return kFlushColor;
    const double size = static_cast<double>(job.bytes) / kMiB;
    return size < 16 ? kSizeColors[0] : size < 256 ? kSizeColors[1] : kSizeColors[2];
  }

  void Heading(const std::string& text) { out_.Append("<h2>" + HtmlText(text) + "</h2>\n"); }

  SvgChart Chart(double most, const char* unit) const {
    return SvgChart(log_.first_time, log_.last_time, most, unit);
  }

  // Returns the bytes that jobs wrote as a rate, each spread over its duration. Time is cut into
  // kSlices equal slices. A job adds an equal part of its bytes to each slice that it touches,
  // though it may fill the first and the last only in part. A job that ends after the last time
  // counts in the last slice.
  std::vector<std::pair<uint64_t, double>> WrittenBy(bool flush) const {
    const uint64_t slice = std::max<uint64_t>(1, (log_.last_time - log_.first_time) / kSlices + 1);
    std::vector<double> bytes(kSlices + 1);
    for (const LoggedJob& job : log_.jobs) {
      if (job.flush != flush || job.begin < log_.first_time) continue;
      const size_t first = std::min<size_t>((job.begin - log_.first_time) / slice, kSlices);
      const size_t last = std::min<size_t>((job.end - log_.first_time) / slice, kSlices);
      const double share = static_cast<double>(job.bytes) / static_cast<double>(last - first + 1);
      for (size_t i = first; i <= last; i++) bytes[i] += share;
    }
    std::vector<std::pair<uint64_t, double>> rates;
    for (size_t i = 0; i < bytes.size(); i++) {
      rates.emplace_back(log_.first_time + i * slice,
                         bytes[i] / kMiB / (static_cast<double>(slice) / 1e6));
    }
    return rates;
  }

  const LogHistory& log_;
  Output& out_;
};

}  // namespace

Status RunReport(const Request& request, Console* console) {
  LogHistory log;
  VARVE_RETURN_IF_ERROR(log.Read(request.db));
  if (log.first_time == 0) {
    return Status::InvalidArgument(request.db, "no line has the form of a LOG");
  }
  std::vector<std::pair<std::string, MetricsReading>> readings;
  for (const std::string& path : request.files) {
    MetricsReading reading;
    VARVE_RETURN_IF_ERROR(MetricsReading::Read(path, &reading));
    readings.emplace_back(path, std::move(reading));
  }
  StoredOptions stored;
  std::vector<OptionDifference> differences;
  if (CheckIsDatabase(request.db).ok() &&
      ReadStoredOptions(request.db, /*lenient=*/true, &stored).ok() && stored.found) {
    differences = DifferencesOf(stored);
  }
  Page page(log, &console->out);
  page.Head(request.db);
  page.Rates();
  page.Stalls();
  page.Levels();
  page.Jobs();
  page.Latencies(readings);
  page.Messages();
  page.Options(differences);
  page.End();
  return Status::OK();
}

}  // namespace varve::tool
