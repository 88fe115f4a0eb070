// SPDX-License-Identifier: Apache-2.0

// Tests that the block cache is charged for the memory of tables, and that a full cache with a
// strict limit makes them do with less.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>

#include "varve/filter_policy.h"

#include "table/filter/filter_bits.h"
#include "table/filter/filter_block.h"
#include "tests/table/table_harness.h"
#include "util/mem/cache_charge.h"
#include "util/metrics/cache_entry_stats.h"

namespace varve {
namespace {

using test::BuiltTable;
using test::Entries;
using test::IKey;
using test::OpenTable;
using test::TableParts;
using Decision = CacheEntryRoleOptions::Decision;

constexpr size_t kStep = CacheCharge::kStepBytes;

std::shared_ptr<Cache> OneShard(size_t capacity, bool strict,
                                std::shared_ptr<MemoryAllocator> allocator = nullptr) {
  return NewLRUCache(capacity, 0, strict, 0.0, std::move(allocator));
}

// Entries and bytes by role.
std::map<CacheEntryRole, std::pair<size_t, size_t>> Roles(Cache* cache) {
  std::map<CacheEntryRole, std::pair<size_t, size_t>> roles;
  cache->ApplyToAllEntries([&roles](const Slice&, Cache::ObjectPtr, size_t charge,
                                    const Cache::CacheItemHelper* helper) {
    roles[helper->role].first++;
    roles[helper->role].second += charge;
  });
  return roles;
}

class MemoryCharge : public ::testing::Test {
 protected:
  MemoryCharge() : icmp_(BytewiseComparator()) {
    options_.icmp = &icmp_;
    options_.file_number = 9;
    options_.db_id = "db";
    options_.db_session_id = "5ORSHT3GGKGFEY5MNVDB";
  }

  // Adds `n` entries; *most is the largest number of bytes that the cache had for the role.
  void Build(int n, std::string* file, CacheEntryRole role = CacheEntryRole::kMisc,
             size_t* most = nullptr) {
    BuiltTable table(options_);
    ASSERT_TRUE(table.create_status.ok()) << table.create_status.ToString();
    for (int i = 0; i < n; i++) {
      const std::string user_key = "key" + std::to_string(10000000 + i);
      table.builder->Add(IKey(user_key, 1), std::string(20, static_cast<char>('a' + i % 26)));
      if (most == nullptr || i % 1000 != 0) continue;
      early_bytes_ = table.builder->FileSize();
      *most = std::max(*most, Roles(options_.table.block_cache.get())[role].second);
    }
    const Status s = table.Finish();
    ASSERT_TRUE(s.ok()) << s.ToString();
    *file = table.file;
  }
  void Charge(CacheEntryRole role, Decision decision) {
    options_.table.cache_usage_options.options_overrides[role].charged = decision;
  }
  FilterKind KindOfFilter(const std::string& file) {
    TableParts parts;
    EXPECT_TRUE(parts.Open(file).ok());
    std::string block;
    EXPECT_TRUE(parts.ReadBlock(parts.metaindex.at(meta_block::kFullFilter), "", &block).ok());
    return FilterBits::Parse(block).kind();
  }

  const InternalKeyComparator icmp_;
  BlockTableBuildOptions options_;
  uint64_t early_bytes_ = 0;  // bytes of the last file, while entries were still added
};

TEST_F(MemoryCharge, AFilterBeingBuiltCountsUntilItIsWritten) {
  const CacheEntryRole role = CacheEntryRole::kFilterConstruction;
  options_.table.filter_policy.reset(NewBloomFilterPolicy(10));
  options_.table.block_cache = OneShard(64 << 20, true);
  for (const bool charged : {false, true}) {
    if (charged) Charge(role, Decision::kEnabled);
    size_t most = 0;
    std::string file;
    Build(200000, &file, role, &most);
    // Eight bytes a key.
    EXPECT_GE(most, charged ? 1500000u : 0u);
    EXPECT_LE(most, charged ? 1600000u + 2 * kStep : 0u);
    EXPECT_EQ(options_.table.block_cache->GetUsage(), 0u);
  }
}

TEST_F(MemoryCharge, ARibbonFilterWithoutMemoryBecomesABloomFilter) {
  options_.table.filter_policy.reset(NewRibbonFilterPolicy(10));
  Charge(CacheEntryRole::kFilterConstruction, Decision::kEnabled);
  const struct {
    size_t capacity;
    bool strict;
    FilterKind kind;
  } kCases[] = {{64 << 20, true, FilterKind::kRibbon},
                {2 << 20, true, FilterKind::kFastLocalBloom},  // the hashes alone fit
                {100 << 10, true, FilterKind::kFastLocalBloom},
                {2 << 20, false, FilterKind::kRibbon}};
  for (const auto& c : kCases) {
    options_.table.block_cache = OneShard(c.capacity, c.strict);
    std::string file;
    Build(150000, &file);
    EXPECT_EQ(KindOfFilter(file), c.kind) << c.capacity << " " << c.strict;
    EXPECT_EQ(options_.table.block_cache->GetUsage(), 0u);
  }
}

TEST_F(MemoryCharge, BlocksThatWaitForADictionaryCountAndWaitNoLongerWithoutMemory) {
  const CacheEntryRole role = CacheEntryRole::kCompressionDictionaryBuildingBuffer;
  if (!CodecSupported(kZSTD)) GTEST_SKIP();
  options_.compression = kZSTD;
  options_.compression_opts.max_dict_bytes = 4096;
  const auto written = [this](size_t* most) {
    std::string file;
    Build(100000, &file, role, most);
    OpenTable table;
    Entries entries;
    EXPECT_TRUE(table.Open(file).ok());
    EXPECT_TRUE(table.ReadAll(&entries).ok());
    EXPECT_EQ(entries.size(), 100000u);
  };
  options_.table.block_cache = OneShard(64 << 20, true);
  size_t most = 0;
  written(&most);
  EXPECT_GE(most, 2000000u) << "charged by default";
  EXPECT_EQ(early_bytes_, 0u) << "all blocks wait";
  EXPECT_EQ(options_.table.block_cache->GetUsage(), 0u);

  options_.table.block_cache = OneShard(kStep * 2, true);
  most = 0;
  written(&most);
  EXPECT_GT(early_bytes_, 0u);
  EXPECT_EQ(most, kStep) << "with the entry's own bytes two placeholders do not fit";
  EXPECT_EQ(options_.table.block_cache->GetUsage(), 0u);

  Charge(role, Decision::kDisabled);
  most = 0;
  written(&most);
  EXPECT_EQ(most, 0u);
  EXPECT_EQ(early_bytes_, 0u);
}

TEST_F(MemoryCharge, AnOpenTableCountsOnceWithAllThatIsNotInTheCache) {
  options_.table.filter_policy.reset(NewBloomFilterPolicy(10));
  std::string file;
  Build(200000, &file);
  const auto cache = OneShard(64 << 20, true);
  const auto charge = std::make_shared<CacheCharge>(cache, CacheEntryRole::kBlockBasedTableReader);
  OpenTable table;
  table.options.table = options_.table;
  table.options.table.block_cache = cache;
  table.options.charge = charge;
  ASSERT_TRUE(table.Open(file).ok());
  const size_t bytes = table.reader->MemoryUsage();
  EXPECT_GT(bytes, 250000u) << "the filter alone";
  EXPECT_GE(charge->charged(), bytes);
  EXPECT_LE(charge->charged(), bytes + kStep);
  table.reader.reset();
  EXPECT_EQ(charge->charged(), 0u);

  cache->SetCapacity(200000);
  const Status s = table.Open(file);
  EXPECT_TRUE(s.IsMemoryLimit()) << s.ToString();
  EXPECT_NE(s.ToString().find("000007.sst"), std::string::npos) << s.ToString();
  EXPECT_EQ(table.reader, nullptr);
  EXPECT_EQ(cache->GetUsage(), 0u);
  cache->SetStrictCapacityLimit(false);
  EXPECT_TRUE(table.Open(file).ok());
}

// Rounds up like real allocators, and counts the bytes in use.
class RoundingAllocator final : public MemoryAllocator {
 public:
  const char* Name() const override { return "RoundingAllocator"; }
  void* Allocate(size_t size) override {
    void* const p = std::malloc(Rounded(size));
    sizes_[p] = Rounded(size);
    live_ += Rounded(size);
    return p;
  }
  void Deallocate(void* p) override {
    live_ -= sizes_.at(p);
    sizes_.erase(p);
    std::free(p);
  }
  size_t UsableSize(void* p, size_t allocation_size) const override {
    EXPECT_EQ(sizes_.at(p), Rounded(allocation_size));
    return sizes_.at(p);
  }
  [[nodiscard]] size_t live() const { return live_; }

 private:
  static size_t Rounded(size_t size) { return (size + 1023) / 1024 * 1024; }
  std::map<void*, size_t> sizes_;
  size_t live_ = 0;
};

TEST_F(MemoryCharge, ABlockInTheCacheIsChargedWithWhatItOccupies) {
  options_.table.filter_policy.reset(NewBloomFilterPolicy(10));
  for (const CompressionType codec : {kNoCompression, kZSTD}) {
    if (!CodecSupported(codec)) continue;
    options_.compression = codec;
    std::string file;
    Build(50000, &file);
    const auto allocator = std::make_shared<RoundingAllocator>();
    const auto cache = OneShard(64 << 20, false, allocator);
    OpenTable table;
    table.options.table = options_.table;
    table.options.table.block_cache = cache;
    table.options.table.cache_index_and_filter_blocks = true;
    ASSERT_TRUE(table.Open(file).ok());
    Entries entries;
    ASSERT_TRUE(table.ReadAll(&entries).ok());
    auto roles = Roles(cache.get());
    const auto [blocks, block_bytes] = roles[CacheEntryRole::kDataBlock];
    const auto [filters, filter_bytes] = roles[CacheEntryRole::kFilterBlock];
    const auto [indexes, index_bytes] = roles[CacheEntryRole::kIndexBlock];
    EXPECT_GT(blocks, 300u);
    EXPECT_EQ(filters, 1u);
    EXPECT_EQ(indexes, 1u);
    // The cache's own part lies in the block's memory, and counts with its metadata; the index is
    // made of the standard allocator's memory.
    const size_t metadata = cache->GetUsage() - block_bytes - filter_bytes - index_bytes;
    const size_t charged = block_bytes + filter_bytes + metadata;
    const size_t slack = 64 * (blocks + filters + indexes);
    EXPECT_GE(charged + slack / 2, allocator->live());
    EXPECT_LE(charged, allocator->live() + slack + sizeof(FilterBlock) + 200);
  }
}

class ManualClock final : public SystemClockWrapper {
 public:
  ManualClock() : SystemClockWrapper(SystemClock::Default()) {}
  const char* Name() const override { return "ManualClock"; }
  uint64_t NowMicros() override { return now += step; }
  uint64_t now = 1'000'000;
  uint64_t step = 0;
};

void NoDeleter(Cache::ObjectPtr, MemoryAllocator*) {}
constexpr Cache::CacheItemHelper kIndexHelper(CacheEntryRole::kIndexBlock, &NoDeleter);
constexpr Cache::CacheItemHelper kBlockHelper(CacheEntryRole::kDataBlock, &NoDeleter);

TEST(CacheEntryStats, SumsByRole) {
  const auto cache = NewLRUCache(10000, 2);
  ASSERT_TRUE(cache->Insert("a", nullptr, &kIndexHelper, 100).ok());
  ASSERT_TRUE(cache->Insert("b", nullptr, &kIndexHelper, 50).ok());
  ASSERT_TRUE(cache->Insert("c", nullptr, &kBlockHelper, 1000).ok());
  ManualClock clock;
  clock.step = 500'000;
  CacheEntryStatsCollector collector;
  const CacheEntryStats stats = collector.Collect(cache, &clock, CacheEntryStatsCollector::kExact);
  auto map = stats.ToMap(stats.end_micros + 2'000'000);
  using Keys = BlockCacheEntryStatsMapKeys;
  EXPECT_EQ(map[Keys::EntryCount(CacheEntryRole::kIndexBlock)], "2");
  EXPECT_EQ(map["count.index-block"], "2");
  EXPECT_EQ(map["bytes.index-block"], "150");
  EXPECT_EQ(map["bytes.data-block"], "1000");
  EXPECT_EQ(map["percent.data-block"], "10.000000");
  EXPECT_EQ(map["count.write-buffer"], "0");
  EXPECT_EQ(map["capacity"], "10000");
  EXPECT_EQ(map["secs_for_last_collection"], "0.500000");
  EXPECT_EQ(map["secs_since_last_collection"], "2.000000");
  EXPECT_EQ(map["id"].substr(0, 9), "LRUCache@");
  EXPECT_EQ(map.size(), 4 + 3 * kNumCacheEntryRoles);
  const std::string text = stats.ToString(stats.end_micros);
  EXPECT_NE(text.find("index-block(2,150,1.50%)"), std::string::npos) << text;
  EXPECT_EQ(text.find("write-buffer"), std::string::npos) << text;
}

TEST(CacheEntryStats, AWalkServesForAWhile) {
  auto cache = NewLRUCache(10000, 0);
  ManualClock clock;
  CacheEntryStatsCollector collector;
  const auto count = [&](const CacheEntryStatsCollector::Patience& patience) {
    const auto stats = collector.Collect(cache, &clock, patience);
    return stats.roles[static_cast<size_t>(CacheEntryRole::kDataBlock)].count;
  };
  EXPECT_EQ(count(CacheEntryStatsCollector::kFast), 0u);
  ASSERT_TRUE(cache->Insert("a", nullptr, &kBlockHelper, 100).ok());
  clock.now += 9'999'999;
  EXPECT_EQ(count(CacheEntryStatsCollector::kExact), 0u);
  clock.now += 1;
  EXPECT_EQ(count(CacheEntryStatsCollector::kFast), 0u);
  EXPECT_EQ(count(CacheEntryStatsCollector::kExact), 1u);
  ASSERT_TRUE(cache->Insert("b", nullptr, &kBlockHelper, 100).ok());
  clock.now += 179'999'999;
  EXPECT_EQ(count(CacheEntryStatsCollector::kFast), 1u);
  clock.now += 1;
  EXPECT_EQ(count(CacheEntryStatsCollector::kFast), 2u);
  // A long walk is not repeated soon.
  clock.now += 180'000'000;
  clock.step = 20'000'000;
  EXPECT_EQ(count(CacheEntryStatsCollector::kExact), 2u);
  clock.step = 0;
  ASSERT_TRUE(cache->Insert("c", nullptr, &kBlockHelper, 100).ok());
  clock.now += 199'999'999;
  EXPECT_EQ(count(CacheEntryStatsCollector::kExact), 2u);
  clock.now += 1;
  EXPECT_EQ(count(CacheEntryStatsCollector::kExact), 3u);
  // Another cache has its own, at whatever address.
  cache = NewLRUCache(10000, 0);
  EXPECT_EQ(count(CacheEntryStatsCollector::kExact), 0u);
}

}  // namespace
}  // namespace varve
