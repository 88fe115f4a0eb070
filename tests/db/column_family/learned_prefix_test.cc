// SPDX-License-Identifier: Apache-2.0

// Goal: readers and writers do not notice that the first memtable of a family is made anew once the
// keys' prefix is known. Method: readers of every kind that began before, writers beside, and
// failures.

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/harness/database.h"

namespace varve::testing {
namespace {

class LearnedPrefixTest : public Database {
 protected:
  static constexpr int kEnough = 4000;  // entries, for a memtable to learn

  static std::string Key(int i) {
    return "user:0000" + std::to_string(100'000 + i * 7919 % 50'000);
  }
  // Its number changes here only with a switch to a new memtable.
  uint64_t SuperVersion() { return Number("rocksdb.current-super-version-number"); }
  uint64_t Immutables() {
    return Number("rocksdb.num-immutable-mem-table") +
           Number("rocksdb.num-immutable-mem-table-flushed");
  }
};

TEST_F(LearnedPrefixTest, NothingIsFlushedAndEveryoneReadsOn) {
  Open();
  Put(Key(0), "old");
  const Snapshot* const snapshot = db()->GetSnapshot();
  const std::unique_ptr<Iterator> before(db()->NewIterator(ReadOptions()));
  ReadOptions tailing;
  tailing.tailing = true;
  const std::unique_ptr<Iterator> tail(db()->NewIterator(tailing));
  const uint64_t number = SuperVersion();
  for (int i = 0; i < kEnough; i++) Put(Key(i), std::to_string(i));
  EXPECT_EQ(SuperVersion(), number + 1);
  EXPECT_EQ(Immutables(), 0u);
  EXPECT_EQ(Levels(), "");
  EXPECT_EQ(Number("rocksdb.num-entries-active-mem-table"), kEnough + 1u);

  EXPECT_EQ(Get(Key(0), "default", snapshot), "old");
  EXPECT_EQ(Get(Key(1), "default", snapshot), "NOT_FOUND");
  before->SeekToFirst();
  EXPECT_EQ(Rest(before.get()), Key(0) + "=old");
  ASSERT_TRUE(before->Refresh().ok());
  int seen = 0;
  for (before->SeekToFirst(); before->Valid(); before->Next()) seen++;
  EXPECT_EQ(seen, kEnough);
  tail->Seek(Key(kEnough - 1));
  ASSERT_TRUE(tail->Valid());
  EXPECT_EQ(tail->value(), std::to_string(kEnough - 1));
  for (int i = 0; i < kEnough; i++) ASSERT_EQ(Get(Key(i)), std::to_string(i));
  db()->ReleaseSnapshot(snapshot);

  // It learns once: neither now nor after a flush again.
  Flush();
  const uint64_t later = SuperVersion();
  for (int i = 0; i < kEnough; i++) Put(Key(i), "again");
  EXPECT_EQ(SuperVersion(), later);
}

TEST_F(LearnedPrefixTest, KeysWithoutAPrefixStayWhereTheyAre) {
  Open();
  const uint64_t number = SuperVersion();
  for (int i = 0; i < kEnough; i++) Put(std::to_string(i * 7919 % 50'000), "v");
  EXPECT_EQ(SuperVersion(), number);
}

TEST_F(LearnedPrefixTest, AMemTableWithRangeDeletionsStays) {
  Open();
  const uint64_t number = SuperVersion();
  ASSERT_TRUE(db()->DeleteRange(WriteOptions(), Handle("default"), Key(0), Key(1)).ok());
  for (int i = 0; i < kEnough; i++) Put(Key(i), std::to_string(i));
  EXPECT_EQ(SuperVersion(), number);
  EXPECT_EQ(Get(Key(7)), "7");
}

TEST_F(LearnedPrefixTest, EachFamilyLearnsAndAKillLosesNothing) {
  options_.create_missing_column_families = true;
  Open({"default", "other"});
  for (int i = 0; i < kEnough; i++) {
    Put(Key(i), std::to_string(i));
    Put("x" + Key(i), std::to_string(-i), "other");
  }
  Kill();
  Reopen();
  for (int i = 0; i < kEnough; i++) {
    ASSERT_EQ(Get(Key(i)), std::to_string(i));
    ASSERT_EQ(Get("x" + Key(i), "other"), std::to_string(-i));
  }
}

// Writers with and without no_slowdown run beside readers of acknowledged keys.
TEST_F(LearnedPrefixTest, WritersAndReadersBesideIt) {
  for (const bool unordered : {false, true}) {
    options_.unordered_write = unordered;
    Open();
    constexpr int kThreads = 3;
    std::vector<std::atomic<int>> done(kThreads);
    std::atomic<int> refused{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; t++) {
      threads.emplace_back([&, t] {
        WriteOptions write;
        write.no_slowdown = t == 0;
        for (int i = 0; i < kEnough; i++) {
          const std::string key = "user:0000" + std::to_string(t) + std::to_string(i);
          const Status s = db()->Put(write, key, std::to_string(i));
          if (s.IsIncomplete()) {
            refused++;
            i--;
            continue;
          }
          ASSERT_TRUE(s.ok()) << s.ToString();
          done[static_cast<size_t>(t)].store(i + 1);
        }
      });
    }
    threads.emplace_back([&] {
      for (int t = 0; done[kThreads - 1] < kEnough; t = (t + 1) % kThreads) {
        const int i = done[static_cast<size_t>(t)];
        if (i == 0) continue;
        ASSERT_EQ(Get("user:0000" + std::to_string(t) + std::to_string(i - 1)),
                  std::to_string(i - 1));
      }
    });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(Number("rocksdb.num-entries-active-mem-table"), uint64_t{kThreads} * kEnough);
    ASSERT_TRUE(Close().ok());
    ASSERT_TRUE(DestroyDB(kName, options_).ok());
  }
}

}  // namespace
}  // namespace varve::testing
