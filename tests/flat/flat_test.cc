// SPDX-License-Identifier: Apache-2.0

// Goal: a process that makes something and lets it go, again and again, has nothing left of it:
// services run for months. Method: each life cycle (life_cycles.h) is played a hundred times, then
// VARVE_FLAT_CYCLES=n times more, on real files; memory in use, open files, threads, mappings,
// entries of directories and the database's own account of its memory (varve.memory) are compared
// before and after. What grows in three such series, one after the other, grows for ever.

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tests/flat/life_cycles.h"
#include "tests/flat/process_counts.h"
#include "tests/harness/database.h"
#include "tests/harness/environment.h"

namespace varve::testing {
namespace {

constexpr uint64_t kFirst = 100;
constexpr int kSeries = 3;

uint64_t CyclesOfASeries() {
  return NumberFromEnvironment("VARVE_FLAT_CYCLES", 300);
}

// A directory that is deleted with the test; in memory where the system supports that.
class ScratchDirectory {
 public:
  ScratchDirectory() {
    const char* base = getenv("TEST_TMPDIR");
    if (base == nullptr) base = ::access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    std::string pattern = std::string(base) + "/varve_flat_XXXXXX";
    EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
    path_ = pattern;
  }
  ~ScratchDirectory() { std::filesystem::remove_all(path_); }
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// Returns the difference that chance allows after this many cycles: less than one of each in ten,
// and what containers and threads keep for later.
int64_t Tolerance(const std::string& name, uint64_t cycles) {
  const auto n = static_cast<int64_t>(cycles);
  if (name == "bytes") return 8 * n + (64 << 10);
  if (name == "varve.memory") return 8 * n + (256 << 10);
  if (name == "blocks") return n / 10 + 16;
  return n / 10 + 2;
}

// Returns the counts that grew beyond chance, or "" if none did.
std::string Growth(const Counts& before, const Counts& after, uint64_t cycles) {
  std::string text;
  for (const auto& [name, count] : after) {
    const int64_t grown = count - before.at(name);
    if (grown <= Tolerance(name, cycles)) continue;
    text +=
        name + ": " + std::to_string(grown) + " more in " + std::to_string(cycles) + " cycles; ";
  }
  return text;
}

// Plays `cycle` as the method says; what grew, or "". `settle` ends what goes on by itself, but for
// what a thread does within `patience_seconds`.
std::string FindGrowth(uint64_t cycles, int patience_seconds, const std::function<void()>& cycle,
                       const std::function<void()>& settle, const std::function<Counts()>& count) {
  const auto play = [&](uint64_t times) {
    for (uint64_t i = 0; i < times; i++) cycle();
    settle();
  };
  play(std::min(kFirst, cycles));
  std::string growth;
  for (int series = 0; series < kSeries; series++) {
    const Counts before = count();
    play(cycles);
    growth.clear();
    const bool flat = Eventually(
        [&] {
          growth = Growth(before, count(), cycles);
          return growth.empty();
        },
        patience_seconds);
    if (flat) return "";
  }
  return growth;
}

// ---- The judge ----

class FlatJudgeTest : public ::testing::Test {
 protected:
  // Returns the judge's verdict on a cycle that leaves this behind.
  std::string JudgeOf(const std::function<void()>& cycle) {
    return FindGrowth(
        100, 0, cycle, [] {},
        [this] {
          Counts counts = CountProcess();
          counts["entries"] = CountEntries(directory_.path());
          return counts;
        });
  }

  const ScratchDirectory directory_;
};

TEST_F(FlatJudgeTest, SeesWhatEachCycleLeavesBehind) {
  std::vector<std::unique_ptr<char[]>> blocks;
  blocks.reserve(1000);
  EXPECT_NE(JudgeOf([&] { blocks.push_back(std::make_unique<char[]>(8)); }).find("blocks"),
            std::string::npos);
  std::unique_ptr<char[]> block;
  size_t size = 0;
  EXPECT_NE(JudgeOf([&] { block = std::make_unique<char[]>(size += 2000); }).find("bytes"),
            std::string::npos);
  std::vector<int> files;
  EXPECT_NE(JudgeOf([&] { files.push_back(::dup(0)); }).find("open files"), std::string::npos);
  for (const int file : files) ::close(file);
  int number = 0;
  EXPECT_NE(JudgeOf([&] {
              std::ofstream(directory_.path() + "/" + std::to_string(number++)) << "x";
            }).find("entries"),
            std::string::npos);
  std::vector<void*> pages;
  EXPECT_NE(
      JudgeOf([&] {
        // Neighbours differ in protection, so that the system does not join them.
        const int protection = pages.size() % 2 == 0 ? PROT_READ : PROT_NONE;
        pages.push_back(::mmap(nullptr, 4096, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
      }).find("mappings"),
      std::string::npos);
  for (void* page : pages) ::munmap(page, 4096);
}

TEST_F(FlatJudgeTest, IsContentWithWhatEndsAndWithWhatIsBounded) {
  EXPECT_EQ(JudgeOf([] { std::make_unique<char[]>(100); }), "");
  std::vector<std::string> most(100);
  int number = 0;
  EXPECT_EQ(JudgeOf([&] { most[static_cast<size_t>(number++ % 100)] = std::string(1000, 'x'); }),
            "");
}

// ---- The library ----

class FlatTest : public ::testing::TestWithParam<LifeCycle> {
 public:
  static void TearDownTestSuite() {
    printf("RESULT flat cases=%llu cycles=%llu grown=%llu\n",
           static_cast<unsigned long long>(cases_), static_cast<unsigned long long>(cycles_),
           static_cast<unsigned long long>(grown_));
  }

 protected:
  FlatTest() {
    stage_.directory = directory_.path();
    stage_.options.create_if_missing = true;
    stage_.options.write_buffer_size = 1 << 20;
    stage_.options.keep_log_file_num = 2;
    stage_.options.compression = kNoCompression;
  }

  Counts Count() {
    Counts counts = CountProcess();
    counts["entries"] = CountEntries(stage_.directory);
    std::map<std::string, std::string> memory;
    if (stage_.db != nullptr) {
      EXPECT_TRUE(stage_.db->GetMapProperty(stage_.family(), "varve.memory", &memory));
      counts["varve.memory"] = std::stoll(memory.at("total")) - std::stoll(memory.at("warm_pages"));
    }
    return counts;
  }
  // Leaves one table and an empty memtable.
  void Settle() {
    if (stage_.db == nullptr) return;
    EXPECT_TRUE(stage_.db->Put(WriteOptions(), "key0", "1").ok());
    EXPECT_TRUE(stage_.db->Flush(FlushOptions()).ok());
    EXPECT_TRUE(stage_.db->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok());
    EXPECT_TRUE(stage_.db->WaitForCompact(WaitForCompactOptions()).ok());
  }

  static inline uint64_t cases_ = 0;
  static inline uint64_t cycles_ = 0;
  static inline uint64_t grown_ = 0;

  const ScratchDirectory directory_;
  FlatStage stage_;
};

TEST_P(FlatTest, NothingIsLeft) {
  const LifeCycle& cycle = GetParam();
  const std::unique_ptr<DB> db = OpenFlatDb(cycle.kind, &stage_);
  stage_.db = db.get();
  const uint64_t cycles = std::max<uint64_t>(CyclesOfASeries() / cycle.cost, 30);
  const std::string growth = FindGrowth(
      cycles, 1,
      [&] {
        cycle.play(&stage_);
        stage_.round++;
      },
      [this] { Settle(); }, [this] { return Count(); });
  EXPECT_EQ(growth, "");
  cases_++;
  cycles_ += stage_.round;
  if (!growth.empty()) grown_++;
}

INSTANTIATE_TEST_SUITE_P(All, FlatTest, ::testing::ValuesIn(LifeCycles()),
                         [](const ::testing::TestParamInfo<LifeCycle>& cycle) {
                           return std::string(cycle.param.name);
                         });

}  // namespace
}  // namespace varve::testing
