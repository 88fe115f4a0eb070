// SPDX-License-Identifier: Apache-2.0

// Tests the round trip of table properties, and the refusal of bad ones.

#include "table/meta/properties_block.h"

#include <gtest/gtest.h>

#include "table/block/block_builder.h"
#include "tests/table/table_file.h"

namespace varve {
namespace {

std::string Block(const std::vector<std::pair<std::string, std::string>>& entries) {
  BlockBuilder block{BlockBuilder::Options()};
  for (const auto& [name, value] : entries) block.Add(name, value);
  return block.Finish().ToString();
}

TEST(PropertiesBlock, ComeBackAsTheyWere) {
  TableProperties p;
  p.data_size = 123456789;
  p.index_size = 17;
  p.num_entries = 1000;
  p.num_deletions = 3;
  p.num_merge_operands = 4;
  p.raw_key_size = 24000;
  p.raw_value_size = 1;
  p.index_key_is_user_key = 1;
  p.index_value_is_delta_encoded = 1;
  p.orig_file_number = 77;
  p.tail_start_offset = 99;
  p.key_largest_seqno = 12;
  p.key_smallest_seqno = 0;
  p.comparator_name = "leveldb.BytewiseComparator";
  p.compression_name = "NoCompression";
  p.db_id = "id";
  p.user_collected_properties["mine"] = std::string("\0\xff", 2);
  TableTraits traits;
  traits.index_type = BlockBasedTableOptions::kTwoLevelIndexSearch;
  traits.whole_key_filtering = false;
  std::string block;
  EncodeProperties(p, traits, &block);

  TableProperties q;
  TableTraits read;
  const Status s = ParseProperties(block, &q, &read);
  ASSERT_TRUE(s.ok()) << s.ToString();
  EXPECT_EQ(q.data_size, p.data_size);
  EXPECT_EQ(q.num_entries, 1000u);
  EXPECT_EQ(q.num_deletions, 3u);
  EXPECT_EQ(q.num_merge_operands, 4u);
  EXPECT_EQ(q.orig_file_number, 77u);
  EXPECT_EQ(q.key_largest_seqno, 12u);
  EXPECT_EQ(q.key_smallest_seqno, 0u);
  EXPECT_EQ(q.user_defined_timestamps_persisted, 1u);
  EXPECT_EQ(q.comparator_name, p.comparator_name);
  EXPECT_EQ(q.user_collected_properties["mine"], p.user_collected_properties["mine"]);
  EXPECT_EQ(read.index_type, traits.index_type);
  EXPECT_FALSE(read.whole_key_filtering);
  EXPECT_TRUE(read.prefix_filtering);
  EXPECT_TRUE(read.index_key_is_user_key);
  EXPECT_TRUE(read.index_value_is_delta_encoded);
}

TEST(PropertiesBlock, ReadsTheMinimalBlockOfAHandWrittenTable) {
  const std::string block = test::FromHex(
      "002404726f636b7364622e626c6f636b2e62617365642e7461626c652e696e6465782e7479706500000000080a1a"
      "636f6d70617261746f726c6576656c64622e4279746577697365436f6d70617261746f720c070d72657373696f6e"
      "4e6f436f6d7072657373696f6e080c0164656c657465642e6b65797300081501696e6465782e6b65792e69732e75"
      "7365722e6b6579010e160176616c75652e69732e64656c74612e656e636f64656401080b016e756d2e656e747269"
      "657302080c017261772e6b65792e73697a65140c0a0176616c75652e73697a65040000000001000000");
  TableProperties p;
  TableTraits traits;
  const Status s = ParseProperties(block, &p, &traits);
  ASSERT_TRUE(s.ok()) << s.ToString();
  EXPECT_EQ(p.num_entries, 2u);
  EXPECT_EQ(p.raw_key_size, 20u);
  EXPECT_EQ(p.compression_name, "NoCompression");
  EXPECT_TRUE(traits.index_key_is_user_key);
  EXPECT_TRUE(traits.index_value_is_delta_encoded);
}

TEST(PropertiesBlock, ExternalFilesSayWhereTheirSequenceStands) {
  std::string version;
  PutFixed32(&version, 2);
  std::string seqno;
  PutFixed64(&seqno, 1234);
  const std::string block = Block({{"rocksdb.external_sst_file.global_seqno", seqno},
                                   {"rocksdb.external_sst_file.version", version}});
  TableProperties p;
  TableTraits traits;
  ASSERT_TRUE(ParseProperties(block, &p, &traits).ok());
  EXPECT_EQ(traits.external_version, 2u);
  EXPECT_EQ(traits.external_global_seqno, 1234u);
  EXPECT_EQ(DecodeFixed64(block.data() + traits.external_global_seqno_offset), 1234u);
}

TEST(PropertiesBlock, RefusesWhatItCannotMean) {
  std::string seqno;
  PutFixed64(&seqno, 1);
  const std::vector<std::string> corrupt = {
      Block({{"rocksdb.num.entries", ""}}),
      Block({{"rocksdb.num.entries", std::string(11, '\xff')}}),
      Block({{"rocksdb.num.entries", std::string("\x01\x01", 2)}}),
      Block({{"rocksdb.block.based.table.index.type", "1"}}),
      Block({{"rocksdb.block.based.table.whole.key.filtering", "yes"}}),
      Block({{"b", "1"}, {"a", "2"}}),
      Block({{"a", "1"}, {"a", "2"}}),
      Block({{"rocksdb.external_sst_file.global_seqno", seqno}}),
      std::string("\x05\x05\x05", 3),
      test::FromHex("ffffffff"),
  };
  TableProperties p;
  TableTraits traits;
  for (const std::string& block : corrupt) {
    const Status s = ParseProperties(block, &p, &traits);
    EXPECT_TRUE(s.IsCorruption()) << test::ToHex(block) << " " << s.ToString();
  }
  for (const char* name : {"rocksdb.embedded.blob.stats", "rocksdb.udi.is.primary.index"}) {
    EXPECT_TRUE(ParseProperties(Block({{name, "\x01"}}), &p, &traits).IsNotSupported()) << name;
  }
  EXPECT_TRUE(ParseProperties(
                  Block({{"rocksdb.block.based.table.index.type", std::string("\x09\0\0\0", 4)}}),
                  &p, &traits)
                  .IsNotSupported());
}

}  // namespace
}  // namespace varve
