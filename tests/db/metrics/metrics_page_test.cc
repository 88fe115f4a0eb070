// SPDX-License-Identifier: Apache-2.0

// Goal: the page of documentation names every metric as it is written. Method: the page is made
// anew from the metrics text of a database and compared with the file. With
// VARVE_WRITE_METRICS_PAGE in the environment the file is replaced instead.

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>

#include "varve/statistics.h"
#include "varve/utilities/metrics.h"

#include "db/metrics/metrics_list.h"
#include "tests/db/metrics/unfed_metrics.h"
#include "tests/harness/database.h"
#include "tests/harness/source_root.h"

namespace varve::testing {
namespace {

constexpr char kPage[] = "/db/metrics/METRICS.md";

constexpr char kHead[] = R"(# Metrics

`WriteMetrics` (`include/varve/utilities/metrics.h`) writes these figures as text of Prometheus or OpenMetrics, or as JSON.
A test makes this page from that text. `db/metrics/grafana.json` is a dashboard of them.

- Counters end in `_total`, and never decrease while the database is open, but for a reset of the statistics.
- A summary has the quantiles 0.5, 0.95 and 0.99, and `_sum` and `_count`, from which a collector makes averages of a time.
- Every sample has the label `db`, the directory of the database; those of a column family have `cf`, those of a level `level`.
)";

constexpr char kTable[] = "\n| name | type | labels | meaning |\n|---|---|---|---|\n";

// Returns the names of the labels of a sample, but for "quantile".
std::string LabelsOf(const std::string& sample) {
  std::string labels;
  size_t at = sample.find('{');
  while (at != std::string::npos && at < sample.size()) {
    const size_t equals = sample.find("=\"", at);
    if (equals == std::string::npos) break;
    const std::string name = sample.substr(at + 1, equals - at - 1);
    if (name != "quantile") labels += (labels.empty() ? "`" : ", `") + name + "`";
    at = sample.find("\"", equals + 2) + 1;
  }
  return labels;
}

class MetricsPageTest : public Database {
 protected:
  MetricsPageTest() { options_.statistics = CreateDBStatistics(); }

  // Returns the rows of all metrics that begin in the text, each in one of two tables.
  void MakeRows(std::string* of_statistics, std::string* others) {
    Open();
    MakeTable({"a", "b"});
    std::string text;
    ASSERT_TRUE(WriteMetrics(db(), MetricsOptions(), &text).ok());
    std::set<std::string> names;
    for (const StatisticsMetric& row : CounterMetrics()) {
      names.insert("varve_" + std::string(row.name) + "_total");
    }
    for (const StatisticsMetric& row : HistogramMetrics()) {
      names.insert("varve_" + std::string(row.name));
    }
    std::istringstream lines(text);
    std::string help;
    std::string name;
    std::string type;
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with("# HELP ")) {
        EXPECT_TRUE(name.empty()) << name << " has no sample";
        name = line.substr(7, line.find(' ', 7) - 7);
        help = line.substr(8 + name.size());
      } else if (line.starts_with("# TYPE ")) {
        type = line.substr(line.rfind(' ') + 1);
      } else if (!name.empty()) {
        std::string* const out = names.contains(name) ? of_statistics : others;
        *out += "| `" + name + "` | " + type + " | " + LabelsOf(line) + " | " + help + " |\n";
        name.clear();
      }
    }
  }

  template <typename Names>
  static std::string UnfedRows(const Names& names, std::span<const UnfedMetrics> groups) {
    std::string rows;
    for (const UnfedMetrics& group : groups) {
      rows += "| ";
      for (const uint32_t number : group.numbers) {
        rows += (number == group.numbers.front() ? "`" : ", `") + names[number].second + "`";
      }
      rows += " | " + std::string(group.reason) + " |\n";
    }
    return rows;
  }
};

TEST_F(MetricsPageTest, PageIsThatOfTheList) {
  std::string of_statistics;
  std::string others;
  MakeRows(&of_statistics, &others);
  const std::string page =
      std::string(kHead) + "\n## Always there\n" + kTable + others +
      "\n## With `DBOptions::statistics`\n" + kTable + of_statistics +
      "\n## Tickers and histograms that are never fed, and therefore are left out\n\n"
      "| RocksDB's names | reason |\n|---|---|\n" +
      UnfedRows(TickersNameMap, UnfedTickers()) + UnfedRows(HistogramsNameMap, UnfedHistograms());
  if (std::getenv("VARVE_WRITE_METRICS_PAGE") != nullptr) {
    std::ofstream(SourceRoot() + kPage) << page;
    return;
  }
  std::ifstream file(SourceRoot() + kPage);
  const std::string there((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  EXPECT_EQ(there, page) << "run this test with VARVE_WRITE_METRICS_PAGE=1 to write the page anew";
}

}  // namespace
}  // namespace varve::testing
