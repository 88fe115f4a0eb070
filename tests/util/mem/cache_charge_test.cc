// SPDX-License-Identifier: Apache-2.0

// Memory outside of a cache counts in it, and a full one may refuse it.

#include "util/mem/cache_charge.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/util/mem/counting_cache.h"

namespace varve {
namespace {

using test::CountingCache;
using test::kStep;

TEST(CacheCharge, RefusedMemoryChangesNothing) {
  const auto cache = std::make_shared<CountingCache>(2 * kStep);
  const auto charge = std::make_shared<CacheCharge>(cache, CacheEntryRole::kFileMetadata);
  EXPECT_TRUE(charge->TryAdd(kStep + 1).ok());
  EXPECT_EQ(charge->charged(), 2 * kStep);
  const Status s = charge->TryAdd(kStep);
  EXPECT_TRUE(s.IsMemoryLimit()) << s.ToString();
  EXPECT_NE(s.ToString().find("file-metadata"), std::string::npos) << s.ToString();
  EXPECT_EQ(charge->charged(), 2 * kStep);
  EXPECT_TRUE(charge->TryAdd(kStep - 1).ok()) << "what was refused must not count";
  // Memory that is in use already counts as soon as there is room.
  charge->Add(kStep);
  EXPECT_EQ(charge->charged(), 2 * kStep);
  cache->SetCapacity(8 * kStep);
  charge->Add(0);
  EXPECT_EQ(charge->charged(), 3 * kStep);
}

TEST(CacheCharge, AShortRefusalGivesItsPlaceholdersBack) {
  const auto cache = std::make_shared<CountingCache>(3 * kStep);
  CacheCharge charge(cache, CacheEntryRole::kFilterConstruction);
  EXPECT_TRUE(charge.TryAdd(1).ok());
  EXPECT_TRUE(charge.TryAdd(10 * kStep).IsMemoryLimit());
  EXPECT_EQ(cache->GetUsage(), kStep);
}

TEST(ChargedBytes, GoWithTheirOwner) {
  const auto cache = std::make_shared<CountingCache>(10 * kStep);
  const auto charge = std::make_shared<CacheCharge>(cache, CacheEntryRole::kBlockBasedTableReader);
  {
    ChargedBytes first(charge);
    EXPECT_TRUE(first.TrySet(3 * kStep).ok());
    EXPECT_EQ(cache->of(CacheEntryRole::kBlockBasedTableReader), 3 * kStep);
    EXPECT_TRUE(first.TrySet(11 * kStep).IsMemoryLimit());
    EXPECT_EQ(first.bytes(), 3 * kStep);
    ChargedBytes second(charge);
    second.Set(4 * kStep);
    EXPECT_EQ(charge->charged(), 7 * kStep);
    second = std::move(first);
    EXPECT_EQ(charge->charged(), 3 * kStep);
    const ChargedBytes third(std::move(second));
    EXPECT_EQ(third.bytes(), 3 * kStep);
    EXPECT_EQ(charge->charged(), 3 * kStep);
  }
  EXPECT_EQ(charge->charged(), 0u);
  ChargedBytes uncharged;
  EXPECT_TRUE(uncharged.TrySet(SIZE_MAX).ok());
}

using Decision = CacheEntryRoleOptions::Decision;

TEST(CacheUsage, AnOverrideComesBeforeTheRestAndTheDefaultLast) {
  const CacheEntryRole dictionary = CacheEntryRole::kCompressionDictionaryBuildingBuffer;
  const CacheEntryRole filter = CacheEntryRole::kFilterConstruction;
  BlockBasedTableOptions table;
  EXPECT_TRUE(IsCharged(table, dictionary));
  EXPECT_FALSE(IsCharged(table, filter));
  EXPECT_FALSE(IsCharged(table, CacheEntryRole::kBlockBasedTableReader));
  EXPECT_FALSE(IsCharged(table, CacheEntryRole::kFileMetadata));
  CacheUsageOptions& usage = table.cache_usage_options;
  usage.options.charged = Decision::kEnabled;
  EXPECT_TRUE(IsCharged(table, filter));
  EXPECT_FALSE(IsCharged(table, CacheEntryRole::kWriteBuffer));
  usage.options_overrides[filter].charged = Decision::kFallback;
  EXPECT_TRUE(IsCharged(table, filter));
  usage.options_overrides[filter].charged = Decision::kDisabled;
  EXPECT_FALSE(IsCharged(table, filter));
  usage.options.charged = Decision::kDisabled;
  EXPECT_FALSE(IsCharged(table, dictionary));
  usage.options_overrides[dictionary].charged = Decision::kEnabled;
  EXPECT_TRUE(IsCharged(table, dictionary));
  EXPECT_EQ(NewCacheCharge(table, dictionary), nullptr) << "no cache";
  table.block_cache = std::make_shared<CountingCache>(kStep);
  EXPECT_NE(NewCacheCharge(table, dictionary), nullptr);
  EXPECT_EQ(NewCacheCharge(table, filter), nullptr);
}

TEST(CacheUsage, RefusesByNameWhatCannotBeCharged) {
  for (uint32_t i = 0; i < kNumCacheEntryRoles; i++) {
    const auto role = static_cast<CacheEntryRole>(i);
    const bool chargeable = role == CacheEntryRole::kCompressionDictionaryBuildingBuffer ||
                            role == CacheEntryRole::kFilterConstruction ||
                            role == CacheEntryRole::kBlockBasedTableReader ||
                            role == CacheEntryRole::kFileMetadata ||
                            role == CacheEntryRole::kBlobCache;
    for (const Decision decision : {Decision::kEnabled, Decision::kDisabled}) {
      BlockBasedTableOptions table;
      table.cache_usage_options.options_overrides[role].charged = decision;
      const Status s = CheckCacheUsage(table);
      EXPECT_EQ(s.ok(), chargeable) << s.ToString();
      if (chargeable) continue;
      EXPECT_TRUE(s.IsNotSupported());
      EXPECT_NE(s.ToString().find(GetCacheEntryRoleName(role)), std::string::npos);
      EXPECT_NE(s.ToString().find("cache_usage_options"), std::string::npos);
    }
    BlockBasedTableOptions table;
    table.cache_usage_options.options_overrides[role].charged = Decision::kFallback;
    EXPECT_TRUE(CheckCacheUsage(table).ok());
  }
  BlockBasedTableOptions table;
  table.no_block_cache = true;
  EXPECT_TRUE(CheckCacheUsage(table).ok());
  table.cache_usage_options.options.charged = Decision::kEnabled;
  EXPECT_TRUE(CheckCacheUsage(table).IsInvalidArgument());
  table.cache_usage_options.options.charged = Decision::kFallback;
  table.cache_usage_options.options_overrides[CacheEntryRole::kFileMetadata].charged =
      Decision::kEnabled;
  EXPECT_TRUE(CheckCacheUsage(table).IsInvalidArgument());
}

}  // namespace
}  // namespace varve
