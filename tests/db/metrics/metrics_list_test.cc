// SPDX-License-Identifier: Apache-2.0

// Goal: what the library feeds has a row in the list of metrics, and nothing else has. Method: each
// ticker and histogram is looked up in the list, in the list of those that are never fed, and in
// the sources.

#include "db/metrics/metrics_list.h"

#include <gtest/gtest.h>

#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "varve/statistics.h"

#include "tests/db/metrics/unfed_metrics.h"
#include "tests/harness/source_root.h"

namespace varve::testing {
namespace {

std::set<uint32_t> Numbers(std::span<const StatisticsMetric> rows) {
  std::set<uint32_t> numbers;
  for (const StatisticsMetric& row : rows) {
    EXPECT_TRUE(numbers.insert(row.number).second) << row.name << " has two rows";
  }
  return numbers;
}

std::set<uint32_t> Numbers(std::span<const UnfedMetrics> groups) {
  std::set<uint32_t> numbers;
  for (const UnfedMetrics& group : groups) {
    for (const uint32_t number : group.numbers) EXPECT_TRUE(numbers.insert(number).second);
  }
  return numbers;
}

template <typename Names>
void ExpectEachOnce(const Names& names, const std::set<uint32_t>& rows,
                    const std::set<uint32_t>& unfed) {
  for (const auto& [number, name] : names) {
    EXPECT_NE(rows.contains(number), unfed.contains(number))
        << name
        << (rows.contains(number) ? " has a row, but is said not to be fed"
                                  : " has no row: add one to metrics_list.cc");
  }
  EXPECT_EQ(rows.size() + unfed.size(), names.size());
}

TEST(MetricsListTest, EachTickerAndHistogramHasARowOrAReason) {
  ExpectEachOnce(TickersNameMap, Numbers(CounterMetrics()), Numbers(UnfedTickers()));
  ExpectEachOnce(HistogramsNameMap, Numbers(HistogramMetrics()), Numbers(UnfedHistograms()));
}

TEST(MetricsListTest, NamesAreUniqueAndWellFormed) {
  std::set<std::string> names;
  const auto check = [&](const std::string& name, MetricUnit unit, const std::string& help) {
    EXPECT_TRUE(names.insert(name).second) << name << " is the name of two metrics";
    for (const char c : name) {
      EXPECT_TRUE(c == '_' || std::islower(static_cast<unsigned char>(c)) != 0 ||
                  std::isdigit(static_cast<unsigned char>(c)) != 0)
          << name;
    }
    EXPECT_FALSE(name.ends_with("_total")) << name;
    EXPECT_EQ(name.ends_with("_bytes"), unit == MetricUnit::kBytes) << name;
    EXPECT_EQ(name.ends_with("_seconds"), unit != MetricUnit::kBytes && unit != MetricUnit::kCount)
        << name;
    EXPECT_TRUE(help.ends_with('.')) << name;
  };
  for (const StatisticsMetric& row : CounterMetrics()) check(row.name, row.unit, row.help);
  for (const StatisticsMetric& row : HistogramMetrics()) check(row.name, row.unit, row.help);
  for (const PropertyMetric& row : GaugeMetrics()) check(row.name, row.unit, row.help);
}

// Returns the words of capitals that the sources of the engine contain, apart from the lists of all
// tickers and histograms.
std::set<std::string> CapitalWordsOfTheEngine() {
  std::set<std::string> words;
  for (const char* const room : {"db", "memtable", "table", "util"}) {
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(SourceRoot() + "/" + room)) {
      const std::filesystem::path& path = entry.path();
      if (path.extension() != ".cc" && path.extension() != ".h") continue;
      if (path.stem() == "metric_names" || path.stem() == "metrics_list") continue;
      std::ifstream file(path);
      std::string word;
      for (auto at = std::istreambuf_iterator<char>(file); at != std::istreambuf_iterator<char>();
           ++at) {
        const auto c = static_cast<unsigned char>(*at);
        if (std::isalnum(c) != 0 || c == '_') {
          word.push_back(*at);
        } else if (!word.empty()) {
          if (word.size() > 3 && std::isupper(static_cast<unsigned char>(word[0])) != 0) {
            words.insert(word);
          }
          word.clear();
        }
      }
    }
  }
  return words;
}

// Returns the names of an enumeration of statistics.h in order.
std::vector<std::string> EnumNames(const std::string& name) {
  std::ifstream file(SourceRoot() + "/include/varve/statistics.h");
  std::vector<std::string> names;
  bool within = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("enum " + name + " ")) {
      within = true;
    } else if (within && line.starts_with("}")) {
      break;
    } else if (within && line.size() > 3 &&
               std::isupper(static_cast<unsigned char>(line[2])) != 0) {
      names.push_back(line.substr(2, line.find_first_of(" ,", 2) - 2));
    }
  }
  names.pop_back();  // The last one is the number of the others.
  return names;
}

TEST(MetricsListTest, TheSourcesFeedWhatHasARowAndNothingElse) {
  const std::set<std::string> words = CapitalWordsOfTheEngine();
  ASSERT_TRUE(words.contains("BLOCK_CACHE_HIT"));
  const auto check = [&](const std::string& name, const std::set<uint32_t>& rows, size_t size) {
    const std::vector<std::string> names = EnumNames(name);
    ASSERT_EQ(names.size(), size);
    for (uint32_t number = 0; number < names.size(); number++) {
      EXPECT_EQ(words.contains(names[number]), rows.contains(number))
          << names[number]
          << (rows.contains(number) ? " has a row, but no source names it"
                                    : " is named in a source, but has no row in metrics_list.cc");
    }
  };
  check("Tickers", Numbers(CounterMetrics()), TICKER_ENUM_MAX);
  check("Histograms", Numbers(HistogramMetrics()), HISTOGRAM_ENUM_MAX);
}

}  // namespace
}  // namespace varve::testing
