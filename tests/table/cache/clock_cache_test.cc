// SPDX-License-Identifier: Apache-2.0

#include "table/cache/clock_cache.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "table/cache/block_cache_key.h"
#include "table/cache/handle_guard.h"
#include "table/index/static_btree.h"
#include "util/sync/epoch.h"

namespace varve {
namespace {

std::atomic<int> live_objects{0};

struct Counted {
  explicit Counted(int n) : number(n) { live_objects++; }
  ~Counted() { live_objects--; }
  int number;
};

void DeleteCounted(Cache::ObjectPtr object, MemoryAllocator*) {
  delete static_cast<Counted*>(object);
}
constexpr Cache::CacheItemHelper kCountedHelper(CacheEntryRole::kMisc, &DeleteCounted);

LRUCacheOptions SmallOptions(size_t capacity) {
  LRUCacheOptions options;
  options.capacity = capacity;
  options.num_shard_bits = 0;
  options.metadata_charge_policy = kDontChargeCacheMetadata;
  options.high_pri_pool_ratio = 0;
  return options;
}

class ClockCacheTest : public ::testing::Test {
 protected:
  void SetUp() override { live_objects = 0; }
  void TearDown() override {
    cache_.reset();
    EXPECT_EQ(live_objects, 0);
  }
  void Put(const std::string& key, int number, size_t charge = 1,
           Cache::Priority priority = Cache::Priority::LOW) {
    ASSERT_TRUE(
        cache_->Insert(key, new Counted(number), &kCountedHelper, charge, nullptr, priority).ok());
  }
  // Returns -1 if the key is absent.
  int Find(const std::string& key) {
    Cache::Handle* const handle = cache_->Lookup(key);
    if (handle == nullptr) return -1;
    const int number = static_cast<Counted*>(cache_->Value(handle))->number;
    cache_->Release(handle);
    return number;
  }

  std::shared_ptr<Cache> cache_;
};

TEST_F(ClockCacheTest, WhatWasUsedOutlivesWhatWasNot) {
  cache_ = NewLRUCache(SmallOptions(3));
  Put("a", 1);
  Put("b", 2);
  Put("c", 3);
  EXPECT_EQ(Find("a"), 1);
  Put("d", 4);
  EXPECT_EQ(Find("a"), 1);
  EXPECT_EQ(Find("d"), 4);
  EXPECT_EQ((Find("b") == -1) + (Find("c") == -1), 1);
  EXPECT_EQ(cache_->GetUsage(), 3u);
  EXPECT_EQ(cache_->GetOccupancyCount(), 3u);
}

TEST_F(ClockCacheTest, EntriesInUseOutliveAScan) {
  cache_ = NewLRUCache(SmallOptions(1000));
  const auto hot = [](int i) { return "hot" + std::to_string(i); };
  for (int i = 0; i < 100; i++) Put(hot(i), i);
  for (int i = 0; i < 20000; i++) {
    Put("scan" + std::to_string(i), i);
    // Each is used once in the time that the scan fills half of the cache.
    if (i % 5 != 0) continue;
    ASSERT_EQ(Find(hot(i / 5 % 100)), i / 5 % 100) << i;
  }
  EXPECT_LE(cache_->GetUsage(), 1000u);
}

// The epoch ends with each barrier.
TEST_F(ClockCacheTest, ReadersAreAskedOnceForManyEvictions) {
  LRUCacheOptions options = SmallOptions(8 << 20);
  options.num_shard_bits = 4;
  cache_ = NewLRUCache(options);
  constexpr int kPuts = 20000;
  const uint64_t before = Epoch::Stamp();
  for (int i = 0; i < kPuts; i++) {
    Put("block" + std::to_string(i), i, 4096);
    ASSERT_LE(cache_->GetUsage(), size_t{8} << 20) << i;
  }
  EXPECT_LE(Epoch::Stamp() - before, uint64_t{kPuts} / 64);
}

// A thread that stays where readers are until it is released.
class Reader {
 public:
  Reader() {
    thread_ = std::thread([this] {
      const Epoch::Guard guard;
      inside_ = true;
      while (!leaves_) std::this_thread::yield();
    });
    while (!inside_) std::this_thread::yield();
  }
  ~Reader() {
    Leave();
    thread_.join();
  }
  void Leave() { leaves_ = true; }

 private:
  std::atomic<bool> inside_{false};
  std::atomic<bool> leaves_{false};
  std::thread thread_;
};

// Readers are asked less often after asking in vain; entries dropped after the reader has left must
// not wait for as many as were dropped while it stayed.
TEST_F(ClockCacheTest, AReaderThatStayedIsForgottenWithWhatItKept) {
  constexpr size_t kCapacity = 8 << 20;
  cache_ = NewLRUCache(SmallOptions(kCapacity));
  int puts = 0;
  const auto put = [&] { Put("block" + std::to_string(puts++), 0, 4096); };
  while (cache_->GetUsage() + 4096 <= kCapacity / 16 * 15) put();
  {
    Reader reader;
    for (int i = 0; i < 600; i++) put();
    EXPECT_GT(cache_->GetUsage(), kCapacity / 8 * 9) << "the reader keeps what was evicted";
  }
  cache_->EraseUnRefEntries();
  EXPECT_EQ(cache_->GetUsage(), 0u);
  for (int i = 0; i < 4000; i++) {
    put();
    ASSERT_LE(cache_->GetUsage(), kCapacity / 16 * 17) << i;
  }
}

TEST_F(ClockCacheTest, WhoHasWaitedForAReaderFreesWhatItKept) {
  constexpr size_t kCapacity = 8 << 20;
  cache_ = NewLRUCache(SmallOptions(kCapacity));
  std::atomic<int> puts{0};
  std::atomic<bool> waited{false};
  Reader reader;
  std::thread writer([&] {
    while (!waited && puts < 100000) Put("block" + std::to_string(puts++), 0, 4096);
  });
  // A reader may keep no more than half of the capacity.
  for (int before = -1; before != puts || cache_->GetUsage() < kCapacity / 8 * 11;) {
    before = puts;
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
  }
  waited = true;
  reader.Leave();
  writer.join();
  EXPECT_LT(puts, 100000);
  EXPECT_LE(cache_->GetUsage(), kCapacity / 16 * 17);
}

TEST_F(ClockCacheTest, AReplacedEntryLivesAsLongAsItsReferences) {
  cache_ = NewLRUCache(SmallOptions(10));
  Put("a", 1);
  Cache::Handle* const old = cache_->Lookup("a");
  Put("a", 2);
  EXPECT_EQ(Find("a"), 2);
  EXPECT_EQ(static_cast<Counted*>(cache_->Value(old))->number, 1);
  EXPECT_EQ(cache_->GetUsage(), 2u);
  EXPECT_TRUE(cache_->Ref(old));
  EXPECT_FALSE(cache_->Release(old));
  EXPECT_TRUE(cache_->Release(old));
  EXPECT_EQ(cache_->GetUsage(), 1u);
  EXPECT_EQ(live_objects, 1);
}

TEST_F(ClockCacheTest, ErasedButHeldStaysForItsHolder) {
  cache_ = NewLRUCache(SmallOptions(10));
  Put("a", 1);
  Cache::Handle* const handle = cache_->Lookup("a");
  cache_->Erase("a");
  EXPECT_EQ(Find("a"), -1);
  EXPECT_EQ(live_objects, 1);
  cache_->Release(handle);
  EXPECT_EQ(live_objects, 0);
  cache_->Erase("never there");
}

TEST_F(ClockCacheTest, PinnedEntriesAreNotEvictedAndCountAsPinned) {
  cache_ = NewLRUCache(SmallOptions(4));
  Cache::Handle* handle = nullptr;
  ASSERT_TRUE(cache_->Insert("pinned", new Counted(7), &kCountedHelper, 3, &handle).ok());
  EXPECT_EQ(cache_->GetPinnedUsage(), 3u);
  for (int i = 0; i < 10; i++) Put("k" + std::to_string(i), i);
  EXPECT_EQ(cache_->GetUsage(), 4u);
  EXPECT_EQ(Find("pinned"), 7);
  EXPECT_EQ(Find("k9"), 9);
  EXPECT_EQ(Find("k8"), -1);
  EXPECT_EQ(cache_->GetCharge(handle), 3u);
  cache_->Release(handle);
  EXPECT_EQ(cache_->GetPinnedUsage(), 0u);
}

TEST_F(ClockCacheTest, AStrictLimitRefusesWhatIsHeldAndDropsWhatIsNot) {
  LRUCacheOptions options = SmallOptions(2);
  options.strict_capacity_limit = true;
  cache_ = NewLRUCache(options);
  EXPECT_TRUE(cache_->HasStrictCapacityLimit());
  Cache::Handle* first = nullptr;
  ASSERT_TRUE(cache_->Insert("a", new Counted(1), &kCountedHelper, 2, &first).ok());
  Cache::Handle* second = nullptr;
  auto refused = std::make_unique<Counted>(2);
  const Status s = cache_->Insert("b", refused.get(), &kCountedHelper, 1, &second);
  EXPECT_TRUE(s.IsMemoryLimit()) << s.ToString();
  EXPECT_EQ(second, nullptr);
  EXPECT_EQ(live_objects, 2);  // still the caller's
  refused.reset();
  Put("c", 3);
  EXPECT_EQ(Find("c"), -1);
  EXPECT_EQ(cache_->GetUsage(), 2u);
  cache_->SetStrictCapacityLimit(false);
  ASSERT_TRUE(cache_->Insert("d", new Counted(4), &kCountedHelper, 1, &second).ok());
  EXPECT_EQ(cache_->GetUsage(), 3u);
  EXPECT_TRUE(cache_->Release(second));  // over capacity: not kept
  cache_->Release(first);
}

TEST_F(ClockCacheTest, HighPriorityEntriesOutliveAScan) {
  LRUCacheOptions options = SmallOptions(10);
  options.high_pri_pool_ratio = 0.5;
  cache_ = NewLRUCache(options);
  for (int i = 0; i < 5; i++) {
    Put("index" + std::to_string(i), i, 1, Cache::Priority::HIGH);
  }
  for (int i = 0; i < 100; i++) Put("scan" + std::to_string(i), i);
  for (int i = 0; i < 5; i++) EXPECT_EQ(Find("index" + std::to_string(i)), i);
  EXPECT_EQ(Find("scan99"), 99);
  // Entries beyond their priority's share are evicted like any other.
  for (int i = 5; i < 20; i++) Put("index" + std::to_string(i), i, 1, Cache::Priority::HIGH);
  for (int i = 0; i < 100; i++) Put("more" + std::to_string(i), i);
  int kept = 0;
  for (int i = 0; i < 20; i++) kept += Find("index" + std::to_string(i)) == i ? 1 : 0;
  EXPECT_EQ(kept, 5);
}

TEST_F(ClockCacheTest, BottomPriorityGoesBeforeLow) {
  LRUCacheOptions options = SmallOptions(10);
  options.low_pri_pool_ratio = 0.5;
  cache_ = NewLRUCache(options);
  for (int i = 0; i < 5; i++) Put("low" + std::to_string(i), i);
  for (int i = 0; i < 50; i++) Put("b" + std::to_string(i), i, 1, Cache::Priority::BOTTOM);
  for (int i = 0; i < 5; i++) EXPECT_EQ(Find("low" + std::to_string(i)), i);
}

TEST_F(ClockCacheTest, CapacityMayChangeBesideInsertions) {
  cache_ = NewLRUCache(SmallOptions(100));
  std::atomic<bool> stop{false};
  std::thread changer([&] {
    for (size_t i = 0; !stop; i++) cache_->SetCapacity(i % 2 == 0 ? 20 : size_t{1} << 30);
  });
  for (int i = 0; i < 100'000; i++) Put("k" + std::to_string(i % 500), i);
  stop = true;
  changer.join();
  cache_->SetCapacity(10);
  EXPECT_LE(cache_->GetUsage(), 10u);
}

TEST_F(ClockCacheTest, ShrinkingEvictsAtOnceAndUnreferencedEntriesCanBeDropped) {
  cache_ = NewLRUCache(SmallOptions(100));
  for (int i = 0; i < 100; i++) Put("k" + std::to_string(i), i);
  cache_->SetCapacity(10);
  EXPECT_EQ(cache_->GetCapacity(), 10u);
  EXPECT_EQ(cache_->GetUsage(), 10u);
  Cache::Handle* held = nullptr;
  for (int i = 0; held == nullptr && i < 100; i++) held = cache_->Lookup("k" + std::to_string(i));
  ASSERT_NE(held, nullptr);
  cache_->EraseUnRefEntries();
  EXPECT_EQ(cache_->GetUsage(), 1u);
  cache_->Release(held);
}

TEST_F(ClockCacheTest, MetadataIsChargedWhenAsked) {
  LRUCacheOptions options = SmallOptions(10000);
  options.metadata_charge_policy = kFullChargeCacheMetadata;
  cache_ = NewLRUCache(options);
  Put("key", 1, 100);
  EXPECT_GT(cache_->GetUsage(), 100u);
  EXPECT_LT(cache_->GetUsage(), 300u);
}

TEST_F(ClockCacheTest, OptionsOutOfRangeMakeNoCache) {
  LRUCacheOptions options = SmallOptions(10);
  options.num_shard_bits = 20;
  EXPECT_EQ(NewLRUCache(options), nullptr);
  options = SmallOptions(10);
  options.high_pri_pool_ratio = 1.5;
  EXPECT_EQ(NewLRUCache(options), nullptr);
  options = SmallOptions(10);
  options.high_pri_pool_ratio = 0.7;
  options.low_pri_pool_ratio = 0.7;
  EXPECT_EQ(NewLRUCache(options), nullptr);
  cache_ = HyperClockCacheOptions(1 << 20, 0).MakeSharedCache();
  ASSERT_NE(cache_, nullptr);
  EXPECT_EQ(cache_->GetCapacity(), size_t{1} << 20);
  EXPECT_NE(cache_->NewId(), cache_->NewId());
}

TEST_F(ClockCacheTest, AWalkMeetsEachEntryOnceWithWhatItWasInsertedWith) {
  LRUCacheOptions options = SmallOptions(100000);
  options.num_shard_bits = 3;
  options.metadata_charge_policy = kFullChargeCacheMetadata;
  cache_ = NewLRUCache(options);
  for (int i = 0; i < 300; i++) Put(std::to_string(i), i, static_cast<size_t>(i) + 1);
  cache_->Erase("7");
  Cache::Handle* const held = cache_->Lookup("8");
  cache_->Erase("8");  // lives on, but is no entry any more
  std::map<std::string, int> met;
  size_t charges = 0;
  const auto callback = [&](const Slice& key, Cache::ObjectPtr value, size_t charge,
                            const Cache::CacheItemHelper* helper) {
    EXPECT_TRUE(met.emplace(key.ToString(), static_cast<Counted*>(value)->number).second);
    EXPECT_EQ(charge, static_cast<size_t>(static_cast<Counted*>(value)->number) + 1);
    EXPECT_EQ(helper, &kCountedHelper);
    charges += charge;
  };
  cache_->ApplyToAllEntries(callback, Cache::ApplyToAllEntriesOptions());
  EXPECT_EQ(met.size(), 298u);
  EXPECT_EQ(met.size(), cache_->GetOccupancyCount());
  EXPECT_EQ(met.count("7") + met.count("8"), 0u);
  for (const auto& [key, number] : met) EXPECT_EQ(key, std::to_string(number));
  EXPECT_EQ(charges, 300u * 301 / 2 - 8 - 9);
  cache_->Release(held);
}

TEST_F(ClockCacheTest, ThreadsShareItWithoutLosingObjects) {
  LRUCacheOptions options = SmallOptions(200);
  options.num_shard_bits = 2;
  options.high_pri_pool_ratio = 0.3;
  cache_ = NewLRUCache(options);
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; t++) {
    threads.emplace_back([this, t, &wrong] {
      uint32_t random = static_cast<uint32_t>(t) + 1;
      for (int i = 0; i < 20000; i++) {
        random = random * 1664525 + 1013904223;
        const int number = static_cast<int>(random >> 8) % 500;
        const std::string key = std::to_string(number);
        Cache::Handle* handle = cache_->Lookup(key);
        if (handle == nullptr &&
            !cache_->Insert(key, new Counted(number), &kCountedHelper, 1, &handle).ok()) {
          wrong++;
          continue;
        }
        if (static_cast<Counted*>(cache_->Value(handle))->number != number) wrong++;
        if (random % 64 == 0) cache_->Erase(key);
        cache_->Release(handle, random % 32 == 0);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(cache_->GetPinnedUsage(), 0u);
  EXPECT_LE(cache_->GetUsage(), 200u);
  EXPECT_EQ(static_cast<size_t>(live_objects), cache_->GetUsage());
}

// One shard grows from 64 buckets while all threads add: no existing entry may be missed.
TEST_F(ClockCacheTest, NothingIsMissedWhileTheTableGrows) {
  cache_ = NewLRUCache(SmallOptions(1 << 20));
  constexpr int kThreads = 4;
  constexpr int kEach = 20000;
  const size_t buckets = cache_->GetTableAddressCount();
  std::atomic<int> missed{0};
  std::vector<std::thread> threads;
  const auto key = [](int thread, int i) {
    return std::to_string(thread) + ":" + std::to_string(i);
  };
  for (int t = 0; t < kThreads; t++) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kEach; i++) {
        Put(key(t, i), i);
        if (Find(key(t, i)) != i || Find(key(t, i / 2)) != i / 2) missed++;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(missed, 0);
  EXPECT_EQ(cache_->GetOccupancyCount(), size_t{kThreads} * kEach);
  EXPECT_GT(cache_->GetTableAddressCount(), 100 * buckets);
  for (int t = 0; t < kThreads; t++) {
    for (int i = 0; i < kEach; i++) ASSERT_EQ(Find(key(t, i)), i);
  }
}

// All threads put the same keys, with rising numbers, while the table grows: one entry of each key
// is left, and no thread sees a key go back.
TEST_F(ClockCacheTest, AKeyThatAllReplaceIsThereOnce) {
  cache_ = NewLRUCache(SmallOptions(1 << 20));
  constexpr int kKeys = 2000;
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; t++) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 5 * kKeys; i++) {
        const std::string key = std::to_string(i % kKeys);
        if (t % 2 == 0) {
          Put(key, i);
        } else if (const int seen = Find(key); seen != -1) {
          if (seen % kKeys != i % kKeys) wrong++;
        }
        if (t == 0 && Find(key) == -1) wrong++;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(cache_->GetOccupancyCount(), size_t{kKeys});
  Put("last", 0);
  cache_->Erase("last");  // asks the readers, who have left
  EXPECT_EQ(live_objects, kKeys);
  EXPECT_EQ(cache_->GetUsage(), size_t{kKeys});
}

TEST_F(ClockCacheTest, FullOfHeldEntriesItGrowsOverItsCapacityAndShrinksAgain) {
  cache_ = NewLRUCache(SmallOptions(100));
  std::vector<Cache::Handle*> handles(1000);
  for (int i = 0; i < 1000; i++) {
    ASSERT_TRUE(cache_
                    ->Insert(std::to_string(i), new Counted(i), &kCountedHelper, 1,
                             &handles[static_cast<size_t>(i)])
                    .ok());
  }
  EXPECT_EQ(cache_->GetUsage(), 1000u);
  EXPECT_EQ(cache_->GetPinnedUsage(), 1000u);
  for (Cache::Handle* handle : handles) cache_->Release(handle);
  EXPECT_LE(cache_->GetUsage(), 100u);
  EXPECT_EQ(cache_->GetPinnedUsage(), 0u);
}

TEST_F(ClockCacheTest, KeysOfEveryLengthAreDistinct) {
  cache_ = NewLRUCache(SmallOptions(1000));
  std::string key;
  for (int i = 0; i < 40; i++, key += 'x') Put(key, i);
  key.clear();
  for (int i = 0; i < 40; i++, key += 'x') EXPECT_EQ(Find(key), i);
}

TEST_F(ClockCacheTest, ATypicalChargeSizesTheTable) {
  HyperClockCacheOptions options(1 << 20, 1 << 10, 0);
  cache_ = options.MakeSharedCache();
  EXPECT_GE(cache_->GetTableAddressCount(), 1024u);
  EXPECT_STREQ(cache_->Name(), "HyperClockCache");
  EXPECT_STREQ(NewLRUCache(1 << 20)->Name(), "LRUCache");
}

TEST_F(ClockCacheTest, AHeldObjectCanBeSharedAndHandedOn) {
  cache_ = NewLRUCache(SmallOptions(1));
  Cache::Handle* handle = nullptr;
  ASSERT_TRUE(cache_->Insert("a", new Counted(1), &kCountedHelper, 1, &handle).ok());
  Cleanable pin;
  {
    HandleGuard<Counted> held(&cache_, handle);
    ASSERT_TRUE(held.shareable());
    held.Share(&pin);
    HandleGuard<Counted> moved(std::move(held));
    EXPECT_FALSE(held);
    EXPECT_EQ(moved->number, 1);
  }
  EXPECT_EQ(cache_->GetPinnedUsage(), 1u);
  pin.Reset();
  EXPECT_EQ(cache_->GetPinnedUsage(), 0u);
  HandleGuard<Counted> own(std::make_unique<const Counted>(2));
  own.MoveTo(&pin);
  EXPECT_FALSE(own);
  EXPECT_EQ(live_objects, 2);
  pin.Reset();
  EXPECT_EQ(live_objects, 1);
}

TEST(BlockCacheKey, IsStableForAKnownTableAndFreshForOthers) {
  const std::shared_ptr<Cache> cache = NewLRUCache(1 << 20);
  TableProperties known;
  known.db_id = "db";
  known.db_session_id = "ABCDEFGHIJKLMNOPQRST";
  known.orig_file_number = 7;
  const auto key = [&](const TableProperties& properties, uint64_t size, uint64_t kind,
                       uint64_t offset) {
    return BlockCacheKeyBase::ForTable(properties, size, cache.get())
        .ForBlock(kind, offset)
        .AsSlice()
        .ToString();
  };
  EXPECT_EQ(key(known, 100, 0, 5), key(known, 100, 0, 5));
  EXPECT_NE(key(known, 100, 0, 5), key(known, 100, 0, 6));
  EXPECT_NE(key(known, 100, 0, 5), key(known, 100, 1, 5));
  EXPECT_NE(key(known, 100, 0, 5), key(known, 101, 0, 5));
  TableProperties other = known;
  other.orig_file_number = 8;
  EXPECT_NE(key(known, 100, 0, 5), key(other, 100, 0, 5));
  EXPECT_NE(key(TableProperties(), 100, 0, 5), key(TableProperties(), 100, 0, 5));
}

// The largest sizes have four levels, so that a word beyond the last is led far past the nodes.
TEST(StaticBTree, FindsLowerBoundsAtEverySize) {
  std::vector<size_t> sizes = {4095, 4096, 4097, 5000};
  for (size_t n = 0; n < 700; n += n < 40 ? 1 : 37) sizes.push_back(n);
  for (const size_t n : sizes) {
    std::vector<uint64_t> words;
    for (size_t i = 0; i < n; i++) words.push_back(10 * (i - i % 3));
    if (n > 5 && n % 2 == 0) words.back() = UINT64_MAX;
    StaticBTree tree;
    tree.Build(words);
    ASSERT_EQ(tree.size(), n);
    std::vector<uint64_t> probes = {0, 1, UINT64_MAX - 1, UINT64_MAX};
    for (const uint64_t word : words) probes.insert(probes.end(), {word - 1, word, word + 1});
    std::vector<size_t> together(probes.size());
    tree.LowerBounds(probes, together.data());
    for (size_t p = 0; p < probes.size(); p++) {
      const uint64_t probe = probes[p];
      const auto expected =
          static_cast<size_t>(std::lower_bound(words.begin(), words.end(), probe) - words.begin());
      size_t near = expected;
      ASSERT_EQ(tree.LowerBound(probe, [&](size_t first) { near = first; }), expected)
          << "n " << n << " probe " << probe;
      ASSERT_LE(near, expected) << "n " << n << " probe " << probe;
      ASSERT_LE(expected, near + StaticBTree::kFanout) << "n " << n << " probe " << probe;
      ASSERT_EQ(together[p], expected) << "n " << n << " probe " << probe;
    }
  }
}

}  // namespace
}  // namespace varve
