// SPDX-License-Identifier: Apache-2.0

// Presets give options that open.

#include <gtest/gtest.h>

#include <memory>

#include "varve/cache.h"
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

}  // namespace
}  // namespace varve
