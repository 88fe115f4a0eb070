// SPDX-License-Identifier: Apache-2.0

// Presets give options that open.

#include <gtest/gtest.h>

#include <memory>

#include "varve/cache.h"
#include "varve/convenience.h"
#include "varve/options.h"
#include "varve/table.h"

#include "util/options/validate_options.h"

namespace varve {
namespace {

TEST(OptionPresetsTest, SmallDatabaseSharesOneCache) {
  Options options;
  options.OptimizeForSmallDb();
  EXPECT_TRUE(ValidateOptions(options, options).ok());
  const auto* table = options.table_factory->GetOptions<BlockBasedTableOptions>();
  ASSERT_NE(table, nullptr);
  EXPECT_EQ(table->block_cache->GetCapacity(), size_t{16} << 20);
  EXPECT_NE(options.write_buffer_manager, nullptr);

  std::shared_ptr<Cache> cache = NewLRUCache(1 << 20);
  ColumnFamilyOptions cf;
  cf.OptimizeForSmallDb(&cache);
  EXPECT_EQ(cf.table_factory->GetOptions<BlockBasedTableOptions>()->block_cache, cache);
}

TEST(OptionPresetsTest, PointLookupHasFilterAndCacheOfItsSize) {
  Options options;
  options.OptimizeForPointLookup(3);
  EXPECT_TRUE(ValidateOptions(options, options).ok());
  const auto* table = options.table_factory->GetOptions<BlockBasedTableOptions>();
  EXPECT_EQ(table->block_cache->GetCapacity(), size_t{3} << 20);
  EXPECT_NE(table->filter_policy, nullptr);
}

TEST(OptionPresetsTest, TextMakesCaches) {
  const ConfigOptions config;
  struct Case {
    const char* text;
    size_t capacity;
    bool strict;
  };
  for (const Case& c : {
           Case{"1M", 1 << 20, false},
           Case{"{capacity=3M;strict_capacity_limit=true;num_shard_bits=2}", 3 << 20, true},
           Case{"capacity=4K;high_pri_pool_ratio=0.25;low_pri_pool_ratio=0.5", 4 << 10, false},
           Case{"{id=LRUCache;capacity=100}", 100, false},
           Case{"{id=HyperClockCache;capacity=2M;estimated_entry_charge=4096;"
                "min_avg_entry_charge=100;strict_capacity_limit=true}",
                2 << 20, true},
           Case{"{id=AutoHyperClockCache;capacity=2M}", 2 << 20, false},
       }) {
    SCOPED_TRACE(c.text);
    std::shared_ptr<Cache> cache;
    const Status s = Cache::CreateFromString(config, c.text, &cache);
    ASSERT_TRUE(s.ok()) << s.ToString();
    ASSERT_NE(cache, nullptr);
    EXPECT_EQ(cache->GetCapacity(), c.capacity);
    EXPECT_EQ(cache->HasStrictCapacityLimit(), c.strict);
    const bool hyper = std::string(c.text).find("Hyper") != std::string::npos;
    EXPECT_STREQ(cache->Name(), hyper ? "HyperClockCache" : "LRUCache");
  }
  std::shared_ptr<Cache> cache = NewLRUCache(5);
  EXPECT_TRUE(Cache::CreateFromString(config, "nullptr", &cache).ok());
  EXPECT_EQ(cache, nullptr);
}

TEST(OptionPresetsTest, TextMakesNoCacheThatCannotBe) {
  const ConfigOptions config;
  const std::shared_ptr<Cache> before = NewLRUCache(5);
  for (const char* text :
       {"{capacity=x}", "{capacity=1M;num_shard_bits=20}", "{capacity=1M;num_shard_bits=-5}",
        "{capacity=1M;high_pri_pool_ratio=2}",
        "{capacity=1M;high_pri_pool_ratio=0.7;low_pri_pool_ratio=0.7}", "{capacity=1M;nonsense=1}",
        "{capacity=1M", "18446744073709551616", "99999999999999G", "-5M",
        "{id=HyperClockCache;capacity=1M;high_pri_pool_ratio=0.5}"}) {
    std::shared_ptr<Cache> cache = before;
    const Status s = Cache::CreateFromString(config, text, &cache);
    EXPECT_TRUE(s.IsInvalidArgument()) << text << ": " << s.ToString();
    EXPECT_EQ(cache, before);
  }
  for (const char* text : {"ClockCache", "{id=TieredCache;capacity=1M}", "12X"}) {
    std::shared_ptr<Cache> cache = before;
    const Status s = Cache::CreateFromString(config, text, &cache);
    EXPECT_TRUE(s.IsNotSupported()) << text << ": " << s.ToString();
  }
}

TEST(OptionPresetsTest, TheBlockCacheMayBeGivenAsText) {
  ColumnFamilyOptions made;
  const Status s = GetColumnFamilyOptionsFromString(
      ConfigOptions(), ColumnFamilyOptions(),
      "block_based_table_factory={block_cache={capacity=1M;num_shard_bits=4};block_size=8192}",
      &made);
  ASSERT_TRUE(s.ok()) << s.ToString();
  const auto* const table = made.table_factory->GetOptions<BlockBasedTableOptions>();
  ASSERT_NE(table->block_cache, nullptr);
  EXPECT_EQ(table->block_cache->GetCapacity(), size_t{1} << 20);
  EXPECT_EQ(table->block_size, 8192u);
}

}  // namespace
}  // namespace varve
