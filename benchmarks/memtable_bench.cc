// SPDX-License-Identifier: Apache-2.0

// Memtable: inserts, gets and scans of 16-byte keys and 100-byte values.

#include <benchmark/benchmark.h>

#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "varve/comparator.h"

#include "memtable/memtable.h"
#include "util/coding/fixed.h"

namespace varve {
namespace {

constexpr size_t kKeyBytes = 16;
constexpr size_t kValueBytes = 100;

const InternalKeyComparator& Order() {
  static const InternalKeyComparator order(BytewiseComparator());
  return order;
}

// Keys in the form of db_bench: a big-endian number, then '0's.
class Keys {
 public:
  Keys(size_t n, bool shuffled) : bytes_(n * kKeyBytes, '0') {
    std::mt19937_64 random(301);
    for (size_t i = 0; i < n; i++) {
      const uint64_t number = shuffled ? random() % (n * 10) : i;
      EncodeFixed64(&bytes_[i * kKeyBytes], ByteSwap(number));
    }
  }
  Slice operator[](size_t i) const { return Slice(&bytes_[i * kKeyBytes], kKeyBytes); }

 private:
  std::string bytes_;
};

std::unique_ptr<MemTable> Filled(const Keys& keys, size_t n) {
  MemTableOptions options;
  options.write_buffer_bytes = size_t{1} << 30;
  auto mem = std::make_unique<MemTable>(Order(), options, 1);
  const std::string value(kValueBytes, 'v');
  for (size_t i = 0; i < n; i++) {
    if (!mem->Add(i + 1, kTypeValue, keys[i], value).ok()) std::abort();
  }
  return mem;
}

void BM_Insert(benchmark::State& state) {
  const auto n = static_cast<size_t>(state.range(0));
  const Keys keys(n, state.range(1) != 0);
  size_t bytes = 0;
  for (auto _ : state) {
    const auto mem = Filled(keys, n);
    bytes = mem->MemoryUsage();
    state.PauseTiming();
    benchmark::DoNotOptimize(mem.get());
    state.ResumeTiming();
  }
  state.SetItemsProcessed(static_cast<int64_t>(n) * state.iterations());
  state.counters["bytes/entry"] = static_cast<double>(bytes) / static_cast<double>(n);
  state.counters["ns/entry"] =
      benchmark::Counter(static_cast<double>(n) * static_cast<double>(state.iterations()) / 1e9,
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
BENCHMARK(BM_Insert)
    ->ArgNames({"n", "random"})
    ->Args({1000000, 1})
    ->Args({1000000, 0})
    ->Args({450000, 1})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

void BM_Get(benchmark::State& state) {
  const auto n = static_cast<size_t>(state.range(0));
  const Keys keys(n, true);
  const auto mem = Filled(keys, n);
  std::mt19937_64 random(17);
  PinnableSlice value;
  for (auto _ : state) {
    value.Reset();
    PointLookup lookup(keys[random() % n], kMaxSequenceNumber, &value);
    if (!mem->Get(&lookup)) std::abort();
    benchmark::DoNotOptimize(value.data());
  }
}
BENCHMARK(BM_Get)->ArgName("n")->Arg(1000000)->Arg(450000);

void BM_Scan(benchmark::State& state) {
  const auto n = static_cast<size_t>(state.range(0));
  const Keys keys(n, true);
  const auto mem = Filled(keys, n);
  const auto it = mem->NewIterator();
  it->SeekToFirst();
  uint64_t sum = 0;
  for (auto _ : state) {
    if (!it->Valid()) it->SeekToFirst();
    sum += static_cast<unsigned char>(it->value()[0]);
    it->Next();
  }
  benchmark::DoNotOptimize(sum);
}
BENCHMARK(BM_Scan)->ArgName("n")->Arg(1000000);

}  // namespace
}  // namespace varve
