// SPDX-License-Identifier: Apache-2.0

// What a batch is refused for before it is logged, and what it puts into memtables.

#include "db/write/batch_inserter.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <set>
#include <string>

#include "varve/comparator.h"
#include "varve/write_batch.h"

#include "db/write/write_batch_internal.h"

namespace varve {
namespace {

class Families : public MemTableResolver {
 public:
  Families() {
    for (const uint32_t id : {0u, 3u}) {
      const Comparator* comparator = id == 0 ? BytewiseComparator() : ReverseBytewiseComparator();
      comparators_[id] = comparator;
      tables_[id] =
          std::make_unique<MemTable>(InternalKeyComparator(comparator), MemTableOptions(), id);
    }
  }
  MemTable* Find(uint32_t id) override {
    const auto it = tables_.find(id);
    return it == tables_.end() ? nullptr : it->second.get();
  }
  const Comparator* ComparatorOf(uint32_t id) override {
    const auto it = comparators_.find(id);
    return it == comparators_.end() ? nullptr : it->second;
  }
  bool IsAlreadyInTables(uint32_t id) override { return flushed.count(id) != 0; }

  std::set<uint32_t> flushed;

 private:
  std::map<uint32_t, const Comparator*> comparators_;
  std::map<uint32_t, std::unique_ptr<MemTable>> tables_;
};

class BatchInserterTest : public testing::Test {
 protected:
  static Status Add(WriteBatch* batch, ValueType type, uint32_t family, const Slice& key,
                    const Slice& value = Slice()) {
    return WriteBatchInternal::AddRecord(batch, type, family, SliceParts(&key, 1),
                                         SliceParts(&value, 1));
  }
  Status Check(const WriteBatch& batch, bool ignore_missing = false) {
    return CheckBatch(batch.Data(), &families_, {ignore_missing});
  }
  std::string Get(uint32_t family, const Slice& key) {
    PinnableSlice value;
    PointLookup lookup(key, kMaxSequenceNumber, &value);
    if (!families_.Find(family)->Get(&lookup)) return "(unknown)";
    if (lookup.state() != PointLookup::State::kFound) return "(deleted)";
    return value.ToString() + "@" + std::to_string(lookup.found_seq());
  }

  Families families_;
};

TEST_F(BatchInserterTest, ChecksRefuseWhatCouldNotBeInserted) {
  WriteBatch unknown;
  ASSERT_TRUE(Add(&unknown, kTypeValue, 7, "k", "v").ok());
  EXPECT_TRUE(Check(unknown).IsInvalidArgument());
  EXPECT_TRUE(Check(unknown, true).ok());

  WriteBatch reversed;
  ASSERT_TRUE(reversed.DeleteRange("b", "a").ok());
  EXPECT_TRUE(Check(reversed).IsInvalidArgument());
  WriteBatch equal;
  ASSERT_TRUE(equal.DeleteRange("b", "b").ok());
  EXPECT_TRUE(Check(equal).ok());
  WriteBatch descending;  // in order for that family's comparator
  ASSERT_TRUE(Add(&descending, kTypeRangeDeletion, 3, "b", "a").ok());
  EXPECT_TRUE(Check(descending).ok());

  WriteBatch merge;
  ASSERT_TRUE(merge.Put("a", "1").ok());
  ASSERT_TRUE(merge.Merge("k", "v").ok());
  const Status s = Check(merge);
  EXPECT_TRUE(s.IsInvalidArgument());
  EXPECT_NE(s.ToString().find("merge_operator"), std::string::npos);

  EXPECT_TRUE(Check(WriteBatch()).ok());
}

TEST_F(BatchInserterTest, ChecksRefuseForeignRecordsByName) {
  const std::string header(8, '\0');
  const struct {
    std::string records;
    char count;
    const char* name;
  } cases[] = {
      {std::string("\x16\x01k\x01v", 5), 1, "PutEntity"},
      {std::string("\x11\x01k\x01v", 5), 1, "blob"},
      {std::string("\x18\x01k\x01v", 5), 1, "TimedPut"},
      {std::string("\x09", 1), 0, "allow_2pc"},
      {std::string("\x0b\x01x", 3), 0, "allow_2pc"},
  };
  for (const auto& c : cases) {
    const WriteBatch batch(header + c.count + std::string(3, '\0') + c.records);
    const Status s = Check(batch);
    EXPECT_TRUE(s.IsNotSupported()) << s.ToString();
    EXPECT_NE(s.ToString().find(c.name), std::string::npos) << s.ToString();
    BatchInsertResult result;
    EXPECT_TRUE(InsertBatch(batch.Data(), 1, &families_, &result).IsNotSupported());
  }
  const WriteBatch wrong_count(header + std::string("\x02\0\0\0\x00\x01k", 7));
  EXPECT_TRUE(Check(wrong_count).IsCorruption());
  const WriteBatch one_shot(header + std::string("\x01\0\0\0\x0d\x00\x01k", 8));
  EXPECT_TRUE(Check(one_shot).ok());
}

TEST_F(BatchInserterTest, EachUpdateGetsTheNextSequence) {
  WriteBatch batch;
  ASSERT_TRUE(batch.Put("a", "1").ok());
  ASSERT_TRUE(batch.PutLogData("takes none").ok());
  ASSERT_TRUE(Add(&batch, kTypeValue, 9, "lost", "but counted").ok());
  ASSERT_TRUE(Add(&batch, kTypeValue, 3, "a", "2").ok());
  ASSERT_TRUE(batch.Put("b", "3").ok());
  ASSERT_TRUE(batch.Delete("b").ok());
  ASSERT_TRUE(batch.DeleteRange("c", "d").ok());
  BatchInsertResult result;
  ASSERT_TRUE(InsertBatch(batch.Data(), 100, &families_, &result).ok());
  EXPECT_EQ(result.next_sequence, 106u);
  EXPECT_EQ(result.inserted, 5u);
  EXPECT_EQ(Get(0, "a"), "1@100");
  EXPECT_EQ(Get(3, "a"), "2@102");
  EXPECT_EQ(Get(0, "b"), "(deleted)");
  EXPECT_EQ(Get(0, "c"), "(deleted)");
  EXPECT_EQ(families_.Find(0)->RangeTombstones()->max_seq(), 105u);
}

TEST_F(BatchInserterTest, LongBatchesOfSeveralFamiliesAreInsertedWhole) {
  WriteBatch batch;
  for (int i = 0; i < 500; i++) {
    // Runs of 1 to 50 in one family.
    const uint32_t family = i % 51 < i / 10 ? 0 : 3;
    ASSERT_TRUE(Add(&batch, kTypeValue, family, "k" + std::to_string(i), "v").ok());
  }
  BatchInsertResult result;
  ASSERT_TRUE(InsertBatch(batch.Data(), 1000, &families_, &result).ok());
  EXPECT_EQ(result.next_sequence, 1500u);
  EXPECT_EQ(result.inserted, 500u);
  for (int i = 0; i < 500; i++) {
    const uint32_t family = i % 51 < i / 10 ? 0 : 3;
    const std::string key = "k" + std::to_string(i);
    ASSERT_EQ(Get(family, key), "v@" + std::to_string(1000 + i));
    ASSERT_EQ(Get(3 - family, key), "(unknown)");
  }
}

TEST_F(BatchInserterTest, EntriesOfSeveralBatchesWaitForFlush) {
  WriteBatch first;
  ASSERT_TRUE(first.Put("a", "1").ok());
  WriteBatch second;
  ASSERT_TRUE(second.Put("b", "2").ok());
  BatchInserter inserter(&families_);
  SequenceNumber next = 0;
  ASSERT_TRUE(inserter.Insert(first.Data(), 10, &next).ok());
  EXPECT_EQ(next, 11u);
  ASSERT_TRUE(inserter.Insert(second.Data(), 11, &next).ok());
  EXPECT_EQ(next, 12u);
  EXPECT_EQ(inserter.inserted(), 0u);
  ASSERT_TRUE(inserter.Flush().ok());
  EXPECT_EQ(inserter.inserted(), 2u);
  EXPECT_EQ(Get(0, "a"), "1@10");
  EXPECT_EQ(Get(0, "b"), "2@11");
}

TEST_F(BatchInserterTest, UpdatesThatAreInTablesAreSkippedButCounted) {
  families_.flushed = {0};
  WriteBatch batch;
  ASSERT_TRUE(batch.Put("a", "1").ok());
  ASSERT_TRUE(Add(&batch, kTypeValue, 3, "a", "2").ok());
  BatchInsertResult result;
  ASSERT_TRUE(InsertBatch(batch.Data(), 100, &families_, &result).ok());
  EXPECT_EQ(result.next_sequence, 102u);
  EXPECT_EQ(Get(0, "a"), "(unknown)");
  EXPECT_EQ(Get(3, "a"), "2@101");
}

}  // namespace
}  // namespace varve
