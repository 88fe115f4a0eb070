// SPDX-License-Identifier: Apache-2.0

// Goal: deleted or overwritten entries leave the disk by themselves: at once when it is worth the
// work, when the last snapshot that needs them is released, and when they become too old. Method:
// stories over a database with automatic compactions; entries are counted in its tables. Time is a
// clock's that the test moves.

#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <random>

#include "varve/compaction_filter.h"
#include "varve/env_wrappers.h"
#include "varve/metadata.h"
#include "varve/snapshot.h"
#include "varve/system_clock.h"
#include "varve/utilities/table_properties_collectors.h"

#include "tests/harness/database.h"

namespace varve::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

constexpr int64_t kDay = 86400;

class AgingClock final : public SystemClockWrapper {
 public:
  AgingClock() : SystemClockWrapper(SystemClock::Default()) {}
  const char* Name() const override { return "AgingClock"; }
  uint64_t NowMicros() override {
    return target_->NowMicros() + static_cast<uint64_t>(passed.load()) * 1000000;
  }
  uint64_t NowNanos() override {
    return target_->NowNanos() + static_cast<uint64_t>(passed.load()) * 1000000000;
  }
  Status GetCurrentTime(int64_t* seconds) override {
    *seconds = static_cast<int64_t>(NowMicros() / 1000000);
    return Status::OK();
  }
  std::atomic<int64_t> passed{0};  // seconds
};

class AgingEnv final : public EnvWrapper {
 public:
  AgingEnv(Env* base, std::shared_ptr<SystemClock> clock) : EnvWrapper(base) {
    file_system_ = base->GetFileSystem();
    system_clock_ = std::move(clock);
  }
  const char* Name() const override { return "AgingEnv"; }
};

struct InTables {
  uint64_t entries = 0;
  uint64_t deletions = 0;
  uint64_t bytes = 0;
  bool operator==(const InTables&) const = default;
};

class GarbageTest : public Database {
 protected:
  GarbageTest() : env_(options_.env, clock_) {
    options_.env = &env_;
    options_.compression = kNoCompression;
  }
  ~GarbageTest() override { EXPECT_TRUE(Close().ok()); }

  static std::string Key(int i) {
    std::string digits = std::to_string(i);
    return "key" + std::string(8 - digits.size(), '0') + digits;
  }
  void PutAll(int keys, char fill, size_t bytes = 20) {
    for (int i = 0; i < keys; i++) Put(Key(i), std::string(bytes, fill));
  }
  InTables Count() {
    InTables count;
    std::vector<LiveFileMetaData> files;
    db()->GetLiveFilesMetaData(&files);
    for (const LiveFileMetaData& file : files) {
      count.entries += file.num_entries;
      count.deletions += file.num_deletions;
      count.bytes += file.size;
    }
    return count;
  }
  // Compacts everything, into the last level.
  void CompactAll() {
    CompactRangeOptions options;
    options.bottommost_level_compaction = BottommostLevelCompaction::kForceOptimized;
    ASSERT_TRUE(db()->CompactRange(options, nullptr, nullptr).ok());
  }
  void Settle() { ASSERT_TRUE(db()->WaitForCompact(WaitForCompactOptions()).ok()); }
  // Any change of options has the database look at its clock.
  void Pass(int64_t seconds) {
    clock_->passed += seconds;
    const int jobs = ++jobs_;
    ASSERT_TRUE(db()->SetDBOptions({{"max_background_jobs", std::to_string(jobs)}}).ok());
  }
  void Set(const char* option, const std::string& value) {
    ASSERT_TRUE(db()->SetOptions({{option, value}}).ok());
  }

  const std::shared_ptr<AgingClock> clock_ = std::make_shared<AgingClock>();
  AgingEnv env_;
  int jobs_ = 2;
};

// ---- Counts

TEST_F(GarbageTest, EstimatesAreTheSameAfterReopening) {
  Open();
  PutAll(100, 'a');
  Flush();
  for (int i = 0; i < 10; i++) Delete(Key(i));
  Flush();
  EXPECT_EQ(Number("rocksdb.estimate-num-keys"), 90u);
  for (int round = 0; round < 2; round++) {
    ASSERT_TRUE(Close().ok());
    Open();
    EXPECT_EQ(Number("rocksdb.estimate-num-keys"), 90u);
  }
}

TEST_F(GarbageTest, DeletionsInFilesAreNotSetOffAgainstTheMemtable) {
  options_.disable_auto_compactions = true;
  Open();
  for (int i = 0; i < 50; i++) Delete(Key(i));
  Flush();
  PutAll(30, 'a');
  EXPECT_EQ(Number("rocksdb.estimate-num-keys"), 30u);
}

// ---- Snapshots

TEST_F(GarbageTest, WhatASnapshotKeptOfDeletedKeysGoesWithIt) {
  Open();
  PutAll(3000, 'a');
  const Snapshot* const snapshot = db()->GetSnapshot();
  for (int i = 0; i < 3000; i++) {
    if (i % 3 != 0) Delete(Key(i));
  }
  CompactAll();
  Settle();
  EXPECT_EQ(Count().entries, 5000u);
  db()->ReleaseSnapshot(snapshot);
  EXPECT_TRUE(Eventually([&] { return Count().entries == 1000; }));
  EXPECT_EQ(Count().deletions, 0u);
}

TEST_F(GarbageTest, WhatASnapshotKeptOfOverwrittenKeysGoesWithIt) {
  Open();
  PutAll(1000, 'a');
  const Snapshot* const first = db()->GetSnapshot();
  PutAll(1000, 'b');
  const Snapshot* const second = db()->GetSnapshot();
  PutAll(1000, 'c');
  CompactAll();
  EXPECT_EQ(Count().entries, 3000u);
  db()->ReleaseSnapshot(second);
  Settle();
  EXPECT_EQ(Count().entries, 3000u) << "an older snapshot is held";
  db()->ReleaseSnapshot(first);
  EXPECT_TRUE(Eventually([&] { return Count().entries == 1000; }));
}

TEST_F(GarbageTest, WhatASnapshotKeptGoesAfterReopeningToo) {
  Open();
  PutAll(1000, 'a');
  const Snapshot* const snapshot = db()->GetSnapshot();
  PutAll(1000, 'b');
  CompactAll();
  ASSERT_TRUE(db()->PauseBackgroundWork().ok());
  db()->ReleaseSnapshot(snapshot);
  ASSERT_TRUE(Close().ok());
  Open();
  EXPECT_TRUE(Eventually([&] { return Count().entries == 1000; }));
}

TEST_F(GarbageTest, TheDelayKeepsTheLastLevelAlone) {
  options_.bottommost_file_compaction_delay = 1000;
  Open();
  PutAll(1000, 'a');
  const Snapshot* const snapshot = db()->GetSnapshot();
  PutAll(1000, 'b');
  CompactAll();
  db()->ReleaseSnapshot(snapshot);
  Settle();
  EXPECT_EQ(Count().entries, 2000u);
  Pass(1002);
  EXPECT_TRUE(Eventually([&] { return Count().entries == 1000; }));
}

// ---- The quote

TEST_F(GarbageTest, ThePropertySaysHowMuchIsDeadAndWhy) {
  options_.ttl = 0;
  Open();
  std::map<std::string, std::string> quote;
  const auto ask = [&] { ASSERT_TRUE(db()->GetMapProperty("varve.garbage", &quote)); };
  ask();
  EXPECT_THAT(quote, ElementsAre(Pair("total", "0")));
  PutAll(1000, 'a', 200);
  // The files that a compaction has replaced go when its job is over.
  const auto holds_nothing_replaced = [&] {
    ask();
    return quote.count("replaced") == 0;
  };
  CompactAll();
  EXPECT_TRUE(Eventually(holds_nothing_replaced));
  EXPECT_EQ(quote["total"], "0") << Text("varve.garbage");

  const Snapshot* const snapshot = db()->GetSnapshot();
  const std::string sequence = std::to_string(snapshot->GetSequenceNumber());
  PutAll(500, 'b', 200);
  CompactAll();
  EXPECT_TRUE(Eventually(holds_nothing_replaced));
  const int hidden = std::stoi(quote["hidden"]);
  EXPECT_GT(hidden, 500 * 150);
  EXPECT_LT(hidden, 500 * 300);
  EXPECT_EQ(quote["hidden"], quote["total"]);
  EXPECT_EQ(quote["hidden.1.bytes"], quote["total"]);
  EXPECT_THAT(quote["hidden.1.why"], HasSubstr("held by snapshot " + sequence + " since "));
  EXPECT_EQ(quote["hidden.1.freed-by"], "its release");
  EXPECT_THAT(Text("varve.garbage"),
              AllOf(HasSubstr("hidden: " + quote["total"] + " bytes, held by snapshot " + sequence),
                    HasSubstr("; freed by its release\n")));
  db()->ReleaseSnapshot(snapshot);
  EXPECT_TRUE(Eventually([&] {
    ask();
    return quote["total"] == "0";
  }));
}

TEST_F(GarbageTest, ThePropertyTellsWhatDeletionsWillFree) {
  Open();
  PutAll(1000, 'a', 200);
  CompactAll();
  for (int i = 0; i < 100; i++) Delete(Key(i * 10));
  Flush();
  Settle();
  std::map<std::string, std::string> quote;
  ASSERT_TRUE(db()->GetMapProperty("varve.garbage", &quote));
  const int deleted = std::stoi(quote["deleted"]);
  EXPECT_GT(deleted, 100 * 150);
  EXPECT_LT(deleted, 100 * 300);
  EXPECT_GT(std::stoi(quote["tombstones"]), 100 * 10);
  EXPECT_THAT(quote["deleted.1.why"], HasSubstr("L0 has a score of "));
  EXPECT_THAT(quote["deleted.1.freed-by"], HasSubstr("CompactRange"));
  Set("disable_auto_compactions", "true");
  EXPECT_THAT(Text("varve.garbage"), HasSubstr("disable_auto_compactions is set"));
  CompactAll();
  ASSERT_TRUE(db()->GetMapProperty("varve.garbage", &quote));
  EXPECT_EQ(quote["total"], "0") << Text("varve.garbage");
}

TEST_F(GarbageTest, ThePropertyCountsWhatReadersHoldAndWhatWasSetAside) {
  Open();
  PutAll(1000, 'a', 200);
  Flush();
  std::unique_ptr<Iterator> it(db()->NewIterator(ReadOptions()));
  CompactAll();
  ASSERT_TRUE(db()->PauseBackgroundWork().ok());
  ASSERT_TRUE(file_system()->CreateDirIfMissing("/db/lost", IOOptions(), nullptr).ok());
  WriteFile("/db/lost/000077.sst", std::string(1234, 'x'));
  std::map<std::string, std::string> quote;
  ASSERT_TRUE(db()->GetMapProperty("varve.garbage", &quote));
  EXPECT_GT(std::stoi(quote["replaced"]), 1000 * 200);
  EXPECT_THAT(quote["replaced.1.why"], HasSubstr("iterators"));
  EXPECT_EQ(quote["lost"], "1234");
  it.reset();
  ASSERT_TRUE(db()->ContinueBackgroundWork().ok());
  EXPECT_TRUE(Eventually([&] {
    quote.clear();
    EXPECT_TRUE(db()->GetMapProperty("varve.garbage", &quote));
    return !quote.contains("replaced");
  }));
}

TEST_F(GarbageTest, ThePropertyCountsFilesInAllDirectories) {
  options_.db_paths = {{"/fast", 1 << 20}, {"/slow", 1 << 30}};
  Open();
  PutAll(1000, 'a', 200);
  Flush();
  std::unique_ptr<Iterator> it(db()->NewIterator(ReadOptions()));
  CompactAll();
  ASSERT_TRUE(db()->PauseBackgroundWork().ok());
  ASSERT_TRUE(Files(kTableFile).empty());
  ASSERT_TRUE(file_system()->CreateDirIfMissing("/slow/lost", IOOptions(), nullptr).ok());
  WriteFile("/slow/lost/000077.sst", std::string(1234, 'x'));
  std::map<std::string, std::string> quote;
  ASSERT_TRUE(db()->GetMapProperty("varve.garbage", &quote));
  EXPECT_GT(std::stoi(quote["replaced"]), 1000 * 200);
  EXPECT_EQ(quote["lost"], "1234");
  it.reset();
  ASSERT_TRUE(db()->ContinueBackgroundWork().ok());
}

// Many tables over the same data cannot delete or overwrite more than there is of it.
TEST_F(GarbageTest, ThePropertyCountsNoByteTwice) {
  options_.disable_auto_compactions = true;
  Open();
  PutAll(1000, 'a', 200);
  CompactAll();
  const uint64_t beneath = Count().bytes;
  for (int round = 0; round < 5; round++) {
    PutAll(1000, 'b', 200);
    Flush();
    for (int i = 0; i < 1000; i++) Delete(Key(i));
    Flush();
  }
  std::map<std::string, std::string> quote;
  ASSERT_TRUE(db()->GetMapProperty("varve.garbage", &quote));
  const uint64_t claimed =
      std::stoull("0" + quote["deleted"]) + std::stoull("0" + quote["overwritten"]);
  EXPECT_LE(claimed, beneath) << Text("varve.garbage");
  EXPECT_GT(claimed, beneath / 2) << Text("varve.garbage");
}

// ---- Space

class DeletedSpaceTest : public GarbageTest, public ::testing::WithParamInterface<bool> {
 protected:
  DeletedSpaceTest() {
    options_.level_compaction_dynamic_level_bytes = GetParam();
    options_.write_buffer_size = 256 << 10;
    options_.target_file_size_base = 256 << 10;
    options_.max_bytes_for_level_base = 1 << 20;
  }
  void DeleteShuffled(int keys, int of) {
    std::vector<int> order(static_cast<size_t>(of));
    for (int i = 0; i < of; i++) order[static_cast<size_t>(i)] = i;
    std::shuffle(order.begin(), order.end(), std::mt19937(7));
    order.resize(static_cast<size_t>(keys));
    for (const int i : order) Delete(Key(i));
    Flush();
  }
};

TEST_P(DeletedSpaceTest, OfEverythingNothingStays) {
  Open();
  PutAll(20000, 'a', 200);
  DeleteShuffled(20000, 20000);
  EXPECT_TRUE(Eventually([&] { return Count().bytes < 50 << 10; }))
      << Count().bytes << " bytes in " << Levels();
}

// Dead entries are compacted away while they are half of the data that has to be rewritten for it:
// at the end there are no more of them than live ones, and a tombstone for each.
TEST_P(DeletedSpaceTest, OfNineTenthsLittleStays) {
  Open();
  PutAll(20000, 'a', 200);
  DeleteShuffled(18000, 20000);
  EXPECT_TRUE(Eventually([&] { return Count().entries <= 3 * 2000; }))
      << Count().entries << " entries in " << Levels();
}

INSTANTIATE_TEST_SUITE_P(Levels, DeletedSpaceTest, ::testing::Bool());

// ---- Age

class NothingFiltered final : public CompactionFilter {
 public:
  const char* Name() const override { return "NothingFiltered"; }
  bool Filter(int, const Slice&, const Slice&, std::string*, bool*) const override {
    seen++;
    return false;
  }
  mutable std::atomic<int> seen{0};
};

TEST_F(GarbageTest, TooOldDataGoesDown) {
  Open();
  PutAll(100, 'a');
  Flush();
  Settle();
  ASSERT_EQ(Levels(), "1");
  Pass(31 * kDay);
  EXPECT_TRUE(Eventually([&] { return Levels() == "0,0,0,0,0,0,1"; })) << Levels();
}

TEST_F(GarbageTest, TheAgeCanBeSetWhileOpen) {
  Open();
  Set("ttl", "0");
  PutAll(100, 'a');
  Flush();
  Pass(400 * kDay);
  Settle();
  EXPECT_EQ(Levels(), "1");
  Set("ttl", "100");
  EXPECT_TRUE(Eventually([&] { return Levels() == "0,0,0,0,0,0,1"; })) << Levels();
}

TEST_F(GarbageTest, OldFilesAreRewrittenForTheFilter) {
  NothingFiltered filter;
  options_.compaction_filter = &filter;
  Open();
  PutAll(100, 'a');
  CompactAll();
  Settle();
  const int before = filter.seen.load();
  Pass(29 * kDay);
  Settle();
  EXPECT_EQ(filter.seen.load(), before);
  Pass(2 * kDay);
  EXPECT_TRUE(Eventually([&] { return filter.seen.load() == before + 100; }));
  Settle();
  EXPECT_EQ(filter.seen.load(), before + 100) << "once: the file is new now";
  ASSERT_TRUE(Close().ok());
}

// ---- Marks

TEST_F(GarbageTest, TablesOfManyDeletionsAreCompactedSoon) {
  auto factory = NewCompactOnDeletionCollectorFactory(100, 50);
  options_.table_properties_collector_factories.push_back(factory);
  Open();
  PutAll(1000, 'a', 200);
  CompactAll();
  for (int i = 0; i < 49; i++) Delete(Key(i));
  Flush();
  Settle();
  EXPECT_EQ(Count().deletions, 49u);
  for (int i = 100; i < 150; i++) Delete(Key(i));
  Flush();
  EXPECT_TRUE(Eventually([&] { return Count().deletions == 49; }))
      << "and of two tables one is left";
}

TEST(CompactOnDeletionTest, WindowRatioAndSizeDecide) {
  const auto needs = [](CompactOnDeletionCollectorFactory* factory, const std::string& entries,
                        uint64_t bytes = 1000) {
    const std::unique_ptr<TablePropertiesCollector> collector(
        factory->CreateTablePropertiesCollector({}));
    for (const char entry : entries) {
      const EntryType type = entry == 'd'   ? kEntryDelete
                             : entry == 's' ? kEntrySingleDelete
                                            : kEntryPut;
      EXPECT_TRUE(collector->AddUserKey("k", "", type, 1, bytes).ok());
    }
    UserCollectedProperties properties;
    EXPECT_TRUE(collector->Finish(&properties).ok());
    EXPECT_TRUE(properties.empty());
    return collector->NeedCompact();
  };
  const std::string puts(200, 'p');
  const auto window = NewCompactOnDeletionCollectorFactory(128, 3);
  EXPECT_TRUE(needs(window.get(), puts + "dsd" + puts));
  EXPECT_FALSE(needs(window.get(), puts + "dd" + puts + "d"));
  window->SetDeletionTrigger(2);
  EXPECT_TRUE(needs(window.get(), puts + "dd" + puts));
  window->SetMinFileSize(2000);
  EXPECT_FALSE(needs(window.get(), puts + "dd" + puts));
  EXPECT_TRUE(needs(window.get(), puts + "dd" + puts, 2000));
  const auto ratio = NewCompactOnDeletionCollectorFactory(0, 0, 0.5);
  EXPECT_TRUE(needs(ratio.get(), "pdpd"));
  EXPECT_FALSE(needs(ratio.get(), "pdpdp"));
  ratio->SetDeletionRatio(0);
  EXPECT_FALSE(needs(ratio.get(), "dddd"));
  EXPECT_STREQ(ratio->Name(), "CompactOnDeletionCollector");
}

}  // namespace
}  // namespace varve::testing
