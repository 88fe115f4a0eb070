// SPDX-License-Identifier: Apache-2.0

// Blocks that the builder makes, read back by the walker.

#include "table/block/block_builder.h"

#include <gtest/gtest.h>

#include "table/block/block_walker.h"
#include "tests/table/table_file.h"
#include "util/coding/hash.h"

namespace varve {
namespace {

using test::IKey;

std::string Key(int i) {
  return "key" + std::to_string(100000 + i);
}

TEST(SharedPrefix, CountsEqualBytesOfAnyLength) {
  const std::string base = "abcdefghijklmnopqrstuvwxyz";
  for (size_t n = 0; n <= base.size(); n++) {
    for (size_t at = 0; at < n; at++) {
      std::string other = base;
      other[at] = '#';
      EXPECT_EQ(SharedPrefix(base.data(), other.data(), n), at);
    }
    EXPECT_EQ(SharedPrefix(base.data(), base.data(), n), n);
  }
}

TEST(BlockBuilder, GivesBackEveryEntryAtEveryRestartInterval) {
  for (const int interval : {1, 2, 16, 1000}) {
    for (const bool delta : {true, false}) {
      BlockBuilder::Options options;
      options.restart_interval = interval;
      options.delta_keys = delta;
      BlockBuilder builder(options);
      for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 100; i++) builder.Add(Key(i), std::string(i * 3, 'v'));
        const std::string block = builder.Finish().ToString();
        EXPECT_EQ(DecodeFixed32(block.data() + block.size() - 4),
                  static_cast<uint32_t>((100 + interval - 1) / interval));
        BlockWalker walk{Slice(block)};
        for (int i = 0; i < 100; i++) {
          ASSERT_TRUE(walk.Next()) << walk.status().ToString();
          EXPECT_EQ(walk.key(), Slice(Key(i)));
          EXPECT_EQ(walk.value().size(), static_cast<size_t>(i * 3));
        }
        EXPECT_FALSE(walk.Next());
        EXPECT_TRUE(walk.status().ok());
        builder.Reset();
      }
    }
  }
}

TEST(BlockBuilder, RestartPointsHoldWholeKeys) {
  BlockBuilder::Options options;
  options.restart_interval = 4;
  BlockBuilder builder(options);
  for (int i = 0; i < 10; i++) builder.Add(Key(i), "v");
  EXPECT_EQ(builder.entries(), 10u);
  const size_t predicted = builder.CurrentSize();
  const Slice block = builder.Finish();
  EXPECT_EQ(block.size(), predicted);
  const char* const restarts = block.data() + block.size() - 4 - 3 * 4;
  for (int r = 0; r < 3; r++) {
    const uint32_t offset = DecodeFixed32(restarts + 4 * r);
    EXPECT_EQ(block[offset], 0);
    EXPECT_EQ(Slice(block.data() + offset + 3, 9), Slice(Key(4 * r)));
  }
}

TEST(BlockBuilder, LargeEntriesGrowTheBuffer) {
  BlockBuilder builder{BlockBuilder::Options()};
  const std::string key(70000, 'k');
  const std::string value(3000000, 'v');
  builder.Add(key + "1", value);
  builder.Add(key + "2", "");
  const std::string block = builder.Finish().ToString();
  BlockWalker walk{Slice(block)};
  ASSERT_TRUE(walk.Next());
  EXPECT_EQ(walk.value(), Slice(value));
  ASSERT_TRUE(walk.Next());
  EXPECT_EQ(walk.key(), Slice(key + "2"));
}

TEST(BlockBuilder, DeltaIndexBlockAsRocksDbWroteIt) {
  BlockBuilder::Options options;
  options.restart_interval = 8;
  BlockBuilder builder(options);
  const auto handle = [](uint64_t offset, uint64_t size) {
    std::string bytes;
    BlockHandle{offset, size}.EncodeTo(&bytes);
    return bytes;
  };
  const auto delta = [](int64_t by) {
    std::string bytes;
    PutVarsignedint64(&bytes, by);
    return bytes;
  };
  builder.AddIndexEntry("key000008", handle(0, 1024), delta(0));
  builder.AddIndexEntry("key000017", handle(1029, 1025), delta(1));
  builder.AddIndexEntry("key000026", handle(2059, 1025), delta(0));
  const std::string start =
      test::FromHex("0009 6b6579303030303038 008008 0702 3137 02 0702 3236 00");
  EXPECT_TRUE(builder.Finish().starts_with(start));
}

TEST(BlockBuilder, HashIndexFindsTheRestartOfEachKey) {
  BlockBuilder::Options options;
  options.restart_interval = 4;
  options.hash_index_ratio = 0.75;
  BlockBuilder builder(options);
  for (int i = 0; i < 60; i++) builder.Add(IKey(Key(i), 7), "v");
  const Slice block = builder.Finish();
  const uint32_t packed = DecodeFixed32(block.data() + block.size() - 4);
  ASSERT_EQ(packed, (1u << 31 | 15u));
  const uint16_t buckets = DecodeFixed16(block.data() + block.size() - 6);
  EXPECT_EQ(buckets, 80 | 1);
  const char* const table = block.data() + block.size() - 6 - buckets;
  int exact = 0;
  for (int i = 0; i < 60; i++) {
    const std::string key = Key(i);
    const auto restart =
        static_cast<unsigned char>(table[Hash(key.data(), key.size(), 397) % buckets]);
    if (restart == i / 4) {
      exact++;
    } else {
      EXPECT_EQ(restart, 254);  // shared with another restart point
    }
  }
  EXPECT_GT(exact, 20);
}

TEST(BlockBuilder, NoHashIndexWithTooManyRestarts) {
  BlockBuilder::Options options;
  options.restart_interval = 1;
  options.hash_index_ratio = 0.75;
  BlockBuilder builder(options);
  for (int i = 0; i < 255; i++) builder.Add(IKey(Key(i), 7), "v");
  const Slice block = builder.Finish();
  EXPECT_EQ(DecodeFixed32(block.data() + block.size() - 4), 255u);
}

}  // namespace
}  // namespace varve
