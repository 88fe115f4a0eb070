// SPDX-License-Identifier: Apache-2.0

// Fuzzes whole table files with right checksums: opening, walking, looking up and verifying any of
// them returns.

#include "tests/table/table_file.h"

#include "varve/filter_policy.h"
#include "varve/slice_transform.h"

#include "tests/fuzz/memory_table.h"
#include "tests/fuzz/sealing.h"
#include "tests/fuzz/target.h"

namespace varve::fuzz {
namespace {

using IndexType = BlockBasedTableOptions::IndexType;

BlockTableBuildOptions BaseOptions(uint32_t version, ChecksumType checksum) {
  static const InternalKeyComparator order(BytewiseComparator());
  BlockTableBuildOptions options;
  options.icmp = &order;
  options.table.format_version = version;
  options.table.checksum = checksum;
  options.table.block_size = 200;
  options.table.block_restart_interval = 4;
  options.table.metadata_block_size = 100;
  options.file_number = 7;
  options.db_id = "an id";
  options.db_session_id = "ABCDEFGHIJKLM1234567";
  return options;
}

std::string Build(const BlockTableBuildOptions& options, int entries) {
  test::BuiltTable table(options);
  if (!table.create_status.ok()) return "";
  for (int i = 0; i < entries; i++) {
    const std::string key = "key" + std::to_string(1000 + i / 2);
    table.builder->Add(
        test::IKey(key, static_cast<uint64_t>(500 - i), i % 9 == 8 ? kTypeDeletion : kTypeValue),
        std::string(static_cast<size_t>(i % 30), 'v'));
  }
  table.builder->AddTombstone(test::IKey("key1003", 90, kTypeRangeDeletion), "key1007");
  table.builder->AddTombstone(test::IKey("key1007", 80, kTypeRangeDeletion), "key1009");
  return table.Finish().ok() ? table.file : "";
}

void AddSeed(const BlockTableBuildOptions& options, Seeds* seeds) {
  const std::string file = Build(options, 40);
  if (!file.empty()) seeds->push_back(std::string(1, '\x10') + file);
}

void MakeSeeds(Seeds* seeds) {
  for (const uint32_t version : {2u, 3u, 4u, 5u}) {
    AddSeed(BaseOptions(version, version < 5 ? kCRC32c : kXXH3), seeds);
  }
  for (const IndexType type :
       {IndexType::kTwoLevelIndexSearch, IndexType::kBinarySearchWithFirstKey}) {
    for (const bool ribbon : {false, true}) {
      BlockTableBuildOptions options = BaseOptions(5, kxxHash64);
      options.table.index_type = type;
      options.table.partition_filters = type == IndexType::kTwoLevelIndexSearch;
      options.table.filter_policy.reset(ribbon ? NewRibbonFilterPolicy(10)
                                               : NewBloomFilterPolicy(10));
      AddSeed(options, seeds);
    }
  }
  static const std::unique_ptr<const SliceTransform> prefix(NewFixedPrefixTransform(3));
  BlockTableBuildOptions hash = BaseOptions(5, kCRC32c);
  hash.table.index_type = IndexType::kHashSearch;
  hash.table.data_block_index_type = BlockBasedTableOptions::kDataBlockBinaryAndHash;
  hash.prefix_extractor = prefix.get();
  AddSeed(hash, seeds);
  for (const CompressionType type : {kSnappyCompression, kLZ4Compression, kZSTD}) {
    BlockTableBuildOptions packed = BaseOptions(5, kxxHash);
    packed.compression = type;
    if (type == kZSTD) packed.compression_opts.max_dict_bytes = 200;
    AddSeed(packed, seeds);
  }
  BlockTableBuildOptions legacy = BaseOptions(4, kNoChecksum);
  legacy.table.filter_policy.reset(NewBloomFilterPolicy(10));
  AddSeed(legacy, seeds);
}

}  // namespace
}  // namespace varve::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace fuzz = varve::fuzz;
  fuzz::Input input(data, size);
  const uint32_t bits = input.Byte();
  std::string file = input.Rest().ToString();
  if ((bits & 1) == 0) fuzz::SealTable(&file);
  const fuzz::TableUse use{.mapped = (bits & 2) != 0,
                           .cached = (bits & 4) != 0,
                           .prefixes = (bits & 8) != 0,
                           .timestamps = (bits & 0xe0) == 0xe0};
  fuzz::UseTable(file, use, 2000);
  return 0;
}

static const varve::fuzz::Register registered({"table_file", LLVMFuzzerTestOneInput,
                                               varve::fuzz::MakeSeeds, 300});
