// SPDX-License-Identifier: Apache-2.0

// Goal: the options of a family for memtables reach them, and the dynamic ones reach the next
// memtable. Method: a filter, large blocks and a sort show in a memtable's size.

#include <gmock/gmock.h>

#include "varve/memtablerep.h"
#include "varve/slice_transform.h"

#include "tests/harness/database.h"

namespace varve::testing {
namespace {

class MemTableOptionsTest : public Database {
 protected:
  MemTableOptionsTest() { options_.write_buffer_size = 8 << 20; }
  void Set(const std::string& name, const std::string& value) {
    const Status s = db()->SetOptions({{name, value}});
    ASSERT_TRUE(s.ok()) << s.ToString();
  }
  // Returns the size of a new memtable with a few blocks of data.
  uint64_t Size() {
    Put("first", "v");
    Flush();
    for (int i = 0; i < 1000; i++) Put(std::to_string(i), std::string(100, 'v'));
    return Number("rocksdb.cur-size-active-mem-table");
  }
};

TEST_F(MemTableOptionsTest, TheFilterIsAsLargeAsAskedAndOnlyWhereItHasKeys) {
  constexpr uint64_t kQuarter = 2 << 20;
  Open();
  const uint64_t plain = Size();
  EXPECT_LT(plain, kQuarter);
  Set("memtable_prefix_bloom_size_ratio", "0.25");
  EXPECT_LT(Size(), kQuarter) << "neither prefixes nor whole keys";
  Set("memtable_whole_key_filtering", "true");
  EXPECT_GE(Size(), plain + kQuarter / 2);
  EXPECT_EQ(Get("500"), std::string(100, 'v'));
  EXPECT_EQ(Get("absent"), "NOT_FOUND");
  Set("memtable_prefix_bloom_size_ratio", "0");
  EXPECT_LT(Size(), kQuarter);
  ASSERT_TRUE(Close().ok());
  options_.memtable_prefix_bloom_size_ratio = 0.25;
  options_.prefix_extractor.reset(NewFixedPrefixTransform(1));
  Open();
  EXPECT_GE(Size(), plain + kQuarter / 2);
  EXPECT_EQ(Get("500"), std::string(100, 'v'));
}

TEST_F(MemTableOptionsTest, AMemtableKeepsTheExtractorThatItsFilterIsOf) {
  options_.memtable_prefix_bloom_size_ratio = 0.1;
  options_.prefix_extractor.reset(NewFixedPrefixTransform(3));
  Open();
  Put("one1", "v");
  options_.prefix_extractor.reset();
  Set("prefix_extractor", "capped:2");
  Put("one2", "w");
  EXPECT_EQ(Get("one1"), "v");
  EXPECT_EQ(Get("one2"), "w");
  EXPECT_EQ(Get("two"), "NOT_FOUND");
}

TEST_F(MemTableOptionsTest, BlocksAreAsLargeAsAsked) {
  options_.arena_block_size = 1 << 20;
  Open();
  const uint64_t large = Size();
  Set("arena_block_size", "4096");
  EXPECT_LT(Size(), large);
}

// A single batch may be many times a memtable's size, and a log is replayed into a memtable of the
// same kind.
TEST_F(MemTableOptionsTest, BlocksOfAnySizeHoldAnyBatch) {
  options_.write_buffer_size = 64 << 10;
  options_.arena_block_size = 4096;
  Open();
  const std::string value(4 << 10, 'v');
  WriteBatch batch;
  for (int i = 0; i < 4864; i++) ASSERT_TRUE(batch.Put(std::to_string(i), value).ok());
  ASSERT_TRUE(db()->Write(WriteOptions(), &batch).ok());
  EXPECT_EQ(Get("4863"), value);
  ASSERT_TRUE(Close().ok());
  Open();
  EXPECT_EQ(Get("0"), value);
  EXPECT_EQ(Get("4863"), value);
}

TEST_F(MemTableOptionsTest, WhatIsNotGivenOutYetIsNotCounted) {
  Open();
  Put("a", "1");
  Put("b", "2");
  const uint64_t few = Number("rocksdb.cur-size-all-mem-tables");
  EXPECT_LT(few, 12u << 10);
  Put("c", std::string(1000, 'v'));
  EXPECT_GE(Number("rocksdb.cur-size-all-mem-tables"), few + 1000);
  EXPECT_LT(Number("rocksdb.size-all-mem-tables"), few + 2000);
}

// The vector's memory grows when it is sorted, and not before.
TEST_F(MemTableOptionsTest, AVectorIsSortedByTheFirstReadOnly) {
  options_.memtable_factory = std::make_shared<VectorRepFactory>();
  Open();
  const auto size = [&] { return Number("rocksdb.cur-size-active-mem-table"); };
  for (int i = 0; i < 3000; i++) Put(std::to_string(i * 7919 % 3000), "v");
  const uint64_t unsorted = size();
  EXPECT_EQ(Get("7"), "v");
  const uint64_t sorted = size();
  EXPECT_GE(sorted, unsorted + uint64_t{3000} * 12);
  EXPECT_EQ(Get("8"), "v");
  EXPECT_EQ(size(), sorted);
}

// A replay sorts its memtable for the table it writes; the open database's memtable is a skip list,
// which a read does not make grow.
TEST_F(MemTableOptionsTest, OnlyReplayFillsAVectorUnasked) {
  Open();
  for (int i = 0; i < 3000; i++) Put(std::to_string(i * 7919 % 3000), std::to_string(i));
  for (int i = 0; i < 100; i++) Put(std::to_string(i * 7), "new");
  Delete("28");
  ASSERT_TRUE(db()->DeleteRange(WriteOptions(), db()->DefaultColumnFamily(), "21", "22").ok());
  const std::string before = Scan();
  Kill();
  Open();
  EXPECT_EQ(Levels(), "1");
  EXPECT_EQ(Scan(), before);
  const auto size = [&] { return Number("rocksdb.cur-size-active-mem-table"); };
  for (int i = 0; i < 3000; i++) Put("more" + std::to_string(i * 7919 % 3000), "m");
  const uint64_t unread = size();
  EXPECT_EQ(Get("more7"), "m");
  EXPECT_EQ(Get("14"), "new");
  EXPECT_EQ(size(), unread);
}

TEST_F(MemTableOptionsTest, AVectorAnswersWhateverASkipListDoes) {
  options_.memtable_factory = std::make_shared<VectorRepFactory>(100);
  Open();
  Put("m", "1");
  Put("c", "2");
  const Snapshot* const snapshot = db()->GetSnapshot();
  const std::unique_ptr<Iterator> it(db()->NewIterator(ReadOptions()));
  it->SeekToFirst();
  EXPECT_EQ(Rest(it.get()), "c=2 m=1");
  Put("a", "3");
  Put("m", "4");
  Delete("c");
  EXPECT_EQ(Scan(), "a=3 m=4");
  EXPECT_EQ(Get("m", "default", snapshot), "1");
  EXPECT_EQ(Get("c", "default", snapshot), "2");
  it->SeekToFirst();
  EXPECT_EQ(Rest(it.get()), "c=2 m=1");
  ASSERT_TRUE(it->Refresh().ok());
  it->SeekToFirst();
  EXPECT_EQ(Rest(it.get()), "a=3 m=4") << "after Refresh";
  ASSERT_TRUE(db()->DeleteRange(WriteOptions(), db()->DefaultColumnFamily(), "a", "b").ok());
  EXPECT_EQ(Scan(), "m=4");
  db()->ReleaseSnapshot(snapshot);
  Flush();
  EXPECT_EQ(Scan(), "m=4");
  Put("z", "5");
  Put("b", "6");
  Kill();
  Open();
  EXPECT_EQ(Scan(), "b=6 m=4 z=5") << "from the log";
}

TEST_F(MemTableOptionsTest, AVectorIsInTheOptionsFileAndMayBecomeASkipListAgain) {
  options_.memtable_factory = std::make_shared<VectorRepFactory>();
  Open();
  Put("b", "1");
  Put("a", "2");
  const std::vector<std::string> files = Files(kOptionsFile);
  ASSERT_FALSE(files.empty());
  EXPECT_THAT(ReadFile(std::string(kName) + "/" + files.back()),
              ::testing::HasSubstr("memtable_factory=VectorRepFactory"));
  ASSERT_TRUE(Close().ok());
  options_.memtable_factory = std::make_shared<SkipListFactory>();
  Open();
  EXPECT_EQ(Scan(), "a=2 b=1");
}

}  // namespace
}  // namespace varve::testing
