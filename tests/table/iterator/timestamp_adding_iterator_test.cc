// SPDX-License-Identifier: Apache-2.0

// Tests an iterator that adds timestamps to keys without them.

#include "table/iterator/timestamp_adding_iterator.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "tests/table/table_harness.h"

namespace varve::test {
namespace {

// All entries of "a", "b" (of which there are three) and "c" count as written at time 0.
class TimestampAddingIteratorTest : public ::testing::Test {
 protected:
  void SetUp() override {
    BlockTableBuildOptions build;
    build.icmp = &table_.icmp;
    BuiltTable built(build);
    built.builder->Add(IKey("a", 5), "a5");
    for (const SequenceNumber seq : {9, 8, 7}) built.builder->Add(IKey("b", seq), "b");
    built.builder->Add(IKey("c", 6), "c6");
    ASSERT_TRUE(built.Finish().ok());
    ASSERT_TRUE(table_.Open(built.file).ok());
    it_ = NewTimestampAddingIterator(table_.reader->NewIterator(read_, TableIterOptions()),
                                     &with_timestamp_);
  }

  static std::string At(const std::string& key, uint64_t timestamp, SequenceNumber seq,
                        ValueType type = kTypeValue) {
    std::string user_key = key;
    PutFixed64(&user_key, timestamp);
    return IKey(user_key, seq, type);
  }
  std::string KeyThere() const { return it_->Valid() ? it_->key().ToString() : "none"; }

  OpenTable table_;
  const ReadOptions read_{};  // outlives the iterator
  const InternalKeyComparator with_timestamp_{BytewiseComparatorWithU64Ts()};
  std::unique_ptr<InternalIterator> it_;
};

TEST_F(TimestampAddingIteratorTest, AllKeysAreOfTheOldestTime) {
  std::string keys;
  for (it_->SeekToFirst(); it_->Valid(); it_->Next()) keys += it_->key().ToString();
  EXPECT_EQ(keys, At("a", 0, 5) + At("b", 0, 9) + At("b", 0, 8) + At("b", 0, 7) + At("c", 0, 6));
  it_->SeekToLast();
  EXPECT_EQ(KeyThere(), At("c", 0, 6));
}

TEST_F(TimestampAddingIteratorTest, ANewerTimeComesBeforeAllEntriesOfItsKey) {
  it_->Seek(At("b", 100, 7));  // whatever the sequence number
  EXPECT_EQ(KeyThere(), At("b", 0, 9));
  it_->SeekForPrev(At("b", 100, 7));
  EXPECT_EQ(KeyThere(), At("a", 0, 5));
}

TEST_F(TimestampAddingIteratorTest, AtTheOldestTimeSequenceNumbersDecide) {
  it_->Seek(At("b", 0, 8));
  EXPECT_EQ(KeyThere(), At("b", 0, 8));
  it_->SeekForPrev(At("b", 0, 8));
  EXPECT_EQ(KeyThere(), At("b", 0, 8));
  it_->Prev();
  EXPECT_EQ(KeyThere(), At("b", 0, 9));
}

}  // namespace
}  // namespace varve::test
