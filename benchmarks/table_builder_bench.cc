// SPDX-License-Identifier: Apache-2.0

// Measures entries per second through the table builder and its parts, into a file that discards
// everything.

#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "varve/filter_policy.h"

#include "table/builder/block_table_builder.h"
#include "table/filter/filter_bits.h"
#include "util/env/writable_file_writer.h"

namespace varve {
namespace {

constexpr int kEntries = 200000;

class NowhereFile final : public FSWritableFile {
 public:
  using FSWritableFile::Append;
  IOStatus Append(const Slice&, const IOOptions&, IODebugContext*) override {
    return IOStatus::OK();
  }
  IOStatus Close(const IOOptions&, IODebugContext*) override { return IOStatus::OK(); }
  IOStatus Flush(const IOOptions&, IODebugContext*) override { return IOStatus::OK(); }
  IOStatus Sync(const IOOptions&, IODebugContext*) override { return IOStatus::OK(); }
};

// 16-byte user keys, 100-byte values of which half can be compressed.
struct Input {
  std::vector<std::string> keys;
  std::vector<std::string> values;

  Input() {
    uint64_t state = 88172645463325252u;
    for (int i = 0; i < kEntries; i++) {
      std::string user_key = std::to_string(i);
      user_key.insert(0, 16 - user_key.size(), '0');
      std::string key;
      AppendInternalKey(&key, user_key, static_cast<SequenceNumber>(i + 1), kTypeValue);
      keys.push_back(key);
      std::string value;
      while (value.size() < 50) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        PutFixed64(&value, state);
      }
      value.resize(50);
      values.push_back(value + value);
    }
  }
};

const Input& SharedInput() {
  static const Input input;
  return input;
}

void BuildTable(benchmark::State& state, CompressionType compression, bool filter,
                ChecksumType checksum) {
  const Input& input = SharedInput();
  const InternalKeyComparator icmp(BytewiseComparator());
  BlockTableBuildOptions options;
  options.icmp = &icmp;
  options.compression = compression;
  options.table.checksum = checksum;
  if (filter) options.table.filter_policy.reset(NewBloomFilterPolicy(10));
  for (auto _ : state) {
    WritableFileWriter writer(std::make_unique<NowhereFile>(), "nowhere",
                              WritableFileWriter::Options());
    std::unique_ptr<TableBuilder> builder;
    if (!BlockTableBuilder::Create(options, &writer, &builder).ok()) {
      state.SkipWithError("cannot make the builder");
      return;
    }
    for (int i = 0; i < kEntries; i++) builder->Add(input.keys[i], input.values[i]);
    if (!builder->Finish().ok()) state.SkipWithError("cannot finish the table");
  }
  state.SetItemsProcessed(state.iterations() * kEntries);
  // An entry: a user key of 16 bytes, 8 bytes of sequence number and type, a value of 100.
  state.SetBytesProcessed(state.iterations() * kEntries * 124);
}

BENCHMARK_CAPTURE(BuildTable, plain, kNoCompression, false, kXXH3);
BENCHMARK_CAPTURE(BuildTable, filter, kNoCompression, true, kXXH3);
BENCHMARK_CAPTURE(BuildTable, filter_crc32c, kNoCompression, true, kCRC32c);
BENCHMARK_CAPTURE(BuildTable, filter_lz4, kLZ4Compression, true, kXXH3);
BENCHMARK_CAPTURE(BuildTable, filter_zstd, kZSTD, true, kXXH3);

void BuildBloom(benchmark::State& state) {
  FilterHashes hashes;
  for (const std::string& key : SharedInput().keys) hashes.push_back(FilterHash(key));
  std::string block;
  for (auto _ : state) {
    BuildFastLocalBloom(hashes, BloomDesign(10000), &block);
    benchmark::DoNotOptimize(block.data());
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(hashes.size()));
}
BENCHMARK(BuildBloom);

}  // namespace
}  // namespace varve
