// SPDX-License-Identifier: Apache-2.0

// Measures the block cache under 1 to 32 threads: entries found by key, entries reached through
// slots, and insertions into a full cache.
//
// Entries stand for blocks of 4 KiB but carry no data, so that only the cache is measured. The
// argument is the number of entries.

#include <benchmark/benchmark.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "table/cache/block_cache_key.h"
#include "table/cache/clock_cache.h"
#include "util/sync/epoch.h"

namespace varve {
namespace {

constexpr size_t kBlockBytes = 4096;

struct Object {
  CacheEntry entry;
  uint64_t number;
};

Object* ObjectBehind(void* value) {
  return reinterpret_cast<Object*>(static_cast<CacheEntry*>(value) - 1);
}

void DeleteObject(Cache::ObjectPtr value, MemoryAllocator*) {
  delete ObjectBehind(value);
}
constexpr Cache::CacheItemHelper kHelper(CacheEntryRole::kDataBlock, &DeleteObject);

BlockCacheKey KeyOf(uint64_t n) {
  return BlockCacheKey(0x9e3779b97f4a7c15 * (n + 1), n);
}

// Holds a cache, and a slot for each of `keys` blocks.
struct Fixture {
  Fixture(size_t keys, size_t capacity_blocks) : slots(keys) {
    LRUCacheOptions options;
    options.capacity = capacity_blocks * kBlockBytes;
    options.metadata_charge_policy = kDontChargeCacheMetadata;
    cache = std::make_unique<ClockCache>(options, 6);
  }
  ~Fixture() {
    for (BlockSlot& slot : slots) cache->Detach(&slot);
  }

  void Insert(uint64_t n) {
    auto* const object = new Object;
    object->number = n;
    object->entry.helper = &kHelper;
    object->entry.charge = kBlockBytes;
    object->entry.SetPriority(Cache::Priority::LOW);
    Cache::Handle* handle = nullptr;
    if (!cache->InsertEmbedded(&object->entry, KeyOf(n).AsSlice(), &slots[n], &handle).ok()) {
      delete object;
      return;
    }
    cache->Release(handle, false);
  }

  std::unique_ptr<ClockCache> cache;
  std::vector<BlockSlot> slots;
};

std::unique_ptr<Fixture> fixture;

void FillWhole(const benchmark::State& state) {
  const auto n = static_cast<size_t>(state.range(0));
  fixture = std::make_unique<Fixture>(n, n * 2);
  for (size_t i = 0; i < n; i++) fixture->Insert(i);
}
void FillHalf(const benchmark::State& state) {
  const auto n = static_cast<size_t>(state.range(0));
  fixture = std::make_unique<Fixture>(n, n / 2);
}
void Clear(const benchmark::State&) {
  fixture.reset();
}

// Draws numbers below n. Each thread has its own.
class Draw {
 public:
  Draw(int thread, uint64_t n) : state_(static_cast<uint64_t>(thread) * 7919 + 1), n_(n) {}
  uint64_t operator()() {
    state_ = state_ * 6364136223846793005 + 1442695040888963407;
    return (state_ >> 33) * n_ >> 31;
  }

 private:
  uint64_t state_;
  const uint64_t n_;
};

void BM_FindByKey(benchmark::State& state) {
  Draw draw(state.thread_index(), static_cast<uint64_t>(state.range(0)));
  Cache& cache = *fixture->cache;
  uint64_t sum = 0;
  for (auto _ : state) {
    Cache::Handle* const handle = cache.Lookup(KeyOf(draw()).AsSlice());
    sum += ObjectBehind(cache.Value(handle))->number;
    cache.Release(handle);
  }
  benchmark::DoNotOptimize(sum);
  state.SetItemsProcessed(state.iterations());
}

void BM_FollowSlot(benchmark::State& state) {
  Draw draw(state.thread_index(), static_cast<uint64_t>(state.range(0)));
  uint64_t sum = 0;
  for (auto _ : state) {
    const Epoch::Guard guard;
    CacheEntry* const entry = fixture->slots[draw()].load(std::memory_order_acquire);
    entry->Touch();
    sum += reinterpret_cast<const Object*>(entry)->number;
  }
  benchmark::DoNotOptimize(sum);
  state.SetItemsProcessed(state.iterations());
}

// The cache has room for half of the blocks, so that every other read inserts one and evicts
// another.
void BM_ReadThrough(benchmark::State& state) {
  Draw draw(state.thread_index(), static_cast<uint64_t>(state.range(0)));
  Cache& cache = *fixture->cache;
  uint64_t hits = 0;
  for (auto _ : state) {
    const uint64_t n = draw();
    if (Cache::Handle* const handle = cache.Lookup(KeyOf(n).AsSlice()); handle != nullptr) {
      hits++;
      cache.Release(handle);
    } else {
      fixture->Insert(n);
    }
  }
  state.SetItemsProcessed(state.iterations());
  state.counters["hit_rate"] =
      benchmark::Counter(static_cast<double>(hits) / static_cast<double>(state.iterations()),
                         benchmark::Counter::kAvgThreads);
}

constexpr int64_t kEntries = 1 << 15;

BENCHMARK(BM_FindByKey)
    ->Arg(kEntries)
    ->ThreadRange(1, 32)
    ->UseRealTime()
    ->Setup(FillWhole)
    ->Teardown(Clear);
BENCHMARK(BM_FollowSlot)
    ->Arg(kEntries)
    ->ThreadRange(1, 32)
    ->UseRealTime()
    ->Setup(FillWhole)
    ->Teardown(Clear);
BENCHMARK(BM_ReadThrough)
    ->Arg(kEntries)
    ->ThreadRange(1, 32)
    ->UseRealTime()
    ->Setup(FillHalf)
    ->Teardown(Clear);

}  // namespace
}  // namespace varve
