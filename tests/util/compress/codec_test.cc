// SPDX-License-Identifier: Apache-2.0

// Tests codecs: round trips with and without dictionaries, old framings, and hostile blocks that
// must be refused before memory is taken.

#include "util/compress/codec.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <random>
#include <thread>

#include "util/coding/fixed.h"
#include "util/coding/varint.h"

namespace varve {
namespace {

constexpr size_t kLimit = size_t{256} << 20;
// The size, and what the bzip2 program makes of it with -1.
constexpr char kBzip2OfHellos[] =
    "17425A683131415926535902F8B0BD000003910040000244A00030CD00548696719B38A3C5DC914E1424"
    "00BE2C2F40";

// Gives memory once and remembers how much was asked for.
struct Buffer {
  std::unique_ptr<char[]> bytes;
  size_t asked = 0;
  int calls = 0;
  bool refuse = false;

  BufferSink sink() { return {&Alloc, this}; }
  static char* Alloc(void* arg, size_t n) {
    auto* const self = static_cast<Buffer*>(arg);
    self->asked = n;
    self->calls++;
    if (self->refuse) return nullptr;
    self->bytes.reset(new char[n]);
    return self->bytes.get();
  }
};

std::vector<const Codec*> BuiltCodecs() {
  std::vector<const Codec*> codecs;
  for (int type = 0; type < 256; type++) {
    const Codec* const codec = FindCodec(static_cast<CompressionType>(type));
    if (codec != nullptr) codecs.push_back(codec);
  }
  return codecs;
}

std::string Text(size_t n, uint32_t seed) {
  std::mt19937 random(seed);
  const char* const words[] = {"delta", "river", "silt", "year", "clay", "layer", "spring"};
  std::string text;
  while (text.size() < n) text += words[random() % 7] + std::to_string(random() % 100);
  text.resize(n);
  return text;
}

std::string Noise(size_t n, uint32_t seed) {
  std::mt19937 random(seed);
  std::string bytes(n, '\0');
  for (char& c : bytes) c = static_cast<char>(random());
  return bytes;
}

Status Restore(const Codec& codec, const Slice& dict, const Slice& block, std::string* raw,
               uint32_t format_version = 5, size_t limit = kLimit) {
  Buffer buffer;
  Slice result;
  Status s = codec.Uncompress(dict, block, format_version, limit, buffer.sink(), &result);
  if (s.ok()) *raw = result.ToString();
  return s;
}

TEST(CodecTest, TheUsualCodecsAreBuiltIn) {
  for (const CompressionType type :
       {kNoCompression, kSnappyCompression, kZlibCompression, kBZip2Compression, kLZ4Compression,
        kLZ4HCCompression, kZSTD}) {
    EXPECT_TRUE(CodecSupported(type)) << CompressionTypeName(type);
  }
  EXPECT_EQ(FindCodec(kNoCompression), nullptr);
  EXPECT_FALSE(CodecSupported(kXpressCompression));
  EXPECT_FALSE(CodecSupported(static_cast<CompressionType>(0x77)));
  EXPECT_FALSE(CodecSupportsDictionary(kSnappyCompression));
  EXPECT_TRUE(CodecSupportsDictionary(kZSTD));
  const Status s = CodecNotSupported(kXpressCompression, "000012.sst");
  EXPECT_TRUE(s.IsNotSupported());
  EXPECT_NE(s.ToString().find("Xpress"), std::string::npos);
  EXPECT_NE(s.ToString().find("000012.sst"), std::string::npos);
}

TEST(CodecTest, RoundTripsWithAndWithoutDictionary) {
  const std::string dict = Text(16 << 10, 99);
  for (const Codec* codec : BuiltCodecs()) {
    SCOPED_TRACE(codec->name());
    EXPECT_EQ(FindCodec(codec->type()), codec);
    for (const std::string& raw : {std::string(), std::string("a"), Text(100, 1), Text(4096, 2),
                                   Text(300000, 3), Noise(5000, 4), std::string(1 << 20, 'z')}) {
      for (const Slice& used : {Slice(), Slice(dict)}) {
        for (const int level : {CompressionOptions::kDefaultCompressionLevel, 1, -3, 9}) {
          CompressionOptions options;
          options.level = level;
          std::string block = "left over";
          if (!codec->Compress(options, used, raw, &block)) {
            // Only zlib knows no negative levels.
            EXPECT_TRUE(codec->type() == kZlibCompression && level < 0);
            continue;
          }
          std::string restored;
          const Status s = Restore(*codec, used, block, &restored);
          ASSERT_TRUE(s.ok()) << s.ToString() << " size " << raw.size();
          ASSERT_EQ(restored, raw);
        }
      }
    }
  }
}

TEST(CodecTest, DictionariesHelpAndAreNeeded) {
  const std::string dict = Text(16 << 10, 5);
  const std::string raw = dict.substr(3000, 500);
  for (const CompressionType type : {kLZ4Compression, kLZ4HCCompression, kZSTD}) {
    const Codec* const codec = FindCodec(type);
    ASSERT_NE(codec, nullptr);
    std::string without;
    std::string with;
    ASSERT_TRUE(codec->Compress({}, "", raw, &without));
    ASSERT_TRUE(codec->Compress({}, dict, raw, &with));
    EXPECT_LT(with.size(), without.size() / 2) << codec->name();
    std::string restored;
    const Status s = Restore(*codec, "", with, &restored);
    EXPECT_TRUE(!s.ok() || restored != raw) << codec->name();
    // The pooled context must not remember the dictionary of the block before.
    ASSERT_TRUE(Restore(*codec, dict, with, &restored).ok());
    ASSERT_TRUE(Restore(*codec, "", without, &restored).ok());
    EXPECT_EQ(restored, raw);
  }
}

TEST(CodecTest, FramingIsTheRawSizeAsVarintExceptForSnappy) {
  const std::string raw = Text(1000, 6);
  for (const Codec* codec : BuiltCodecs()) {
    std::string block;
    ASSERT_TRUE(codec->Compress({}, "", raw, &block));
    // Snappy happens to start with the same varint itself.
    Slice input(block);
    uint32_t size = 0;
    ASSERT_TRUE(GetVarint32(&input, &size));
    EXPECT_EQ(size, 1000u) << codec->name();
  }
}

TEST(CodecTest, OldTablesFrameLz4WithEightBytes) {
  const std::string raw = Text(3000, 7);
  const Codec* const codec = FindCodec(kLZ4Compression);
  std::string block;
  ASSERT_TRUE(codec->Compress({}, "", raw, &block));
  std::string old;
  PutFixed64(&old, raw.size());
  old += block.substr(VarintLength(raw.size()));
  std::string restored;
  ASSERT_TRUE(Restore(*codec, "", old, &restored, 1).ok());
  EXPECT_EQ(restored, raw);
  EXPECT_TRUE(Restore(*codec, "", "short", &restored, 1).IsCorruption());

  const Codec* const zstd = FindCodec(kZSTD);
  ASSERT_TRUE(zstd->Compress({}, "", raw, &block));
  ASSERT_TRUE(Restore(*zstd, "", block, &restored, 0).ok());
  EXPECT_EQ(restored, raw);
}

// Streams are those of RocksDB: blocks of 100 kB at any level, and no dictionary.
TEST(CodecTest, Bzip2StreamsHaveSmallBlocks) {
  const Codec* const codec = FindCodec(kBZip2Compression);
  ASSERT_NE(codec, nullptr);
  EXPECT_FALSE(CodecSupportsDictionary(kBZip2Compression));
  CompressionOptions options;
  options.level = 9;
  std::string block;
  ASSERT_TRUE(codec->Compress(options, "hello", "hello hello hello hello", &block));
  EXPECT_EQ(Slice(block).ToString(true), kBzip2OfHellos);
  std::string restored;
  for (const char* damaged : {"BZh0", "BZh:", "BYh1", "BZ"}) {
    const std::string stream = '\x17' + (damaged + block.substr(5));
    EXPECT_TRUE(Restore(*codec, "", stream, &restored).IsCorruption()) << damaged;
  }
  const Status s = Restore(*codec, "", block, &restored, 1);
  EXPECT_TRUE(s.IsNotSupported()) << "old tables do not say how large it was: " << s.ToString();
}

TEST(CodecTest, BombsAreRefusedBeforeMemoryIsTaken) {
  for (const Codec* codec : BuiltCodecs()) {
    SCOPED_TRACE(codec->name());
    std::string block;
    ASSERT_TRUE(codec->Compress({}, "", "some bytes to be compressed", &block));
    // The first size exceeds the caller's limit; the second does not, but exceeds what the codec
    // can make of so few bytes.
    for (const uint32_t declared : {0xf0000000u, 100u << 20}) {
      std::string bomb;
      PutVarint32(&bomb, declared);
      bomb += block.substr(1);
      Buffer buffer;
      Slice result;
      const Status s = codec->Uncompress("", bomb, 5, kLimit, buffer.sink(), &result);
      EXPECT_TRUE(s.IsCorruption()) << s.ToString();
      EXPECT_EQ(buffer.calls, 0);
    }
  }
}

// The largest gain that a codec can have must not be taken for a bomb.
TEST(CodecTest, ExtremeGainsAreAccepted) {
  for (const Codec* codec : BuiltCodecs()) {
    SCOPED_TRACE(codec->name());
    const std::string raw(size_t{64} << 20, 'z');
    std::string block;
    std::string restored;
    ASSERT_TRUE(codec->Compress({}, "", raw, &block));
    const Status s = Restore(*codec, "", block, &restored);
    ASSERT_TRUE(s.ok()) << s.ToString();
    EXPECT_TRUE(restored == raw);
  }
}

TEST(CodecTest, TheCallersLimitHoldsExactly) {
  const std::string raw(1000, 'q');
  for (const Codec* codec : BuiltCodecs()) {
    SCOPED_TRACE(codec->name());
    std::string block;
    ASSERT_TRUE(codec->Compress({}, "", raw, &block));
    std::string restored;
    EXPECT_TRUE(Restore(*codec, "", block, &restored, 5, 1000).ok());
    EXPECT_TRUE(Restore(*codec, "", block, &restored, 5, 999).IsCorruption());
    Buffer buffer;
    buffer.refuse = true;
    Slice result;
    EXPECT_TRUE(codec->Uncompress("", block, 5, kLimit, buffer.sink(), &result).IsMemoryLimit());
    EXPECT_EQ(buffer.asked, 1000u);
    EXPECT_EQ(buffer.calls, 1);
  }
}

TEST(CodecTest, DamagedBlocksNeverCrashAndNeverChangeTheSizeUnnoticed) {
  const std::string raw = Text(2000, 8);
  std::mt19937 random(9);
  for (const Codec* codec : BuiltCodecs()) {
    SCOPED_TRACE(codec->name());
    std::string block;
    ASSERT_TRUE(codec->Compress({}, "", raw, &block));
    std::string restored;
    for (size_t cut = 0; cut < block.size(); cut++) {
      const std::unique_ptr<char[]> exact(new char[cut]);
      std::memcpy(exact.get(), block.data(), cut);
      const Status s = Restore(*codec, "", Slice(exact.get(), cut), &restored);
      EXPECT_TRUE(s.IsCorruption()) << cut;
    }
    for (int i = 0; i < 3000; i++) {
      std::string mutant = block;
      for (uint32_t flips = 1 + random() % 3; flips > 0; flips--) {
        mutant[random() % mutant.size()] ^= static_cast<char>(1u << random() % 8);
      }
      const Status s = Restore(*codec, "", mutant, &restored, 5, 1 << 20);
      EXPECT_TRUE(s.ok() || s.IsCorruption()) << s.ToString();
    }
  }
}

TEST(CodecTest, ManyThreadsShareACodec) {
  const std::string dict = Text(8000, 10);
  for (const Codec* codec : BuiltCodecs()) {
    std::vector<std::thread> threads;
    std::atomic<int> failures{0};
    for (uint32_t t = 0; t < 4; t++) {
      threads.emplace_back([&, t] {
        for (uint32_t i = 0; i < 50; i++) {
          const std::string raw = Text(500 + 10 * i, t * 1000 + i);
          const Slice used = i % 2 == 0 ? Slice(dict) : Slice();
          std::string block;
          std::string restored;
          if (!codec->Compress({}, used, raw, &block) ||
              !Restore(*codec, used, block, &restored).ok() || restored != raw) {
            failures++;
          }
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(failures.load(), 0) << codec->name();
  }
}

TEST(CodecTest, ZstdDictionariesAreTrainedFromSamples) {
  std::string samples;
  std::vector<size_t> lengths;
  for (uint32_t i = 0; i < 500; i++) {
    const std::string sample = Text(200, i);
    samples += sample;
    lengths.push_back(sample.size());
  }
  for (const std::string& dict :
       {TrainZstdDictionary(samples, lengths, 4096),
        FinalizeZstdDictionary(samples, lengths, 4096,
                               CompressionOptions::kDefaultCompressionLevel)}) {
    ASSERT_GT(dict.size(), 8u);
    EXPECT_LE(dict.size(), 4096u);
    EXPECT_EQ(Slice(dict.data(), 4).ToString(true), "37A430EC");
    const std::string raw = Text(200, 7777);
    std::string block;
    std::string restored;
    ASSERT_TRUE(FindCodec(kZSTD)->Compress({}, dict, raw, &block));
    ASSERT_TRUE(Restore(*FindCodec(kZSTD), dict, block, &restored).ok());
    EXPECT_EQ(restored, raw);
  }
  EXPECT_TRUE(TrainZstdDictionary("abc", {3}, 4096).empty());
  EXPECT_TRUE(TrainZstdDictionary("abc", {2, 2}, 4096).empty());
  EXPECT_TRUE(FinalizeZstdDictionary("abc", {}, 4096, 3).empty());
}

}  // namespace
}  // namespace varve
