// SPDX-License-Identifier: Apache-2.0

// Tests the cache of values in blob files: what enters it and when, who is answered from it, and
// that neither a full cache nor a damaged reference changes an answer.

#include "db/blob/blob_cache.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "varve/cache.h"
#include "varve/iterator.h"
#include "varve/perf_context.h"
#include "varve/statistics.h"
#include "varve/table.h"
#include "varve/utilities/merge_operators.h"

#include "tests/db/api/blob_database.h"

namespace varve {
namespace {

using P = DB::Properties;

// A cache of values can hold about 20 of these.
constexpr size_t kValueBytes = 5000;
constexpr size_t kCacheBytes = 20 * (kValueBytes + 200);

class BlobCacheTest : public BlobDatabase {
 protected:
  BlobCacheTest() { options_.statistics = CreateDBStatistics(); }

  // The values of keys 0 to n - 1, in one blob file.
  void Fill(int n) {
    Open();
    for (int i = 0; i < n; ++i) Put(Key(i), Value(i));
    Flush();
  }
  static std::string Value(int i) { return Large(static_cast<char>('a' + i % 26), kValueBytes); }
  static std::shared_ptr<Cache> NewCache(size_t bytes, bool strict = false) {
    return NewLRUCache(bytes, /*num_shard_bits=*/0, strict);
  }

  // Makes the blob cache count against this block cache.
  void ChargeTo(const std::shared_ptr<Cache>& blocks) {
    BlockBasedTableOptions table;
    table.block_cache = blocks;
    table.cache_usage_options.options_overrides[CacheEntryRole::kBlobCache].charged =
        CacheEntryRoleOptions::Decision::kEnabled;
    options_.table_factory.reset(NewBlockBasedTableFactory(table));
  }
  // Counts the entries of a role.
  static size_t CountIn(Cache* cache, CacheEntryRole role) {
    size_t count = 0;
    cache->ApplyToAllEntries(
        [&](const Slice&, Cache::ObjectPtr, size_t, const Cache::CacheItemHelper* helper) {
          count += helper != nullptr && helper->role == role ? 1 : 0;
        });
    return count;
  }

  uint64_t Ticks(Tickers ticker) { return options_.statistics->getTickerCount(ticker); }
  // Counts reads of blob files since the last call.
  uint64_t Reads() {
    HistogramData data;
    options_.statistics->histogramData(BLOB_DB_BLOB_FILE_READ_MICROS, &data);
    return data.count - std::exchange(reads_, data.count);
  }
  std::string GetWith(const ReadOptions& options, const std::string& key) {
    std::string value;
    const Status s = db()->Get(options, key, &value);
    return s.ok() ? value : s.ToString().substr(0, s.ToString().find(':'));
  }

 private:
  uint64_t reads_ = 0;
};

TEST_F(BlobCacheTest, ASecondReadNeedsNoFile) {
  options_.blob_cache = NewCache(kCacheBytes);
  Fill(3);
  Reads();
  EXPECT_EQ(Get(Key(0)), Value(0));
  EXPECT_GT(Reads(), 0u);
  EXPECT_EQ(Ticks(BLOB_DB_CACHE_MISS), 1u);
  EXPECT_EQ(Ticks(BLOB_DB_CACHE_ADD), 1u);
  EXPECT_GE(Ticks(BLOB_DB_CACHE_BYTES_WRITE), kValueBytes);
  get_perf_context()->Reset();
  SetPerfLevel(kEnableCount);
  PinnableSlice pinned;
  ASSERT_TRUE(db()->Get(ReadOptions(), db()->DefaultColumnFamily(), Key(0), &pinned).ok());
  SetPerfLevel(kDisable);
  EXPECT_TRUE(pinned == Slice(Value(0)));
  EXPECT_TRUE(pinned.IsPinned()) << "the value is not copied";
  EXPECT_EQ(Reads(), 0u);
  EXPECT_EQ(Ticks(BLOB_DB_CACHE_HIT), 1u);
  EXPECT_EQ(Ticks(BLOB_DB_CACHE_BYTES_READ), Ticks(BLOB_DB_CACHE_BYTES_WRITE));
  EXPECT_EQ(get_perf_context()->blob_cache_hit_count, 1u);
  EXPECT_EQ(get_perf_context()->blob_cache_read_byte, Ticks(BLOB_DB_CACHE_BYTES_READ));

  uint64_t pinned_bytes = 0;
  uint64_t usage = 0;
  ASSERT_TRUE(db()->GetIntProperty(P::kBlobCachePinnedUsage, &pinned_bytes));
  ASSERT_TRUE(db()->GetIntProperty(P::kBlobCacheUsage, &usage));
  EXPECT_GE(pinned_bytes, kValueBytes);
  EXPECT_GE(usage, pinned_bytes);
  // The value stays while it is pinned, even without the database and the cache.
  options_.blob_cache.reset();
  ASSERT_TRUE(Close().ok());
  EXPECT_TRUE(pinned == Slice(Value(0)));
}

TEST_F(BlobCacheTest, PropertiesAreThoseOfTheCache) {
  uint64_t number = 7;
  Open();
  EXPECT_FALSE(db()->GetIntProperty(P::kBlobCacheCapacity, &number)) << "there is no cache";
  EXPECT_FALSE(db()->GetAggregatedIntProperty(P::kBlobCacheUsage, &number));
  ASSERT_TRUE(Close().ok());
  options_.blob_cache = NewCache(kCacheBytes);
  Open();
  ASSERT_TRUE(db()->GetIntProperty(P::kBlobCacheCapacity, &number));
  EXPECT_EQ(number, kCacheBytes);
  ASSERT_TRUE(db()->GetAggregatedIntProperty(P::kBlobCacheCapacity, &number));
  EXPECT_EQ(number, kCacheBytes);
}

TEST_F(BlobCacheTest, ReadsSayWhetherTheyFillIt) {
  options_.blob_cache = NewCache(kCacheBytes);
  Fill(3);
  ReadOptions bypass;
  bypass.fill_cache = false;
  ReadOptions cached;
  cached.read_tier = kBlockCacheTier;
  EXPECT_EQ(GetWith(bypass, Key(1)), Value(1));
  EXPECT_EQ(Ticks(BLOB_DB_CACHE_ADD), 0u);
  EXPECT_EQ(GetWith(cached, Key(1)), "Result incomplete");
  EXPECT_EQ(Get(Key(1)), Value(1));
  Reads();
  EXPECT_EQ(GetWith(cached, Key(1)), Value(1));
  EXPECT_EQ(GetWith(bypass, Key(1)), Value(1));
  EXPECT_EQ(GetWith(cached, Key(2)), "Result incomplete");
  EXPECT_EQ(Reads(), 0u);
}

TEST_F(BlobCacheTest, ScansAndMultiGetUseIt) {
  options_.blob_cache = NewCache(size_t{10} << 20);
  Fill(60);
  for (const bool again : {false, true}) {
    Reads();
    const std::unique_ptr<Iterator> it(db()->NewIterator(ReadOptions()));
    int i = 0;
    for (it->SeekToFirst(); it->Valid(); it->Next(), ++i) EXPECT_TRUE(it->value() == Value(i)) << i;
    EXPECT_TRUE(it->status().ok());
    EXPECT_EQ(i, 60);
    EXPECT_EQ(Reads() == 0, again);
  }
  std::vector<std::string> names;
  for (int i = 0; i < 60; i += 3) names.push_back(Key(i));
  ASSERT_TRUE(Close().ok());
  Open();
  for (const bool again : {false, true}) {
    Reads();
    std::vector<std::string> values;
    const auto statuses =
        db()->MultiGet(ReadOptions(), std::vector<Slice>(names.begin(), names.end()), &values);
    for (size_t i = 0; i < names.size(); ++i) {
      ASSERT_TRUE(statuses[i].ok());
      EXPECT_TRUE(values[i] == Value(static_cast<int>(3 * i))) << i;
    }
    EXPECT_EQ(Reads() == 0, again);
  }
}

TEST_F(BlobCacheTest, AMergeBaseComesFromIt) {
  options_.merge_operator = MergeOperators::CreateStringAppendOperator();
  options_.blob_cache = NewCache(kCacheBytes);
  Fill(2);
  ASSERT_TRUE(db()->Merge(WriteOptions(), Key(0), "m").ok());
  ReadOptions cached;
  cached.read_tier = kBlockCacheTier;
  EXPECT_EQ(GetWith(cached, Key(0)), "Result incomplete");
  EXPECT_EQ(Get(Key(0)), Value(0) + ",m");
  Reads();
  EXPECT_EQ(GetWith(cached, Key(0)), Value(0) + ",m");
  EXPECT_EQ(Reads(), 0u);
}

TEST_F(BlobCacheTest, AFullStrictCacheChangesNoAnswer) {
  options_.blob_cache = NewCache(2 * kValueBytes, /*strict=*/true);
  Fill(8);
  std::vector<PinnableSlice> pinned(8);
  for (int i = 0; i < 8; ++i) {
    const Status s = db()->Get(ReadOptions(), db()->DefaultColumnFamily(), Key(i),
                               &pinned[static_cast<size_t>(i)]);
    ASSERT_TRUE(s.ok()) << s.ToString();
  }
  for (int i = 0; i < 8; ++i) EXPECT_TRUE(pinned[static_cast<size_t>(i)] == Slice(Value(i))) << i;
  EXPECT_GT(Ticks(BLOB_DB_CACHE_ADD_FAILURES), 0u);
  EXPECT_LE(options_.blob_cache->GetUsage(), 2 * kValueBytes);
}

TEST_F(BlobCacheTest, FlushesPutTheirValuesIntoItIfTheyShall) {
  for (const bool prepopulates : {false, true}) {
    options_.blob_cache = NewCache(size_t{1} << 20);
    options_.prepopulate_blob_cache =
        prepopulates ? PrepopulateBlobCache::kFlushOnly : PrepopulateBlobCache::kDisable;
    Open();
    for (int i = 0; i < 3; ++i) Put(Key(i), Value(i));
    Flush();
    Reads();
    for (int i = 0; i < 3; ++i) EXPECT_EQ(Get(Key(i)), Value(i));
    EXPECT_EQ(Reads() == 0, prepopulates);
    ASSERT_TRUE(Close().ok());
  }
  // The option changes while the database is open, and does not concern compactions.
  Open();
  Set("prepopulate_blob_cache", "kDisable");
  const uint64_t before = Ticks(BLOB_DB_CACHE_ADD);
  Put(Key(4), Value(4));
  Flush();
  Set("enable_blob_garbage_collection", "true");
  Set("blob_garbage_collection_age_cutoff", "1.0");
  Set("prepopulate_blob_cache", "kFlushOnly");
  Compact();
  EXPECT_GT(Ticks(BLOB_DB_GC_NUM_KEYS_RELOCATED), 0u);
  EXPECT_EQ(Ticks(BLOB_DB_CACHE_ADD), before);
}

TEST_F(BlobCacheTest, TheBlockCacheMayKeepValues) {
  BlockBasedTableOptions table;
  table.block_cache = NewCache(size_t{4} << 20);
  options_.table_factory.reset(NewBlockBasedTableFactory(table));
  options_.blob_cache = table.block_cache;
  Fill(20);
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 20; ++i) EXPECT_EQ(Get(Key(i)), Value(i));
  }
  EXPECT_EQ(Ticks(BLOB_DB_CACHE_HIT), 20u);
  EXPECT_EQ(CountIn(table.block_cache.get(), CacheEntryRole::kBlobValue), 20u);
}

TEST_F(BlobCacheTest, ItCountsAgainstTheBlockCacheOnce) {
  const std::shared_ptr<Cache> blocks = NewCache(size_t{8} << 20);
  ChargeTo(blocks);
  options_.blob_cache = NewCache(size_t{4} << 20);
  const auto placeholders = [&] { return CountIn(blocks.get(), CacheEntryRole::kBlobCache); };
  Open({"default", "other"});
  for (const char* const family : {"default", "other"}) {
    for (int i = 0; i < 60; ++i) Put(Key(i), Value(i), family);
    Flush(family);
  }
  EXPECT_EQ(placeholders(), 0u);
  for (int i = 0; i < 60; ++i) EXPECT_EQ(Get(Key(i)), Value(i));
  EXPECT_EQ(placeholders(), 2u) << "300 KB";
  for (int i = 0; i < 60; ++i) EXPECT_EQ(Get(Key(i), "other"), Value(i));
  EXPECT_EQ(placeholders(), 3u) << "600 KB of two families";
  // The next value gives back the charge of what was evicted.
  options_.blob_cache->SetCapacity(kCacheBytes);
  for (int i = 0; i < 60; ++i) EXPECT_EQ(Get(Key(i)), Value(i));
  EXPECT_EQ(placeholders(), 1u);
  ASSERT_TRUE(Close().ok());
  EXPECT_EQ(placeholders(), 0u);
}

TEST_F(BlobCacheTest, ABlockCacheWithoutRoomKeepsNoValue) {
  const std::shared_ptr<Cache> blocks = NewCache(2 * kCacheBytes, /*strict=*/true);
  ChargeTo(blocks);
  options_.blob_cache = NewCache(kCacheBytes);
  Fill(3);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(Get(Key(i)), Value(i));
  EXPECT_EQ(Ticks(BLOB_DB_CACHE_ADD), 0u);
  EXPECT_EQ(Ticks(BLOB_DB_CACHE_ADD_FAILURES), 3u);
  EXPECT_EQ(options_.blob_cache->GetUsage(), 0u);
}

TEST_F(BlobCacheTest, WhatCannotBeChargedIsRefusedByName) {
  const std::shared_ptr<Cache> blocks = NewCache(kCacheBytes);
  ChargeTo(blocks);
  for (const std::shared_ptr<Cache>& values :
       {std::shared_ptr<Cache>(), blocks, NewCache(kCacheBytes + 1)}) {
    options_.blob_cache = values;
    const Status s = TryOpen();
    EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
    EXPECT_NE(s.ToString().find("cache_usage_options: blob-cache"), std::string::npos)
        << s.ToString();
  }
  options_.blob_cache = NewCache(kCacheBytes);
  Open();
}

// File numbers return where a crash has undone what was written under them.
TEST_F(BlobCacheTest, AnotherOpeningFindsNothing) {
  options_.blob_cache = NewCache(kCacheBytes);
  Fill(1);
  EXPECT_EQ(Get(Key(0)), Value(0));
  Reopen();
  Reads();
  EXPECT_EQ(Get(Key(0)), Value(0));
  EXPECT_GT(Reads(), 0u);
}

TEST(BlobCacheKeyTest, OnlyTheSameKeyAndReferenceFindAValue) {
  const std::shared_ptr<Cache> cache = NewLRUCache(1 << 20);
  const BlobCache values(cache, nullptr, nullptr);
  const BlobCache others(cache, nullptr, nullptr);
  BlobReference reference;
  reference.file_number = 9;
  reference.offset = 100;
  reference.size = 3;
  values.KeepUnread("key", reference, "abc");
  PinnableSlice value;
  ASSERT_TRUE(values.Find("key", reference, &value));
  EXPECT_EQ(value.ToString(), "abc");
  EXPECT_FALSE(values.Find("kez", reference, &value));
  EXPECT_FALSE(others.Find("key", reference, &value)) << "another opening";
  for (uint64_t BlobReference::*field :
       {&BlobReference::file_number, &BlobReference::offset, &BlobReference::size}) {
    BlobReference changed = reference;
    changed.*field += 1;
    EXPECT_FALSE(values.Find("key", changed, &value));
  }
  BlobReference compressed = reference;
  compressed.compression = kZSTD;
  EXPECT_FALSE(values.Find("key", compressed, &value));
}

}  // namespace
}  // namespace varve
