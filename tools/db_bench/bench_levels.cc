// SPDX-License-Identifier: Apache-2.0
// fillseqdeterministic and filluniquerandomdeterministic: fills after which the tree has the same
// shape in each run, so that reads of two builds are compared on equal trees. No compaction runs by
// itself (--disable_auto_compactions is required). What is flushed is one sorted run, and
// CompactFiles brings it to its level:
//
//    levelled    run 0 to the last level, run 1 to the one above it, and so on until L1. Each run
//                has a part of the keys of the run before, as --max_bytes_for_level_multiplier
//                says. The last third of the entries of the last run stays in L0.
//    universal   the same, but runs shrink by the size ratio until one has a single table, and all
//                those after the levels' are tables of L0.
//    FIFO        tables of L0, until the size limit is reached.
//
// Run 0 has all keys, in order or at random; the others have random ones, so that they overlap.

#include <algorithm>
#include <array>
#include <cstdio>
#include <set>
#include <string>
#include <vector>

#include "varve/db.h"

#include "tools/db_bench/benchmark.h"
#include "tools/db_bench/fail.h"
#include "tools/db_bench/flags.h"

namespace varve::bench {

namespace {

using TableNames = std::vector<std::string>;

// Fills the tree of the default family, run by run.
class TreeFiller {
 public:
  TreeFiller(Worker& worker, FillOrder::Kind first)
      : worker_(worker),
        options_(worker.database.options()),
        next_(first),
        count_(worker.plan.writes == 0 ? worker.plan.num : worker.plan.writes) {}

  void FillLevels() {
    for (int level = bottom(); level > 0; --level) {
      const int64_t left = level == 1 ? count_ / 3 : 0;
      const TableNames run = WriteRun(count_ - left);
      if (run.empty()) FailForSize();
      Move(run, level);
      // It is written after the move, which takes along all tables of L0 that overlap.
      WriteRun(left);
      Shrink(options_.max_bytes_for_level_multiplier);
    }
  }

  void FillUniversal() {
    const double ratio = options_.compaction_options_universal.size_ratio;
    int runs = 0;
    // Starts with any number above 1: the loop ends after a run of a single table.
    for (size_t tables = 2; tables > 1; ++runs) {
      const TableNames run = WriteRun(count_);
      tables = run.size();
      if (tables == 0) break;
      const int level = std::max(0, bottom() - runs);
      if (level > 0 || tables > 1) Move(run, level);
      // The ratio is a percentage: a run has less than half of the keys of the one before.
      Shrink((ratio + 200) / 100);
    }
    if (runs < options_.num_levels) FailForSize();
  }

  void FillFifo() {
    uint64_t bytes = 0;
    while (bytes < options_.compaction_options_fifo.max_table_files_size) {
      if (WriteRun(count_).empty()) FailForSize();
      bytes = State().levels.front().size;
    }
    const Status s = worker_.db()->CompactRange(CompactRangeOptions(), nullptr, nullptr);
    if (!s.ok()) Fail("compact error", s);
  }

  // Scripts take these lines apart; their form is that of RocksDB's program.
  void PrintShape() const {
    std::printf("---------------------- DB 0 LSM ---------------------\n");
    for (const LevelMetaData& level : State().levels) {
      if (level.files.empty()) continue;
      if (level.level > 0) {
        std::printf("Level[%d]: %s - %s(total size: %llu bytes)\n", level.level,
                    level.files.front().name.c_str(), level.files.back().name.c_str(),
                    static_cast<unsigned long long>(level.size));
        continue;
      }
      for (const SstFileMetaData& file : level.files) {
        std::printf("Level[0]: %s(size: %llu bytes)\n", file.name.c_str(),
                    static_cast<unsigned long long>(file.size));
      }
    }
  }

 private:
  int bottom() const { return options_.num_levels - 1; }

  ColumnFamilyMetaData State() const {
    ColumnFamilyMetaData state;
    worker_.db()->GetColumnFamilyMetaData(&state);
    return state;
  }

  [[noreturn]] void FailForSize() const {
    Fail("--num is too small to fill " + std::to_string(options_.num_levels) + " levels");
  }

  // Divides the number of entries of the next run. A factor below 1 counts as 1: no run may have
  // more keys than the first one.
  void Shrink(double factor) {
    count_ = static_cast<int64_t>(static_cast<double>(count_) / std::max(1.0, factor));
  }

  // Writes `count` entries, flushes them, and returns their tables; none if the count is 0.
  TableNames WriteRun(int64_t count) {
    if (count == 0) return {};
    std::set<std::string> before;
    for (const SstFileMetaData& file : State().levels.front().files) before.insert(file.name);
    WriteInOrder(worker_, next_, count);
    next_ = FillOrder::Kind::kUniqueRandom;
    const Status s = worker_.db()->Flush(FlushOptions());
    if (!s.ok()) Fail("flush failed", s);
    TableNames run;
    for (const SstFileMetaData& file : State().levels.front().files) {
      if (!before.contains(file.name)) run.push_back(file.name);
    }
    return run;
  }

  // Brings a run to its level, in tables of the size that the level's have.
  void Move(const TableNames& run, int level) const {
    CompactionOptions options;
    options.output_file_size_limit = options_.target_file_size_base;
    for (int i = 1; i < level; ++i) {
      options.output_file_size_limit *= static_cast<uint64_t>(options_.target_file_size_multiplier);
    }
    const Status s = worker_.db()->CompactFiles(options, run, level);
    if (!s.ok()) Fail("compact error", s);
  }

  Worker& worker_;
  const Options& options_;
  FillOrder::Kind next_;
  int64_t count_;  // entries of the next run
};

// The triggers of L0 would stop the fill, as no compaction lowers the number of its tables.
void SetTriggers(DB* db, int slowdown, int stop) {
  const Status s = db->SetOptions({{"level0_slowdown_writes_trigger", std::to_string(slowdown)},
                                   {"level0_stop_writes_trigger", std::to_string(stop)}});
  if (!s.ok()) Fail("SetOptions", s);
}

void FillDeterministic(Worker& worker, FillOrder::Kind first) {
  const Options& options = worker.database.options();
  if (!options.disable_auto_compactions) Fail("this fill needs --disable_auto_compactions");
  if (worker.database.families().size() > 1) Fail("this fill takes one column family");
  constexpr int kNever = 400000000;
  SetTriggers(worker.db(), kNever, kNever);
  TreeFiller filler(worker, first);
  switch (options.compaction_style) {
    case kCompactionStyleLevel:
      filler.FillLevels();
      break;
    case kCompactionStyleUniversal:
      filler.FillUniversal();
      break;
    case kCompactionStyleFIFO:
      filler.FillFifo();
      break;
    default:
      Fail("this fill needs a compaction style");
  }
  filler.PrintShape();
  SetTriggers(worker.db(), options.level0_slowdown_writes_trigger,
              options.level0_stop_writes_trigger);
}

void FillSequentialDeterministic(Worker& worker) {
  FillDeterministic(worker, FillOrder::Kind::kSequential);
}

void FillRandomDeterministic(Worker& worker) {
  FillDeterministic(worker, FillOrder::Kind::kUniqueRandom);
}

constexpr std::array kLevelBenchmarks = {
    Benchmark{.name = "fillseqdeterministic",
              .body = FillSequentialDeterministic,
              .setup = InOneThread,
              .fresh = true},
    Benchmark{.name = "filluniquerandomdeterministic",
              .body = FillRandomDeterministic,
              .setup = InOneThread,
              .fresh = true},
};

}  // namespace

std::span<const Benchmark> LevelBenchmarks() {
  return kLevelBenchmarks;
}

}  // namespace varve::bench
