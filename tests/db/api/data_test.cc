// SPDX-License-Identifier: Apache-2.0

// Goal: every call that writes or looks a key up does what db.h says, from memtables and from
// tables. Method: one story for each call; where the source of an entry could matter, the story is
// told twice, with a flush in between.

#include <gmock/gmock.h>

#include "varve/write_batch.h"

#include "tests/harness/database.h"
#include "util/key/entry_limits.h"

namespace varve::testing {
namespace {

using ::testing::ElementsAre;

class DbDataTest : public Database {
 protected:
  void SetUp() override { Open({"default", "a"}); }
};

TEST_F(DbDataTest, PutDeleteAndGetInAllForms) {
  const WriteOptions write;
  ASSERT_TRUE(db()->Put(write, "k", "default's").ok());
  ASSERT_TRUE(db()->Put(write, Handle("a"), "k", "a's").ok());
  for (const bool flushed : {false, true}) {
    SCOPED_TRACE(flushed);
    std::string text;
    PinnableSlice pinned;
    std::string timestamp = "old";
    EXPECT_TRUE(db()->Get(ReadOptions(), "k", &text).ok());
    EXPECT_EQ(text, "default's");
    EXPECT_TRUE(db()->Get(ReadOptions(), Handle("a"), "k", &text).ok());
    EXPECT_EQ(text, "a's");
    EXPECT_TRUE(db()->Get(ReadOptions(), "k", &pinned).ok());
    EXPECT_EQ(pinned, Slice("default's"));
    EXPECT_TRUE(db()->Get(ReadOptions(), Handle("a"), "k", &pinned).ok());
    EXPECT_EQ(pinned, Slice("a's"));
    EXPECT_TRUE(db()->Get(ReadOptions(), "k", &text, &timestamp).ok());
    EXPECT_EQ(timestamp, "");
    EXPECT_TRUE(db()->Get(ReadOptions(), "absent", &pinned).IsNotFound());
    Flush();
    Flush("a");
  }
  ASSERT_TRUE(db()->Delete(write, "k").ok());
  ASSERT_TRUE(db()->Delete(write, "never there").ok());
  EXPECT_EQ(Get("k"), "NOT_FOUND");
  EXPECT_EQ(Get("k", "a"), "a's");
  Put("k", "again");
  EXPECT_EQ(Get("k"), "again");
}

TEST_F(DbDataTest, KeysAndValuesAreAnyBytes) {
  const std::string zeros("\0\0", 2);
  const std::string high("\xff\xff\0\x80", 4);
  const std::string large(3 << 20, 'x');
  Put("", "empty key");
  Put(zeros, high);
  Put(high, "");
  Put("large", large);
  for (const bool flushed : {false, true}) {
    SCOPED_TRACE(flushed);
    EXPECT_EQ(Get(""), "empty key");
    EXPECT_EQ(Get(zeros), high);
    EXPECT_EQ(Get(high), "");
    EXPECT_EQ(Get("large"), large);
    Flush();
  }
  Reopen();
  EXPECT_EQ(Get("large"), large);
}

TEST_F(DbDataTest, SingleDeleteRemovesOnePut) {
  Put("once", "1");
  Flush();
  ASSERT_TRUE(db()->SingleDelete(WriteOptions(), "once").ok());
  ASSERT_TRUE(db()->SingleDelete(WriteOptions(), Handle("a"), "once").ok());
  EXPECT_EQ(Get("once"), "NOT_FOUND");
  Flush();
  ASSERT_TRUE(db()->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok());
  EXPECT_EQ(Levels(), "") << "put and single deletion meet and both go";
}

TEST_F(DbDataTest, DeleteRangeHidesItsKeysOnly) {
  for (const char* key : {"a", "b", "c", "d"}) Put(key, key);
  Flush();
  ASSERT_TRUE(db()->DeleteRange(WriteOptions(), "b", "d").ok());
  Put("c", "after");
  for (const bool flushed : {false, true}) {
    SCOPED_TRACE(flushed);
    EXPECT_EQ(Scan(), "a=a c=after d=d");
    EXPECT_EQ(Get("b"), "NOT_FOUND");
    Flush();
  }
  EXPECT_TRUE(db()->DeleteRange(WriteOptions(), "z", "a").IsInvalidArgument());
  EXPECT_TRUE(db()->DeleteRange(WriteOptions(), "a", "a").ok()) << "an empty range";
  EXPECT_EQ(Scan(), "a=a c=after d=d");
  ASSERT_TRUE(db()->DeleteRange(WriteOptions(), Handle("a"), "a", "z").ok());
  EXPECT_EQ(Scan(), "a=a c=after d=d") << "another family's range";
}

TEST_F(DbDataTest, ABatchIsAppliedAsAWholeAndMayBeUsedAgain) {
  WriteBatch batch;
  ASSERT_TRUE(batch.Put("x", "1").ok());
  ASSERT_TRUE(batch.Put(Handle("a"), "x", "2").ok());
  ASSERT_TRUE(batch.Delete("x").ok());
  ASSERT_TRUE(batch.Put("y", "3").ok());
  const SequenceNumber before = db()->GetLatestSequenceNumber();
  ASSERT_TRUE(db()->Write(WriteOptions(), &batch).ok());
  EXPECT_EQ(db()->GetLatestSequenceNumber(), before + 4);
  EXPECT_EQ(Scan(), "y=3");
  EXPECT_EQ(Get("x", "a"), "2");
  ASSERT_TRUE(db()->Write(WriteOptions(), &batch).ok());
  EXPECT_EQ(db()->GetLatestSequenceNumber(), before + 8);
  WriteBatch empty;
  EXPECT_TRUE(db()->Write(WriteOptions(), &empty).ok());
  EXPECT_EQ(db()->GetLatestSequenceNumber(), before + 8);
  EXPECT_TRUE(db()->Write(WriteOptions(), nullptr).IsInvalidArgument());
}

TEST_F(DbDataTest, MultiGetAnswersEachKeyInAllForms) {
  Put("k1", "one");
  Put("k3", "three", "a");
  Flush();
  Put("k2", "two");
  const std::vector<Slice> keys = {"k1", "k2", "k3", "k1"};
  std::vector<std::string> values;
  std::vector<std::string> timestamps;

  std::vector<Status> statuses = db()->MultiGet(ReadOptions(), keys, &values);
  ASSERT_EQ(statuses.size(), 4u);
  EXPECT_TRUE(statuses[0].ok() && statuses[1].ok() && statuses[3].ok());
  EXPECT_TRUE(statuses[2].IsNotFound());
  EXPECT_THAT(values, ElementsAre("one", "two", "", "one"));
  statuses = db()->MultiGet(ReadOptions(), keys, &values, &timestamps);
  EXPECT_THAT(values, ElementsAre("one", "two", "", "one"));
  EXPECT_THAT(timestamps, ElementsAre("", "", "", ""));

  ColumnFamilyHandle* const d = db()->DefaultColumnFamily();
  std::vector<ColumnFamilyHandle*> families = {d, Handle("a"), Handle("a"), nullptr};
  statuses = db()->MultiGet(ReadOptions(), families, keys, &values);
  EXPECT_TRUE(statuses[0].ok());
  EXPECT_TRUE(statuses[1].IsNotFound());
  EXPECT_TRUE(statuses[2].ok());
  EXPECT_TRUE(statuses[3].IsInvalidArgument()) << "a null handle spoils its own key only";
  EXPECT_THAT(values, ElementsAre("one", "", "three", ""));
  families.pop_back();
  for (const Status& s : db()->MultiGet(ReadOptions(), families, keys, &values)) {
    EXPECT_TRUE(s.IsInvalidArgument()) << "one family per key";
  }

  PinnableSlice pinned[4];
  Status array[4];
  db()->MultiGet(ReadOptions(), d, 4, keys.data(), pinned, array, /*sorted_input=*/false);
  EXPECT_EQ(pinned[1], Slice("two"));
  EXPECT_TRUE(array[2].IsNotFound());
  ColumnFamilyHandle* handles[] = {d, d, Handle("a")};
  db()->MultiGet(ReadOptions(), 3, handles, keys.data(), pinned, array, /*sorted_input=*/true);
  EXPECT_EQ(pinned[2], Slice("three"));
  db()->MultiGet(ReadOptions(), d, 0, nullptr, nullptr, static_cast<Status*>(nullptr));
}

TEST_F(DbDataTest, MultiGetStopsAtItsSoftLimit) {
  Put("a", std::string(100, 'a'));
  Put("b", std::string(100, 'b'));
  Put("c", "c");
  ReadOptions options;
  options.value_size_soft_limit = 150;
  std::vector<std::string> values;
  const std::vector<Status> statuses = db()->MultiGet(options, {"a", "b", "c"}, &values);
  EXPECT_TRUE(statuses[0].ok());
  EXPECT_TRUE(statuses[1].ok());
  EXPECT_TRUE(statuses[2].IsAborted()) << statuses[2].ToString();
}

TEST_F(DbDataTest, KeyMayExistIsSureOnlyOfAbsence) {
  Put("k", "value");
  std::string value;
  bool found = false;
  EXPECT_TRUE(db()->KeyMayExist(ReadOptions(), "k", &value, &found));
  EXPECT_TRUE(found);
  EXPECT_EQ(value, "value");
  EXPECT_FALSE(db()->KeyMayExist(ReadOptions(), "absent", &value, &found));
  EXPECT_FALSE(found);
  EXPECT_TRUE(db()->KeyMayExist(ReadOptions(), "k", nullptr));
  Delete("k");
  EXPECT_FALSE(db()->KeyMayExist(ReadOptions(), "k", &value, &found));
  EXPECT_FALSE(db()->KeyMayExist(ReadOptions(), Handle("a"), "k", &value, &found));
}

TEST_F(DbDataTest, TiersLimitWhereAReadLooks) {
  Put("table", "t");
  Reopen();
  ReadOptions cache_only;
  cache_only.read_tier = kBlockCacheTier;
  std::string value;
  // The block is not in the cache, whether the table is open or not.
  EXPECT_TRUE(db()->Get(cache_only, "table", &value).IsIncomplete());
  EXPECT_EQ(Get("table"), "t");
  EXPECT_TRUE(db()->Get(cache_only, "table", &value).ok());
  WriteOptions unlogged;
  unlogged.disableWAL = true;
  ASSERT_TRUE(db()->Put(unlogged, "memory", "m").ok());
  ReadOptions persisted;
  persisted.read_tier = kPersistedTier;
  EXPECT_TRUE(db()->Get(persisted, "memory", &value).IsNotFound());
  EXPECT_TRUE(db()->Get(persisted, "table", &value).ok());
  const std::unique_ptr<Iterator> it(db()->NewIterator(persisted));
  EXPECT_TRUE(it->status().IsNotSupported());
}

TEST_F(DbDataTest, WriteOptionsThatExcludeEachOtherAreRefused) {
  struct Case {
    const char* name;
    void (*set)(WriteOptions*);
    Status::Code code;
  };
  const Case kCases[] = {
      {"sync without log", [](WriteOptions* o) { o->sync = o->disableWAL = true; },
       Status::kInvalidArgument},
      {"protection_bytes_per_key", [](WriteOptions* o) { o->protection_bytes_per_key = 4; },
       Status::kInvalidArgument},
      {"rate_limiter_priority", [](WriteOptions* o) { o->rate_limiter_priority = Env::IO_HIGH; },
       Status::kInvalidArgument},
      {"rate_limiter_priority without log",
       [](WriteOptions* o) {
         o->rate_limiter_priority = Env::IO_USER;
         o->disableWAL = true;
       },
       Status::kInvalidArgument},
  };
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.name);
    WriteOptions options;
    c.set(&options);
    EXPECT_EQ(db()->Put(options, "k", "v").code(), c.code);
    EXPECT_EQ(Get("k"), "NOT_FOUND");
  }
}

TEST_F(DbDataTest, TimestampsAreRefusedWhereTheComparatorHasNone) {
  for (const size_t protection : {0, 8}) {
    WriteOptions write;
    write.protection_bytes_per_key = protection;
    for (const Slice ts : {Slice("ts"), Slice()}) {
      EXPECT_TRUE(db()->Put(write, "k", ts, "v").IsInvalidArgument());
      EXPECT_TRUE(db()->Delete(write, "k", ts).IsInvalidArgument());
      EXPECT_TRUE(db()->SingleDelete(write, "k", ts).IsInvalidArgument());
      EXPECT_TRUE(db()->DeleteRange(write, Handle("a"), "k", "l", ts).IsInvalidArgument());
      EXPECT_TRUE(db()->Merge(write, Handle("default"), "k", ts, "v").IsInvalidArgument());
    }
  }
  EXPECT_EQ(Get("k"), "NOT_FOUND");
  const Slice timestamp("ts");
  ReadOptions read;
  read.timestamp = &timestamp;
  std::string value;
  EXPECT_TRUE(db()->Get(read, "k", &value).IsInvalidArgument());
}

// Bytes that a caller made by hand: each is refused, and neither log nor memtable has seen it.
TEST_F(DbDataTest, MalformedBatchesAreRefused) {
  WriteBatch good;
  ASSERT_TRUE(good.Put("key", "value").ok());
  const std::string bytes = good.Data();
  const auto with = [&](size_t at, char byte) {
    std::string changed = bytes;
    changed[at] = byte;
    return changed;
  };
  struct Case {
    const char* name;
    std::string bytes;
  };
  const Case kCases[] = {
      {"half a header", bytes.substr(0, 7)},
      {"count too high", with(8, 2)},
      {"count too low", with(8, 0)},
      {"unknown record", with(12, 0x6e)},
      {"key longer than the batch", with(13, 0x7f)},
      {"value cut off", bytes.substr(0, bytes.size() - 1)},
      {"something behind", bytes + "x"},
  };
  const SequenceNumber before = db()->GetLatestSequenceNumber();
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.name);
    WriteBatch batch(c.bytes);
    EXPECT_FALSE(db()->Write(WriteOptions(), &batch).ok());
    EXPECT_EQ(db()->GetLatestSequenceNumber(), before);
    EXPECT_EQ(Get("key"), "NOT_FOUND");
  }
  Put("works", "still");
  Reopen();
  EXPECT_EQ(Scan(), "works=still");
}

// The slices claim more bytes than there are: a reader that reads or reserves them crashes.
TEST_F(DbDataTest, SizesBeyondTheFormatAreRefusedUnread) {
  const Slice huge("k", size_t{1} << 32);
  const Slice endless("k", SIZE_MAX / 2);
  // 32 bits can count it, but no table can hold it.
  const Slice nearly("k", kWriteBytesMax + 1);
  const WriteOptions write;
  const Slice most("k", kWriteBytesMax);
  EXPECT_TRUE(db()->Put(write, "k", most).IsInvalidArgument()) << "with its key";
  EXPECT_TRUE(db()->Put(write, most, "v").IsInvalidArgument()) << "with its value";
  for (const Slice& slice : {nearly, huge, endless}) {
    EXPECT_TRUE(db()->Put(write, slice, "v").IsInvalidArgument());
    EXPECT_TRUE(db()->Put(write, "k", slice).IsInvalidArgument());
    EXPECT_TRUE(db()->Put(write, slice, slice).IsInvalidArgument());
    EXPECT_TRUE(db()->Delete(write, slice).IsInvalidArgument());
    EXPECT_TRUE(db()->SingleDelete(write, slice).IsInvalidArgument());
    EXPECT_TRUE(db()->DeleteRange(write, slice, "z").IsInvalidArgument());
    EXPECT_TRUE(db()->DeleteRange(write, "a", slice).IsInvalidArgument());
  }
  EXPECT_EQ(Scan(), "");
}

TEST_F(DbDataTest, NullAndForeignHandlesAreRefused) {
  Options other_options = options_;
  std::unique_ptr<DB> other;
  ASSERT_TRUE(DB::Open(other_options, "/other", &other).ok());
  ASSERT_TRUE(other->Put(WriteOptions(), "k", "the other's").ok());
  const WriteOptions write;
  const ReadOptions read;
  std::string value;
  PinnableSlice pinned;
  uint64_t number = 0;
  Range range("a", "z");
  for (ColumnFamilyHandle* handle :
       {static_cast<ColumnFamilyHandle*>(nullptr), other->DefaultColumnFamily()}) {
    SCOPED_TRACE(handle == nullptr ? "null" : "foreign");
    EXPECT_TRUE(db()->Put(write, handle, "k", "v").IsInvalidArgument());
    EXPECT_TRUE(db()->Delete(write, handle, "k").IsInvalidArgument());
    EXPECT_TRUE(db()->SingleDelete(write, handle, "k").IsInvalidArgument());
    EXPECT_TRUE(db()->DeleteRange(write, handle, "a", "z").IsInvalidArgument());
    EXPECT_TRUE(db()->Get(read, handle, "k", &value).IsInvalidArgument());
    EXPECT_TRUE(db()->KeyMayExist(read, handle, "k", &value));
    const std::unique_ptr<Iterator> it(db()->NewIterator(read, handle));
    it->SeekToFirst();
    EXPECT_FALSE(it->Valid());
    EXPECT_TRUE(it->status().IsInvalidArgument());
    std::vector<Iterator*> iterators;
    EXPECT_TRUE(db()->NewIterators(read, {db()->DefaultColumnFamily(), handle}, &iterators)
                    .IsInvalidArgument());
    EXPECT_TRUE(iterators.empty());
    EXPECT_FALSE(db()->GetProperty(handle, "rocksdb.stats", &value));
    EXPECT_FALSE(db()->GetIntProperty(handle, "rocksdb.estimate-num-keys", &number));
    EXPECT_TRUE(db()->GetApproximateSizes(handle, &range, 1, &number).IsInvalidArgument());
    EXPECT_TRUE(db()->Flush(FlushOptions(), handle).IsInvalidArgument());
    EXPECT_TRUE(
        db()->CompactRange(CompactRangeOptions(), handle, nullptr, nullptr).IsInvalidArgument());
    EXPECT_TRUE(db()->SetOptions(handle, {{"write_buffer_size", "1M"}}).IsInvalidArgument());
    EXPECT_TRUE(db()->DropColumnFamily(handle).IsInvalidArgument());
  }
  EXPECT_EQ(Scan(), "");
  EXPECT_TRUE(other->Get(read, "k", &value).ok());
  EXPECT_EQ(value, "the other's");
  EXPECT_TRUE(
      db()->Get(read, db()->DefaultColumnFamily(), "k", static_cast<PinnableSlice*>(nullptr))
          .IsInvalidArgument());
}

TEST_F(DbDataTest, LogsAreFlushedSyncedAndLocked) {
  ASSERT_TRUE(Close().ok());
  options_.manual_wal_flush = true;
  Open({"default", "a"});
  Put("buffered", "1");
  ASSERT_TRUE(db()->FlushWAL(/*sync=*/false).ok());
  ASSERT_TRUE(db()->SyncWAL().ok());
  Put("not flushed", "2");
  Kill();
  Open({"default", "a"});
  EXPECT_EQ(Scan(), "buffered=1");
  Put("held back", "3");
  ASSERT_TRUE(db()->LockWAL().ok());
  ASSERT_TRUE(db()->LockWAL().ok());
  ASSERT_TRUE(db()->UnlockWAL().ok());
  ASSERT_TRUE(db()->UnlockWAL().ok());
  EXPECT_TRUE(db()->UnlockWAL().IsAborted());
  Kill();
  Open({"default", "a"});
  EXPECT_EQ(Get("held back"), "3") << "LockWAL writes out what is buffered";
}

}  // namespace
}  // namespace varve::testing
