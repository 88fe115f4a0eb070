// SPDX-License-Identifier: Apache-2.0

// Goal: an indexed batch keeps the promises of its header that the model test does not reach: bad
// arguments, limits, statuses, timestamps, moves, and what iterators over a changing batch show.
// Method: small stories over a database in memory.

#include "varve/utilities/write_batch_with_index.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "varve/comparator.h"
#include "varve/slice_transform.h"
#include "varve/utilities/merge_operators.h"

#include "tests/harness/database.h"
#include "util/key/entry_limits.h"

namespace varve::testing {
namespace {

class WriteBatchWithIndexTest : public Database {
 protected:
  void SetUp() override {
    options_.create_if_missing = true;
    options_.create_missing_column_families = true;
    options_.merge_operator = MergeOperators::CreateStringAppendOperator();
    Open({"default", "other"});
  }

  ColumnFamilyHandle* Default() { return Handle("default"); }

  // Returns "a=1", "NOT_FOUND" or the error.
  std::string Read(WriteBatchWithIndex* batch, const std::string& key) {
    std::string value;
    const Status s = batch->GetFromBatchAndDB(db(), ReadOptions(), key, &value);
    return s.ok() ? value : (s.IsNotFound() ? "NOT_FOUND" : s.ToString());
  }
  std::unique_ptr<Iterator> Over(WriteBatchWithIndex* batch, const ReadOptions* options = nullptr) {
    return std::unique_ptr<Iterator>(batch->NewIteratorWithBase(
        Default(), db()->NewIterator(options == nullptr ? ReadOptions() : *options), options));
  }
  static std::string All(Iterator* it) {
    it->SeekToFirst();
    return Rest(it);
  }
  static std::string Updates(WBWIIterator* it) {
    std::string text;
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      const WriteEntry entry = it->Entry();
      text += entry.key.ToString() + "=" + entry.value.ToString() + "#" +
              std::to_string(it->GetUpdateCount()) + " ";
    }
    return text;
  }
};

TEST_F(WriteBatchWithIndexTest, ReadsOverTheDatabase) {
  Put("a", "old");
  Put("b", "old");
  Put("c", "old");
  WriteBatchWithIndex batch;
  EXPECT_EQ(Read(&batch, "a"), "old");
  ASSERT_TRUE(batch.Put("a", "new").ok());
  ASSERT_TRUE(batch.Delete("b").ok());
  ASSERT_TRUE(batch.Merge("c", "more").ok());
  ASSERT_TRUE(batch.Merge("d", "first").ok());
  EXPECT_EQ(Read(&batch, "a"), "new");
  EXPECT_EQ(Read(&batch, "b"), "NOT_FOUND");
  EXPECT_EQ(Read(&batch, "c"), "old,more");
  EXPECT_EQ(Read(&batch, "d"), "first");
  EXPECT_EQ(All(Over(&batch).get()), "a=new c=old,more d=first");
  EXPECT_EQ(Scan(), "a=old b=old c=old");
  // The snapshot is the database's matter.
  ReadOptions then;
  then.snapshot = db()->GetSnapshot();
  Put("c", "newer");
  std::string value;
  ASSERT_TRUE(batch.GetFromBatchAndDB(db(), then, "c", &value).ok());
  EXPECT_EQ(value, "old,more");
  db()->ReleaseSnapshot(then.snapshot);
  EXPECT_EQ(Read(&batch, "c"), "newer,more");
}

TEST_F(WriteBatchWithIndexTest, FamiliesAreApart) {
  WriteBatchWithIndex batch;
  ASSERT_TRUE(batch.Put("k", "default").ok());
  ASSERT_TRUE(batch.Put(Handle("other"), "k", "other").ok());
  ASSERT_TRUE(batch.DeleteRange(Handle("other"), "l", "m").ok());
  Put("l", "of the default one");
  std::string value;
  ASSERT_TRUE(batch.GetFromBatch(DBOptions(), "k", &value).ok());
  EXPECT_EQ(value, "default");
  ASSERT_TRUE(batch.GetFromBatch(Handle("other"), DBOptions(), "k", &value).ok());
  EXPECT_EQ(value, "other");
  EXPECT_EQ(Read(&batch, "l"), "of the default one");
  EXPECT_EQ(batch.GetCFStats().size(), 2u);
  EXPECT_EQ(batch.GetCFStats().at(0).entry_count, 1u);
}

TEST_F(WriteBatchWithIndexTest, TheBatchAloneSaysWhatItCannotKnow) {
  WriteBatchWithIndex batch;
  std::string value;
  EXPECT_TRUE(batch.GetFromBatch(DBOptions(), "k", &value).IsNotFound());
  ASSERT_TRUE(batch.Merge("k", "1").ok());
  EXPECT_TRUE(batch.GetFromBatch(Default(), DBOptions(), "k", &value).IsMergeInProgress());
  ASSERT_TRUE(batch.Put("k", "0").ok());
  ASSERT_TRUE(batch.Merge("k", "1").ok());
  ASSERT_TRUE(batch.GetFromBatch(Default(), DBOptions(), "k", &value).ok());
  EXPECT_EQ(value, "0,1");
  // No merge operator is given.
  EXPECT_TRUE(batch.GetFromBatch(DBOptions(), "k", &value).IsInvalidArgument());
  ASSERT_TRUE(batch.Delete("k").ok());
  EXPECT_TRUE(batch.GetFromBatch(DBOptions(), "k", &value).IsNotFound());
}

TEST_F(WriteBatchWithIndexTest, WithoutAnOperatorMergesFail) {
  options_.merge_operator = nullptr;
  ASSERT_TRUE(Close().ok());
  Open({"default", "other"});
  WriteBatchWithIndex batch;
  ASSERT_TRUE(batch.Put("a", "1").ok());
  ASSERT_TRUE(batch.Merge("k", "1").ok());
  EXPECT_NE(Read(&batch, "k").find("Invalid argument"), std::string::npos);
  const std::unique_ptr<Iterator> it = Over(&batch);
  it->SeekToFirst();
  ASSERT_TRUE(it->Valid());
  it->Next();
  EXPECT_FALSE(it->Valid());
  EXPECT_TRUE(it->status().IsInvalidArgument());
  it->SeekToFirst();  // forgets the error
  EXPECT_TRUE(it->Valid() && it->status().ok());
}

TEST_F(WriteBatchWithIndexTest, DeletedRangesHideWhatIsOlder) {
  for (const char* key : {"a", "b", "c", "d", "e"}) Put(key, "db");
  WriteBatchWithIndex batch;
  ASSERT_TRUE(batch.Put("b1", "before").ok());
  ASSERT_TRUE(batch.DeleteRange("b", "d").ok());
  ASSERT_TRUE(batch.Put("c1", "behind").ok());
  ASSERT_TRUE(batch.Merge("c", "m").ok());
  EXPECT_EQ(Read(&batch, "b"), "NOT_FOUND");
  EXPECT_EQ(Read(&batch, "b1"), "NOT_FOUND");
  EXPECT_EQ(Read(&batch, "c"), "m");
  EXPECT_EQ(Read(&batch, "c1"), "behind");
  EXPECT_EQ(Read(&batch, "d"), "db");
  EXPECT_EQ(All(Over(&batch).get()), "a=db c=m c1=behind d=db e=db");
  // It is no entry, and hides none from those who look at updates.
  EXPECT_EQ(Updates(std::unique_ptr<WBWIIterator>(batch.NewIterator()).get()),
            "b1=before#1 c=m#1 c1=behind#1 ");
  ASSERT_TRUE(db()->Write(WriteOptions(), batch.GetWriteBatch()).ok());
  EXPECT_EQ(Scan(), "a=db c=m c1=behind d=db e=db");
}

TEST_F(WriteBatchWithIndexTest, ManyRangesTakeTheOtherForm) {
  WriteBatchWithIndex batch;
  for (int i = 10; i < 99; i++) Put("k" + std::to_string(i), "v");
  for (int i = 10; i < 98; i += 2) {
    ASSERT_TRUE(batch.DeleteRange("k" + std::to_string(i), "k" + std::to_string(i + 1)).ok());
    EXPECT_EQ(Read(&batch, "k" + std::to_string(i)), "NOT_FOUND");
    EXPECT_EQ(Read(&batch, "k" + std::to_string(i + 1)), "v");
    batch.SetSavePoint();
  }
  for (int i = 96; i > 50; i -= 2) {
    ASSERT_TRUE(batch.RollbackToSavePoint().ok());
    EXPECT_EQ(Read(&batch, "k" + std::to_string(i)), "NOT_FOUND");
    ASSERT_TRUE(batch.RollbackToSavePoint().ok());
    batch.SetSavePoint();
    EXPECT_EQ(Read(&batch, "k" + std::to_string(i)), "v");
  }
}

TEST_F(WriteBatchWithIndexTest, TheModesShowDifferentUpdates) {
  for (const bool overwrite : {false, true}) {
    WriteBatchWithIndex batch(BytewiseComparator(), 0, overwrite);
    EXPECT_EQ(batch.GetOverwriteKey(), overwrite);
    ASSERT_TRUE(batch.SingleDelete("a").ok());
    ASSERT_TRUE(batch.Put("a", "1").ok());
    ASSERT_TRUE(batch.Merge("a", "2").ok());
    ASSERT_TRUE(batch.Put("b", "1").ok());
    ASSERT_TRUE(batch.Put("b", "2").ok());
    const std::unique_ptr<WBWIIterator> it(batch.NewIterator());
    EXPECT_EQ(Updates(it.get()),
              overwrite ? "a=2#3 a=1#2 b=2#2 " : "a=2#3 a=1#2 a=#1 b=2#2 b=1#1 ");
    it->SeekForPrev("a9");
    ASSERT_TRUE(it->Valid());
    EXPECT_EQ(it->Entry().type, overwrite ? kPutRecord : kSingleDeleteRecord);
    it->Seek("a");
    EXPECT_EQ(it->Entry().type, kMergeRecord);
    EXPECT_EQ(it->HasOverWrittenSingleDel(), overwrite);
    it->Seek("b");
    EXPECT_FALSE(it->HasOverWrittenSingleDel());
    EXPECT_EQ(batch.GetCFStats().at(0).entry_count, overwrite ? 3u : 5u);
    EXPECT_EQ(batch.GetCFStats().at(0).overwritten_sd_count, overwrite ? 1u : 0u);
    EXPECT_EQ(batch.GetWBWIOpCount(), 5u);
  }
}

TEST_F(WriteBatchWithIndexTest, IteratorsFollowTheBatch) {
  Put("b", "db");
  Put("f", "db");
  WriteBatchWithIndex batch;
  const std::unique_ptr<Iterator> it = Over(&batch);
  it->SeekToFirst();
  EXPECT_EQ(it->key(), "b");
  ASSERT_TRUE(batch.Put("d", "ahead").ok());
  ASSERT_TRUE(batch.Put("a", "behind").ok());
  ASSERT_TRUE(batch.Delete("b").ok());
  EXPECT_EQ(it->key(), "b");
  it->Next();
  EXPECT_EQ(it->key(), "d");
  EXPECT_EQ(it->value(), "ahead");
  // The bytes that were shown stay, however much is added.
  const Slice key = it->key();
  const Slice value = it->value();
  for (int i = 0; i < 1000; i++) ASSERT_TRUE(batch.Put("e" + std::to_string(i), "more").ok());
  ASSERT_TRUE(batch.Put("d", "again").ok());
  EXPECT_EQ(key, "d");
  EXPECT_EQ(value, "ahead");
  ASSERT_TRUE(batch.DeleteRange("e", "f").ok());
  it->Next();
  EXPECT_EQ(it->key(), "f");
  it->Prev();
  EXPECT_EQ(it->value(), "again");
  it->Prev();
  EXPECT_EQ(it->key(), "a");
  it->Prev();
  EXPECT_FALSE(it->Valid());
}

TEST_F(WriteBatchWithIndexTest, ARollbackLosesIterators) {
  WriteBatchWithIndex batch;
  ASSERT_TRUE(batch.Put("a", "1").ok());
  batch.SetSavePoint();
  ASSERT_TRUE(batch.Put("b", "1").ok());
  const std::unique_ptr<Iterator> it = Over(&batch);
  const std::unique_ptr<WBWIIterator> updates(batch.NewIterator());
  it->SeekToLast();
  updates->SeekToLast();
  EXPECT_EQ(it->key(), "b");
  ASSERT_TRUE(batch.RollbackToSavePoint().ok());
  EXPECT_FALSE(it->Valid());
  EXPECT_FALSE(updates->Valid());
  it->Next();
  it->Prev();
  EXPECT_FALSE(it->Valid());
  EXPECT_EQ(All(it.get()), "a=1");
  EXPECT_EQ(Updates(updates.get()), "a=1#1 ");
  batch.Clear();
  EXPECT_FALSE(it->Valid());
  EXPECT_EQ(All(it.get()), "");
  EXPECT_TRUE(batch.RollbackToSavePoint().IsNotFound());
  EXPECT_TRUE(batch.PopSavePoint().IsNotFound());
}

TEST_F(WriteBatchWithIndexTest, UpdatesOfThePlainBatchAreNotSeen) {
  WriteBatchWithIndex batch;
  ASSERT_TRUE(batch.Put("a", "seen").ok());
  ASSERT_TRUE(batch.GetWriteBatch()->Put("a", "not seen").ok());
  ASSERT_TRUE(batch.GetWriteBatch()->Put("b", "not seen").ok());
  ASSERT_TRUE(batch.PutLogData("log").ok());
  EXPECT_EQ(Read(&batch, "a"), "seen");
  EXPECT_EQ(Read(&batch, "b"), "NOT_FOUND");
  ASSERT_TRUE(batch.Put("b", "seen").ok());
  EXPECT_EQ(Read(&batch, "b"), "seen");
  // Nor does it harm that the plain batch is emptied.
  batch.GetWriteBatch()->Clear();
  EXPECT_EQ(Read(&batch, "a"), "NOT_FOUND");
  ASSERT_TRUE(batch.Put("c", "seen").ok());
  EXPECT_EQ(Read(&batch, "c"), "seen");
  EXPECT_EQ(Updates(std::unique_ptr<WBWIIterator>(batch.NewIterator()).get()), "c=seen#1 ");
}

// Strings that take the place of one of so many bytes that was given back.
std::vector<std::string> Squatters(size_t bytes) {
  std::vector<std::string> squatters;
  for (size_t more = 0; more < 64; more += 8) squatters.emplace_back(bytes + more, 'z');
  return squatters;
}

TEST_F(WriteBatchWithIndexTest, IteratorsOutliveMovesOfThePlainBatch) {
  WriteBatchWithIndex batch;
  ASSERT_TRUE(batch.Put("key of the batch", "value of the batch").ok());
  const std::unique_ptr<Iterator> it = Over(&batch);
  const std::unique_ptr<WBWIIterator> updates(batch.NewIterator());
  it->SeekToFirst();
  updates->SeekToFirst();
  const size_t bytes = batch.GetWriteBatch()->Data().capacity();
  ASSERT_TRUE(batch.GetWriteBatch()->Put("later", std::string(5000, 'v')).ok());
  const std::vector<std::string> squatters = Squatters(bytes);
  EXPECT_EQ(it->key(), "key of the batch");
  EXPECT_EQ(it->value(), "value of the batch");
  EXPECT_EQ(updates->Entry().value, "value of the batch");
  it->Prev();
  EXPECT_FALSE(it->Valid());
}

TEST_F(WriteBatchWithIndexTest, IteratorsMayGoAfterTheBatch) {
  Put("db", "1");
  auto batch = std::make_unique<WriteBatchWithIndex>();
  ASSERT_TRUE(batch->Put("a", "1").ok());
  std::unique_ptr<Iterator> it = Over(batch.get());
  std::unique_ptr<WBWIIterator> updates(batch->NewIterator());
  it->SeekToFirst();
  ASSERT_TRUE(batch->Put("b", std::string(1000, 'v')).ok());
  batch.reset();
  // These reuse the memory of the batch.
  std::vector<std::string> squatters;
  for (size_t bytes = 16; bytes < 1200; bytes += 8) squatters.emplace_back(bytes, '\0');
  const std::vector<std::string> before = squatters;
  updates.reset();
  it.reset();
  EXPECT_EQ(squatters, before);
}

TEST_F(WriteBatchWithIndexTest, AWalkEndsWithThePrefixItBeganIn) {
  options_.prefix_extractor.reset(NewFixedPrefixTransform(1));
  Reopen();
  for (const char* key : {"a1", "a3", "b2", "b4", "c1"}) Put(key, "db");
  WriteBatchWithIndex batch;
  for (const char* key : {"a2", "b1", "b5", "c0"}) ASSERT_TRUE(batch.Put(key, "batch").ok());
  ASSERT_TRUE(batch.DeleteRange("b2", "b4").ok());
  const Slice lower = "a2";
  const Slice upper = "c1";
  ReadOptions options;
  options.prefix_same_as_start = true;
  const auto walk = [&](bool forward, const std::string& from) {
    const std::unique_ptr<Iterator> it = Over(&batch, &options);
    forward ? it->Seek(from) : it->SeekForPrev(from);
    std::string keys;
    for (; it->Valid(); forward ? it->Next() : it->Prev()) keys += it->key().ToString() + " ";
    EXPECT_TRUE(it->status().ok());
    return keys;
  };
  EXPECT_EQ(walk(true, "b"), "b1 b4 b5 ");
  EXPECT_EQ(walk(false, "b9"), "b5 b4 b1 ");
  EXPECT_EQ(walk(true, "a2"), "a2 a3 ");
  options.iterate_lower_bound = &lower;
  options.iterate_upper_bound = &upper;
  EXPECT_EQ(walk(true, "a0"), "a2 a3 ");
  EXPECT_EQ(walk(false, "c9"), "c0 ");
  EXPECT_EQ(walk(true, "Z"), "") << "nothing has that prefix";
  EXPECT_EQ(walk(false, "d"), "") << "nor that";
  options.iterate_lower_bound = nullptr;
  options.iterate_upper_bound = nullptr;
  const std::unique_ptr<Iterator> it = Over(&batch, &options);
  it->SeekToFirst();
  EXPECT_EQ(Rest(it.get()), "a1=db a2=batch a3=db");
}

TEST_F(WriteBatchWithIndexTest, BatchesMove) {
  WriteBatchWithIndex from;
  ASSERT_TRUE(from.Put("a", "1").ok());
  std::unique_ptr<WBWIIterator> it(from.NewIterator());
  it->SeekToFirst();
  WriteBatchWithIndex to(std::move(from));
  EXPECT_EQ(it->Entry().value, "1");
  it.reset();
  EXPECT_EQ(Read(&to, "a"), "1");
  from = WriteBatchWithIndex();
  EXPECT_EQ(Read(&from, "a"), "NOT_FOUND");
}

TEST_F(WriteBatchWithIndexTest, LimitsLeaveTheBatchAsItWas) {
  WriteBatchWithIndex batch(BytewiseComparator(), 0, false, /*max_bytes=*/100);
  ASSERT_TRUE(batch.Put("a", std::string(50, 'v')).ok());
  const size_t size = batch.GetDataSize();
  EXPECT_TRUE(batch.Put("b", std::string(50, 'v')).IsMemoryLimit());
  EXPECT_EQ(batch.GetDataSize(), size);
  EXPECT_EQ(Read(&batch, "b"), "NOT_FOUND");
  batch.SetMaxBytes(0);
  ASSERT_TRUE(batch.Put("b", std::string(50, 'v')).ok());
  EXPECT_EQ(Read(&batch, "b").size(), 50u);
  // Beyond 4 GiB nothing is copied: there are no such bytes.
  ASSERT_TRUE(batch.Put("c", std::string(100'000, 'v')).ok());
  const char byte = 'v';
  const Slice enormous(&byte, kWriteBytesMax - 1);
  EXPECT_TRUE(batch.Put("d", enormous).IsMemoryLimit());
  const std::unique_ptr<Iterator> it = Over(&batch);
  EXPECT_TRUE(batch.Put("d", enormous).IsMemoryLimit());
  EXPECT_TRUE(batch.Put("d", Slice(&byte, SIZE_MAX / 2)).IsInvalidArgument());
}

TEST_F(WriteBatchWithIndexTest, BadArgumentsAreRefused) {
  WriteBatchWithIndex batch(nullptr, 0, true, 0, /*protection_bytes_per_key=*/8);
  ASSERT_TRUE(batch.Put("a", "1").ok());
  std::string value;
  PinnableSlice pinned;
  EXPECT_TRUE(batch.GetFromBatchAndDB(nullptr, ReadOptions(), "a", &value).IsInvalidArgument());
  EXPECT_TRUE(batch
                  .GetFromBatchAndDB(db(), ReadOptions(), Default(), "a",
                                     static_cast<PinnableSlice*>(nullptr))
                  .IsInvalidArgument());
  EXPECT_TRUE(batch.GetFromBatch(DBOptions(), "a", nullptr).IsInvalidArgument());
  EXPECT_TRUE(batch.GetFromBatchAndDB(db(), ReadOptions(), "a", static_cast<std::string*>(nullptr))
                  .IsInvalidArgument());
  EXPECT_TRUE(batch.Put(Default(), "k", "timestamp", "v").IsInvalidArgument());
  EXPECT_TRUE(batch.DeleteRange(Default(), "k", "l", "timestamp").IsInvalidArgument());
  const std::unique_ptr<Iterator> it(batch.NewIteratorWithBase(Default(), nullptr));
  EXPECT_TRUE(it->status().IsInvalidArgument());
  Status statuses[2];
  PinnableSlice values[2];
  const Slice keys[2] = {"a", "b"};
  batch.MultiGetFromBatchAndDB(nullptr, ReadOptions(), nullptr, 2, keys, values, statuses, true);
  EXPECT_TRUE(statuses[0].IsInvalidArgument() && statuses[1].IsInvalidArgument());
  batch.MultiGetFromBatchAndDB(db(), ReadOptions(), nullptr, 0, nullptr, nullptr, nullptr, true);
  batch.MultiGetFromBatchAndDB(db(), ReadOptions(), nullptr, 2, keys, values, statuses, true);
  EXPECT_TRUE(statuses[0].ok() && statuses[1].IsNotFound());
  EXPECT_EQ(values[0], "1");
  EXPECT_TRUE(batch.GetWriteBatch()->VerifyChecksum().ok());
}

TEST_F(WriteBatchWithIndexTest, AnErrorOfTheBaseIsTheIterators) {
  WriteBatchWithIndex batch;
  ASSERT_TRUE(batch.Put("a", "1").ok());
  const std::unique_ptr<Iterator> it(
      batch.NewIteratorWithBase(NewErrorIterator(Status::Corruption("base"))));
  it->SeekToFirst();
  EXPECT_FALSE(it->Valid());
  EXPECT_TRUE(it->status().IsCorruption());
  it->SeekToLast();
  EXPECT_FALSE(it->Valid());
}

TEST_F(WriteBatchWithIndexTest, AnExternalBufferIsFilled) {
  Put("db", "from the database");
  WriteBatchWithIndex batch;
  ASSERT_TRUE(batch.Put("a", "from the batch").ok());
  std::string one = "something";
  std::string two = "else";
  std::vector<PinnableSlice> values;
  values.emplace_back(&one);
  values.emplace_back(&two);
  const Slice keys[2] = {"a", "db"};
  Status statuses[2];
  batch.MultiGetFromBatchAndDB(db(), ReadOptions(), Default(), 2, keys, values.data(), statuses,
                               true);
  EXPECT_EQ(one, "from the batch");
  EXPECT_EQ(values[1], "from the database");
}

class TimedBatchTest : public Database {
 protected:
  static std::string Stamp(uint64_t time) {
    std::string bytes(8, '\0');
    for (size_t i = 0; i < 8; i++) bytes[i] = static_cast<char>(time >> (8 * i));
    return bytes;
  }
};

TEST_F(TimedBatchTest, KeysAreWithoutTimestamps) {
  options_.create_if_missing = true;
  options_.comparator = BytewiseComparatorWithU64Ts();
  Open();
  ASSERT_TRUE(db()->Put(WriteOptions(), "b", Stamp(1), "db").ok());
  ASSERT_TRUE(db()->Put(WriteOptions(), "c", Stamp(1), "db").ok());
  WriteBatchWithIndex batch(BytewiseComparatorWithU64Ts());
  ASSERT_TRUE(batch.Put("a", "later").ok());
  ASSERT_TRUE(batch.Put(Handle("default"), "b", Stamp(5), "given").ok());
  ASSERT_TRUE(batch.Put("b", "over it").ok());
  ASSERT_TRUE(batch.DeleteRange("c", "d").ok());
  std::string value;
  EXPECT_TRUE(batch.GetFromBatchAndDB(db(), ReadOptions(), "a", &value).IsInvalidArgument());
  const std::string now = Stamp(2);
  const Slice as_of = now;
  ReadOptions read;
  read.timestamp = &as_of;
  ASSERT_TRUE(batch.GetFromBatchAndDB(db(), read, "b", &value).ok());
  EXPECT_EQ(value, "over it");
  EXPECT_TRUE(batch.GetFromBatchAndDB(db(), read, "c", &value).IsNotFound());
  const auto check = [&] {
    const std::unique_ptr<Iterator> it(
        batch.NewIteratorWithBase(Handle("default"), db()->NewIterator(read), &read));
    it->SeekToFirst();
    EXPECT_EQ(it->timestamp(), "");
    EXPECT_EQ(Rest(it.get()), "a=later b=over it");
    const std::unique_ptr<WBWIIterator> updates(batch.NewIterator());
    updates->SeekToFirst();
    EXPECT_EQ(updates->Entry().key, "a");
  };
  check();
  const auto size_of = [](uint32_t) { return size_t{8}; };
  ASSERT_TRUE(batch.GetWriteBatch()->UpdateTimestamps(Stamp(9), size_of).ok());
  check();
  ASSERT_TRUE(db()->Write(WriteOptions(), batch.GetWriteBatch()).ok());
  const std::string later = Stamp(9);
  const Slice as_of_later = later;
  read.timestamp = &as_of_later;
  EXPECT_EQ(Scan(read), "a=later b=over it");
}

// Bytewise, and forty bytes of timestamp.
class LongStamps final : public Comparator {
 public:
  static constexpr size_t kBytes = 40;

  LongStamps() : Comparator(kBytes) {}
  const char* Name() const override { return "test.LongStamps"; }
  int Compare(const Slice& a, const Slice& b) const override {
    const int order = CompareWithoutTimestamp(a, true, b, true);
    return order != 0 ? order : -CompareTimestamp(TimestampOf(a), TimestampOf(b));
  }
  int CompareTimestamp(const Slice& a, const Slice& b) const override { return a.compare(b); }
  using Comparator::CompareWithoutTimestamp;
  int CompareWithoutTimestamp(const Slice& a, bool a_has_ts, const Slice& b,
                              bool b_has_ts) const override {
    return KeyOf(a, a_has_ts).compare(KeyOf(b, b_has_ts));
  }
  void FindShortestSeparator(std::string* /*start*/, const Slice& /*limit*/) const override {}
  void FindShortSuccessor(std::string* /*key*/) const override {}

 private:
  static Slice KeyOf(const Slice& key, bool has_timestamp) {
    return Slice(key.data(), key.size() - (has_timestamp ? kBytes : 0));
  }
  static Slice TimestampOf(const Slice& key) {
    return Slice(key.data() + key.size() - kBytes, kBytes);
  }
};

// The room for timestamps that are set later counts, too.
TEST_F(TimedBatchTest, WhatWasShownStays) {
  const LongStamps order;
  // The batch is as full as it can be before an update makes its bytes move.
  for (size_t left = 100; left < 240; left += 4) {
    WriteBatchWithIndex batch(&order, /*reserved_bytes=*/4096);
    ASSERT_TRUE(batch.Put("a", "shown").ok());
    const std::unique_ptr<WBWIIterator> updates(batch.NewIterator());
    updates->SeekToFirst();
    const Slice value = updates->Entry().value;
    const std::string& bytes = batch.GetWriteBatch()->Data();
    ASSERT_TRUE(batch.Put("b", std::string(bytes.capacity() - bytes.size() - left, 'v')).ok());
    const size_t capacity = bytes.capacity();
    ASSERT_TRUE(batch.DeleteRange("c", "d").ok());
    const std::vector<std::string> squatters(3, std::string(capacity, 'z'));
    EXPECT_EQ(value, "shown") << left;
  }
}

// A family is read with a handle after it was written without one, in another order.
TEST_F(TimedBatchTest, TheHandlesOrderCounts) {
  options_.create_if_missing = true;
  options_.comparator = ReverseBytewiseComparator();
  Open();
  WriteBatchWithIndex batch;
  for (const char* key : {"b", "a", "c"}) ASSERT_TRUE(batch.Put(key, key).ok());
  const std::unique_ptr<WBWIIterator> before(batch.NewIterator());
  before->SeekToFirst();
  EXPECT_EQ(before->Entry().key, "a");
  const std::unique_ptr<Iterator> it(
      batch.NewIteratorWithBase(Handle("default"), db()->NewIterator(ReadOptions())));
  it->SeekToFirst();
  EXPECT_EQ(Rest(it.get()), "c=c b=b a=a");
  EXPECT_EQ(before->Entry().key, "a");
}

}  // namespace
}  // namespace varve::testing
