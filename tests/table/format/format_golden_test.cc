// SPDX-License-Identifier: Apache-2.0

// Tests footers, trailers, blocks and ids against bytes of files that RocksDB wrote.

#include <gtest/gtest.h>

#include "table/block/block_builder.h"
#include "table/format/footer.h"
#include "table/format/unique_id.h"
#include "table/meta/metaindex_builder.h"
#include "tests/table/table_file.h"

namespace varve {
namespace {

using test::FromHex;
using test::IKey;
using test::ToHex;

std::string TwoKeyBlock() {
  BlockBuilder block{BlockBuilder::Options()};
  block.Add(IKey("k1", 1), "v1");
  block.Add(IKey("k2", 2), "v2");
  return block.Finish().ToString();
}

TEST(FormatGolden, DataBlockOfTwoKeys) {
  EXPECT_EQ(ToHex(TwoKeyBlock()),
            "000a026b310101000000000000763101090232010200000000000076320000000001000000");
}

TEST(FormatGolden, TrailerOfEachChecksumType) {
  const struct {
    ChecksumType type;
    const char* trailer;
  } kCases[] = {{kNoChecksum, "0000000000"},
                {kCRC32c, "0043ec2b5d"},
                {kxxHash, "00911294b0"},
                {kxxHash64, "003ced4fa4"},
                {kXXH3, "008e7f8d98"}};
  for (const auto& c : kCases) {
    const std::string block = TwoKeyBlock();
    char trailer[kBlockTrailerBytes];
    EncodeBlockTrailer(c.type, 0, 0, block, kNoCompression, trailer);
    EXPECT_EQ(ToHex(Slice(trailer, sizeof(trailer))), c.trailer);
    const std::string stored = block + std::string(trailer, sizeof(trailer));
    EXPECT_TRUE(BlockTrailerMatches(c.type, 0, 0, stored.data(), block.size()));
    std::string damaged = stored;
    damaged[3] = static_cast<char>(damaged[3] ^ 1);
    EXPECT_EQ(BlockTrailerMatches(c.type, 0, 0, damaged.data(), block.size()),
              c.type == kNoChecksum);
  }
}

TEST(FormatGolden, EmptyBlock) {
  BlockBuilder block{BlockBuilder::Options()};
  EXPECT_EQ(ToHex(block.Finish()), "0000000001000000");
}

TEST(FormatGolden, RangeDeletionBlock) {
  BlockBuilder::Options options;
  options.restart_interval = 1;
  BlockBuilder block(options);
  block.Add(IKey("ra", 8, kTypeRangeDeletion), "rm");
  block.Add(IKey("rm", 9, kTypeRangeDeletion), "rz");
  block.Add(IKey("rz", 9, kTypeRangeDeletion), "rzz");
  EXPECT_EQ(Slice(ToHex(block.Finish())),
            Slice(ToHex(FromHex("000a0272610f08000000000000726d 000a02726d0f09000000000000727a"
                                "000a03727a0f09000000000000727a7a"
                                "000000000f0000001e00000003000000"))));
}

TEST(FormatGolden, MetaindexOfVersion7) {
  MetaindexBuilder builder;
  const auto handle = [](const char* hex) {
    const std::string bytes = FromHex(hex);
    Slice input(bytes);
    BlockHandle h;
    EXPECT_TRUE(BlockHandle::DecodeFrom(&input, &h));
    return h;
  };
  builder.Add("rocksdb.properties", handle("cb9b029308"));
  builder.Add("rocksdb.index", handle("949a02b201"));
  builder.Add("fullfilter.rocksdb.BuiltinBloomFilter", handle("8a95028505"));
  EXPECT_EQ(ToHex(builder.Finish()),
            ToHex(FromHex(
                "00250566756c6c66696c7465722e726f636b7364622e4275696c74696e426c6f6f6d46696c746572"
                "8a95028505000d05726f636b7364622e696e646578949a02b201001205726f636b7364622e70726f"
                "70657274696573cb9b029308000000002d0000004200000003000000")));
}

TEST(FormatGolden, FooterOfVersion5) {
  const std::string bytes = FromHex(
      "01 a00720 2a0e 0000000000000000000000000000000000000000000000000000000000000000000000"
      "05000000 f7cff485b741e288");
  Footer footer;
  ASSERT_TRUE(footer.DecodeFrom(bytes, 965).ok());
  EXPECT_EQ(footer.format_version, 5u);
  EXPECT_EQ(footer.checksum, kCRC32c);
  EXPECT_EQ(footer.metaindex, (BlockHandle{928, 32}));
  EXPECT_EQ(footer.index, (BlockHandle{42, 14}));
  std::string again;
  footer.EncodeTo(965, &again);
  EXPECT_EQ(ToHex(again), ToHex(bytes));
}

TEST(FormatGolden, FootersOfVersions6And7AreBoundToTheirOffset) {
  const struct {
    const char* hex;
    uint64_t offset;
    BlockHandle metaindex;
    uint32_t modifier;
  } kCases[] = {
      {"043e007a00f95ea93ae7c8a9046c000000000000000000000000000000000000000000000000000000070000"
       "00f7cff485b741e288",
       37460,
       {37347, 108},
       0x04a95904},
      {"043e007a00cbb75fa4d0e5b61b6c000000000000000000000000000000000000000000000000000000060000"
       "00f7cff485b741e288",
       37471,
       {37358, 108},
       0x1bb6743e},
      {"013e007a0097cf0007b728880f3b000000000000000000000000000000000000000000000000000000060000"
       "00f7cff485b741e288",
       36750,
       {36686, 59},
       0x0f88a7f9},
      {"033e007a00cc6f3f65580e29343b000000000000000000000000000000000000000000000000000000060000"
       "00f7cff485b741e288",
       36750,
       {36686, 59},
       0x34298116}};
  for (const auto& c : kCases) {
    const std::string bytes = FromHex(c.hex);
    Footer footer;
    const Status s = footer.DecodeFrom(bytes, c.offset);
    ASSERT_TRUE(s.ok()) << s.ToString();
    EXPECT_EQ(footer.metaindex, c.metaindex);
    EXPECT_TRUE(footer.index.IsNull());
    EXPECT_EQ(ChecksumModifier(footer.base_context_checksum, c.metaindex.offset), c.modifier);
    std::string again;
    footer.EncodeTo(c.offset, &again);
    EXPECT_EQ(ToHex(again), ToHex(bytes));
    EXPECT_TRUE(footer.DecodeFrom(bytes, c.offset + 1).IsCorruption());
  }
}

TEST(FormatGolden, LegacyFooterHasNoChecksumTypeAndNoVersion) {
  Footer footer;
  footer.format_version = 0;
  footer.metaindex = {100, 8};
  footer.index = {113, 20};
  std::string bytes;
  footer.EncodeTo(138, &bytes);
  ASSERT_EQ(bytes.size(), Footer::kLegacyBytes);
  EXPECT_EQ(ToHex(Slice(bytes.data() + 40, 8)), "57fb808b247547db");
  Footer read;
  ASSERT_TRUE(read.DecodeFrom(bytes, 138).ok());
  EXPECT_EQ(read.format_version, 0u);
  EXPECT_EQ(read.checksum, kCRC32c);
  EXPECT_EQ(read.index, footer.index);
}

TEST(FormatGolden, UniqueIdOfAFileThatRocksDbWrote) {
  EXPECT_EQ(
      ToHex(TableUniqueId("5f83772b-ec12-4534-b92d-c9a7a2240979", "5ORSHT3GGKGFEY5MNVDB", 28)),
      "8fa82088748a431e91fccce3975d0a34");
}

TEST(FormatGolden, NoUniqueIdWithoutIdentity) {
  EXPECT_EQ(TableUniqueId("", "5ORSHT3GGKGFEY5MNVDB", 28), "");
  EXPECT_EQ(TableUniqueId("db", "SHORT", 28), "");
  EXPECT_EQ(TableUniqueId("db", "5ORSHT3GGKGFEY5MNV-B", 28), "");
  EXPECT_EQ(TableUniqueId("db", "5ORSHT3GGKGFEY5MNVDB", 0), "");
}

TEST(CompressedSizePays, AsksForAnEighth) {
  const CompressionOptions eighth;
  EXPECT_TRUE(CompressedSizePays(eighth, 8000, 7000));
  EXPECT_FALSE(CompressedSizePays(eighth, 8000, 7001));
  CompressionOptions any_gain;
  any_gain.max_compressed_bytes_per_kb = 1024;
  EXPECT_TRUE(CompressedSizePays(any_gain, 8000, 7999));
  EXPECT_FALSE(CompressedSizePays(any_gain, 8000, 8000));
  CompressionOptions off;
  off.max_compressed_bytes_per_kb = 0;
  EXPECT_FALSE(CompressedSizePays(off, 8000, 1));
}

}  // namespace
}  // namespace varve
