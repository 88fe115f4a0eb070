// SPDX-License-Identifier: Apache-2.0

// Goal: whatever is done to databases through the whole API, no option changes an answer, RocksDB
// gives the same one, nothing hangs, crashes or grows. Method: random histories as text
// (history.h), each played under many option sets beside a model, in processes of their own; what
// fails is shrunk to the shortest text that still does.
//
//   VARVE_METAMORPHIC_OPERATIONS=N    so many lines in place of an everyday run's
//   VARVE_METAMORPHIC_SEED=S          that history alone
//   VARVE_METAMORPHIC_SET=S           under that set alone
//   VARVE_METAMORPHIC_REPLAY=file     plays a file, under the set or all of them, and shrinks it
//   VARVE_METAMORPHIC_PRINT=S         prints the history of a seed, and plays none
//   VARVE_METAMORPHIC_TRIES=N         how often a shorter one is tried that races may decide
//   VARVE_METAMORPHIC_SHRINK=N        seconds for shrinking; 0: what was found as it is
//   VARVE_METAMORPHIC_LINES=N         lines of a history

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "tests/harness/environment.h"
#include "tests/harness/shrinker.h"
#include "tests/metamorphic/generator.h"
#include "tests/metamorphic/history.h"
#include "tests/metamorphic/player.h"
#include "tests/metamorphic/rocksdb_executor.h"
#include "tests/metamorphic/varve_executor.h"
#include "tests/metamorphic/worker.h"

namespace varve::testing {

namespace {

constexpr uint64_t kSets = 40;
constexpr uint64_t kLines = 1250;
constexpr uint64_t kOperations = 250000;

// Time limit of a case of a finding.
constexpr std::chrono::seconds kLongestCase{100};

int Tries() {
  return static_cast<int>(NumberFromEnvironment("VARVE_METAMORPHIC_TRIES", 3));
}

History ReadHistory(const char* path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.good()) << path;
  return ParseHistory(
      std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()));
}

// Shrinks a failing history, and returns all that is needed to repeat it.
std::string Explain(const History& history, const Report& report) {
  const uint64_t most = NumberFromEnvironment("VARVE_METAMORPHIC_SHRINK", 120);
  History shortest = history;
  std::string what = report.what;
  if (most > 0) {
    shortest = Shrink(
        history,
        [&](const History& candidate) {
          const Report again = RunAlone(candidate, report.set, Tries(), kLongestCase);
          if (again.found()) what = again.what;
          return again.found();
        },
        std::chrono::seconds(most));
  }
  return "VARVE_METAMORPHIC_SEED=" + std::to_string(report.seed) +
         " VARVE_METAMORPHIC_SET=" + std::to_string(report.set) + "\n" + what + "\n---- " +
         std::to_string(shortest.size()) + " lines, for VARVE_METAMORPHIC_REPLAY:\n" +
         PrintHistory(shortest) + "----";
}

std::vector<Work> Shared(Work work) {
  std::vector<Work> works;
  work.shares = std::clamp<uint64_t>(std::thread::hardware_concurrency(), 1, 2);
  for (work.share = 0; work.share < work.shares; work.share++) works.push_back(work);
  return works;
}

}  // namespace

TEST(MetamorphicTest, OptionsChangeNoAnswer) {
  if (std::getenv("VARVE_METAMORPHIC_REPLAY") != nullptr) GTEST_SKIP();
  if (std::getenv("VARVE_METAMORPHIC_PRINT") != nullptr) {
    const uint64_t seed = NumberFromEnvironment("VARVE_METAMORPHIC_PRINT", 1);
    const uint64_t lines = NumberFromEnvironment("VARVE_METAMORPHIC_LINES", kLines);
    std::fputs(PrintHistory(RandomHistory(seed, lines)).c_str(), stdout);
    return;
  }
  const uint64_t operations = NumberFromEnvironment("VARVE_METAMORPHIC_OPERATIONS", kOperations);
  const char* const one = std::getenv("VARVE_METAMORPHIC_SET");
  Work work;
  work.lines = NumberFromEnvironment("VARVE_METAMORPHIC_LINES", kLines);
  work.sets = one != nullptr ? 1 : kSets;
  work.histories = std::max<uint64_t>(1, operations / (work.lines * work.sets));
  work.seed = Rotation() * work.histories + 1;
  if (std::getenv("VARVE_METAMORPHIC_SEED") != nullptr) {
    work.histories = 1;
    work.seed = NumberFromEnvironment("VARVE_METAMORPHIC_SEED", 1);
  }
  work.first_set = NumberFromEnvironment("VARVE_METAMORPHIC_SET", Rotation() * kSets + 1);
  work.rocksdb = one == nullptr && RocksDbExecutor::IsInstalled();
  const auto started = std::chrono::steady_clock::now();
  const Report report = RunWorkers(Shared(work), std::chrono::hours(24));
  const auto seconds =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - started);
  std::printf("RESULT metamorphic cases=%llu operations=%llu wrong=%d secs=%lld\n",
              static_cast<unsigned long long>(report.cases),
              static_cast<unsigned long long>(report.played), report.found() ? 1 : 0,
              static_cast<long long>(seconds.count()));
  ASSERT_FALSE(report.found()) << Explain(RandomHistory(report.seed, work.lines), report);
  ASSERT_GE(report.played, work.histories * work.sets * work.lines);
}

TEST(MetamorphicTest, AFilePlaysAgain) {
  const char* const path = std::getenv("VARVE_METAMORPHIC_REPLAY");
  if (path == nullptr) GTEST_SKIP();
  const History history = ReadHistory(path);
  const uint64_t first = NumberFromEnvironment("VARVE_METAMORPHIC_SET", 0);
  const uint64_t last = std::getenv("VARVE_METAMORPHIC_SET") != nullptr ? first : kSets;
  for (uint64_t set = first; set <= last; set++) {
    if (set == kRocksDbSet && !RocksDbExecutor::IsInstalled()) continue;
    Report report = RunAlone(history, set, Tries(), kLongestCase);
    report.set = set;
    ASSERT_FALSE(report.found()) << Explain(history, report);
  }
}

TEST(MetamorphicWorker, DoesItsWork) {
  if (!IsWorker()) GTEST_SKIP();
  DoWork();
}

}  // namespace varve::testing
