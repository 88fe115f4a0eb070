// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "varve/cache.h"
#include "varve/filter_policy.h"
#include "varve/statistics.h"

#include "table/reader/probe_batch.h"
#include "tests/table/table_harness.h"
#include "util/mem/bounded_array.h"

namespace varve::test {
namespace {

// A table of key0000, key0002 ... whose blocks hold one entry of 1,000 bytes or a little more.
class TableMultiGetTest : public ::testing::Test {
 protected:
  static constexpr size_t kEntries = 400;

  static std::string Key(size_t i) {
    std::string digits = std::to_string(i);
    return "key" + std::string(4 - digits.size(), '0') + digits;
  }
  static std::string Value(size_t i) { return Key(i) + std::string(1000, 'v'); }

  void SetUp() override {
    BlockTableBuildOptions build;
    build.icmp = &table_.icmp;
    build.table.block_size = 1000;
    build.table.filter_policy.reset(NewBloomFilterPolicy(10));
    BuiltTable built(build);
    ASSERT_TRUE(built.create_status.ok());
    for (size_t i = 0; i < kEntries; i++) built.builder->Add(IKey(Key(2 * i), 1), Value(2 * i));
    ASSERT_TRUE(built.Finish().ok());
    content_ = built.file;
    table_.options.table = build.table;
    table_.options.table.block_cache = NewLRUCache(8 << 20);
    statistics_ = CreateDBStatistics();
    table_.options.statistics = statistics_.get();
  }

  void Open() {
    ASSERT_TRUE(table_.Open(content_).ok());
    *table_.reads = 0;
  }

  // Returns the value or the status of each key; "" for one that is not there.
  std::vector<std::string> Get(const std::vector<size_t>& numbers,
                               const ReadOptions& options = ReadOptions()) {
    std::vector<PinnableSlice> values(numbers.size());
    BoundedArray<PointLookup, kProbesMax> lookups;
    std::vector<TableProbe> probes;
    for (size_t i = 0; i < numbers.size(); i++) {
      lookups.emplace_back(Key(numbers[i]), kMaxSequenceNumber, &values[i]);
      probes.push_back({table_.reader.get(), &lookups.back()});
    }
    reads_ = MultiGetFromTables(options, probes);
    std::vector<std::string> answers;
    for (size_t i = 0; i < numbers.size(); i++) {
      const bool failed = lookups[i].state() == PointLookup::State::kFailed;
      answers.push_back(failed ? lookups[i].status().ToString() : values[i].ToString());
    }
    return answers;
  }

  OpenTable table_;
  std::string content_;
  std::shared_ptr<Statistics> statistics_;
  ProbeReads reads_;
};

TEST_F(TableMultiGetTest, ReadsNeighbouringBlocksAtOnceAndEachOnlyOnce) {
  Open();
  // Three blocks close together, wanted twice, and one far away.
  const std::vector<size_t> numbers = {10, 10, 12, 16, 16, 700};
  const std::vector<std::string> answers = Get(numbers);
  for (size_t i = 0; i < numbers.size(); i++) EXPECT_EQ(Value(numbers[i]), answers[i]);
  EXPECT_EQ(2u, *table_.reads);
  EXPECT_EQ(1u, reads_.tables);
  EXPECT_EQ(4u, reads_.blocks);
  EXPECT_EQ(4u, statistics_->getTickerCount(BLOCK_CACHE_DATA_MISS));
  EXPECT_EQ(4u, statistics_->getTickerCount(BLOCK_CACHE_DATA_ADD));
  HistogramData batches;
  statistics_->histogramData(MULTIGET_IO_BATCH_SIZE, &batches);
  EXPECT_EQ(2.0, batches.max);
  // Now they are cached.
  Get(numbers);
  EXPECT_EQ(2u, *table_.reads);
  EXPECT_EQ(4u, statistics_->getTickerCount(BLOCK_CACHE_DATA_HIT));
}

TEST_F(TableMultiGetTest, WhatIsReadForOthersDoesNotEnterTheCache) {
  Open();
  Get({10, 14});
  EXPECT_EQ(1u, *table_.reads);
  ReadOptions cached;
  cached.read_tier = kBlockCacheTier;
  EXPECT_NE(Value(12), Get({12}, cached)[0]);
}

TEST_F(TableMultiGetTest, TheFilterSparesBlocks) {
  Open();
  std::vector<size_t> absent;
  for (size_t i = 0; i < kProbesMax; i++) absent.push_back(2 * i + 1);
  Get(absent);
  EXPECT_LE(reads_.blocks, 4u);
  EXPECT_GE(statistics_->getTickerCount(BLOOM_FILTER_USEFUL), 28u);
}

TEST_F(TableMultiGetTest, ADamagedBlockFailsItsOwnKeysOnly) {
  // Damages one byte in the middle of the value of key0012.
  const size_t place = content_.find(Value(12));
  ASSERT_NE(std::string::npos, place);
  content_[place + 500] = 'x';
  Open();
  const std::vector<std::string> answers = Get({10, 12, 12, 14});
  EXPECT_EQ(Value(10), answers[0]);
  EXPECT_TRUE(Slice(answers[1]).starts_with("Corruption")) << answers[1];
  EXPECT_EQ(answers[1], answers[2]);
  EXPECT_NE(std::string::npos, answers[1].find("000007.sst"));
  EXPECT_EQ(Value(14), answers[3]);
  ReadOptions trusting;
  trusting.verify_checksums = false;
  EXPECT_EQ(Value(12).size(), Get({10, 12}, trusting)[1].size());
}

TEST_F(TableMultiGetTest, AStrictCacheOfAFewBlocksAnswersEveryKey) {
  BlockTableBuildOptions build;
  build.icmp = &table_.icmp;
  build.table.block_size = 150;
  BuiltTable built(build);
  for (size_t i = 0; i < 64; i++)
    built.builder->Add(IKey(Key(i), 1), Key(i) + std::string(150, 'v'));
  ASSERT_TRUE(built.Finish().ok());
  content_ = built.file;
  LRUCacheOptions cache;
  cache.capacity = 2000;
  cache.num_shard_bits = 0;
  cache.strict_capacity_limit = true;
  table_.options.table.block_cache = cache.MakeSharedCache();
  Open();
  std::vector<size_t> numbers;
  for (size_t i = 0; i < kProbesMax; i++) numbers.push_back(2 * i);
  const std::vector<std::string> answers = Get(numbers);
  for (size_t i = 0; i < numbers.size(); i++) {
    EXPECT_EQ(Key(numbers[i]) + std::string(150, 'v'), answers[i]);
  }
}

TEST_F(TableMultiGetTest, PastTheDeadlineOnlyCachedBlocksAnswer) {
  Open();
  Get({10});
  *table_.reads = 0;
  ReadOptions late;
  late.deadline = std::chrono::microseconds(1);
  const std::vector<std::string> answers = Get({10, 100, 102}, late);
  EXPECT_EQ(Value(10), answers[0]);
  EXPECT_TRUE(Slice(answers[1]).starts_with("Operation timed out")) << answers[1];
  EXPECT_EQ(0u, *table_.reads);
}

TEST_F(TableMultiGetTest, WithoutACacheOrWithAMappedFileItIsTheSame) {
  for (const bool mapped : {false, true}) {
    table_.mapped = mapped;
    table_.options.table.block_cache = nullptr;
    table_.options.table.no_block_cache = true;
    Open();
    const std::vector<size_t> numbers = {0, 1, 2, 2, 300, 302, 798, 799};
    const std::vector<std::string> answers = Get(numbers);
    for (size_t i = 0; i < numbers.size(); i++) {
      EXPECT_EQ(numbers[i] % 2 == 0 ? Value(numbers[i]) : "", answers[i]);
    }
  }
}

}  // namespace
}  // namespace varve::test
