// SPDX-License-Identifier: Apache-2.0

// Goal: compactions that users ask for, beside each other and beside automatic ones, tear nothing,
// and bring nothing back. Method: a filter holds a compaction up while the tree changes around a
// call that waits for it; then many calls at once, with values that say when they were written.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "varve/compaction_filter.h"
#include "varve/listener.h"

#include "tests/harness/database.h"
#include "tests/harness/random.h"

namespace varve::testing {
namespace {

// Holds up every compaction of the key "gate".
class KeyGateFilter final : public CompactionFilter {
 public:
  const char* Name() const override { return "test.gate"; }
  bool Filter(int, const Slice& key, const Slice&, std::string*, bool*) const override {
    if (key != Slice("gate")) return false;
    arrived = true;
    while (!open) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return false;
  }
  mutable std::atomic<bool> arrived{false};
  std::atomic<bool> open{false};
};

class CompactionBesideTest : public Database {
 protected:
  // Names of the tables of a level.
  std::vector<std::string> TablesOf(int level) {
    std::vector<LiveFileMetaData> files;
    db()->GetLiveFilesMetaData(&files);
    std::vector<std::string> names;
    for (const LiveFileMetaData& file : files) {
      if (file.level == level) names.push_back(file.name);
    }
    return names;
  }
  std::string NewestTable() {
    std::vector<LiveFileMetaData> files;
    db()->GetLiveFilesMetaData(&files);
    const auto newest = std::max_element(
        files.begin(), files.end(),
        [](const auto& a, const auto& b) { return a.file_number < b.file_number; });
    return newest->name;
  }
};

// The last level is where L0 goes when the call comes, and no longer when its turn comes.
TEST_F(CompactionBesideTest, WhatWaitsSeesTheBaseLevelOfItsTurn) {
  KeyGateFilter filter;
  options_.disable_auto_compactions = true;
  options_.level_compaction_dynamic_level_bytes = true;
  options_.compaction_filter = &filter;
  Open();
  MakeTable({"gate"});
  const std::vector<std::string> gate = TablesOf(0);
  std::thread held([&] {
    const Status s = db()->CompactFiles(CompactionOptions(), gate, 6);
    EXPECT_TRUE(s.ok()) << s.ToString();
  });
  EXPECT_TRUE(Eventually([&] { return filter.arrived.load(); }));
  Put("k", "old");
  Flush();
  const std::string older = NewestTable();
  MakeTable({"z"});
  std::thread waits([&] {
    const Status s = db()->CompactRange(CompactRangeOptions(), nullptr, nullptr);
    EXPECT_TRUE(s.ok()) << s.ToString();
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(60));
  ASSERT_TRUE(db()->CompactFiles(CompactionOptions(), {older}, 5).ok());
  Put("k", "new");
  Flush();
  filter.open = true;
  held.join();
  waits.join();
  EXPECT_EQ(Get("k"), "new");
  EXPECT_TRUE(TablesOf(0).empty());
  EXPECT_TRUE(TablesOf(5).empty());
}

// Writers overwrite their keys with growing numbers; a reader never sees one go back.
TEST_F(CompactionBesideTest, ManyCallsAtOnceLoseAndRestoreNothing) {
  constexpr int kKeys = 40;
  options_.max_bytes_for_level_base = 2000;
  options_.target_file_size_base = 1000;
  options_.level0_file_num_compaction_trigger = 2;
  options_.write_buffer_size = 64 << 10;
  options_.max_background_jobs = 4;
  Open();
  std::atomic<bool> stop{false};
  const auto key = [](uint64_t i) { return "k" + std::to_string(10 + i); };
  const auto check = [](const Status& s) {
    EXPECT_TRUE(s.ok() || s.IsInvalidArgument() || s.IsNotSupported() || s.IsAborted())
        << s.ToString();
  };
  const auto compact = [&](uint64_t seed) {
    Random random(seed);
    while (!stop) {
      CompactRangeOptions options;
      options.exclusive_manual_compaction = random.OneIn(4);
      options.bottommost_level_compaction = static_cast<BottommostLevelCompaction>(random.Below(4));
      options.change_level = random.OneIn(3);
      options.target_level = static_cast<int>(random.Below(7)) - 1;
      const std::string text = key(random.Below(kKeys));
      const Slice from = text;
      const bool part = random.OneIn(2);
      check(db()->CompactRange(options, part ? &from : nullptr, nullptr));
      const std::vector<std::string> tables = TablesOf(static_cast<int>(random.Below(7)));
      if (tables.empty()) continue;
      // The file may be gone, taken, or deeper than that.
      const Status s =
          db()->CompactFiles(CompactionOptions(), {tables[random.Below(tables.size())]},
                             static_cast<int>(random.Below(7)));
      check(s);
    }
  };
  std::vector<std::thread> threads;
  for (uint64_t seed = 1; seed <= 3; seed++) threads.emplace_back(compact, seed);
  Random random(7);
  std::vector<uint64_t> written(kKeys, 0);
  for (int round = 0; round < 2000 && !HasFailure(); round++) {
    for (int i = 0; i < 8; i++) {
      const uint64_t at = random.Below(kKeys);
      const std::string padding(40, 'x');
      Put(key(at), std::to_string(++written[at]) + padding);
    }
    if (round % 3 == 0) Flush();
    const uint64_t at = random.Below(kKeys);
    const std::string value = Get(key(at));
    EXPECT_EQ(value == "NOT_FOUND" ? 0 : std::stoull(value), written[at]) << key(at);
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(db()->WaitForCompact(WaitForCompactOptions()).ok());
  Reopen();
  for (int i = 0; i < kKeys; i++) {
    const std::string value = Get(key(static_cast<uint64_t>(i)));
    EXPECT_EQ(value == "NOT_FOUND" ? 0 : std::stoull(value), written[static_cast<size_t>(i)]);
  }
}

// A listener that compacts when it hears of a compaction, alone or not.
class CompactingListener final : public EventListener {
 public:
  void OnCompactionBegin(DB* db, const CompactionJobInfo&) override { Compact(db); }
  void OnCompactionCompleted(DB* db, const CompactionJobInfo&) override { Compact(db); }
  std::atomic<int> calls{0};

 private:
  void Compact(DB* db) {
    const int call = calls.fetch_add(1);
    if (call >= 6) return;
    CompactRangeOptions options;
    options.exclusive_manual_compaction = call % 2 == 0;
    const Status s = db->CompactRange(options, nullptr, nullptr);
    EXPECT_TRUE(s.ok() || s.IsBusy()) << s.ToString();
  }
};

TEST_F(CompactionBesideTest, AListenerMayCompactWhenItHearsOfACompaction) {
  const auto listener = std::make_shared<CompactingListener>();
  options_.listeners = {listener};
  options_.level0_file_num_compaction_trigger = 2;
  Open();
  for (int i = 0; i < 4; i++) MakeTable({"a", "b" + std::to_string(i)});
  EXPECT_TRUE(Eventually([&] { return listener->calls >= 2; }));
  EXPECT_TRUE(db()->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok());
  EXPECT_TRUE(db()->WaitForCompact(WaitForCompactOptions()).ok());
  EXPECT_EQ(Get("a"), "of a");
}

// A listener of a call that is alone until it returns.
class NestedCallListener final : public EventListener {
 public:
  void OnCompactionCompleted(DB* db, const CompactionJobInfo&) override {
    if (calls.fetch_add(1) > 0) return;
    CompactRangeOptions options;
    options.exclusive_manual_compaction = false;
    options.canceled = &gives_up;
    status = db->CompactRange(options, nullptr, nullptr);
    ended = true;
  }
  std::atomic<int> calls{0};
  std::atomic<bool> gives_up{false};
  std::atomic<bool> ended{false};
  Status status;
};

TEST_F(CompactionBesideTest, ACallFromWithinOneThatIsAloneIsRefused) {
  const auto listener = std::make_shared<NestedCallListener>();
  options_.listeners = {listener};
  options_.disable_auto_compactions = true;
  Open();
  for (int i = 0; i < 3; i++) MakeTable({"a", "b"});
  std::thread watch([&] {
    EXPECT_TRUE(Eventually([&] { return listener->ended.load(); }, /*seconds=*/5)) << "it waits";
    listener->gives_up = true;
  });
  CompactRangeOptions alone;
  alone.exclusive_manual_compaction = true;
  EXPECT_TRUE(db()->CompactRange(alone, nullptr, nullptr).ok());
  watch.join();
  EXPECT_TRUE(listener->status.IsBusy()) << listener->status.ToString();
  EXPECT_EQ(Levels(), "0,0,0,0,0,0,1");
}

// While the call had the files, no job found any work.
TEST_F(CompactionBesideTest, WhatACallGivesUpIsLeftToJobs) {
  KeyGateFilter filter;
  options_.disable_auto_compactions = true;
  options_.compaction_filter = &filter;
  options_.level0_file_num_compaction_trigger = 4;
  Open();
  // There is enough data behind the gate for the call to check whether it goes on.
  std::vector<std::string> keys = {"a", "gate"};
  for (int i = 0; i < 2000; i++) keys.push_back("k" + std::to_string(i));
  for (int i = 0; i < 5; i++) MakeTable(keys);
  std::atomic<bool> given_up{false};
  std::thread call([&] {
    CompactRangeOptions options;
    options.exclusive_manual_compaction = false;
    options.canceled = &given_up;
    const Status s = db()->CompactRange(options, nullptr, nullptr);
    EXPECT_TRUE(s.IsIncomplete()) << s.ToString();
  });
  EXPECT_TRUE(Eventually([&] { return filter.arrived.load(); }));
  ASSERT_TRUE(db()->EnableAutoCompaction({db()->DefaultColumnFamily()}).ok());
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  given_up = true;
  filter.open = true;
  call.join();
  EXPECT_TRUE(Eventually([&] { return TablesOf(0).empty(); }, /*seconds=*/3)) << Levels();
  EXPECT_EQ(Get("k1999"), "of k1999");
}

// Each of two compactions calls back, and there each asks for the family of the other.
class CrossingListener final : public EventListener {
 public:
  void OnCompactionBegin(DB* db, const CompactionJobInfo& info) override {
    const int call = begun.fetch_add(1);
    if (call >= 2) return;
    EXPECT_TRUE(Eventually([&] { return begun >= 2; }));
    CompactRangeOptions options;
    options.exclusive_manual_compaction = alone;
    options.canceled = &gives_up;
    const size_t other = info.cf_name == "a" ? 1 : 0;
    const Status s = db->CompactRange(options, families[other], nullptr, nullptr);
    if (s.IsBusy()) refused++;
    if (s.ok()) ended++;
  }
  std::atomic<int> begun{0};
  std::atomic<int> refused{0};
  std::atomic<int> ended{0};
  std::atomic<bool> gives_up{false};
  bool alone = false;
  ColumnFamilyHandle* families[2] = {};
};

TEST_F(CompactionBesideTest, ListenersOfTwoCompactionsDoNotWaitForEachOther) {
  for (const bool alone : {false, true}) {
    const auto listener = std::make_shared<CrossingListener>();
    listener->alone = alone;
    options_.listeners = {listener};
    options_.disable_auto_compactions = true;
    options_.create_missing_column_families = true;
    Open({"default", "a", "b"});
    listener->families[0] = Handle("a");
    listener->families[1] = Handle("b");
    std::vector<std::thread> callers;
    std::atomic<int> returned{0};
    for (const char* family : {"a", "b"}) {
      MakeTable({"k"}, family);
      MakeTable({"k"}, family);
      std::vector<std::string> tables = Files(kTableFile);
      tables.erase(tables.begin(), tables.end() - 2);
      callers.emplace_back([this, family, tables, &returned] {
        const Status s =
            db()->CompactFiles(CompactionOptions(), Handle(family), tables, /*output_level=*/1);
        EXPECT_TRUE(s.ok()) << s.ToString();
        returned++;
      });
    }
    EXPECT_TRUE(Eventually([&] { return returned == 2; }, /*seconds=*/5)) << "they wait";
    listener->gives_up = true;
    for (std::thread& caller : callers) caller.join();
    EXPECT_EQ(listener->refused, 1);
    EXPECT_EQ(listener->ended, 1);
    ASSERT_TRUE(Close().ok());
    ASSERT_TRUE(DestroyDB(kName, options_).ok());
  }
}

// RocksDB does the same: levelled compaction needs a level below L0.
TEST_F(CompactionBesideTest, OneLevelIsTwo) {
  options_.num_levels = 1;
  options_.disable_auto_compactions = true;
  Open();
  EXPECT_EQ(db()->NumberLevels(), 2);
  for (int i = 0; i < 3; i++) MakeTable({"a", "b"});
  EXPECT_EQ(Levels(), "3");
  ASSERT_TRUE(db()->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok());
  EXPECT_EQ(Levels(), "0,1");
  ASSERT_TRUE(db()->EnableAutoCompaction({db()->DefaultColumnFamily()}).ok());
  for (int i = 0; i < 12; i++) MakeTable({"a", "b"});
  EXPECT_TRUE(db()->WaitForCompact(WaitForCompactOptions()).ok());
  EXPECT_LT(TablesOf(0).size(), 4u) << "writers are not slowed down";
  Reopen();
  EXPECT_EQ(Scan(), "a=of a b=of b");
}

}  // namespace
}  // namespace varve::testing
