// SPDX-License-Identifier: Apache-2.0

// Tests the mark below which the history of a family need not be kept, through the API.

#include <gmock/gmock.h>

#include "varve/comparator.h"
#include "varve/write_batch.h"

#include "tests/harness/database.h"

namespace varve::testing {
namespace {

using ::testing::HasSubstr;

std::string Stamp(uint64_t time) {
  std::string bytes;
  EncodeU64Ts(time, &bytes);
  return bytes;
}

class TimestampMarkTest : public Database {
 protected:
  void SetUp() override {
    options_.comparator = BytewiseComparatorWithU64Ts();
    Open();
  }

  Status Raise(const std::string& mark) {
    return db()->IncreaseFullHistoryTsLow(Handle("default"), mark);
  }

  std::string Mark() {
    std::string mark;
    const Status s = db()->GetFullHistoryTsLow(Handle("default"), &mark);
    return s.ok() ? mark : s.ToString();
  }

  void PutAt(const std::string& key, uint64_t time) {
    WriteBatch batch;
    ASSERT_TRUE(batch.Put(Handle("default"), key, Stamp(time), "v").ok());
    ASSERT_TRUE(db()->Write(WriteOptions(), &batch).ok());
  }
};

TEST_F(TimestampMarkTest, RisesAndSurvives) {
  EXPECT_EQ(Mark(), "");
  ASSERT_TRUE(Raise(Stamp(5)).ok());
  EXPECT_EQ(Mark(), Stamp(5));
  ASSERT_TRUE(Raise(Stamp(300)).ok());
  ASSERT_TRUE(Raise(Stamp(300)).ok());
  for (int i = 0; i < 2; i++) {
    Reopen();
    EXPECT_EQ(Mark(), Stamp(300));
  }
}

TEST_F(TimestampMarkTest, DoesNotGoBack) {
  ASSERT_TRUE(Raise(Stamp(300)).ok());
  const Status s = Raise(Stamp(299));
  EXPECT_TRUE(s.IsInvalidArgument());
  EXPECT_THAT(s.ToString(), HasSubstr("column family default cannot decrease from "
                                      "0x2C01000000000000 to 0x2B01000000000000"));
  EXPECT_EQ(Mark(), Stamp(300));
}

TEST_F(TimestampMarkTest, HasTheSizeOfTimestamps) {
  for (const std::string& mark :
       {std::string(), std::string("1234567"), std::string("123456789")}) {
    const Status s = Raise(mark);
    EXPECT_TRUE(s.IsInvalidArgument());
    EXPECT_THAT(s.ToString(),
                HasSubstr("column family default has timestamps of 8 bytes, full_history_ts_low "
                          "has " +
                          std::to_string(mark.size())));
  }
  EXPECT_TRUE(db()->GetFullHistoryTsLow(Handle("default"), nullptr).IsInvalidArgument());
  EXPECT_EQ(Mark(), "");
}

TEST_F(TimestampMarkTest, ReadOnlyDatabasesHaveIt) {
  ASSERT_TRUE(Raise(Stamp(5)).ok());
  ASSERT_TRUE(Close().ok());
  ASSERT_TRUE(TryOpenReadOnly().ok());
  EXPECT_EQ(Mark(), Stamp(5));
  EXPECT_FALSE(Raise(Stamp(6)).ok());
}

TEST_F(TimestampMarkTest, AMarkThatIsNotDurableIsNotInForce) {
  ASSERT_TRUE(Raise(Stamp(5)).ok());
  faults().Inject({.calls = Only(FaultCall::kSync), .path_contains = "MANIFEST"});
  EXPECT_TRUE(Raise(Stamp(6)).IsIOError());
  EXPECT_EQ(Mark(), Stamp(5));
}

TEST_F(TimestampMarkTest, TheNewestTimestampIsForTablesWithout) {
  std::string newest;
  EXPECT_TRUE(db()->GetNewestUserDefinedTimestamp(Handle("default"), &newest).IsNotSupported());
}

TEST_F(TimestampMarkTest, TheNewestTimestampIsThatOfMemory) {
  ASSERT_TRUE(Close().ok());
  Remount(std::make_shared<MemFileSystem>());
  options_.persist_user_defined_timestamps = false;
  options_.allow_concurrent_memtable_write = false;
  Open();
  std::string newest = "unset";
  ASSERT_TRUE(db()->GetNewestUserDefinedTimestamp(Handle("default"), &newest).ok());
  EXPECT_EQ(newest, "");
  PutAt("a", 300);
  PutAt("z", 7);
  ASSERT_TRUE(db()->GetNewestUserDefinedTimestamp(Handle("default"), &newest).ok());
  EXPECT_EQ(newest, Stamp(300));
  WriteBatch batch;
  ASSERT_TRUE(batch.DeleteRange(Handle("default"), "x", "y", Stamp(310)).ok());
  ASSERT_TRUE(db()->Write(WriteOptions(), &batch).ok());
  ASSERT_TRUE(db()->GetNewestUserDefinedTimestamp(Handle("default"), &newest).ok());
  EXPECT_EQ(newest, Stamp(310));
  ASSERT_TRUE(Raise(Stamp(1000)).ok());
  ASSERT_TRUE(db()->GetNewestUserDefinedTimestamp(Handle("default"), &newest).ok());
  EXPECT_EQ(newest, Stamp(310));
  Flush();
  ASSERT_TRUE(db()->GetNewestUserDefinedTimestamp(Handle("default"), &newest).ok());
  EXPECT_EQ(newest, Stamp(999));
}

// Entries that recovery writes into tables lose their timestamps as well.
TEST_F(TimestampMarkTest, RecoveryRaisesTheMark) {
  ASSERT_TRUE(Close().ok());
  Remount(std::make_shared<MemFileSystem>());
  options_.persist_user_defined_timestamps = false;
  options_.allow_concurrent_memtable_write = false;
  options_.avoid_flush_during_recovery = true;
  Open();
  PutAt("a", 300);
  PutAt("b", 7);
  Kill();
  Open();
  EXPECT_EQ(Mark(), "") << "the log was kept";
  Kill();
  options_.avoid_flush_during_recovery = false;
  Open();
  EXPECT_EQ(Levels(), "1");
  EXPECT_EQ(Mark(), Stamp(301));
  std::string newest;
  ASSERT_TRUE(db()->GetNewestUserDefinedTimestamp(Handle("default"), &newest).ok());
  EXPECT_EQ(newest, Stamp(300));
  const std::string now = Stamp(301);
  const Slice time = now;
  ReadOptions read;
  read.timestamp = &time;
  EXPECT_EQ(Scan(read), "a=v b=v");
}

// Switched on over tables that have none, and off again.
TEST_F(TimestampMarkTest, TimestampsAreSwitchedOnAndOff) {
  ASSERT_TRUE(Close().ok());
  Remount(std::make_shared<MemFileSystem>());
  options_.comparator = BytewiseComparator();
  Open();
  MakeTable({"a", "b"});
  Put("c", "logged");
  Kill();
  options_.comparator = BytewiseComparatorWithU64Ts();
  options_.allow_concurrent_memtable_write = false;
  EXPECT_TRUE(TryOpen().IsInvalidArgument()) << "persist_user_defined_timestamps";
  options_.persist_user_defined_timestamps = false;
  options_.avoid_flush_during_recovery = true;
  Open();
  PutAt("b", 300);
  std::string now = Stamp(299);
  const Slice time = now;
  ReadOptions read;
  read.timestamp = &time;
  EXPECT_EQ(Scan(read), "a=of a b=of b c=logged");
  Flush();
  EXPECT_EQ(Mark(), Stamp(301));
  Reopen();
  now = Stamp(301);
  EXPECT_EQ(Scan(read), "a=of a b=v c=logged");
  ASSERT_TRUE(Close().ok());
  options_.comparator = BytewiseComparator();
  options_.persist_user_defined_timestamps = true;
  Open();
  EXPECT_EQ(Scan(), "a=of a b=v c=logged");
  Put("d", "v");
  Flush();
  Reopen();
  EXPECT_EQ(Scan(), "a=of a b=v c=logged d=v");
}

class NoTimestampsTest : public Database {};

TEST_F(NoTimestampsTest, EveryCallSaysSo) {
  Open();
  std::string result = "as before";
  ColumnFamilyHandle* const family = Handle("default");
  const Status statuses[] = {db()->IncreaseFullHistoryTsLow(family, Stamp(5)),
                             db()->GetFullHistoryTsLow(family, &result),
                             db()->GetNewestUserDefinedTimestamp(family, &result)};
  for (const Status& s : statuses) {
    EXPECT_TRUE(s.IsInvalidArgument());
    EXPECT_THAT(s.ToString(), HasSubstr("column family default has "));
  }
  EXPECT_THAT(statuses[0].ToString(),
              HasSubstr("timestamps of 0 bytes, full_history_ts_low has 8"));
  EXPECT_EQ(result, "as before");
  EXPECT_TRUE(db()->IncreaseFullHistoryTsLow(nullptr, Stamp(5)).IsInvalidArgument());
  EXPECT_TRUE(db()->GetFullHistoryTsLow(nullptr, &result).IsInvalidArgument());
  EXPECT_TRUE(db()->GetNewestUserDefinedTimestamp(nullptr, &result).IsInvalidArgument());
}

}  // namespace
}  // namespace varve::testing
