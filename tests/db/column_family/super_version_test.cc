// SPDX-License-Identifier: Apache-2.0

// Goal: the state that a reader pinned stays whole while flushes, option changes, drops and
// compactions put new super-versions in its place, and is freed when the last reader releases it.
// Method: readers on several threads over families that change and go under them (sanitizers
// judge), and a look at the counts of one family.

#include <gmock/gmock.h>

#include <thread>

#include "varve/listener.h"

#include "tests/harness/database.h"

namespace varve::testing {
namespace {

class SuperVersionTest : public Database {};

TEST_F(SuperVersionTest, EachChangeOfAFamilyGivesANewNumber) {
  options_.disable_auto_compactions = true;
  Open({"default", "a"});
  const auto number = [&](const char* family) {
    return Number("rocksdb.current-super-version-number", family);
  };
  const auto grows = [&](const char* what, const std::function<void()>& change) {
    const uint64_t before = number("default");
    const uint64_t other = number("a");
    change();
    EXPECT_GT(number("default"), before) << what;
    EXPECT_EQ(number("a"), other) << what << " changed another family";
  };
  Put("k", "v");
  grows("flush", [&] { Flush(); });
  grows("options", [&] { EXPECT_TRUE(db()->SetOptions({{"write_buffer_size", "1M"}}).ok()); });
  MakeTable({"k"});
  grows("compaction",
        [&] { EXPECT_TRUE(db()->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok()); });
  const uint64_t before = number("default");
  Put("k", "w");
  EXPECT_EQ(Get("k"), "w");
  EXPECT_EQ(Scan(), "k=w");
  EXPECT_EQ(number("default"), before) << "reads and writes need none";
}

TEST_F(SuperVersionTest, AnIteratorPinsMemtablesAndTables) {
  Open({"default", "a"});
  Put("k", std::string(100 << 10, 'v'), "a");
  std::unique_ptr<Iterator> it(db()->NewIterator(ReadOptions(), Handle("a")));
  std::string first;
  ASSERT_TRUE(it->GetProperty("rocksdb.iterator.super-version-number", &first).ok());
  Flush("a");
  ASSERT_TRUE(db()->DeleteRange(WriteOptions(), Handle("a"), "a", "z").ok());
  Flush("a");
  ASSERT_TRUE(db()->CompactRange(CompactRangeOptions(), Handle("a"), nullptr, nullptr).ok());
  ASSERT_TRUE(db()->DropColumnFamily(Handle("a")).ok());
  it->SeekToFirst();
  ASSERT_TRUE(it->Valid());
  EXPECT_EQ(it->value().size(), 100u << 10);
  ASSERT_TRUE(it->Refresh().ok());
  std::string second;
  ASSERT_TRUE(it->GetProperty("rocksdb.iterator.super-version-number", &second).ok());
  EXPECT_NE(first, second);
  it->SeekToFirst();
  EXPECT_FALSE(it->Valid());
  EXPECT_TRUE(it->status().ok());
}

// Threads read a family by its handle, with cached super-versions and counted ones, while it is
// flushed, compacted, changed and dropped; others see families come and go.
TEST_F(SuperVersionTest, ReadersRunThroughEveryChange) {
  constexpr int kRounds = 15;
  options_.level0_file_num_compaction_trigger = 2;
  options_.write_buffer_size = 64 << 10;
  Open();
  for (int round = 0; round < kRounds; round++) {
    ColumnFamilyHandle* handle = nullptr;
    ASSERT_TRUE(db()->CreateColumnFamily(options_, "passing", &handle).ok());
    ASSERT_TRUE(db()->Put(WriteOptions(), handle, "fixed", "stays").ok());
    std::atomic<bool> done{false};
    std::atomic<int> reads{0};
    std::vector<std::thread> readers;
    for (int t = 0; t < 2; t++) {
      readers.emplace_back([&, t] {
        std::unique_ptr<Iterator> kept(db()->NewIterator(ReadOptions(), handle));
        while (!done.load() || reads.load() < 20) {
          std::string value;
          EXPECT_TRUE(db()->Get(ReadOptions(), handle, "fixed", &value).ok());
          EXPECT_EQ(value, "stays");
          if (t == 0) {
            EXPECT_TRUE(kept->Refresh().ok());
          } else {
            kept.reset(db()->NewIterator(ReadOptions(), handle));
          }
          kept->Seek("fixed");
          EXPECT_TRUE(kept->Valid());
          reads.fetch_add(1);
        }
      });
    }
    for (int i = 0; i < 4; i++) {
      ASSERT_TRUE(
          db()->Put(WriteOptions(), handle, "moving", std::to_string(i) + std::string(9000, 'm'))
              .ok());
      ASSERT_TRUE(db()->Flush(FlushOptions(), handle).ok());
      ASSERT_TRUE(
          db()->SetOptions(handle, {{"write_buffer_size", std::to_string((64 + i) << 10)}}).ok());
    }
    ASSERT_TRUE(db()->DropColumnFamily(handle).ok());
    done.store(true);
    for (std::thread& reader : readers) reader.join();
    ASSERT_TRUE(db()->DestroyColumnFamilyHandle(handle).ok());
  }
  MakeTable({"last"});
  EXPECT_TRUE(Eventually([&] { return Files(kTableFile).size() == 1; }))
      << "tables of families that are gone stayed";
}

// Drops a family while its flush runs.
class DropAtFlush : public EventListener {
 public:
  const char* Name() const override { return "DropAtFlush"; }
  void OnFlushBegin(DB* db, const FlushJobInfo& info) override {
    if (info.cf_name != "passing") return;
    EXPECT_TRUE(db->DropColumnFamily(handle).ok());
    dropped = true;
  }
  ColumnFamilyHandle* handle = nullptr;
  std::atomic<bool> dropped{false};
};

TEST_F(SuperVersionTest, TheTableOfAFamilyDroppedDuringItsFlushGoes) {
  const auto listener = std::make_shared<DropAtFlush>();
  options_.listeners.push_back(listener);
  Open();
  ASSERT_TRUE(db()->CreateColumnFamily(options_, "passing", &listener->handle).ok());
  ASSERT_TRUE(db()->Put(WriteOptions(), listener->handle, "k", "v").ok());
  FlushOptions flush;
  flush.wait = false;
  ASSERT_TRUE(db()->Flush(flush, listener->handle).ok());
  ASSERT_TRUE(
      Eventually([&] { return listener->dropped && Number("rocksdb.num-running-flushes") == 0; }));
  ASSERT_TRUE(db()->DestroyColumnFamilyHandle(listener->handle).ok());
  MakeTable({"last"});
  EXPECT_TRUE(Eventually([&] { return Files(kTableFile).size() == 1; }, 2));
}

// A thread that ends gives its cached super-version back; one of a family that is gone does not
// come back to life in a later family.
TEST_F(SuperVersionTest, CachedSuperVersionsGoWithTheirThreads) {
  Open();
  for (int round = 0; round < 10; round++) {
    ColumnFamilyHandle* handle = nullptr;
    ASSERT_TRUE(db()->CreateColumnFamily(options_, "f", &handle).ok());
    ASSERT_TRUE(db()->Put(WriteOptions(), handle, "k", std::to_string(round)).ok());
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; t++) {
      threads.emplace_back([&] {
        std::string value;
        EXPECT_TRUE(db()->Get(ReadOptions(), handle, "k", &value).ok());
        EXPECT_EQ(value, std::to_string(round));
      });
    }
    for (std::thread& thread : threads) thread.join();
    std::string value;
    EXPECT_TRUE(db()->Get(ReadOptions(), handle, "k", &value).ok());
    EXPECT_EQ(value, std::to_string(round));
    ASSERT_TRUE(db()->DropColumnFamily(handle).ok());
    ASSERT_TRUE(db()->DestroyColumnFamilyHandle(handle).ok());
  }
}

}  // namespace
}  // namespace varve::testing
