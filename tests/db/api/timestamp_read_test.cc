// SPDX-License-Identifier: Apache-2.0

// Goal: what reads with timestamps promise at their edges, which random operations seldom meet.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/harness/database.h"

namespace varve::testing {

namespace {

using ::testing::HasSubstr;

std::string At(uint64_t timestamp) {
  std::string bytes;
  EncodeU64Ts(timestamp, &bytes);
  return bytes;
}

class TimestampReadTest : public Database {
 protected:
  TimestampReadTest() { options_.comparator = BytewiseComparatorWithU64Ts(); }

  void PutAt(const std::string& key, uint64_t timestamp, const std::string& value) {
    ASSERT_TRUE(db()->Put(WriteOptions(), key, At(timestamp), value).ok());
  }
  void DeleteRangeAt(const std::string& begin, const std::string& end, uint64_t timestamp) {
    const Status s =
        db()->DeleteRange(WriteOptions(), db()->DefaultColumnFamily(), begin, end, At(timestamp));
    ASSERT_TRUE(s.ok()) << s.ToString();
  }
  // The value and its timestamp, "NOT_FOUND" and that of the deletion, or the error.
  std::string GetAt(const std::string& key, uint64_t timestamp) {
    const std::string stamp = At(timestamp);
    const Slice as_of(stamp);
    ReadOptions options;
    options.timestamp = &as_of;
    std::string value;
    std::string found;
    const Status s = db()->Get(options, db()->DefaultColumnFamily(), key, &value, &found);
    if (!s.ok() && !s.IsNotFound()) return s.ToString();
    uint64_t number = 0;
    const bool has = DecodeU64Ts(found, &number).ok();
    return (s.ok() ? value : "NOT_FOUND") + (has ? "@" + std::to_string(number) : "");
  }
  Status Raise(uint64_t mark) {
    return db()->IncreaseFullHistoryTsLow(db()->DefaultColumnFamily(), At(mark));
  }
  void CompactAll() {
    CompactRangeOptions options;
    options.bottommost_level_compaction = BottommostLevelCompaction::kForce;
    ASSERT_TRUE(db()->CompactRange(options, nullptr, nullptr).ok());
  }
};

TEST_F(TimestampReadTest, AnIteratorDoesNotFollowWhereItsHistoryIsGone) {
  Open();
  PutAt("k", 10, "old");
  PutAt("k", 50, "new");
  const std::string stamp = At(30);
  const Slice as_of(stamp);
  ReadOptions options;
  options.timestamp = &as_of;
  std::unique_ptr<Iterator> it(db()->NewIterator(options));
  options.tailing = true;
  std::unique_ptr<Iterator> tailing(db()->NewIterator(options));
  options.tailing = false;
  options.snapshot = db()->GetSnapshot();
  options.auto_refresh_iterator_with_snapshot = true;
  std::unique_ptr<Iterator> following(db()->NewIterator(options));
  ASSERT_TRUE(Raise(60).ok());
  CompactAll();
  EXPECT_TRUE(it->Refresh().IsInvalidArgument());
  it->SeekToFirst();
  ASSERT_TRUE(it->Valid());
  EXPECT_EQ(it->value(), Slice("old"));
  tailing->SeekToFirst();
  EXPECT_FALSE(tailing->Valid());
  EXPECT_TRUE(tailing->status().IsInvalidArgument()) << tailing->status().ToString();
  following->SeekToFirst();
  ASSERT_TRUE(following->Valid());
  EXPECT_EQ(following->value(), Slice("old"));
  db()->ReleaseSnapshot(options.snapshot);
}

TEST_F(TimestampReadTest, AFlushWithoutTimestampsRaisesTheMarkAboveEveryTombstone) {
  options_.persist_user_defined_timestamps = false;
  options_.allow_concurrent_memtable_write = false;
  Open();
  PutAt("a", 10, "v");
  DeleteRangeAt("a", "b", 100);
  DeleteRangeAt("x", "y", 50);
  Flush();
  EXPECT_THAT(GetAt("a", 60), HasSubstr("below full_history_ts_low, 101"));
  EXPECT_EQ(GetAt("a", 101), "NOT_FOUND@0");
}

TEST_F(TimestampReadTest, BoundsOfTablesWithoutTimestampsAreTheirKeysAtTheOldestTime) {
  options_.persist_user_defined_timestamps = false;
  options_.allow_concurrent_memtable_write = false;
  Open();
  PutAt("a", 10, "v");
  PutAt("b", 20, "v");
  Flush();
  // As written, and as read from the MANIFEST.
  for (int i = 0; i < 2; i++) {
    std::vector<LiveFileMetaData> files;
    db()->GetLiveFilesMetaData(&files);
    ASSERT_EQ(files.size(), 1u);
    EXPECT_EQ(files[0].smallestkey, "a" + At(0));
    EXPECT_EQ(files[0].largestkey, "b" + At(0));
    Reopen();
  }
}

TEST_F(TimestampReadTest, TrimmedTombstonesDeleteNothing) {
  Open();
  PutAt("k", 30, "v");
  DeleteRangeAt("a", "z", 70);
  Flush();
  ASSERT_TRUE(Raise(100).ok());
  ASSERT_TRUE(Close().ok());
  std::vector<ColumnFamilyHandle*> handles;
  DB* opened = nullptr;
  const Status s =
      DB::OpenAndTrimHistory(options_, kName, {{"default", options_}}, &handles, &opened, At(50));
  ASSERT_TRUE(s.ok()) << s.ToString();
  const std::unique_ptr<DB> db(opened);
  const std::string stamp = At(100);
  const Slice as_of(stamp);
  ReadOptions options;
  options.timestamp = &as_of;
  std::string value;
  EXPECT_TRUE(db->Get(options, "k", &value).ok());
  EXPECT_EQ(value, "v");
  EXPECT_TRUE(db->DestroyColumnFamilyHandle(handles[0]).ok());
}

// To seek for what a snapshot sees of a key would lead back to where they begin.
TEST_F(TimestampReadTest, VersionsBehindTheSnapshotArePassedOnce) {
  Open();
  PutAt("a", 1, "first");
  PutAt("z", 1, "last");
  const Snapshot* const snapshot = db()->GetSnapshot();
  constexpr uint64_t kVersions = 50;
  for (uint64_t time = 2; time < 2 + kVersions; time++) PutAt("k", time, "new");
  const std::string stamp = At(100);
  const Slice as_of(stamp);
  ReadOptions options;
  options.timestamp = &as_of;
  options.snapshot = snapshot;
  options.max_skippable_internal_keys = kVersions;
  {
    const std::unique_ptr<Iterator> it(db()->NewIterator(options));
    it->SeekToFirst();
    EXPECT_EQ(Rest(it.get()), "a=first z=last");
  }
  db()->ReleaseSnapshot(snapshot);
}

TEST_F(TimestampReadTest, ADeletionReportsItsTimestamp) {
  Open();
  PutAt("k", 10, "v");
  DeleteRangeAt("a", "z", 20);
  ASSERT_TRUE(db()->Delete(WriteOptions(), "p", At(30)).ok());
  PutAt("q", 40, "w");
  for (const bool flushed : {false, true}) {
    SCOPED_TRACE(flushed);
    EXPECT_EQ(GetAt("k", 15), "v@10");
    EXPECT_EQ(GetAt("k", 50), "NOT_FOUND@20");
    EXPECT_EQ(GetAt("nothing", 50), "NOT_FOUND@20");
    EXPECT_EQ(GetAt("p", 50), "NOT_FOUND@30");
    EXPECT_EQ(GetAt("q", 50), "w@40");
    Flush();
  }
}

TEST_F(TimestampReadTest, WithoutTimestampsNoneIsTaken) {
  options_.comparator = BytewiseComparator();
  Open();
  Put("k", "v");
  const Slice empty;
  ReadOptions options;
  options.timestamp = &empty;
  std::string value;
  EXPECT_TRUE(db()->Get(options, "k", &value).IsInvalidArgument());
  options.timestamp = nullptr;
  options.iter_start_ts = &empty;
  EXPECT_TRUE(db()->Get(options, "k", &value).IsInvalidArgument());
  const std::unique_ptr<Iterator> it(db()->NewIterator(options));
  EXPECT_TRUE(it->status().IsInvalidArgument());
}

TEST_F(TimestampReadTest, ACompactionThatIsRefusedRaisesNoMark) {
  Open();
  PutAt("k", 10, "v");
  const std::string stamp = At(5);
  const Slice low(stamp);
  CompactRangeOptions options;
  options.full_history_ts_low = &low;
  options.target_path_id = 1;
  EXPECT_TRUE(db()->CompactRange(options, nullptr, nullptr).IsInvalidArgument());
  std::string mark;
  ASSERT_TRUE(db()->GetFullHistoryTsLow(db()->DefaultColumnFamily(), &mark).ok());
  EXPECT_EQ(mark, "");
  options.target_path_id = 0;
  EXPECT_TRUE(db()->CompactRange(options, nullptr, nullptr).ok());
  ASSERT_TRUE(db()->GetFullHistoryTsLow(db()->DefaultColumnFamily(), &mark).ok());
  EXPECT_EQ(mark, stamp);
}

}  // namespace

}  // namespace varve::testing
