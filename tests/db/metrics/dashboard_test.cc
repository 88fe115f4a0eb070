// SPDX-License-Identifier: Apache-2.0

// Goal: the dashboard shows figures that exist. Method: every name in its expressions is looked up
// in the metrics text of a database.

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "varve/statistics.h"
#include "varve/utilities/metrics.h"

#include "tests/harness/database.h"
#include "tests/harness/source_root.h"

namespace varve::testing {
namespace {

class DashboardTest : public Database {
 protected:
  DashboardTest() { options_.statistics = CreateDBStatistics(); }

  std::set<std::string> SampleNames() {
    Open();
    MakeTable({"a", "b"});
    std::string text;
    EXPECT_TRUE(WriteMetrics(db(), MetricsOptions(), &text).ok());
    std::set<std::string> names;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      if (!line.starts_with('#')) names.insert(line.substr(0, line.find('{')));
    }
    return names;
  }
};

TEST_F(DashboardTest, EveryExpressionNamesMetricsThatExist) {
  std::ifstream file(SourceRoot() + "/db/metrics/grafana.json");
  const std::string json((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const std::set<std::string> exported = SampleNames();
  const std::regex expression(R"re("(expr|query|definition)": "((?:[^"\\]|\\.)*)")re");
  const std::regex name("varve_[a-z0-9_]+");
  size_t expressions = 0;
  for (std::sregex_iterator at(json.begin(), json.end(), expression), end; at != end; ++at) {
    const std::string text = (*at)[2];
    if (text == "prometheus") continue;
    expressions++;
    std::sregex_iterator used(text.begin(), text.end(), name);
    EXPECT_NE(used, end) << text << " names no metric";
    for (; used != end; ++used) {
      EXPECT_TRUE(exported.contains(used->str())) << used->str() << " in " << text;
    }
  }
  EXPECT_GT(expressions, 20U);
}

}  // namespace
}  // namespace varve::testing
