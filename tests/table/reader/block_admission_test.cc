// SPDX-License-Identifier: Apache-2.0

// Tests which blocks enter a full cache: of a file whose pages the operating system caches, those
// that are missed for the second time.

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "table/reader/probe_batch.h"
#include "tests/table/table_harness.h"

namespace varve::test {
namespace {

constexpr int kKeys = 60;
constexpr size_t kValueBytes = 2000;  // each value has a block of its own, and is pinned
constexpr size_t kRoom = 20;          // blocks that the cache has room for, at most

std::string KeyOf(int i) {
  return "k" + std::to_string(1000 + i);
}
std::string ValueOf(int i) {
  return std::string(kValueBytes, static_cast<char>('a' + i % 26));
}

class BlockAdmission : public ::testing::Test {
 protected:
  void Open(bool page_cached, bool strict = false) {
    BlockTableBuildOptions build;
    build.icmp = &table_.icmp;
    build.table.block_size = kValueBytes;
    BuiltTable built(build);
    ASSERT_TRUE(built.create_status.ok());
    for (int i = 0; i < kKeys; i++) built.builder->Add(IKey(KeyOf(i), 5), ValueOf(i));
    ASSERT_TRUE(built.Finish().ok());
    table_.file_options.page_cached = page_cached;
    cache_ = NewLRUCache(kRoom * (kValueBytes + 300), 0, strict);
    table_.options.table.block_cache = cache_;
    ASSERT_TRUE(table_.Open(built.file).ok());
  }
  // Reads a key, and returns the number of reads of the file that it took.
  size_t ReadsToGet(int i) {
    const size_t before = *table_.reads;
    std::string value;
    EXPECT_EQ(table_.Get(KeyOf(i), 9, &value), PointLookup::State::kFound);
    EXPECT_EQ(value, ValueOf(i));
    return *table_.reads - before;
  }
  // Reads the first keys, until the cache is full.
  void FillCache() {
    for (int i = 0; i < static_cast<int>(kRoom); i++) EXPECT_EQ(ReadsToGet(i), 1u);
    EXPECT_GT(cache_->GetOccupancyCount(), kRoom / 2);
  }

  OpenTable table_;
  std::shared_ptr<Cache> cache_;
};

TEST_F(BlockAdmission, AFullCacheTakesABlockAtItsSecondMiss) {
  Open(/*page_cached=*/true);
  FillCache();
  const size_t entries = cache_->GetOccupancyCount();
  EXPECT_EQ(ReadsToGet(30), 1u);
  EXPECT_EQ(cache_->GetOccupancyCount(), entries);
  EXPECT_EQ(ReadsToGet(30), 1u);
  EXPECT_EQ(ReadsToGet(30), 0u);
}

TEST_F(BlockAdmission, ABlockIsCachedAtOnceWhereThereIsRoom) {
  Open(/*page_cached=*/true);
  EXPECT_EQ(ReadsToGet(30), 1u);
  EXPECT_EQ(ReadsToGet(30), 0u);
  FillCache();
  cache_->SetCapacity(2 * kRoom * kValueBytes);
  EXPECT_EQ(ReadsToGet(31), 1u);
  EXPECT_EQ(ReadsToGet(31), 0u);
}

TEST_F(BlockAdmission, ABlockThatCostsATransferIsCachedAtOnce) {
  Open(/*page_cached=*/false);
  FillCache();
  EXPECT_EQ(ReadsToGet(30), 1u);
  EXPECT_EQ(ReadsToGet(30), 0u);
}

TEST_F(BlockAdmission, AStrictCacheTakesABlockAtOnce) {
  Open(/*page_cached=*/true, /*strict=*/true);
  FillCache();
  EXPECT_EQ(ReadsToGet(30), 1u);
  EXPECT_EQ(ReadsToGet(30), 0u);
}

TEST_F(BlockAdmission, AScanLeavesWhatIsUsedInTheCache) {
  Open(/*page_cached=*/true);
  constexpr int kUsed = 5;
  for (int i = 0; i < kUsed; i++) EXPECT_EQ(ReadsToGet(i), 1u);
  for (int i = 0; i < kUsed; i++) EXPECT_EQ(ReadsToGet(i), 0u);
  Entries entries;
  ASSERT_TRUE(table_.ReadAll(&entries).ok());
  ASSERT_EQ(entries.size(), static_cast<size_t>(kKeys));
  for (int i = 0; i < kKeys; i++) EXPECT_EQ(entries[static_cast<size_t>(i)].second, ValueOf(i));
  for (int i = 0; i < kUsed; i++) EXPECT_EQ(ReadsToGet(i), 0u);
}

TEST_F(BlockAdmission, AValueOfABlockThatIsNotCachedOutlivesTable) {
  Open(/*page_cached=*/true);
  FillCache();
  PinnableSlice one;
  PointLookup lookup(KeyOf(40), 9, &one);
  ASSERT_TRUE(table_.reader->Get(ReadOptions(), &lookup).ok());
  constexpr int kFirst = 45;
  constexpr size_t kBatch = 4;
  PinnableSlice several[kBatch];
  std::vector<std::unique_ptr<PointLookup>> lookups;
  std::vector<std::string> keys;
  for (size_t i = 0; i < kBatch; i++) keys.push_back(KeyOf(kFirst + static_cast<int>(i)));
  std::vector<TableProbe> probes;
  for (size_t i = 0; i < kBatch; i++) {
    lookups.push_back(std::make_unique<PointLookup>(keys[i], 9, &several[i]));
    probes.push_back({table_.reader.get(), lookups.back().get()});
  }
  MultiGetFromTables(ReadOptions(), probes);
  table_.reader.reset();
  cache_->EraseUnRefEntries();
  EXPECT_EQ(one.ToString(), ValueOf(40));
  for (size_t i = 0; i < kBatch; i++) {
    EXPECT_EQ(several[i].ToString(), ValueOf(kFirst + static_cast<int>(i)));
  }
}

}  // namespace
}  // namespace varve::test
