// SPDX-License-Identifier: Apache-2.0

// Goal: a program that moves from RocksDB 11.8.1 over the C API gets the same answers, but for
// those that meant_differences.txt lists with their reasons. Method: random histories of calls,
// crashes and openings of each other's directories are played on both libraries (case_runner.h),
// and a difference is shrunk to the shortest history that still has it.
//
//   VARVE_DIFFERENTIAL_CASES=N     histories; VARVE_DIFFERENTIAL_SEED=S the first of them
//   VARVE_DIFFERENTIAL_FINDINGS=N  goes on until there are so many
//   VARVE_DIFFERENTIAL_REPLAY=file plays a text and prints Varve's answers;
//   VARVE_DIFFERENTIAL_PRINT=S
//                                  prints the history of a seed
//   VARVE_ROCKSDB_LIBRARY=file     the library, in place of the one that tools/peers brings

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "tests/differential/c_api.h"
#include "tests/differential/call_generator.h"
#include "tests/differential/case_runner.h"
#include "tests/differential/meant_differences.h"
#include "tests/harness/environment.h"
#include "tests/harness/rocksdb_library.h"
#include "tests/harness/shrinker.h"
#include "tests/harness/source_root.h"

namespace varve::testing {

namespace {

constexpr uint64_t kCases = 40;
constexpr size_t kLines = 150;
const char* const kHeading = "### Answers that differ";

std::string ReadText(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.good()) << path;
  return std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
}

MeantDifferences Meant() {
  std::string problem;
  MeantDifferences meant = ParseMeantDifferences(
      ReadText(testing::SourceRoot() + "/tests/differential/meant_differences.txt"), &problem);
  EXPECT_EQ(problem, "");
  return meant;
}

std::string WorkDirectory() {
  // No power fails here: where syncs cost nothing, ten times as many histories are played.
  const char* const named = std::getenv("TMPDIR");
  const char* const usual = std::filesystem::is_directory("/dev/shm") ? "/dev/shm" : "/tmp";
  return std::string(named != nullptr ? named : usual) + "/varve_differential_" +
         std::to_string(getpid());
}

// Returns null, with a loud message, if no library has all the calls.
std::unique_ptr<CApi> RocksDbApi() {
  const RocksDbLibrary* const library = RocksDbLibrary::Get();
  if (library == nullptr) {
    std::printf("differential: NOT RUN, there is no RocksDB 11.8.1: run tools/peers\n");
    return nullptr;
  }
  auto api = std::make_unique<CApi>(library->handle());
  if (api->missing().empty()) return api;
  std::printf("differential: NOT RUN, the RocksDB found has no rocksdb_%s: run tools/peers\n",
              api->missing()[0].c_str());
  return nullptr;
}

// Returns the shortest history that differs at the same kind of line, and the difference.
std::string Shortest(CaseRunner* runner, const History& history, const Comparison& found) {
  const std::string verb = history[found.line].verb();
  const auto differs = [&](const History& candidate) {
    if (!KeepsContract(candidate)) return false;
    const Comparison again = runner->Run(candidate);
    return again.differs && candidate[again.line].verb() == verb;
  };
  const uint64_t most = NumberFromEnvironment("VARVE_DIFFERENTIAL_SHRINK", 60);
  History shortest = history;
  shortest.resize(found.line + 1);
  shortest = Shrink(differs(shortest) ? shortest : history, differs, std::chrono::seconds(most));
  const Comparison again = runner->Run(shortest);
  return (again.differs ? Explained(shortest, again) : Explained(history, found)) + "---- " +
         std::to_string(shortest.size()) + " lines, for VARVE_DIFFERENTIAL_REPLAY:\n" +
         PrintHistory(shortest) + "----\n";
}

struct Totals {
  uint64_t compared = 0;
  uint64_t meant = 0;
  uint64_t stopped = 0;
  uint64_t theirs_failed = 0;
  std::vector<std::string> findings;

  void Add(const Comparison& one) {
    compared += one.compared;
    meant += one.meant;
    stopped += one.stopped ? 1 : 0;
    theirs_failed += one.theirs_failed ? 1 : 0;
  }
};

Totals PlaySeeds(CaseRunner* runner, uint64_t first, uint64_t cases) {
  const uint64_t most = NumberFromEnvironment("VARVE_DIFFERENTIAL_FINDINGS", 1);
  Totals totals;
  for (uint64_t seed = first; seed < first + cases && totals.findings.size() < most; seed++) {
    const History history = RandomCalls(seed, kLines);
    const Comparison result = runner->Run(history);
    totals.Add(result);
    if (!result.differs) continue;
    totals.findings.push_back("VARVE_DIFFERENTIAL_SEED=" + std::to_string(seed) + "\n" +
                              Shortest(runner, history, result));
    std::printf("%s", totals.findings.back().c_str());
    std::fflush(stdout);
  }
  return totals;
}

void NoSingleDelete(rocksdb_writebatch_t* /*batch*/, rocksdb_column_family_handle_t* /*family*/,
                    const char* /*key*/, size_t /*size*/) {}

void DyingPrev(rocksdb_iterator_t* /*it*/) {
  _exit(9);
}

}  // namespace

TEST(DifferentialTest, AnswersAreRocksDbs) {
  if (std::getenv("VARVE_DIFFERENTIAL_REPLAY") != nullptr) GTEST_SKIP();
  if (std::getenv("VARVE_DIFFERENTIAL_PRINT") != nullptr) {
    const uint64_t seed = NumberFromEnvironment("VARVE_DIFFERENTIAL_PRINT", 1);
    std::fputs(PrintHistory(RandomCalls(seed, kLines)).c_str(), stdout);
    return;
  }
  const std::unique_ptr<CApi> theirs = RocksDbApi();
  if (theirs == nullptr) GTEST_SKIP();
  const CApi ours(nullptr);
  const MeantDifferences meant = Meant();
  CaseRunner runner(&ours, theirs.get(), &meant, WorkDirectory());
  const uint64_t cases = NumberFromEnvironment("VARVE_DIFFERENTIAL_CASES", kCases);
  const uint64_t first = NumberFromEnvironment("VARVE_DIFFERENTIAL_SEED", Rotation() * kCases + 1);
  const auto started = std::chrono::steady_clock::now();
  const Totals totals = PlaySeeds(&runner, first, cases);
  const auto seconds =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - started);
  std::printf(
      "RESULT differential cases=%llu calls=%llu wrong=%zu meant=%llu stopped=%llu "
      "rocksdb_died=%llu secs=%lld\n",
      static_cast<unsigned long long>(cases), static_cast<unsigned long long>(totals.compared),
      totals.findings.size(), static_cast<unsigned long long>(totals.meant),
      static_cast<unsigned long long>(totals.stopped),
      static_cast<unsigned long long>(totals.theirs_failed),
      static_cast<long long>(seconds.count()));
  ASSERT_TRUE(totals.findings.empty()) << totals.findings[0];
  // At least three quarters of the lines must be compared.
  ASSERT_GE(totals.compared, cases * kLines * 3 / 4);
}

TEST(DifferentialTest, AFilePlaysAgain) {
  const char* const path = std::getenv("VARVE_DIFFERENTIAL_REPLAY");
  if (path == nullptr) GTEST_SKIP();
  const std::unique_ptr<CApi> theirs = RocksDbApi();
  if (theirs == nullptr) GTEST_SKIP();
  const CApi ours(nullptr);
  const MeantDifferences meant = Meant();
  CaseRunner runner(&ours, theirs.get(), &meant, WorkDirectory());
  const History history = ParseHistory(ReadText(path));
  const Comparison result = runner.Run(history);
  std::printf("%s", Trace(history, result).c_str());
  if (result.theirs_failed)
    std::printf("RocksDB dies after %llu lines\n",
                static_cast<unsigned long long>(result.compared));
  ASSERT_FALSE(result.differs) << Explained(history, result);
}

// A seed found each of these, and each is mended.
TEST(DifferentialTest, WhatOnceDifferedIsTheSame) {
  const std::unique_ptr<CApi> theirs = RocksDbApi();
  if (theirs == nullptr) GTEST_SKIP();
  const CApi ours(nullptr);
  const MeantDifferences meant = Meant();
  CaseRunner runner(&ours, theirs.get(), &meant, WorkDirectory());
  const std::string corpus = testing::SourceRoot() + "/tests/differential/corpus";
  size_t played = 0;
  for (const auto& entry : std::filesystem::directory_iterator(corpus)) {
    const History history = ParseHistory(ReadText(entry.path()));
    const Comparison result = runner.Run(history);
    EXPECT_FALSE(result.differs) << entry.path() << "\n" << Explained(history, result);
    EXPECT_FALSE(result.stopped || result.theirs_failed) << entry.path();
    played++;
  }
  EXPECT_GT(played, 0u);
}

TEST(DifferentialTest, TheMigrationPageSaysWhatDiffersOnPurpose) {
  std::vector<std::string> reasons;
  for (const MeantDifference& entry : Meant()) reasons.push_back(entry.reason);
  std::sort(reasons.begin(), reasons.end());
  reasons.erase(std::unique(reasons.begin(), reasons.end()), reasons.end());
  std::vector<std::string> bullets = BulletsBelow(
      ReadText(testing::SourceRoot() + "/include/varve/MOVING_FROM_ROCKSDB.md"), kHeading);
  std::sort(bullets.begin(), bullets.end());
  EXPECT_EQ(reasons, bullets);
}

TEST(DifferentialTest, BulletsAreReadAndEntriesMatch) {
  const std::string page =
      "## 4\n- other\n### Answers that differ\n- One\n  two.\n\n- Three\n## 5\n- x\n";
  EXPECT_EQ(BulletsBelow(page, kHeading), (std::vector<std::string>{"One two.", "Three"}));
  std::string problem;
  const MeantDifferences meant = ParseMeantDifferences(
      "# why\na title\n  call merge bare*\n  varve A\n  rocksdb B*\n  after range * => E\n  reason "
      "R\n  then stop\n",
      &problem);
  ASSERT_EQ(problem, "");
  ASSERT_EQ(meant.size(), 1u);
  EXPECT_TRUE(meant[0].stops);
  const std::vector<AnsweredLine> session = {{"range f1 b a", "E", "E"}};
  EXPECT_NE(FindMeant(meant, {"merge bare k v", "A", "B and more"}, session), nullptr);
  EXPECT_EQ(FindMeant(meant, {"merge bare k v", "A", "B"}, {}), nullptr);
  EXPECT_EQ(FindMeant(meant, {"merge f1 k v", "A", "B"}, session), nullptr);
  EXPECT_EQ(FindMeant(meant, {"merge bare k v", "B", "A"}, session), nullptr);
  ParseMeantDifferences("title\n  call c\n", &problem);
  EXPECT_NE(problem, "");
}

TEST(DifferentialTest, VarveAgreesWithItself) {
  const CApi ours(nullptr);
  const MeantDifferences none;
  CaseRunner runner(&ours, &ours, &none, WorkDirectory());
  for (uint64_t seed = 1; seed <= 5; seed++) {
    const History history = RandomCalls(seed, kLines);
    EXPECT_TRUE(KeepsContract(history));
    EXPECT_EQ(PrintHistory(ParseHistory(PrintHistory(history))), PrintHistory(history));
    const Comparison result = runner.Run(history);
    EXPECT_FALSE(result.differs) << seed << "\n" << Explained(history, result);
    EXPECT_EQ(
        result.compared + std::count_if(history.begin(), history.end(),
                                        [](const Line& one) { return one.verb() == "crash"; }),
        history.size());
  }
}

TEST(DifferentialTest, PlantedFaultsAreFoundAndShrunk) {
  const CApi theirs(nullptr);
  CApi forgetful(nullptr);
  forgetful.writebatch_singledelete_cf.Replace(NoSingleDelete);
  CApi dying(nullptr);
  dying.iter_prev.Replace(DyingPrev);
  const MeantDifferences none;
  for (const CApi* ours : {&forgetful, &dying}) {
    CaseRunner runner(ours, &theirs, &none, WorkDirectory());
    std::string found;
    for (uint64_t seed = 1; seed <= 20 && found.empty(); seed++) {
      const History history = RandomCalls(seed, kLines);
      const Comparison result = runner.Run(history);
      if (result.differs) found = Shortest(&runner, history, result);
    }
    ASSERT_NE(found, "");
    EXPECT_LE(std::count(found.begin(), found.end(), '\n'), 10) << found;
    EXPECT_NE(found.find(ours == &forgetful ? "sdel" : "back"), std::string::npos) << found;
  }
}

}  // namespace varve::testing
