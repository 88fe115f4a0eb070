// SPDX-License-Identifier: Apache-2.0

// Goal: a database's memory is told by owner, and counts in its block cache where that is asked
// for. Method: caches of known size, with a strict limit that is then lifted.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "varve/cache.h"
#include "varve/table.h"
#include "varve/utilities/memory_util.h"
#include "varve/write_buffer_manager.h"

#include "tests/harness/database.h"

namespace varve::testing {
namespace {

using P = DB::Properties;
using Decision = CacheEntryRoleOptions::Decision;
using Keys = BlockCacheEntryStatsMapKeys;

constexpr uint64_t kStep = 256 << 10;

class MemoryTest : public Database {
 protected:
  void UseCache(const std::shared_ptr<Cache>& cache,
                const std::vector<CacheEntryRole>& charged = {}) {
    BlockBasedTableOptions table;
    table.block_cache = cache;
    for (const CacheEntryRole role : charged) {
      table.cache_usage_options.options_overrides[role].charged = Decision::kEnabled;
    }
    options_.table_factory.reset(NewBlockBasedTableFactory(table));
  }
  uint64_t Owner(const std::string& name) {
    std::map<std::string, std::string> map;
    EXPECT_TRUE(db()->GetMapProperty("varve.memory", &map));
    EXPECT_EQ(map.count(name), 1u) << name;
    return std::stoull(map[name]);
  }
  // Counts entries of a role in the cache now, whatever an earlier answer reported.
  static std::pair<uint64_t, uint64_t> InCache(Cache* cache, CacheEntryRole role) {
    std::pair<uint64_t, uint64_t> sum;
    cache->ApplyToAllEntries(
        [&](const Slice&, Cache::ObjectPtr, size_t charge, const Cache::CacheItemHelper* helper) {
          if (helper->role != role) return;
          sum.first++;
          sum.second += charge;
        });
    return sum;
  }
};

TEST_F(MemoryTest, WhatIsInTheBlockCacheIsToldByRole) {
  const auto cache = NewLRUCache(8 << 20, 0);
  UseCache(cache);
  options_.write_buffer_manager = std::make_shared<WriteBufferManager>(0, cache);
  Open({"default", "bare"});
  MakeTable({"a", "b"});
  EXPECT_EQ(Get("a"), "of a");
  for (const std::string& name : {P::kBlockCacheEntryStats, P::kFastBlockCacheEntryStats}) {
    std::map<std::string, std::string> map;
    ASSERT_TRUE(db()->GetMapProperty(name, &map)) << name;
    EXPECT_EQ(map[Keys::EntryCount(CacheEntryRole::kDataBlock)], "1");
    EXPECT_NE(map[Keys::UsedBytes(CacheEntryRole::kDataBlock)], "0");
    EXPECT_NE(map[Keys::EntryCount(CacheEntryRole::kWriteBuffer)], "0");
    EXPECT_EQ(map[Keys::CacheCapacityBytes()], std::to_string(8 << 20));
    EXPECT_NE(Text(name).find("data-block(1,"), std::string::npos) << Text(name);
    uint64_t number = 0;
    EXPECT_FALSE(db()->GetIntProperty(name, &number));
  }
  // A single walk serves all families of the database.
  cache->EraseUnRefEntries();
  std::map<std::string, std::string> map;
  ASSERT_TRUE(db()->GetMapProperty(Handle("bare"), P::kBlockCacheEntryStats, &map));
  EXPECT_EQ(map[Keys::EntryCount(CacheEntryRole::kDataBlock)], "1");
}

TEST_F(MemoryTest, WithoutABlockCacheThereIsNothingToTell) {
  BlockBasedTableOptions table;
  table.no_block_cache = true;
  options_.table_factory.reset(NewBlockBasedTableFactory(table));
  Open();
  std::string text;
  std::map<std::string, std::string> map;
  EXPECT_FALSE(db()->GetProperty(P::kBlockCacheEntryStats, &text));
  EXPECT_FALSE(db()->GetMapProperty(P::kFastBlockCacheEntryStats, &map));
  EXPECT_EQ(Owner("block_cache"), 0u);
}

TEST_F(MemoryTest, OwnersAddUp) {
  const auto cache = NewLRUCache(64 << 20, 0);
  UseCache(cache, {CacheEntryRole::kBlockBasedTableReader, CacheEntryRole::kFileMetadata});
  options_.write_buffer_manager = std::make_shared<WriteBufferManager>(0, cache);
  for (const int open_files : {-1, 100}) {
    options_.max_open_files = open_files;
    Open();
    MakeTable({"a", "b"});
    Put("c", std::string(1000, 'c'));
    EXPECT_EQ(Get("a"), "of a");
    ASSERT_TRUE(Eventually([&] { return Owner("warm_pages") == 0; })) << "of earlier databases";
    EXPECT_GT(Owner("memtables.active"), 1000u);
    EXPECT_EQ(Owner("memtables.immutable"), 0u);
    EXPECT_EQ(Owner("memtables"), Owner("memtables.active"));
    EXPECT_GT(Owner("table_readers"), 500u) << open_files;
    EXPECT_GT(Owner("file_metadata"), 100u);
    EXPECT_EQ(InCache(cache.get(), CacheEntryRole::kBlockBasedTableReader).second, kStep);
    EXPECT_EQ(InCache(cache.get(), CacheEntryRole::kFileMetadata).second, kStep);
    const uint64_t writes =
        std::min(InCache(cache.get(), CacheEntryRole::kWriteBuffer).second, Owner("memtables"));
    EXPECT_EQ(Owner("block_cache"), cache->GetUsage());
    EXPECT_EQ(Owner("block_cache.pinned"), cache->GetPinnedUsage());
    EXPECT_EQ(Owner("block_cache.reserved"), 2 * kStep + writes);
    EXPECT_EQ(Owner("total"), Owner("memtables") + Owner("block_cache") + Owner("table_readers") +
                                  Owner("file_metadata") + Owner("transactions") -
                                  Owner("block_cache.reserved"));
    EXPECT_EQ(Text("varve.memory").substr(0, 10), "memtables=");
    ASSERT_TRUE(Close().ok());
    EXPECT_EQ(InCache(cache.get(), CacheEntryRole::kBlockBasedTableReader).second, 0u);
    EXPECT_EQ(InCache(cache.get(), CacheEntryRole::kFileMetadata).second, 0u);
    EXPECT_EQ(InCache(cache.get(), CacheEntryRole::kWriteBuffer).second, 0u);
  }
}

TEST_F(MemoryTest, WhatFlushedMemTablesLeaveForTheNextIsTold) {
  options_.write_buffer_size = 8 << 20;
  Open();
  ASSERT_TRUE(Eventually([&] { return Owner("warm_pages") == 0; })) << "of earlier databases";
  for (int i = 0; i < 40; i++) Put("key" + std::to_string(i), std::string(100000, 'v'));
  const uint64_t held = Owner("memtables");
  const uint64_t total = Owner("total");
  ASSERT_GT(held, 4000000u);
  Flush();
  const uint64_t left = Owner("warm_pages");
  if (left == 0) GTEST_SKIP() << "a build with a sanitizer keeps nothing";
  EXPECT_GT(left, held / 2);
  EXPECT_LE(left, held);
  EXPECT_GT(Owner("total"), total - held + left / 2);
  EXPECT_TRUE(Eventually([&] { return Owner("warm_pages") == 0; }));
}

TEST_F(MemoryTest, WhatWasEvictedAndNotYetFreedIsToldAndBounded) {
  constexpr size_t kCapacity = 1 << 20;
  const auto cache = NewLRUCache(kCapacity, 0);
  UseCache(cache);
  Open();
  const auto key = [](int i) { return "key" + std::to_string(1000 + i); };
  for (int i = 0; i < 600; i++) Put(key(i), std::string(5000, 'v'));
  Flush();
  uint64_t most = 0;
  for (int i = 0; i < 600; i++) {
    EXPECT_EQ(Get(key(i)).size(), 5000u);
    const uint64_t waiting = Owner("block_cache.waiting");
    most = std::max(most, waiting);
    ASSERT_LE(waiting, kCapacity / 16);
    ASSERT_LE(Owner("block_cache"), kCapacity);
  }
  EXPECT_GT(most, 5000u);
}

TEST_F(MemoryTest, AMemTableThatOnlyAReaderHasIsPinned) {
  Open();
  Put("a", std::string(5000, 'a'));
  std::unique_ptr<Iterator> it(db()->NewIterator(ReadOptions()));
  Flush();
  EXPECT_GT(Owner("memtables.pinned"), 5000u);
  it->SeekToFirst();
  EXPECT_TRUE(it->Valid());
  it.reset();
  // The flush's own share may go after it has answered.
  EXPECT_TRUE(Eventually([&] { return Owner("memtables.pinned") == 0; }));
}

TEST_F(MemoryTest, ATableThatFindsNoRoomInAStrictCacheCannotBeRead) {
  const auto cache = NewLRUCache(200 << 10, 0, /*strict_capacity_limit=*/true);
  UseCache(cache, {CacheEntryRole::kBlockBasedTableReader});
  Open();
  MakeTable({"a"});
  EXPECT_NE(Get("a").find("block-based-table-reader"), std::string::npos) << Get("a");
  std::string value;
  EXPECT_TRUE(db()->Get(ReadOptions(), "a", &value).IsMemoryLimit());
  std::unique_ptr<Iterator> it(db()->NewIterator(ReadOptions()));
  it->SeekToFirst();
  EXPECT_FALSE(it->Valid());
  EXPECT_TRUE(it->status().IsMemoryLimit()) << it->status().ToString();
  it.reset();
  cache->SetCapacity(1 << 20);
  EXPECT_EQ(Get("a"), "of a");
}

TEST_F(MemoryTest, FilesWhoseMetadataFindNoRoomAreNotAdded) {
  const auto cache = NewLRUCache(200 << 10, 0, /*strict_capacity_limit=*/true);
  UseCache(cache, {CacheEntryRole::kFileMetadata});
  Open();
  Put("a", "1");
  const Status s = db()->Flush(FlushOptions());
  EXPECT_TRUE(s.IsMemoryLimit()) << s.ToString();
  EXPECT_EQ(Get("a"), "1");
  EXPECT_EQ(Levels(), "");
  cache->SetCapacity(1 << 20);
  EXPECT_TRUE(Eventually([this] { return db()->Resume().ok(); }));
  Put("b", "2");
  Flush();
  EXPECT_EQ(Scan(), "a=1 b=2");
  EXPECT_EQ(InCache(cache.get(), CacheEntryRole::kFileMetadata).second, kStep);
  ASSERT_TRUE(Close().ok());
  EXPECT_EQ(InCache(cache.get(), CacheEntryRole::kFileMetadata).second, 0u);
  cache->SetCapacity(200 << 10);
  const Status refused = TryOpen();
  EXPECT_TRUE(refused.IsMemoryLimit()) << refused.ToString();
  cache->SetCapacity(1 << 20);
  Open();
  EXPECT_EQ(Scan(), "a=1 b=2");
}

TEST_F(MemoryTest, ACacheThatTheDatabaseMadeIsChargedAsWell) {
  UseCache(nullptr, {CacheEntryRole::kFileMetadata, CacheEntryRole::kBlockBasedTableReader});
  Open({"default"});
  MakeTable({"a"});
  EXPECT_EQ(Get("a"), "of a");
  std::map<std::string, std::string> map;
  ASSERT_TRUE(db()->GetMapProperty(P::kBlockCacheEntryStats, &map));
  EXPECT_EQ(map[Keys::EntryCount(CacheEntryRole::kFileMetadata)], "1");
  EXPECT_EQ(map[Keys::EntryCount(CacheEntryRole::kBlockBasedTableReader)], "1");
}

TEST_F(MemoryTest, WhatCannotBeChargedIsRefusedByName) {
  UseCache(NewLRUCache(1 << 20), {CacheEntryRole::kBlobValue});
  const Status s = TryOpen();
  EXPECT_TRUE(s.IsNotSupported()) << s.ToString();
  EXPECT_NE(s.ToString().find("blob-value"), std::string::npos) << s.ToString();
}

TEST_F(MemoryTest, DatabasesAndCachesAreAddedUpByType) {
  const auto cache = NewLRUCache(1 << 20);
  UseCache(cache);
  Open({"default", "other"});
  MakeTable({"a", "b"});
  EXPECT_EQ(Get("a"), "of a");
  const std::unique_ptr<Iterator> pins(db()->NewIterator(ReadOptions()));
  Put("c", std::string(100'000, 'c'), "other");
  std::map<MemoryUtil::UsageType, uint64_t> usage = {{MemoryUtil::kNumUsageTypes, 7}};
  ASSERT_TRUE(
      MemoryUtil::GetApproximateMemoryUsageByType({db(), nullptr}, {cache.get(), nullptr}, &usage)
          .ok());
  EXPECT_EQ(usage.size(), 4u);
  EXPECT_GT(usage[MemoryUtil::kMemTableUnFlushed], 100'000u);
  EXPECT_GE(usage[MemoryUtil::kMemTableTotal], usage[MemoryUtil::kMemTableUnFlushed]);
  EXPECT_EQ(usage[MemoryUtil::kCacheTotal], cache->GetUsage());
  std::map<MemoryUtil::UsageType, uint64_t> twice;
  ASSERT_TRUE(MemoryUtil::GetApproximateMemoryUsageByType({db(), db()}, {}, &twice).ok());
  EXPECT_EQ(twice[MemoryUtil::kMemTableUnFlushed], 2 * usage[MemoryUtil::kMemTableUnFlushed]);
  EXPECT_EQ(twice.count(MemoryUtil::kCacheTotal), 0u) << "no cache was asked";
  ASSERT_TRUE(MemoryUtil::GetApproximateMemoryUsageByType({nullptr}, {}, &twice).ok());
  EXPECT_TRUE(twice.empty());
  EXPECT_TRUE(MemoryUtil::GetApproximateMemoryUsageByType({db()}, {}, nullptr).IsInvalidArgument());
}

}  // namespace
}  // namespace varve::testing
