// SPDX-License-Identifier: Apache-2.0
// Checksums, hashes and codecs over blocks of --block_size bytes, and loads of memory; no database
// is involved.

#include <array>
#include <atomic>
#include <cstdio>
#include <memory>
#include <string>

#include "tools/db_bench/benchmark.h"
#include "tools/db_bench/fail.h"
#include "tools/db_bench/flags.h"
#include "tools/db_bench/options_from_flags.h"
#include "util/coding/crc32c.h"
#include "util/coding/hash.h"
#include "util/compress/codec.h"

namespace varve::bench {

namespace {

// Bytes rather than operations, so that --block_size does not decide how long a run takes.
constexpr int64_t kBytesToHash = int64_t{5000} << 20;
constexpr int64_t kBytesToCompress = int64_t{1} << 30;

template <typename Function>
void HashBlocks(Worker& worker, Op op, Function function) {
  const std::string block(static_cast<size_t>(FLAGS_block_size), 'x');
  uint64_t value = 0;
  int64_t bytes = 0;
  while (bytes < kBytesToHash) {
    value += function(block.data(), block.size());
    bytes += static_cast<int64_t>(block.size());
    worker.stats.FinishedOps(1, op);
  }
  // The result is printed so that the work is not optimised away.
  std::fprintf(stderr, "... val=0x%llx\r", static_cast<unsigned long long>(value));
  worker.stats.AddBytes(bytes);
  worker.stats.AddMessage("(" + std::to_string(block.size()) + " per op)");
}

void Crc32c(Worker& worker) {
  HashBlocks(worker, Op::kCrc, crc32c::Value);
}

void XxHash32(Worker& worker) {
  HashBlocks(worker, Op::kHash, [](const char* data, size_t n) { return XXHash32(data, n); });
}

void XxHash64(Worker& worker) {
  HashBlocks(worker, Op::kHash, [](const char* data, size_t n) { return XXHash64Low32(data, n); });
}

void Xxh3(Worker& worker) {
  HashBlocks(worker, Op::kHash, [](const char* data, size_t n) { return XXH3Hash64(data, n, 0); });
}

// Returns null, with a note in the report, if there is no codec to measure.
const Codec* CodecOfFlags(Worker& worker) {
  CompressionType type = kNoCompression;
  const Codec* codec = ParseCompression(FLAGS_compression_type, &type) ? FindCodec(type) : nullptr;
  if (codec == nullptr) worker.stats.AddMessage("(compression failure)");
  return codec;
}

CompressionOptions EffortOfFlags() {
  CompressionOptions options;
  options.level = FLAGS_compression_level;
  return options;
}

void Compress(Worker& worker) {
  const Codec* const codec = CodecOfFlags(worker);
  if (codec == nullptr) return;
  const CompressionOptions options = EffortOfFlags();
  const Slice block = worker.NewValues().Next(static_cast<size_t>(FLAGS_block_size));
  std::string compressed;
  int64_t bytes = 0;
  int64_t produced = 0;
  while (bytes < kBytesToCompress) {
    if (!codec->Compress(options, Slice(), block, &compressed)) Fail("compression failure");
    bytes += static_cast<int64_t>(block.size());
    produced += static_cast<int64_t>(compressed.size());
    worker.stats.FinishedOps(1, Op::kCompress);
  }
  worker.stats.AddBytes(bytes);
  std::array<char, 40> note{};
  std::snprintf(note.data(), note.size(), "(output: %.1f%%)",
                100.0 * static_cast<double>(produced) / static_cast<double>(bytes));
  worker.stats.AddMessage(note.data());
}

// Compresses bytes that no codec makes shorter, as a table does before it stores them as they are.
void CompressReject(Worker& worker) {
  const Codec* const codec = CodecOfFlags(worker);
  if (codec == nullptr) return;
  const CompressionOptions options = EffortOfFlags();
  std::string block(static_cast<size_t>(FLAGS_block_size), '\0');
  for (char& byte : block) byte = static_cast<char>(worker.random.Below(256));
  const size_t most =
      block.size() * static_cast<size_t>(options.max_compressed_bytes_per_kb) / 1024;
  std::string compressed;
  int64_t bytes = 0;
  while (bytes < kBytesToCompress) {
    // Both answers are a rejection: the codec gives up by itself, or its output exceeds what a
    // table accepts. Random bytes that pass would mean that the benchmark measures something else.
    if (codec->Compress(options, Slice(), block, &compressed) && compressed.size() <= most) {
      Fail("compressreject: random bytes were made shorter");
    }
    bytes += static_cast<int64_t>(block.size());
    worker.stats.FinishedOps(1, Op::kCompress);
  }
  worker.stats.AddBytes(bytes);
  worker.stats.AddMessage("(all rejected)");
}

void Uncompress(Worker& worker) {
  const Codec* const codec = CodecOfFlags(worker);
  if (codec == nullptr) return;
  const Slice block = worker.NewValues().Next(static_cast<size_t>(FLAGS_block_size));
  std::string compressed;
  if (!codec->Compress(EffortOfFlags(), Slice(), block, &compressed)) Fail("compression failure");
  const auto version = static_cast<uint32_t>(FLAGS_format_version);
  std::string out(block.size(), '\0');
  BufferSink sink;
  sink.arg = &out;
  // The output is always written to one buffer of the block's size, so that no allocation is
  // measured.
  sink.alloc = [](void* arg, size_t n) {
    auto* const buffer = static_cast<std::string*>(arg);
    return n <= buffer->size() ? buffer->data() : nullptr;
  };
  int64_t bytes = 0;
  while (bytes < kBytesToCompress) {
    Slice result;
    const Status s = codec->Uncompress(Slice(), compressed, version, block.size(), sink, &result);
    if (!s.ok()) Fail("decompression failure", s);
    bytes += static_cast<int64_t>(block.size());
    worker.stats.FinishedOps(1, Op::kUncompress);
  }
  worker.stats.AddBytes(bytes);
}

// Loads a pointer as readers load what another thread has published. An operation is a thousand
// loads, as the clock would take longer than one.
void AcquireLoad(Worker& worker) {
  constexpr int kOperations = 100 * 1000;
  constexpr int kLoads = 1000;
  const std::atomic<const Worker*> published(&worker);
  bool same = true;
  for (int operation = 0; operation < kOperations; ++operation) {
    for (int load = 0; load < kLoads; ++load) {
      same &= published.load(std::memory_order_acquire) == &worker;
    }
    worker.stats.FinishedOps(1, Op::kOther);
  }
  if (!same) Fail("acquireload: another pointer was loaded");
  worker.stats.AddMessage("(each op is 1000 loads)");
}

constexpr std::array kMicroBenchmarks = {
    Benchmark{.name = "crc32c", .body = Crc32c},
    Benchmark{.name = "xxhash", .body = XxHash32},
    Benchmark{.name = "xxhash64", .body = XxHash64},
    Benchmark{.name = "xxh3", .body = Xxh3},
    Benchmark{.name = "compress", .body = Compress},
    Benchmark{.name = "compressreject", .body = CompressReject},
    Benchmark{.name = "uncompress", .body = Uncompress},
    Benchmark{.name = "acquireload", .body = AcquireLoad},
};

}  // namespace

std::span<const Benchmark> MicroBenchmarks() {
  return kMicroBenchmarks;
}

}  // namespace varve::bench
