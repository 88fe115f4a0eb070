// SPDX-License-Identifier: Apache-2.0

// Compares memtables of every representation: inserts, gets and scans of 16-byte keys and 100-byte
// values.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "varve/comparator.h"

#include "memtable/memtable.h"
#include "util/coding/fixed.h"

namespace varve {
namespace {

constexpr size_t kKeyBytes = 16;
constexpr size_t kValueBytes = 100;
// Number of entries that fill a write buffer of 64 MB.
constexpr size_t kEntries = 450000;

enum Shape : int { kRandom, kSequential, kClustered, kOverwrite, kOneKey };
// First bytes of the keys in tables whose keys share them.
constexpr char kPrefix[] = "user:000";

const InternalKeyComparator& Order() {
  static const InternalKeyComparator order(BytewiseComparator());
  return order;
}

// Counts entries for a benchmark that adds all of them in each iteration.
void CountEntries(benchmark::State* state) {
  state->counters["ns/entry"] = benchmark::Counter(
      static_cast<double>(kEntries) * static_cast<double>(state->iterations()) / 1e9,
      benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

// Keys have the form of db_bench: a big-endian number, then '0's.
class Keys {
 public:
  Keys(size_t n, int shape) : bytes_(n * kKeyBytes, '0') {
    std::mt19937_64 random(301);
    uint64_t cluster = 0;
    for (size_t i = 0; i < n; i++) {
      uint64_t number = 0;
      switch (shape) {
        case kRandom:
          number = random() % (n * 10);
          break;
        case kSequential:
          number = i;
          break;
        case kClustered:  // runs of 16 at random places
          if (i % 16 == 0) cluster = random() % (n * 10);
          number = cluster + i % 16;
          break;
        case kOverwrite:
          number = random() % (n / 8);
          break;
        default:
          break;
      }
      EncodeFixed64(&bytes_[i * kKeyBytes], ByteSwap(number));
    }
  }
  Slice operator[](size_t i) const { return Slice(&bytes_[i * kKeyBytes], kKeyBytes); }

 private:
  std::string bytes_;
};

std::unique_ptr<MemTable> NewTable(const MemTableRepType* rep = &kBlockedSkipListRep) {
  MemTableOptions options;
  options.rep = rep;
  options.write_buffer_bytes = size_t{1} << 30;
  return std::make_unique<MemTable>(Order(), options, 1);
}

void Fill(MemTable* mem, const Keys& keys, size_t begin, size_t end) {
  const std::string value(kValueBytes, 'v');
  for (size_t i = begin; i < end; i++) {
    if (!mem->Add(i + 1, kTypeValue, keys[i], value).ok()) std::abort();
  }
}

// Returns the representation that the first argument of a benchmark numbers in the registry.
const MemTableRepType* RepOf(benchmark::State* state) {
  const MemTableRepType* const rep = kMemTableReps[state->range(0)];
  state->SetLabel(rep->name);
  return rep;
}
const auto kReps = benchmark::CreateDenseRange(0, std::size(kMemTableReps) - 1, 1);

std::unique_ptr<MemTable> Filled(const MemTableRepType* rep, const Keys& keys, size_t n) {
  auto mem = NewTable(rep);
  Fill(mem.get(), keys, 0, n);
  return mem;
}

void BM_Insert(benchmark::State& state) {
  const MemTableRepType* const rep = RepOf(&state);
  const Keys keys(kEntries, static_cast<int>(state.range(1)));
  const auto threads = static_cast<size_t>(state.range(2));
  size_t bytes = 0;
  for (auto _ : state) {
    auto mem = NewTable(rep);
    std::vector<std::thread> others;
    const size_t share = kEntries / threads;
    for (size_t t = 1; t < threads; t++) {
      others.emplace_back([&, t] { Fill(mem.get(), keys, t * share, (t + 1) * share); });
    }
    Fill(mem.get(), keys, 0, share);
    for (std::thread& other : others) other.join();
    state.PauseTiming();
    bytes = mem->MemoryUsage();
    mem.reset();
    state.ResumeTiming();
  }
  state.counters["bytes/entry"] = static_cast<double>(bytes) / static_cast<double>(kEntries);
  CountEntries(&state);
}
BENCHMARK(BM_Insert)
    ->ArgNames({"rep", "shape", "threads"})
    ->ArgsProduct({kReps, {kRandom, kSequential, kClustered, kOverwrite, kOneKey}, {1, 2, 4}})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

// Inserts random decimal keys that share their first eight bytes. If `told`, the table knows it, as
// all tables but the first do.
void BM_InsertPrefixed(benchmark::State& state) {
  std::mt19937_64 random(301);
  std::vector<std::string> keys(kEntries);
  for (std::string& key : keys) {
    const std::string digits = std::to_string(random() % (kEntries * 10));
    key = kPrefix + std::string(8 - digits.size(), '0') + digits;
  }
  const std::string value(kValueBytes, 'v');
  MemTableOptions options;
  options.write_buffer_bytes = size_t{1} << 30;
  if (state.range(0) != 0) options.expected_prefix = kPrefix;
  for (auto _ : state) {
    auto mem = std::make_unique<MemTable>(Order(), options, 1);
    for (size_t i = 0; i < kEntries; i++) {
      if (!mem->Add(i + 1, kTypeValue, keys[i], value).ok()) std::abort();
    }
    state.PauseTiming();
    mem.reset();
    state.ResumeTiming();
  }
  CountEntries(&state);
}
BENCHMARK(BM_InsertPrefixed)->ArgName("told")->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);

// Inserts in batches with one thread, and then walks as the flush does if `walked`.
void BM_InsertBatch(benchmark::State& state) {
  const MemTableRepType* const rep = RepOf(&state);
  const Keys keys(kEntries, static_cast<int>(state.range(1)));
  const auto batch_size = static_cast<size_t>(state.range(2));
  const bool walked = state.range(3) != 0;
  const std::string value(kValueBytes, 'v');
  std::vector<MemTableEntry> batch(batch_size);
  size_t bytes = 0;
  for (auto _ : state) {
    auto mem = NewTable(rep);
    for (size_t i = 0; i + batch_size <= kEntries; i += batch_size) {
      for (size_t j = 0; j < batch_size; j++) {
        batch[j] = {i + j + 1, kTypeValue, keys[i + j], value};
      }
      if (!mem->Add(batch).ok()) std::abort();
    }
    if (walked) {
      const auto it = mem->NewIterator();
      for (it->SeekToFirst(); it->Valid(); it->Next()) benchmark::DoNotOptimize(it->value()[0]);
    }
    state.PauseTiming();
    bytes = mem->MemoryUsage();
    mem.reset();
    state.ResumeTiming();
  }
  state.counters["bytes/entry"] = static_cast<double>(bytes) / static_cast<double>(kEntries);
  CountEntries(&state);
}
BENCHMARK(BM_InsertBatch)
    ->ArgNames({"rep", "shape", "size", "walked"})
    ->ArgsProduct({kReps, {kRandom, kSequential}, {8, 64}, {0, 1}})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

void BM_Get(benchmark::State& state) {
  const MemTableRepType* const rep = RepOf(&state);
  const bool hit = state.range(1) != 0;
  const Keys keys(kEntries, kRandom);
  const auto mem = Filled(rep, keys, kEntries);
  std::mt19937_64 random(17);
  PinnableSlice value;
  std::string key;
  const auto get = [&] {
    key.assign(keys[random() % kEntries].data(), kKeyBytes);
    if (!hit) key.back() = 'x';
    value.Reset();
    PointLookup lookup(key, kMaxSequenceNumber, &value);
    if (mem->Get(&lookup) != hit) std::abort();
    benchmark::DoNotOptimize(value.data());
  };
  if (state.range(2) != 0) {
    for (size_t i = 0; i < kEntries; i++) get();
  }
  for (auto _ : state) get();
  state.counters["bytes/entry"] =
      static_cast<double>(mem->MemoryUsage()) / static_cast<double>(kEntries);
}
// Few iterations measure a table's first reads, many iterations the later ones.
BENCHMARK(BM_Get)
    ->ArgNames({"rep", "hit", "warm"})
    ->ArgsProduct({kReps, {1}, {0}})
    ->Iterations(20000);
BENCHMARK(BM_Get)->ArgNames({"rep", "hit", "warm"})->ArgsProduct({kReps, {1, 0}, {1}});

// Half of the operations are reads, from the first entry on.
void BM_InsertAndGet(benchmark::State& state) {
  const Keys keys(kEntries, kRandom);
  const std::string content(kValueBytes, 'v');
  PinnableSlice value;
  for (auto _ : state) {
    std::mt19937_64 random(17);
    auto mem = NewTable();
    for (size_t i = 0; i < kEntries; i++) {
      if (!mem->Add(i + 1, kTypeValue, keys[i], content).ok()) std::abort();
      value.Reset();
      PointLookup lookup(keys[random() % (i + 1)], kMaxSequenceNumber, &value);
      if (!mem->Get(&lookup)) std::abort();
    }
    state.PauseTiming();
    mem.reset();
    state.ResumeTiming();
  }
  state.counters["ns/pair"] = benchmark::Counter(
      static_cast<double>(kEntries) * static_cast<double>(state.iterations()) / 1e9,
      benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
BENCHMARK(BM_InsertAndGet)->Unit(benchmark::kMillisecond);

void BM_Scan(benchmark::State& state) {
  const MemTableRepType* const rep = RepOf(&state);
  const Keys keys(kEntries, kRandom);
  const auto mem = Filled(rep, keys, kEntries);
  const auto it = mem->NewIterator();
  const bool forward = state.range(1) != 0;
  uint64_t sum = 0;
  for (auto _ : state) {
    if (!it->Valid()) forward ? it->SeekToFirst() : it->SeekToLast();
    sum += static_cast<unsigned char>(it->value()[0]);
    forward ? it->Next() : it->Prev();
  }
  benchmark::DoNotOptimize(sum);
}
BENCHMARK(BM_Scan)->ArgNames({"rep", "forward"})->ArgsProduct({kReps, {1, 0}});

}  // namespace
}  // namespace varve
