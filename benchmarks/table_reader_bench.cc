// SPDX-License-Identifier: Apache-2.0

// Measures reads of one table of a million entries (16-byte keys, 100-byte values) with all blocks
// in the block cache: point reads, short range reads, a full scan, and a merge of eight iterators.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "varve/filter_policy.h"

#include "table/builder/block_table_builder.h"
#include "table/iterator/merging_iterator.h"
#include "table/reader/block_table_reader.h"
#include "util/env/random_access_file_reader.h"
#include "util/env/writable_file_writer.h"

namespace varve {
namespace {

constexpr uint64_t kKeys = 1000000;

uint64_t Scramble(uint64_t n) {
  n *= 0x9e3779b97f4a7c15;
  n ^= n >> 32;
  return n * 0xd6e8feb86659fd93;
}

// Returns a key of 16 bytes: a number spread over eight bytes, then digits. As with db_bench, keys
// differ early.
std::string Key(uint64_t n) {
  char text[32];
  snprintf(text, sizeof(text), "%016llu", static_cast<unsigned long long>(n * 10));
  return std::string(text, 16);
}

class MemoryWriteFile final : public FSWritableFile {
 public:
  explicit MemoryWriteFile(std::string* content) : content_(content) {}
  using FSWritableFile::Append;
  IOStatus Append(const Slice& data, const IOOptions&, IODebugContext*) override {
    content_->append(data.data(), data.size());
    return IOStatus::OK();
  }
  IOStatus Close(const IOOptions&, IODebugContext*) override { return IOStatus::OK(); }
  IOStatus Flush(const IOOptions&, IODebugContext*) override { return IOStatus::OK(); }
  IOStatus Sync(const IOOptions&, IODebugContext*) override { return IOStatus::OK(); }

 private:
  std::string* const content_;
};

class MemoryReadFile final : public FSRandomAccessFile {
 public:
  explicit MemoryReadFile(const std::string* content) : content_(content) {}
  IOStatus Read(uint64_t offset, size_t n, const IOOptions&, Slice* result, char* scratch,
                IODebugContext*) const override {
    memcpy(scratch, content_->data() + offset, n);
    *result = Slice(scratch, n);
    return IOStatus::OK();
  }

 private:
  const std::string* const content_;
};

// Holds a table with all blocks cached, made once. Requires ascending `keys`.
struct World {
  explicit World(const std::vector<std::string>& keys, size_t block_size = 4096) {
    options.table.block_size = block_size;
    options.icmp = &icmp;
    options.file_name = "bench.sst";
    options.table.filter_policy.reset(NewBloomFilterPolicy(10));
    options.table.block_cache = NewLRUCache(size_t{1} << 30);
    BlockTableBuildOptions build;
    build.icmp = &icmp;
    build.table = options.table;
    WritableFileWriter writer(std::make_unique<MemoryWriteFile>(&content), "bench.sst",
                              WritableFileWriter::Options());
    std::unique_ptr<TableBuilder> builder;
    Check(BlockTableBuilder::Create(build, &writer, &builder));
    for (uint64_t i = 0; i < keys.size(); i++) {
      std::string key;
      AppendInternalKey(&key, keys[i], 100, kTypeValue);
      std::string value(100, 'v');
      memcpy(value.data(), &i, sizeof(i));
      builder->Add(key, value);
    }
    Check(builder->Finish());
    Check(writer.Flush());
    auto file = std::make_unique<RandomAccessFileReader>(
        std::make_unique<MemoryReadFile>(&content), "bench.sst", RandomAccessFileReader::Options());
    Check(BlockTableReader::Open(options, std::move(file), content.size(), &reader));
    const auto it = reader->NewIterator(ReadOptions(), TableIterOptions());
    for (it->SeekToFirst(); it->Valid(); it->Next()) continue;
  }

  static void Check(const Status& s) {
    if (s.ok()) return;
    fprintf(stderr, "%s\n", s.ToString().c_str());
    abort();
  }

  const InternalKeyComparator icmp{BytewiseComparator()};
  BlockTableOpenOptions options;
  std::string content;
  std::unique_ptr<TableReader> reader;
};

World& TheWorld() {
  static World world([] {
    std::vector<std::string> keys;
    for (uint64_t i = 0; i < kKeys; i++) keys.push_back(Key(i));
    return keys;
  }());
  return world;
}

// Says how the keys of a table are made. All have the same length.
enum class Shape : uint8_t {
  kPlain,      // they differ early
  kTwoGroups,  // half of them begin with the same 40 bytes
};

constexpr uint64_t kShapedKeys = 400000;

std::string ShapedKey(Shape shape, uint64_t n) {
  if (shape == Shape::kPlain) return Key(n) + std::string(40, 'p');
  return n % 2 == 0 ? std::string(40, 'a') + Key(n) : "b" + Key(n) + std::string(39, 'p');
}

std::vector<std::string> RandomKeys(bool present, uint64_t range = kKeys) {
  std::vector<std::string> keys;
  for (uint64_t i = 0; i < (1 << 18); i++) {
    std::string key = Key(Scramble(i) % range);
    if (!present) key.back() = '5';
    keys.push_back(key);
  }
  return keys;
}

void Get(benchmark::State& state, bool present, uint64_t range = kKeys) {
  World& world = TheWorld();
  const std::vector<std::string> keys = RandomKeys(present, range);
  const ReadOptions read;
  PinnableSlice value;
  size_t i = 0;
  uint64_t found = 0;
  for (auto _ : state) {
    value.Reset();
    PointLookup lookup(keys[i++ & (keys.size() - 1)], 1000, &value);
    World::Check(world.reader->Get(read, &lookup));
    found += lookup.state() == PointLookup::State::kFound ? 1 : 0;
  }
  if (present && found != static_cast<uint64_t>(state.iterations())) {
    state.SkipWithError("a key is missing");
  }
}

void BM_GetPresent(benchmark::State& state) {
  Get(state, true);
}

// Measures an index whose separators share long prefixes. The arguments are shape and block size.
void BM_GetShaped(benchmark::State& state) {
  const auto shape = static_cast<Shape>(state.range(0));
  std::vector<std::string> keys;
  for (uint64_t i = 0; i < kShapedKeys; i++) keys.push_back(ShapedKey(shape, i));
  std::sort(keys.begin(), keys.end());
  const World world(keys, static_cast<size_t>(state.range(1)));
  std::vector<std::string> wanted;
  for (uint64_t i = 0; i < (1 << 18); i++) wanted.push_back(keys[Scramble(i) % kShapedKeys]);
  const ReadOptions read;
  PinnableSlice value;
  size_t i = 0;
  for (auto _ : state) {
    value.Reset();
    PointLookup lookup(wanted[i++ & (wanted.size() - 1)], 1000, &value);
    World::Check(world.reader->Get(read, &lookup));
    if (lookup.state() != PointLookup::State::kFound) state.SkipWithError("a key is missing");
  }
}
// Measures the cost of the instructions: all data fits the processor's caches.
void BM_GetHot(benchmark::State& state) {
  Get(state, true, 1000);
}
void BM_GetAbsent(benchmark::State& state) {
  Get(state, false);
}

void BM_SeekAndNext10(benchmark::State& state) {
  World& world = TheWorld();
  const std::vector<std::string> keys = RandomKeys(true);
  const ReadOptions read;
  const auto it = world.reader->NewIterator(read, TableIterOptions());
  size_t i = 0;
  uint64_t bytes = 0;
  std::string target;
  for (auto _ : state) {
    target.clear();
    AppendInternalKey(&target, keys[i++ & (keys.size() - 1)], 1000, kValueTypeForSeek);
    it->Seek(target);
    for (int n = 0; n < 10 && it->Valid(); n++, it->Next()) bytes += it->value().size();
  }
  benchmark::DoNotOptimize(bytes);
}

void BM_Scan(benchmark::State& state) {
  World& world = TheWorld();
  const ReadOptions read;
  const auto it = world.reader->NewIterator(read, TableIterOptions());
  uint64_t bytes = 0;
  for (auto _ : state) {
    if (!it->Valid()) it->SeekToFirst();
    bytes += it->key().size() + it->value().size();
    it->Next();
  }
  benchmark::DoNotOptimize(bytes);
}

void BM_ScanBackwards(benchmark::State& state) {
  World& world = TheWorld();
  const ReadOptions read;
  const auto it = world.reader->NewIterator(read, TableIterOptions());
  uint64_t bytes = 0;
  for (auto _ : state) {
    if (!it->Valid()) it->SeekToLast();
    bytes += it->key().size() + it->value().size();
    it->Prev();
  }
  benchmark::DoNotOptimize(bytes);
}

// One of eight iterators over the same table, each of which sees every eighth group of `run` keys:
// the one whose number modulo eight is `phase`.
class Stripe final : public InternalIterator {
 public:
  Stripe(std::unique_ptr<InternalIterator> base, uint64_t phase, uint64_t run)
      : base_(std::move(base)), phase_(phase), run_(run) {}
  void SeekToFirst() override {
    base_->SeekToFirst();
    at_ = 0;
    Settle();
  }
  void SeekToLast() override {}
  void Seek(const Slice&) override {}
  void SeekForPrev(const Slice&) override {}
  void Next() override {
    base_->Next();
    at_++;
    Settle();
  }
  void Prev() override {}
  Status status() const override { return base_->status(); }

 private:
  void Settle() {
    while (base_->Valid() && (at_ / run_) % 8 != phase_) {
      base_->Next();
      at_++;
    }
    valid_ = base_->Valid();
    key_ = base_->key();
    value_ = base_->value();
  }
  const std::unique_ptr<InternalIterator> base_;
  const uint64_t phase_;
  const uint64_t run_;
  uint64_t at_ = 0;
};

// Each key is also passed by the seven children it does not belong to; subtract eight scans.
void BM_MergeEight(benchmark::State& state) {
  World& world = TheWorld();
  const ReadOptions read;
  std::vector<std::unique_ptr<InternalIterator>> children;
  for (uint64_t phase = 0; phase < 8; phase++) {
    children.push_back(std::make_unique<Stripe>(world.reader->NewIterator(read, TableIterOptions()),
                                                phase, static_cast<uint64_t>(state.range(0))));
  }
  const auto it = NewMergingIterator(&world.icmp, std::move(children));
  uint64_t bytes = 0;
  for (auto _ : state) {
    if (!it->Valid()) it->SeekToFirst();
    bytes += it->value().size();
    it->Next();
  }
  benchmark::DoNotOptimize(bytes);
}

BENCHMARK(BM_GetPresent);
BENCHMARK(BM_GetHot);
BENCHMARK(BM_GetShaped)->ArgsProduct({{0, 1}, {4096, 1024}});
BENCHMARK(BM_GetAbsent);
BENCHMARK(BM_SeekAndNext10);
BENCHMARK(BM_Scan);
BENCHMARK(BM_ScanBackwards);
BENCHMARK(BM_MergeEight)->Arg(1)->Arg(16)->Arg(1000);

}  // namespace
}  // namespace varve
