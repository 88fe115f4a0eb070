// SPDX-License-Identifier: Apache-2.0

// Fuzzes one block in an otherwise whole table: range tombstones, properties, index, metaindex,
// partitions of a filter, a dictionary.

#include <array>

#include "table/block/block_builder.h"
#include "table/meta/metaindex_builder.h"
#include "tests/fuzz/memory_table.h"
#include "tests/fuzz/target.h"
#include "tests/table/table_file.h"

namespace varve::fuzz {
namespace {

enum Part : uint32_t { kTombstones, kProperties, kIndex, kMetaindex, kFilter, kDictionary, kParts };

// Composes a file block by block.
class Composer {
 public:
  BlockHandle Add(const Slice& block) {
    const BlockHandle handle{file_.size(), block.size()};
    char trailer[kBlockTrailerBytes];
    EncodeBlockTrailer(kXXH3, 0, handle.offset, block, kNoCompression, trailer);
    file_.append(block.data(), block.size()).append(trailer, kBlockTrailerBytes);
    return handle;
  }
  std::string Finish(const BlockHandle& metaindex, const BlockHandle& index) {
    Footer footer;
    footer.metaindex = metaindex;
    footer.index = index;
    footer.EncodeTo(file_.size(), &file_);
    return file_;
  }

 private:
  std::string file_;
};

std::string DataBlock() {
  BlockBuilder block{BlockBuilder::Options()};
  for (int i = 10; i < 20; i++) block.Add(test::IKey("key" + std::to_string(i), 5), "value");
  return block.Finish().ToString();
}

std::string IndexBlock(const BlockHandle& data) {
  BlockBuilder block{BlockBuilder::Options()};
  std::string handle;
  data.EncodeTo(&handle);
  block.Add(test::IKey("key99", 1), handle);
  return block.Finish().ToString();
}

std::string PropertiesBlock() {
  TableProperties properties;
  properties.comparator_name = "leveldb.BytewiseComparator";
  properties.num_entries = 10;
  std::string block;
  EncodeProperties(properties, TableTraits(), &block);
  return block;
}

std::string TombstoneBlock() {
  BlockBuilder::Options options;
  options.restart_interval = 1;
  BlockBuilder block(options);
  block.Add(test::IKey("a", 9, kTypeRangeDeletion), "key12");
  block.Add(test::IKey("key11", 8, kTypeRangeDeletion), "key15");
  block.Add(test::IKey("key15", 7, kTypeRangeDeletion), "key16");
  return block.Finish().ToString();
}

std::string Compose(uint32_t part, const Slice& hostile) {
  Composer composer;
  const BlockHandle data = composer.Add(DataBlock());
  MetaindexBuilder metaindex;
  metaindex.Add(meta_block::kProperties,
                composer.Add(part == kProperties ? hostile : Slice(PropertiesBlock())));
  if (part == kTombstones) metaindex.Add(meta_block::kRangeDeletions, composer.Add(hostile));
  if (part == kFilter) metaindex.Add(meta_block::kPartitionedFilter, composer.Add(hostile));
  if (part == kDictionary) {
    metaindex.Add(meta_block::kCompressionDictionary, composer.Add(hostile));
  }
  const std::string good_index = IndexBlock(data);
  const BlockHandle index = composer.Add(part == kIndex ? hostile : Slice(good_index));
  const std::string good_metaindex = metaindex.Finish();
  const BlockHandle root = composer.Add(part == kMetaindex ? hostile : Slice(good_metaindex));
  return composer.Finish(root, index);
}

void MakeSeeds(Seeds* seeds) {
  const BlockHandle data{0, DataBlock().size()};
  MetaindexBuilder metaindex;
  metaindex.Add(meta_block::kProperties, BlockHandle{data.end(), PropertiesBlock().size()});
  const std::array<std::string, kParts> blocks = {TombstoneBlock(), PropertiesBlock(),
                                                  IndexBlock(data), metaindex.Finish(),
                                                  IndexBlock(data), "a dictionary"};
  for (uint32_t part = 0; part < kParts; part++) {
    seeds->push_back(std::string{static_cast<char>(part), 0} + blocks[part]);
  }
  seeds->push_back(std::string{kTombstones, 4} + TombstoneBlock());
}

}  // namespace
}  // namespace varve::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace fuzz = varve::fuzz;
  fuzz::Input input(data, size);
  const uint32_t part = input.Below(fuzz::kParts);
  const uint32_t bits = input.Byte();
  const fuzz::TableUse use{.mapped = (bits & 1) != 0,
                           .cached = (bits & 2) != 0,
                           .prefixes = false,
                           .timestamps = (bits & 4) != 0};
  fuzz::UseTable(fuzz::Compose(part, input.Rest()), use, 2000);
  return 0;
}

static const varve::fuzz::Register registered({"table_part", LLVMFuzzerTestOneInput,
                                               varve::fuzz::MakeSeeds, 250});
