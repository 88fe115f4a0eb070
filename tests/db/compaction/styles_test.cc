// SPDX-License-Identifier: Apache-2.0

// Goal: the universal and the FIFO style work in an open database, and a family may change its
// mind. Method: one story each; random histories under every style against a map.

#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <functional>

#include "varve/comparator.h"
#include "varve/listener.h"
#include "varve/statistics.h"
#include "varve/utilities/option_change_migration.h"

#include "tests/harness/database.h"
#include "tests/harness/environment.h"
#include "tests/harness/random.h"
#include "util/options/validate_options.h"

namespace varve::testing {
namespace {

class StylesTest : public Database {
 protected:
  StylesTest() {
    options_.statistics = CreateDBStatistics();
    options_.compression = kNoCompression;
  }
  void Settle() {
    WaitForCompactOptions flushed;
    flushed.flush = true;
    ASSERT_TRUE(db()->WaitForCompact(flushed).ok());
  }
  Status CompactAll(const CompactRangeOptions& options = CompactRangeOptions()) {
    return db()->CompactRange(options, nullptr, nullptr);
  }
};

class UniversalTest : public StylesTest {
 protected:
  UniversalTest() { options_.compaction_style = kCompactionStyleUniversal; }
};

TEST_F(UniversalTest, EachFourthRunIsMergedIntoTheLastLevel) {
  Open();
  for (int round = 0; round < 3; round++) {
    for (int i = round == 0 ? 0 : 1; i < 4; i++) {
      MakeTable({"a", "b", "c"});
      Settle();
      if (i == 2) {
        EXPECT_EQ(Levels(), round == 0 ? "3" : "2,0,0,0,0,0,1");
      }
    }
    EXPECT_EQ(Levels(), "0,0,0,0,0,0,1");
  }
  EXPECT_EQ(Number("rocksdb.compaction-pending"), 0u);
  EXPECT_EQ(Scan(), "a=of a b=of b c=of c");
}

TEST_F(UniversalTest, ATreeOfOneLevelLosesItsTombstones) {
  options_.num_levels = 1;
  Open();
  MakeTable({"a", "b"});
  Delete("a");
  Delete("b");
  Flush();
  EXPECT_EQ(Levels(), "2");
  ASSERT_TRUE(CompactAll().ok());
  EXPECT_EQ(Levels(), "");
  for (const char* key : {"a", "b", "c", "d", "e"}) MakeTable({key, "z"});
  Settle();
  Reopen();
  EXPECT_EQ(Scan(), "a=of a b=of b c=of c d=of d e=of e z=of z");
}

TEST_F(UniversalTest, CompactRangeMergesAllWhateverTheRange) {
  options_.disable_auto_compactions = true;
  Open();
  for (const char* key : {"a", "b", "c"}) MakeTable({key});
  const Slice begin = "x";
  const Slice end = "y";
  ASSERT_TRUE(db()->CompactRange(CompactRangeOptions(), &begin, &end).ok());
  EXPECT_EQ(Levels(), "0,0,0,0,0,0,1");
  ASSERT_TRUE(CompactAll().ok());
  EXPECT_EQ(Levels(), "0,0,0,0,0,0,1");
}

class FifoTest : public StylesTest {
 protected:
  FifoTest() { options_.compaction_style = kCompactionStyleFIFO; }
  // Makes a table of a little more than 10 kB.
  void MakeBig(const std::string& key) {
    Put(key, std::string(10000, 'v'));
    Flush();
  }
};

TEST_F(FifoTest, TheOldestTablesGoAndReadersKeepThem) {
  options_.compaction_options_fifo.max_table_files_size = 35000;
  Open();
  for (const char* key : {"a", "b", "c"}) MakeBig(key);
  EXPECT_EQ(Levels(), "3");
  const std::unique_ptr<Iterator> old(db()->NewIterator(ReadOptions()));
  MakeBig("d");
  Settle();
  EXPECT_EQ(Levels(), "3");
  EXPECT_EQ(Get("a"), "NOT_FOUND");
  EXPECT_EQ(Get("d").size(), 10000u);
  old->SeekToFirst();
  ASSERT_TRUE(old->Valid());
  EXPECT_EQ(old->key(), "a");
  EXPECT_EQ(options_.statistics->getTickerCount(FIFO_MAX_SIZE_COMPACTIONS), 1u);
  EXPECT_EQ(options_.statistics->getTickerCount(COMPACT_WRITE_BYTES), 0u);
  ASSERT_TRUE(
      db()->SetOptions({{"compaction_options_fifo", "{max_table_files_size=15000;}"}}).ok());
  Settle();
  EXPECT_EQ(Levels(), "1");
  EXPECT_FALSE(db()->SetOptions({{"compaction_options_fifo", "{max_table_files_size=0;}"}}).ok());
  Reopen();
  EXPECT_EQ(Get("d").size(), 10000u);
  EXPECT_EQ(Number("rocksdb.compaction-pending"), 0u);
}

TEST_F(FifoTest, WithoutATtlNothingExpires) {
  EXPECT_EQ(DeriveColumnFamilyOptions(options_).ttl, 0u);
  options_.ttl = 5;
  EXPECT_EQ(DeriveColumnFamilyOptions(options_).ttl, 5u);
}

TEST_F(FifoTest, TablesMayLieInSeveralDirectories) {
  options_.db_paths = {{"/db/fast", 1}, {"/db/slow", 1 << 30}};
  Open();
  MakeTable({"a"});
  MakeTable({"b"});
  EXPECT_TRUE(db()->SetOptions({{"ttl", "0"}, {"compaction_style", "kCompactionStyleFIFO"}}).ok());
  MakeTable({"c"});
  EXPECT_EQ(Files(kTableFile, "/db/fast").size(), 3u);
  Reopen();
  EXPECT_EQ(Scan(), "a=of a b=of b c=of c");
}

TEST_F(FifoTest, HistoryIsNotTrimmed) {
  options_.comparator = BytewiseComparatorWithU64Ts();
  std::vector<ColumnFamilyHandle*> handles;
  DB* opened = nullptr;
  const Status s = DB::OpenAndTrimHistory(options_, kName, {{"default", options_}}, &handles,
                                          &opened, std::string(8, '\0'));
  EXPECT_TRUE(s.IsNotSupported()) << s.ToString();
  EXPECT_EQ(opened, nullptr);
}

TEST_F(FifoTest, SmallTablesAreMergedAndTheirTimeStays) {
  options_.compaction_options_fifo.allow_compaction = true;
  Open();
  for (const char* key : {"a", "b", "c", "d"}) MakeTable({key});
  Settle();
  EXPECT_EQ(Levels(), "1");
  Reopen();
  EXPECT_EQ(Scan(), "a=of a b=of b c=of c d=of d");
}

TEST_F(FifoTest, CallsLeaveTheTablesInL0) {
  Open();
  for (const char* key : {"a", "b"}) MakeTable({key});
  EXPECT_TRUE(CompactAll().ok());
  EXPECT_EQ(Levels(), "2");
  CompactRangeOptions moving;
  moving.change_level = true;
  moving.target_level = 1;
  EXPECT_TRUE(CompactAll(moving).IsNotSupported());
  EXPECT_TRUE(db()->CompactFiles(CompactionOptions(), Files(kTableFile), 1).IsInvalidArgument());
}

// Writes tables whose keys ascend for some time, then begin anew, and reads them in every way.
TEST_F(FifoTest, ChainsOfTablesReadAsTablesDo) {
  Random random(48);
  options_.disable_auto_compactions = true;
  Open();
  std::map<std::string, std::string> model;
  std::vector<const Snapshot*> snapshots;
  std::vector<std::map<std::string, std::string>> seen;
  uint64_t at = 1000;
  for (int table = 0; table < 120; table++) {
    if (random.OneIn(30)) at = 1000 + random.Below(50);
    for (int i = 0; i < 3; i++) {
      const std::string key = std::to_string(++at);
      if (random.OneIn(8)) {
        Delete(key);
        model.erase(key);
      } else {
        model[key] = std::to_string(random.Next());
        Put(key, model[key]);
      }
    }
    if (random.OneIn(8)) {
      const std::string begin = std::to_string(at - random.Below(3));
      const std::string end = std::to_string(at + 1);
      ASSERT_TRUE(db()->DeleteRange(WriteOptions(), db()->DefaultColumnFamily(), begin, end).ok());
      model.erase(model.lower_bound(begin), model.lower_bound(end));
    }
    if (random.OneIn(40)) {
      snapshots.push_back(db()->GetSnapshot());
      seen.push_back(model);
    }
    Flush();
  }
  snapshots.push_back(nullptr);
  seen.push_back(model);
  std::vector<std::string> keys;
  for (uint64_t n = 1000; n < 1400; n++) keys.push_back(std::to_string(n));
  for (size_t i = 0; i < snapshots.size(); i++) {
    SCOPED_TRACE(i);
    ReadOptions read;
    read.snapshot = snapshots[i];
    std::string expected;
    for (const auto& [key, value] : seen[i]) {
      expected += (expected.empty() ? "" : " ") + key + "=" + value;
    }
    EXPECT_EQ(Scan(read), expected);
    std::vector<std::string> values;
    const std::vector<Status> statuses =
        db()->MultiGet(read, std::vector<Slice>(keys.begin(), keys.end()), &values);
    for (size_t k = 0; k < keys.size(); k++) {
      const auto found = seen[i].find(keys[k]);
      const std::string value = found == seen[i].end() ? "NOT_FOUND" : found->second;
      ASSERT_EQ(Get(keys[k], "default", snapshots[i]), value) << keys[k];
      ASSERT_EQ(statuses[k].ok() ? values[k] : "NOT_FOUND", value) << keys[k];
    }
    if (snapshots[i] != nullptr) db()->ReleaseSnapshot(snapshots[i]);
  }
}

TEST_F(StylesTest, AFamilyMayChangeItsMind) {
  options_.disable_auto_compactions = true;
  Open();
  for (const char* key : {"a", "b", "c"}) MakeTable({key});
  ASSERT_TRUE(db()->CompactFiles(CompactionOptions(), {Files(kTableFile).front()}, 6).ok());
  const std::string content = Scan();
  const std::string levels = Levels();
  for (const CompactionStyle style : {kCompactionStyleUniversal, kCompactionStyleFIFO,
                                      kCompactionStyleNone, kCompactionStyleLevel}) {
    ASSERT_TRUE(Close().ok());
    options_.compaction_style = style;
    Open();
    EXPECT_EQ(Scan(), content) << style;
    EXPECT_EQ(Levels(), levels) << style;
  }
  ASSERT_TRUE(Close().ok());
  options_.disable_auto_compactions = false;
  options_.compaction_style = kCompactionStyleUniversal;
  options_.level0_file_num_compaction_trigger = 2;
  options_.compaction_options_universal.max_size_amplification_percent = 100;
  Open();
  Settle();
  EXPECT_EQ(Levels(), "0,0,0,0,0,0,1");
  EXPECT_EQ(Scan(), content);
}

TEST_F(StylesTest, AnOpenFamilyMayChangeItsMind) {
  Open();
  for (const char* key : {"a", "b", "c"}) MakeTable({key});
  Settle();
  EXPECT_EQ(Levels(), "3");
  const std::string content = Scan();
  ASSERT_TRUE(db()->SetOptions({{"compaction_style", "kCompactionStyleUniversal"},
                                {"level0_file_num_compaction_trigger", "2"}})
                  .ok());
  Settle();
  EXPECT_EQ(Levels(), "0,0,0,0,0,0,1") << "the new style works at once";
  EXPECT_EQ(db()->GetOptions().compaction_style, kCompactionStyleUniversal);
  EXPECT_EQ(Scan(), content);
  ASSERT_TRUE(db()->SetOptions({{"compaction_style", "kCompactionStyleFIFO"},
                                {"compaction_options_fifo", "{max_table_files_size=1;}"}})
                  .ok());
  Settle();
  EXPECT_EQ(Levels(), "");
  ASSERT_TRUE(db()->SetOptions({{"compaction_style", "kCompactionStyleNone"}}).ok());
  for (const char* key : {"a", "b", "c"}) MakeTable({key});
  Settle();
  EXPECT_EQ(Levels(), "3");
  EXPECT_FALSE(db()->SetOptions({{"compaction_style", "kCompactionStyleOther"}}).ok());
  EXPECT_EQ(db()->GetOptions().compaction_style, kCompactionStyleNone);
}

TEST_F(UniversalTest, OneLevelIsTooFewForAnotherStyle) {
  options_.num_levels = 1;
  Open();
  const Status s = db()->SetOptions({{"compaction_style", "kCompactionStyleLevel"}});
  EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
  EXPECT_EQ(db()->GetOptions().compaction_style, kCompactionStyleUniversal);
  EXPECT_TRUE(db()->SetOptions({{"compaction_style", "kCompactionStyleFIFO"}}).ok());
  EXPECT_EQ(db()->NumberLevels(), 1);
}

class FewerLevelsTest : public StylesTest {
 protected:
  // Makes a table in L6, one in L5 that overlaps it, and one in L0.
  void MakeDeep() {
    options_.disable_auto_compactions = true;
    Open();
    for (const int level : {6, 5}) {
      MakeTable({"a", "c", level == 6 ? "x" : "b"});
      ASSERT_TRUE(db()->CompactFiles(CompactionOptions(), {Files(kTableFile).back()}, level).ok());
    }
    MakeTable({"c"});
    EXPECT_EQ(Levels(), "1,0,0,0,0,1,1");
  }
};

TEST_F(FewerLevelsTest, NothingIsRewrittenByTheOpening) {
  MakeDeep();
  const std::vector<std::string> tables = Files(kTableFile);
  for (const CompactionStyle style :
       {kCompactionStyleLevel, kCompactionStyleUniversal, kCompactionStyleFIFO}) {
    ASSERT_TRUE(Close().ok());
    options_.compaction_style = style;
    options_.num_levels = 3;
    Open();
    EXPECT_EQ(Levels(), "1,0,0,0,0,1,1");
    EXPECT_EQ(Files(kTableFile), tables);
    EXPECT_EQ(Scan(), "a=of a b=of b c=of c x=of x");
    EXPECT_EQ(db()->NumberLevels(), 3);
  }
  ASSERT_TRUE(Close().ok());
  ASSERT_TRUE(TryOpenReadOnly().ok());
  EXPECT_EQ(Scan(), "a=of a b=of b c=of c x=of x");
  ASSERT_TRUE(Close().ok());
  options_.compaction_style = kCompactionStyleLevel;
  options_.cf_allow_ingest_behind = true;
  EXPECT_TRUE(TryOpen().IsInvalidArgument());
}

TEST_F(FewerLevelsTest, CompactionsBringTheTablesUp) {
  for (const CompactionStyle style : {kCompactionStyleLevel, kCompactionStyleUniversal}) {
    for (const int levels : {1, 3}) {
      for (const bool called : {false, true}) {
        options_.compaction_style = kCompactionStyleLevel;
        options_.num_levels = 7;
        MakeDeep();
        ASSERT_TRUE(Close().ok());
        options_.compaction_style = style;
        options_.num_levels = levels;
        options_.disable_auto_compactions = called;
        Open();
        if (called) {
          ASSERT_TRUE(CompactAll().ok());
        }
        Settle();
        const int deepest = std::max(levels, style == kCompactionStyleLevel ? 2 : 1);
        EXPECT_LE(std::ranges::count(Levels(), ','), deepest - 1) << Levels();
        EXPECT_EQ(Number("rocksdb.compaction-pending"), 0u);
        EXPECT_EQ(Scan(), "a=of a b=of b c=of c x=of x");
        Reopen();
        EXPECT_EQ(Scan(), "a=of a b=of b c=of c x=of x");
        ASSERT_TRUE(Close().ok());
        ASSERT_TRUE(DestroyDB(kName, options_).ok());
      }
    }
  }
}

TEST_F(FewerLevelsTest, AMigrationLeavesWhatOtherEnginesOpen) {
  for (const int levels : {1, 3, 7}) {
    for (const CompactionStyle style :
         {kCompactionStyleLevel, kCompactionStyleUniversal, kCompactionStyleFIFO}) {
      options_.num_levels = 7;
      MakeDeep();
      const std::string before = Levels();
      ASSERT_TRUE(Close().ok());
      Options changed = options_;
      changed.compaction_style = style;
      changed.num_levels = levels;
      const Status s = OptionChangeMigration(kName, options_, changed);
      ASSERT_TRUE(s.ok()) << s.ToString();
      Open();
      const int deepest = std::max(levels, style == kCompactionStyleLevel ? 2 : 1);
      EXPECT_LE(std::ranges::count(Levels(), ','), deepest - 1) << Levels();
      if (levels == 7) {
        EXPECT_EQ(Levels(), before) << "nothing is to be done";
      }
      EXPECT_EQ(Scan(), "a=of a b=of b c=of c x=of x");
      ASSERT_TRUE(Close().ok());
      ASSERT_TRUE(DestroyDB(kName, options_).ok());
    }
  }
  const std::vector<ColumnFamilyDescriptor> one = {{"default", options_}};
  const std::vector<ColumnFamilyDescriptor> other = {{"other", options_}};
  EXPECT_TRUE(OptionChangeMigration(kName, options_, one, options_, other).IsInvalidArgument());
  EXPECT_TRUE(OptionChangeMigration(kName, options_, one, options_, {}).IsInvalidArgument());
}

// Puts and deletes few keys, one by one and by ranges, while the style works, and compares with a
// map; snapshots with the map of their time.
class UniversalHistoryTest : public UniversalTest {
 protected:
  // With `sliced` nearly every merge of levels is done in slices.
  void Choose(int num_levels, bool sliced = false) {
    options_.num_levels = num_levels;
    options_.level0_file_num_compaction_trigger = 2 + num_levels % 3;
    options_.target_file_size_base = sliced ? 100 : 2000;
    options_.max_subcompactions = 2;
    CompactionOptionsUniversal& rules = options_.compaction_options_universal;
    rules.max_size_amplification_percent = num_levels % 2 == 0 ? 25 : 200;
    rules.allow_trivial_move = num_levels == 3;
    rules.stop_style =
        num_levels == 2 ? kCompactionStopStyleSimilarSize : kCompactionStopStyleTotalSize;
  }
  static std::string Key(uint64_t n) { return "k" + std::to_string(1000 + n); }
  void Step(Random* random) {
    const uint64_t n = random->Below(200);
    const std::string key = Key(n);
    if (random->OneIn(60)) {
      const std::string end = Key(n + random->Below(20) + 1);
      ASSERT_TRUE(db()->DeleteRange(WriteOptions(), db()->DefaultColumnFamily(), key, end).ok());
      model_.erase(model_.lower_bound(key), model_.lower_bound(end));
    } else if (random->OneIn(4)) {
      Delete(key);
      model_.erase(key);
    } else {
      model_[key] = std::to_string(random->Next());
      Put(key, model_[key]);
    }
    if (random->OneIn(40)) Flush();
  }
  void Compare(const Snapshot* snapshot, const std::map<std::string, std::string>& model) {
    ReadOptions read;
    read.snapshot = snapshot;
    std::string expected;
    for (const auto& [key, value] : model) {
      expected += (expected.empty() ? "" : " ") + key + "=" + value;
    }
    ASSERT_EQ(Scan(read), expected);
    for (uint64_t n = 0; n < 200; n += 7) {
      const auto at = model.find(Key(n));
      ASSERT_EQ(Get(Key(n), "default", snapshot), at == model.end() ? "NOT_FOUND" : at->second);
    }
  }
  void Run(Random* random, int steps) {
    const Snapshot* snapshot = db()->GetSnapshot();
    auto seen = model_;
    for (int step = 0; step < steps; step++) {
      Step(random);
      if (random->OneIn(900)) {
        ASSERT_TRUE(CompactAll().ok());
      }
      if (switches_ && random->OneIn(50)) {
        const char* const style =
            random->OneIn(2) ? "kCompactionStyleUniversal" : "kCompactionStyleLevel";
        ASSERT_TRUE(db()->SetOptions({{"compaction_style", style}}).ok());
      }
      if (!random->OneIn(200)) continue;
      Compare(snapshot, seen);
      db()->ReleaseSnapshot(snapshot);
      snapshot = db()->GetSnapshot();
      seen = model_;
    }
    Compare(snapshot, seen);
    db()->ReleaseSnapshot(snapshot);
  }

  bool switches_ = false;  // true: between styles, while they work
  std::map<std::string, std::string> model_;
};

TEST_F(UniversalHistoryTest, StylesAndLevelsMayChangeAtAnyTime) {
  switches_ = true;
  Random random(48);
  Choose(7);
  options_.max_bytes_for_level_base = 8000;
  options_.max_compaction_bytes = 6000;
  options_.level_compaction_dynamic_level_bytes = false;
  Open();
  for (int life = 0; life < 8; life++) {
    Run(&random, 500);
    if (random.OneIn(2)) {
      Kill();
    } else {
      ASSERT_TRUE(Close().ok());
    }
    options_.num_levels = 2 + static_cast<int>(random.Below(6));
    options_.target_file_size_base = random.OneIn(2) ? 100 : 2000;
    options_.compaction_style = random.OneIn(2) ? kCompactionStyleUniversal : kCompactionStyleLevel;
    Open();
    Compare(nullptr, model_);
  }
  Settle();
  Compare(nullptr, model_);
  EXPECT_LT(std::ranges::count(Levels(), ','), options_.num_levels);
}

TEST_F(UniversalHistoryTest, EveryHistoryReadsAsItWasWritten) {
  constexpr uint64_t kMostStep = 4;  // This leaves two of the eight cases.
  uint64_t number = 0;
  for (const bool sliced : {false, true}) {
    for (const int num_levels : {1, 2, 3, 7}) {
      if (number++ % StepUnderSanitizer(kMostStep) != FirstUnderSanitizer(kMostStep)) continue;
      SCOPED_TRACE(std::to_string(num_levels) + (sliced ? ", sliced" : ""));
      Random random(static_cast<uint64_t>(num_levels));
      Choose(num_levels, sliced);
      Open();
      model_.clear();
      for (int life = 0; life < 3; life++) {
        Run(&random, 1000);
        life % 2 == 0 ? Reopen() : Kill();
        if (life % 2 != 0) Open();
      }
      Settle();
      Compare(nullptr, model_);
      EXPECT_EQ(Number("rocksdb.compaction-pending"), 0u);
      ASSERT_TRUE(CompactAll().ok());
      Compare(nullptr, model_);
      ASSERT_TRUE(Close().ok());
      ASSERT_TRUE(DestroyDB(kName, options_).ok());
    }
  }
}

// Watches how much space tables take, and what merges into the last level read. May cancel a call
// after some merges.
class MergeWatch final : public EventListener {
 public:
  using Measure = std::function<uint64_t()>;
  explicit MergeWatch(Measure space) : space_(std::move(space)) {}

  void OnTableFileCreated(const TableFileCreationInfo& /*info*/) override {
    peak = std::max<uint64_t>(peak, space_());
  }
  void OnCompactionCompleted(DB* /*db*/, const CompactionJobInfo& info) override {
    if (--merges_before_cancel == 0) cancelled = true;
    if (info.output_level != 6) return;
    merges++;
    largest = std::max<uint64_t>(largest, info.stats.total_input_bytes);
  }

  std::atomic<uint64_t> peak{0};
  std::atomic<uint64_t> merges{0};
  std::atomic<uint64_t> largest{0};  // bytes of inputs
  std::atomic<int> merges_before_cancel{0};
  std::atomic<bool> cancelled{false};

 private:
  const Measure space_;
};

class SlicesTest : public UniversalTest {
 protected:
  SlicesTest() {
    watch_ = std::make_shared<MergeWatch>([this] { return Space(); });
    options_.listeners = {watch_};
    // Each flush is compacted before the next, by one job at a time.
    options_.max_background_jobs = 1;
  }
  uint64_t Space() {
    uint64_t bytes = 0;
    for (const std::string& name : Files(kTableFile)) {
      uint64_t size = 0;
      const std::string path = std::string(kName) + "/" + name;
      if (file_system()->GetFileSize(path, IOOptions(), &size, nullptr).ok()) bytes += size;
    }
    return bytes;
  }
  static std::string Key(uint64_t n) { return "k" + std::to_string(10000 + n); }
  // Makes a run of 600 keys in L6, and one of the same keys above it, of tables that end alike.
  void MakeTwoRuns() {
    options_.target_file_size_base = 2 << 10;
    options_.disable_auto_compactions = true;
    Open();
    for (const char* value : {"old", "new"}) {
      for (uint64_t n = 0; n < 600; n++) Put(Key(n), value + std::string(100, 'v'));
      Flush();
      CompactionOptions cut;
      cut.output_file_size_limit = 2 << 10;
      const int level = value[0] == 'o' ? 6 : 5;
      ASSERT_TRUE(db()->CompactFiles(cut, {Files(kTableFile).back()}, level).ok());
    }
  }
  // Overwrites 2000 keys of 100 bytes by 60 flushes of a fourteenth of them, and returns the
  // space that the live data take.
  uint64_t Overwrite() {
    Random random(7);
    for (uint64_t flush = 0; flush < 60; flush++) {
      for (uint64_t i = 0; i < 143; i++) {
        const uint64_t n = flush < 14 ? flush * 143 + i : random.Below(2002);
        Put(Key(n * 7919 % 2002), random.Text(100));
      }
      Flush();
      Settle();
    }
    const uint64_t peak = watch_->peak;
    const uint64_t merges = watch_->merges;
    const uint64_t largest = watch_->largest;
    EXPECT_TRUE(CompactAll().ok());
    Settle();
    watch_->peak = peak;
    watch_->merges = merges;
    watch_->largest = largest;
    return Space();
  }

  std::shared_ptr<MergeWatch> watch_;
};

TEST_F(SlicesTest, SpaceIsFreedWhileAMergeGoesOn) {
  options_.target_file_size_base = 64 << 20;
  Open();
  uint64_t live = Overwrite();
  const uint64_t whole = watch_->peak;
  EXPECT_GT(whole, live * 3) << "inputs and outputs exist side by side";
  EXPECT_GT(watch_->largest, live * 2);
  ASSERT_TRUE(Close().ok());
  ASSERT_TRUE(DestroyDB(kName, options_).ok());
  watch_->peak = watch_->largest = watch_->merges = 0;
  options_.target_file_size_base = 16 << 10;
  Open();
  live = Overwrite();
  EXPECT_LT(watch_->peak, live * 5 / 2);
  EXPECT_LT(watch_->largest, live * 3 / 4) << "a few target files";
  EXPECT_LT(watch_->peak * 3, whole * 2);
  EXPECT_GT(watch_->merges, 10u);
}

TEST_F(SlicesTest, ACallFreesSpaceAsItGoes) {
  MakeTwoRuns();
  const uint64_t before = Space();
  watch_->peak = watch_->largest = watch_->merges = 0;
  ASSERT_TRUE(CompactAll().ok());
  EXPECT_EQ(Levels().substr(0, 11), "0,0,0,0,0,0");
  EXPECT_GT(watch_->merges, 3u);
  EXPECT_LT(watch_->peak, before + watch_->largest);
  EXPECT_LT(watch_->largest, before / 5);
}

// The call ends after one, two, three ... steps; then the style goes on by itself.
TEST_F(SlicesTest, AnySliceMayBeTheLast) {
  for (int steps = 1; steps < 6; steps++) {
    SCOPED_TRACE(steps);
    MakeTwoRuns();
    const std::string content = Scan();
    const std::string levels = Levels();
    watch_->cancelled = false;
    watch_->merges_before_cancel = steps;
    CompactRangeOptions call;
    call.canceled = &watch_->cancelled;
    EXPECT_TRUE(CompactAll(call).IsIncomplete());
    EXPECT_NE(Levels(), levels);
    EXPECT_NE(Levels().substr(0, 11), "0,0,0,0,0,0") << "newer files are left";
    EXPECT_EQ(Scan(), content);
    EXPECT_EQ(Get(Key(3)).substr(0, 3), "new");
    EXPECT_EQ(Get(Key(197)).substr(0, 3), "new");
    steps % 2 == 0 ? Reopen() : Kill();
    ASSERT_TRUE(Close().ok());
    options_.disable_auto_compactions = false;
    Open();
    Settle();
    EXPECT_EQ(Levels().substr(0, 11), "0,0,0,0,0,0");
    EXPECT_EQ(Number("rocksdb.compaction-pending"), 0u);
    EXPECT_EQ(Scan(), content);
    ASSERT_TRUE(Close().ok());
    ASSERT_TRUE(DestroyDB(kName, options_).ok());
  }
}

}  // namespace
}  // namespace varve::testing
