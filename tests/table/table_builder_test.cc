// SPDX-License-Identifier: Apache-2.0

// Tests tables built under many options, taken apart by the format's grammar alone.

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "varve/filter_policy.h"
#include "varve/slice_transform.h"

#include "table/builder/block_table_builder.h"
#include "table/builder/block_writer.h"
#include "table/filter/filter_bits.h"
#include "tests/table/table_file.h"
#include "util/key/entry_limits.h"

namespace varve {
namespace {

using test::BuiltTable;
using test::Bytewise;
using test::Entries;
using test::IKey;
using test::StringFile;
using test::TableParts;

BlockTableBuildOptions DefaultOptions() {
  BlockTableBuildOptions options;
  options.icmp = &Bytewise();
  options.file_number = 9;
  options.db_id = "db";
  options.db_session_id = "5ORSHT3GGKGFEY5MNVDB";
  options.column_family_name = "default";
  return options;
}

Entries SomeEntries(int n) {
  Entries entries;
  for (int i = 0; i < n; i++) {
    const std::string user_key = "key" + std::to_string(1000000 + i * 3);
    entries.emplace_back(IKey(user_key, static_cast<SequenceNumber>(i + 1)),
                         "value" + std::to_string(i % 10) + std::string(60, 'v'));
  }
  return entries;
}

// Separators must lie between the blocks that they separate.
void CheckSeparators(const TableParts& parts, uint64_t alignment) {
  std::vector<std::pair<std::string, BlockHandle>> index;
  ASSERT_TRUE(parts.ReadIndex(&index).ok());
  std::string previous;
  uint64_t expected_offset = 0;
  for (const auto& [separator, handle] : index) {
    EXPECT_EQ(handle.offset, expected_offset);
    expected_offset = (handle.end() + alignment - 1) / alignment * alignment;
    std::string block;
    ASSERT_TRUE(parts.ReadBlock(handle, parts.dictionary, &block).ok());
    BlockWalker walk(TableParts::StripHashIndex(&block));
    while (walk.Next()) {
      const auto compare = [&](const std::string& sep, const Slice& key) {
        return parts.traits.index_key_is_user_key
                   ? Bytewise().CompareUserKey(sep, ExtractUserKey(key))
                   : Bytewise().Compare(Slice(sep), key);
      };
      EXPECT_GE(compare(separator, walk.key()), 0);
      if (!previous.empty()) {
        EXPECT_LT(compare(previous, walk.key()), 0);
      }
    }
    previous = separator;
  }
  EXPECT_EQ(expected_offset, parts.properties.data_size);
  EXPECT_EQ(index.size(), parts.properties.num_data_blocks);
}

void Build(const BlockTableBuildOptions& options, const Entries& entries, TableParts* parts,
           std::string* file = nullptr) {
  BuiltTable table(options);
  ASSERT_TRUE(table.create_status.ok()) << table.create_status.ToString();
  for (const auto& [key, value] : entries) {
    table.builder->Add(key, value);
    ASSERT_GE(table.builder->EstimatedFileSize(), table.builder->FileSize());
  }
  Status s = table.Finish();
  ASSERT_TRUE(s.ok()) << s.ToString();
  EXPECT_EQ(table.builder->FileSize(), table.file.size());
  EXPECT_EQ(table.builder->entry_count(), entries.size());
  s = parts->Open(table.file);
  ASSERT_TRUE(s.ok()) << s.ToString();
  EXPECT_EQ(table.builder->tail_size(), table.file.size() - parts->properties.tail_start_offset);
  Entries read;
  s = parts->ReadAll(&read);
  ASSERT_TRUE(s.ok()) << s.ToString();
  EXPECT_EQ(read, entries);
  CheckSeparators(*parts, options.table.block_align ? options.table.block_size : 1);
  if (file != nullptr) *file = table.file;
}

TEST(TableBuilder, HoldsItsEntriesUnderEveryLayout) {
  const Entries entries = SomeEntries(2000);
  using Table = BlockBasedTableOptions;
  const std::vector<std::function<void(BlockTableBuildOptions*)>> variations = {
      [](BlockTableBuildOptions*) {},
      [](BlockTableBuildOptions* o) { o->table.block_size = 200; },
      [](BlockTableBuildOptions* o) { o->table.block_restart_interval = 1; },
      [](BlockTableBuildOptions* o) { o->table.use_delta_encoding = false; },
      [](BlockTableBuildOptions* o) { o->table.index_block_restart_interval = 7; },
      [](BlockTableBuildOptions* o) { o->table.index_type = Table::kBinarySearchWithFirstKey; },
      [](BlockTableBuildOptions* o) {
        o->table.index_type = Table::kTwoLevelIndexSearch;
        o->table.metadata_block_size = 100;
        o->table.index_block_restart_interval = 3;
      },
      [](BlockTableBuildOptions* o) {
        o->table.index_shortening = Table::IndexShorteningMode::kNoShortening;
      },
      [](BlockTableBuildOptions* o) {
        o->table.index_shortening = Table::IndexShorteningMode::kShortenSeparatorsAndSuccessor;
      },
      [](BlockTableBuildOptions* o) {
        o->table.data_block_index_type = Table::kDataBlockBinaryAndHash;
      },
      [](BlockTableBuildOptions* o) { o->table.checksum = kCRC32c; },
      [](BlockTableBuildOptions* o) { o->table.checksum = kxxHash64; },
      [](BlockTableBuildOptions* o) { o->compression = kZSTD; },
      [](BlockTableBuildOptions* o) {
        o->compression = kZSTD;
        o->compression_opts.max_dict_bytes = 4096;
        o->table.verify_compression = true;
      },
      [](BlockTableBuildOptions* o) {
        o->compression = kLZ4Compression;
        o->compression_opts.max_dict_bytes = 1024;
        o->compression_opts.max_dict_buffer_bytes = 20000;
      },
      [](BlockTableBuildOptions* o) {
        o->compression = kZSTD;
        o->compression_opts.max_dict_bytes = 2048;
        o->compression_opts.zstd_max_train_bytes = 65536;
        o->table.enable_index_compression = false;
      },
      [](BlockTableBuildOptions* o) { o->compression = kSnappyCompression; },
  };
  for (size_t v = 0; v < variations.size(); v++) {
    for (uint32_t version = 2; version <= 7; version++) {
      SCOPED_TRACE("variation " + std::to_string(v) + " version " + std::to_string(version));
      BlockTableBuildOptions options = DefaultOptions();
      options.table.format_version = version;
      options.table.filter_policy.reset(NewBloomFilterPolicy(10));
      variations[v](&options);
      TableParts parts;
      Build(options, entries, &parts);
      if (HasFatalFailure()) return;
      EXPECT_EQ(parts.footer.format_version, version);
      EXPECT_EQ(parts.traits.index_key_is_user_key, version >= 3);
      EXPECT_EQ(parts.traits.index_value_is_delta_encoded, version >= 4);
      std::string filter_block;
      ASSERT_TRUE(
          parts.ReadBlock(parts.metaindex.at(meta_block::kFullFilter), "", &filter_block).ok());
      const FilterBits filter = FilterBits::Parse(filter_block);
      EXPECT_EQ(filter.uses_legacy_hash(), version < 5);
      for (const auto& [key, value] : entries) {
        EXPECT_TRUE(filter.MayMatch(filter.HashOf(ExtractUserKey(key))));
      }
    }
  }
}

TEST(TableBuilder, AlignedBlocksStartAtTheirMultiple) {
  for (const uint32_t version : {3u, 5u, 7u}) {
    BlockTableBuildOptions options = DefaultOptions();
    options.table.block_align = true;
    options.table.block_size = 1024;
    options.table.format_version = version;
    TableParts parts;
    Build(options, SomeEntries(500), &parts);
    if (HasFatalFailure()) return;
    // Blocks that do not touch have no differences to store.
    EXPECT_FALSE(parts.traits.index_value_is_delta_encoded);
    EXPECT_EQ(parts.properties.index_value_is_delta_encoded, 0u);
    EXPECT_EQ(parts.properties.data_size % 1024, 0u);
  }
}

// Reads the partitions of a filter, and their index.
void ReadFilterPartitions(const TableParts& parts,
                          std::vector<std::pair<std::string, BlockHandle>>* top,
                          std::vector<std::string>* blocks) {
  ASSERT_TRUE(parts.ReadIndexBlock(parts.metaindex.at(meta_block::kPartitionedFilter), top).ok());
  uint64_t size = parts.metaindex.at(meta_block::kPartitionedFilter).size;
  for (const auto& [separator, handle] : *top) {
    ASSERT_TRUE(parts.ReadBlock(handle, "", &blocks->emplace_back()).ok());
    size += handle.size;
  }
  EXPECT_EQ(parts.properties.filter_size, size);
}

TEST(TableBuilder, FilterPartitionsHoldTheKeysUpToTheirSeparator) {
  // One version for each key gives user keys in the index, many give internal keys.
  for (const int versions : {1, 30}) {
    Entries entries;
    for (int i = 0; i < 3000; i++) {
      entries.emplace_back(IKey("key" + std::to_string(100000 + i / versions),
                                static_cast<SequenceNumber>(versions - i % versions)),
                           std::string(50, 'v'));
    }
    for (const uint32_t format_version : {2u, 3u, 5u, 7u}) {
      BlockTableBuildOptions options = DefaultOptions();
      options.table.format_version = format_version;
      options.table.filter_policy.reset(NewBloomFilterPolicy(10));
      options.table.index_type = BlockBasedTableOptions::kTwoLevelIndexSearch;
      options.table.partition_filters = true;
      options.table.metadata_block_size = 128;
      TableParts parts;
      Build(options, entries, &parts);
      if (HasFatalFailure()) return;
      EXPECT_TRUE(parts.traits.decoupled_partitioned_filters);
      EXPECT_EQ(parts.metaindex.count(meta_block::kFullFilter), 0u);
      std::vector<std::pair<std::string, BlockHandle>> top;
      std::vector<std::string> blocks;
      ReadFilterPartitions(parts, &top, &blocks);
      if (HasFatalFailure()) return;
      EXPECT_GT(blocks.size(), versions == 1 ? 20u : 0u);
      size_t at = 0;
      for (const auto& [key, value] : entries) {
        const auto past = [&, &key = key](const Slice& separator) {
          return parts.traits.index_key_is_user_key
                     ? Bytewise().CompareUserKey(separator, ExtractUserKey(key)) < 0
                     : Bytewise().Compare(separator, Slice(key)) < 0;
        };
        while (at < top.size() && past(top[at].first)) at++;
        ASSERT_LT(at, top.size());
        const FilterBits filter = FilterBits::Parse(blocks[at]);
        ASSERT_TRUE(filter.MayMatch(filter.HashOf(ExtractUserKey(key))));
      }
    }
  }
}

TEST(TableBuilder, AFilterIsWholeUnlessTheIndexIsPartitioned) {
  BlockTableBuildOptions options = DefaultOptions();
  options.table.filter_policy.reset(NewBloomFilterPolicy(10));
  options.table.partition_filters = true;
  TableParts parts;
  Build(options, SomeEntries(500), &parts);
  EXPECT_EQ(parts.metaindex.count(meta_block::kFullFilter), 1u);
  EXPECT_EQ(parts.metaindex.count(meta_block::kPartitionedFilter), 0u);
}

TEST(TableBuilder, WhereATableIsMadeDecidesBetweenBloomAndRibbon) {
  using Reason = TableFileCreationReason;
  const struct {
    int bloom_before_level;
    Reason reason;
    int level;
    FilterKind kind;
  } kCases[] = {{0, Reason::kFlush, 0, FilterKind::kFastLocalBloom},
                {0, Reason::kRecovery, 0, FilterKind::kRibbon},
                {0, Reason::kCompaction, 0, FilterKind::kRibbon},
                {-1, Reason::kFlush, 0, FilterKind::kRibbon},
                {2, Reason::kCompaction, 1, FilterKind::kFastLocalBloom},
                {2, Reason::kCompaction, 2, FilterKind::kRibbon},
                {2, Reason::kMisc, -1, FilterKind::kRibbon}};
  for (const auto& c : kCases) {
    BlockTableBuildOptions options = DefaultOptions();
    options.table.filter_policy.reset(NewRibbonFilterPolicy(10, c.bloom_before_level));
    options.table.detect_filter_construct_corruption = true;
    options.reason = c.reason;
    options.level = c.level;
    TableParts parts;
    Build(options, SomeEntries(1000), &parts);
    if (HasFatalFailure()) return;
    std::string block;
    ASSERT_TRUE(parts.ReadBlock(parts.metaindex.at(meta_block::kFullFilter), "", &block).ok());
    EXPECT_EQ(FilterBits::Parse(block).kind(), c.kind) << c.bloom_before_level << " " << c.level;
    EXPECT_EQ(parts.properties.filter_policy_name, "ribbonfilter");
  }
}

TEST(TableBuilder, TheHashIndexNamesTheBlocksOfPrefixes) {
  const std::unique_ptr<const SliceTransform> extractor(NewFixedPrefixTransform(8));
  BlockTableBuildOptions options = DefaultOptions();
  options.table.index_type = BlockBasedTableOptions::kHashSearch;
  options.table.index_block_restart_interval = 4;  // has to be 1
  options.table.block_size = 200;
  options.prefix_extractor = extractor.get();
  const Entries entries = SomeEntries(1000);
  TableParts parts;
  Build(options, entries, &parts);
  if (HasFatalFailure()) return;
  EXPECT_EQ(parts.properties.index_block_restart_interval, 1u);
  std::vector<std::pair<std::string, BlockHandle>> index;
  ASSERT_TRUE(parts.ReadIndex(&index).ok());
  std::string prefixes;
  std::string metadata;
  ASSERT_TRUE(
      parts.ReadBlock(parts.metaindex.at(meta_block::kHashIndexPrefixes), "", &prefixes).ok());
  ASSERT_TRUE(
      parts.ReadBlock(parts.metaindex.at(meta_block::kHashIndexMetadata), "", &metadata).ok());
  Slice rest(metadata);
  Slice names(prefixes);
  size_t at = 0;
  while (!rest.empty()) {
    uint32_t size = 0;
    uint32_t first = 0;
    uint32_t count = 0;
    ASSERT_TRUE(GetVarint32(&rest, &size) && GetVarint32(&rest, &first) &&
                GetVarint32(&rest, &count));
    ASSERT_LE(size, names.size());
    const Slice prefix(names.data(), size);
    names.remove_prefix(size);
    ASSERT_LE(first + count, index.size());
    // Its keys, and no others, lie in these blocks.
    for (uint32_t b = first; b < first + count; b++) {
      std::string block;
      ASSERT_TRUE(parts.ReadBlock(index[b].second, "", &block).ok());
      BlockWalker walk{Slice(block)};
      bool found = false;
      while (walk.Next()) found = found || walk.key().starts_with(prefix);
      EXPECT_TRUE(found);
    }
    for (; at < entries.size() && Slice(entries[at].first).starts_with(prefix); at++) {
    }
  }
  EXPECT_EQ(at, entries.size());
  EXPECT_TRUE(names.empty());
}

TEST(TableBuilder, DictionariesAreWrittenAndUsed) {
  BlockTableBuildOptions options = DefaultOptions();
  options.compression = kZSTD;
  options.compression_opts.max_dict_bytes = 4096;
  TableParts parts;
  Build(options, SomeEntries(1000), &parts);
  EXPECT_EQ(parts.dictionary.size(), 4096u);
  EXPECT_EQ(parts.properties.compression_name, "ZSTD");
}

TEST(TableBuilder, CompressionThatDoesNotPayIsNotStored) {
  Entries entries;
  uint64_t state = 88172645463325252u;
  for (int i = 0; i < 500; i++) {
    std::string value;
    for (int j = 0; j < 30; j++) {
      state ^= state << 13;
      state ^= state >> 7;
      state ^= state << 17;
      PutFixed64(&value, state);
    }
    entries.emplace_back(IKey("k" + std::to_string(100000 + i), 1), value);
  }
  BlockTableBuildOptions options = DefaultOptions();
  options.compression = kZSTD;
  TableParts parts;
  Build(options, entries, &parts);
  EXPECT_EQ(parts.properties.num_data_blocks_compression_rejected,
            parts.properties.num_data_blocks);
  EXPECT_EQ(parts.properties.compression_name, "ZSTD");
}

TEST(TableBuilder, Version7NamesTheCodecsThatOccur) {
  BlockTableBuildOptions options = DefaultOptions();
  options.table.format_version = 7;
  TableParts plain;
  Build(options, SomeEntries(100), &plain);
  EXPECT_EQ(plain.properties.compression_name, ";;");
  options.compression = kLZ4Compression;
  TableParts lz4;
  Build(options, SomeEntries(100), &lz4);
  EXPECT_EQ(lz4.properties.compression_name, "BuiltinV2;04;");
}

TEST(TableBuilder, AUserKeyOnBothSidesOfABorderMakesTheIndexInternal) {
  Entries entries;
  for (int k = 0; k < 3; k++) {
    for (SequenceNumber seq = 100; seq > 0; seq--) {
      entries.emplace_back(IKey("key" + std::to_string(k), seq), std::string(100, 'v'));
    }
  }
  for (const auto type :
       {BlockBasedTableOptions::kBinarySearch, BlockBasedTableOptions::kTwoLevelIndexSearch,
        BlockBasedTableOptions::kBinarySearchWithFirstKey}) {
    BlockTableBuildOptions options = DefaultOptions();
    options.table.index_type = type;
    TableParts parts;
    Build(options, entries, &parts);
    if (HasFatalFailure()) return;
    EXPECT_FALSE(parts.traits.index_key_is_user_key);
    EXPECT_EQ(parts.traits.index_type, type);
  }
}

TEST(TableBuilder, FirstKeysStandInTheIndex) {
  BlockTableBuildOptions options = DefaultOptions();
  options.table.index_type = BlockBasedTableOptions::kBinarySearchWithFirstKey;
  const Entries entries = SomeEntries(500);
  TableParts parts;
  Build(options, entries, &parts);
  parts.first_keys.clear();
  std::vector<std::pair<std::string, BlockHandle>> index;
  ASSERT_TRUE(parts.ReadIndex(&index).ok());
  ASSERT_EQ(parts.first_keys.size(), index.size());
  EXPECT_EQ(parts.first_keys[0], entries[0].first);
  EXPECT_TRUE(std::is_sorted(parts.first_keys.begin(), parts.first_keys.end()));
}

TEST(TableBuilder, PropertiesCount) {
  BlockTableBuildOptions options = DefaultOptions();
  BuiltTable table(options);
  table.builder->Add(IKey("a", 5), "1");
  table.builder->Add(IKey("a", 4, kTypeMerge), "22");
  table.builder->Add(IKey("b", 9, kTypeDeletion), "");
  table.builder->Add(IKey("c", 2, kTypeSingleDeletion), "");
  table.builder->AddTombstone(IKey("d", 7, kTypeRangeDeletion), "f");
  table.builder->AddTombstone(IKey("f", 11, kTypeRangeDeletion), "g");
  ASSERT_TRUE(table.Finish().ok());
  TableParts parts;
  ASSERT_TRUE(parts.Open(table.file).ok());
  const TableProperties& p = parts.properties;
  EXPECT_EQ(p.num_entries, 6u);
  EXPECT_EQ(p.num_deletions, 4u);
  EXPECT_EQ(p.num_range_deletions, 2u);
  EXPECT_EQ(p.num_merge_operands, 1u);
  EXPECT_EQ(p.raw_key_size, 6u * 9);
  EXPECT_EQ(p.raw_value_size, 5u);
  EXPECT_EQ(p.key_smallest_seqno, 2u);
  EXPECT_EQ(p.key_largest_seqno, 11u);
  EXPECT_EQ(p.orig_file_number, 9u);
  EXPECT_EQ(p.comparator_name, "leveldb.BytewiseComparator");
  EXPECT_EQ(p.merge_operator_name, "nullptr");
  EXPECT_EQ(p.prefix_extractor_name, "nullptr");
  EXPECT_EQ(p.property_collectors_names, "[]");
  EXPECT_EQ(p.compression_name, "NoCompression");
  EXPECT_EQ(p.filter_policy_name, "");
  EXPECT_EQ(table.builder->UniqueId().size(), 16u);
  Entries tombstones;
  ASSERT_TRUE(parts.ReadTombstones(&tombstones).ok());
  EXPECT_EQ(tombstones, (Entries{{IKey("d", 7, kTypeRangeDeletion), "f"},
                                 {IKey("f", 11, kTypeRangeDeletion), "g"}}));
}

TEST(TableBuilder, ATableMayHoldTombstonesOnlyOrNothing) {
  for (const bool with_tombstone : {true, false}) {
    BlockTableBuildOptions options = DefaultOptions();
    options.table.filter_policy.reset(NewBloomFilterPolicy(10));
    BuiltTable table(options);
    if (with_tombstone) table.builder->AddTombstone(IKey("d", 7, kTypeRangeDeletion), "f");
    ASSERT_TRUE(table.Finish().ok());
    TableParts parts;
    ASSERT_TRUE(parts.Open(table.file).ok());
    EXPECT_EQ(parts.footer.index.size, 8u);
    EXPECT_EQ(parts.metaindex.count(meta_block::kFullFilter), 0u);
    EXPECT_EQ(parts.metaindex.count(meta_block::kRangeDeletions), with_tombstone ? 1u : 0u);
  }
}

TEST(TableBuilder, RefusesEntriesOutOfOrder) {
  const struct {
    std::string first;
    std::string second;
    bool accepted;
  } kCases[] = {
      {IKey("b", 5), IKey("a", 5), false},
      {IKey("b", 5), IKey("b", 5), false},
      {IKey("b", 5), IKey("b", 6), false},
      {IKey("b", 5), IKey("b", 4), true},
      {IKey("bb", 5), IKey("b", 4), false},
      {IKey("b", 5), IKey("bb", 9), true},
      {IKey("\x7f", 5), IKey("\x80", 5), true},
      {IKey("\x80", 5), IKey("\x7f", 5), false},
      {IKey("", 5), IKey("", 4), true},
      {IKey("a", 5), IKey("", 4), false},
      {IKey("b", 5, kTypeValue), IKey("b", 5, kTypeDeletion), true},
      {IKey("b", 5), "short", false},
      {IKey("b", 5), IKey("c", 5, kTypeNoop), false},
      {IKey("b", 5), IKey("c", 5, kTypeRangeDeletion), false},
  };
  for (const auto& c : kCases) {
    BuiltTable table(DefaultOptions());
    table.builder->Add(c.first, "v");
    table.builder->Add(c.second, "v");
    EXPECT_EQ(table.builder->status().ok(), c.accepted)
        << test::ToHex(c.first) << " " << test::ToHex(c.second);
    EXPECT_EQ(table.Finish().ok(), c.accepted);
    if (!c.accepted) {
      EXPECT_TRUE(table.builder->status().IsCorruption());
    }
  }
}

// An entry that claims more bytes than there are would crash a reader of them.
TEST(TableBuilder, WhatReadersRefuseIsRefusedUnread) {
  const std::string key = IKey("k", 1);
  const std::string begin = IKey("k", 1, kTypeRangeDeletion);
  const uint64_t rest = kEntryBytesMax - key.size();
  const std::vector<std::function<void(TableBuilder*)>> too_large = {
      [&](TableBuilder* builder) { builder->Add(key, Slice("v", rest + 1)); },
      [&](TableBuilder* builder) { builder->AddTombstone(begin, Slice("v", rest + 1)); },
  };
  for (const auto& add : too_large) {
    BuiltTable table(DefaultOptions());
    ASSERT_TRUE(table.create_status.ok());
    add(table.builder.get());
    EXPECT_TRUE(table.builder->status().IsInvalidArgument()) << table.builder->status().ToString();
    EXPECT_TRUE(table.Finish().IsInvalidArgument());
  }
}

TEST(TableBuilder, NoBlockIsWrittenThatReadersRefuse) {
  std::string content;
  WritableFileWriter file(std::make_unique<StringFile>(&content), "table", {});
  BlockWriter::Options options;
  for (const CompressionType compression : {kNoCompression, kSnappyCompression}) {
    options.compression = compression;
    BlockWriter writer(options, &file);
    BlockHandle handle;
    BlockWriter::Outcome outcome;
    std::string claims = "less";
    const size_t bytes = kBlockBytesMax + 1;
    for (const Status& s : {writer.WritePlain(claims.data(), bytes, &handle),
                            writer.WriteCompressible(claims.data(), bytes, &handle),
                            writer.WriteData(claims.data(), bytes, Slice(), &handle, &outcome)}) {
      EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
    }
    EXPECT_EQ(writer.offset(), 0u);
  }
  EXPECT_EQ(content, "");
}

TEST(TableBuilder, OrderOfOtherComparators) {
  const InternalKeyComparator reverse(ReverseBytewiseComparator());
  BlockTableBuildOptions options = DefaultOptions();
  options.icmp = &reverse;
  BuiltTable table(options);
  for (int i = 999; i >= 100; i--) {
    table.builder->Add(IKey(std::to_string(i), 5), std::string(50, 'v'));
  }
  ASSERT_TRUE(table.builder->status().ok());
  table.builder->Add(IKey("500", 5), "v");
  EXPECT_TRUE(table.builder->status().IsCorruption());
}

TEST(TableBuilder, RefusesByNameWhatItCannotWrite) {
  using Table = BlockBasedTableOptions;
  const struct {
    const char* name;
    std::function<void(BlockTableBuildOptions*)> set;
  } kCases[] = {
      {"format_version", [](BlockTableBuildOptions* o) { o->table.format_version = 1; }},
      {"format_version", [](BlockTableBuildOptions* o) { o->table.format_version = 8; }},
      {"index_type",
       [](BlockTableBuildOptions* o) { o->table.index_type = static_cast<Table::IndexType>(4); }},
      {"Xpress", [](BlockTableBuildOptions* o) { o->compression = kXpressCompression; }},
  };
  for (const auto& c : kCases) {
    BlockTableBuildOptions options = DefaultOptions();
    c.set(&options);
    const BuiltTable table(options);
    EXPECT_TRUE(table.create_status.IsNotSupported()) << c.name;
    EXPECT_NE(table.create_status.ToString().find(c.name), std::string::npos)
        << table.create_status.ToString();
  }
}

TEST(TableBuilder, RefusesWhatCannotBeMeant) {
  BlockTableBuildOptions hash = DefaultOptions();
  hash.table.index_type = BlockBasedTableOptions::kHashSearch;
  EXPECT_TRUE(BlockTableBuilder::CheckOptions(hash).IsInvalidArgument());
  BlockTableBuildOptions aligned = DefaultOptions();
  aligned.table.block_align = true;
  aligned.table.block_size = 4000;
  EXPECT_TRUE(BlockTableBuilder::CheckOptions(aligned).IsInvalidArgument());
  BlockTableBuildOptions super_block = DefaultOptions();
  super_block.table.super_block_alignment_size = 5000;
  EXPECT_TRUE(BlockTableBuilder::CheckOptions(super_block).IsInvalidArgument());
}

// Counts data blocks that lie in two super blocks, and bytes between blocks.
void Straddling(const TableParts& parts, uint64_t super_block, size_t* straddling,
                uint64_t* largest_gap) {
  std::vector<std::pair<std::string, BlockHandle>> index;
  ASSERT_TRUE(parts.ReadIndex(&index).ok());
  *straddling = 0;
  *largest_gap = 0;
  uint64_t end = 0;
  for (const auto& [separator, handle] : index) {
    ASSERT_GE(handle.offset, end);
    *largest_gap = std::max(*largest_gap, handle.offset - end);
    end = handle.end();
    *straddling += handle.offset / super_block != (end - 1) / super_block;
  }
}

TEST(TableBuilder, BlocksDoNotStraddleSuperBlocksWherePaddingIsCheap) {
  const Entries entries = SomeEntries(5000);
  using Table = BlockBasedTableOptions;
  for (const CompressionType codec : {kNoCompression, kLZ4Compression}) {
    for (const Table::IndexType index : {Table::kBinarySearch, Table::kTwoLevelIndexSearch}) {
      for (const size_t ratio : {1, 4, 64, 0}) {
        BlockTableBuildOptions options = DefaultOptions();
        options.compression = codec;
        options.table.block_size = 1000;
        options.table.index_type = index;
        options.table.index_block_restart_interval = 8;
        options.table.super_block_alignment_size = 4096;
        options.table.super_block_alignment_space_overhead_ratio = ratio;
        BuiltTable table(options);
        for (const auto& [key, value] : entries) table.builder->Add(key, value);
        ASSERT_TRUE(table.Finish().ok());
        TableParts parts;
        ASSERT_TRUE(parts.Open(table.file).ok());
        Entries read;
        ASSERT_TRUE(parts.ReadAll(&read).ok());
        EXPECT_EQ(read, entries);
        size_t straddling = 0;
        uint64_t gap = 0;
        Straddling(parts, 4096, &straddling, &gap);
        EXPECT_EQ(straddling == 0, ratio == 1 || ratio == 4) << ratio << " " << straddling;
        EXPECT_LE(gap, ratio == 0 ? 0 : 4096 / ratio);
      }
    }
  }
}

TEST(TableBuilder, ABlockLargerThanASuperBlockIsNotPaddedInVain) {
  BlockTableBuildOptions options = DefaultOptions();
  options.table.super_block_alignment_size = 2048;
  options.table.super_block_alignment_space_overhead_ratio = 1;
  BuiltTable table(options);
  for (const auto& [key, value] : SomeEntries(1000)) table.builder->Add(key, value);
  ASSERT_TRUE(table.Finish().ok());
  TableParts parts;
  ASSERT_TRUE(parts.Open(table.file).ok());
  std::vector<std::pair<std::string, BlockHandle>> index;
  ASSERT_TRUE(parts.ReadIndex(&index).ok());
  ASSERT_GT(index.size(), 10u);
  for (size_t i = 0; i + 2 < index.size(); i++) {
    EXPECT_EQ(index[i + 1].second.offset, index[i].second.end());
  }
}

class CountingCollector final : public TablePropertiesCollector {
 public:
  Status AddUserKey(const Slice&, const Slice&, EntryType type, SequenceNumber, uint64_t) override {
    if (type == kEntryDelete) deletes_++;
    return Status::OK();
  }
  Status Finish(UserCollectedProperties* properties) override {
    (*properties)["deletes"] = std::to_string(deletes_);
    return Status::OK();
  }
  UserCollectedProperties GetReadableProperties() const override { return {}; }
  const char* Name() const override { return "Counting"; }
  bool NeedCompact() const override { return deletes_ > 1; }

 private:
  int deletes_ = 0;
};

class CountingFactory final : public TablePropertiesCollectorFactory {
 public:
  TablePropertiesCollector* CreateTablePropertiesCollector(Context) override {
    return std::make_unique<CountingCollector>().release();
  }
  const char* Name() const override { return "CountingFactory"; }
};

TEST(TableBuilder, CollectorsAddTheirProperties) {
  BlockTableBuildOptions options = DefaultOptions();
  options.collector_factories.push_back(std::make_shared<CountingFactory>());
  BuiltTable table(options);
  table.builder->Add(IKey("a", 3, kTypeDeletion), "");
  table.builder->Add(IKey("b", 3), "v");
  table.builder->Add(IKey("c", 3, kTypeDeletion), "");
  ASSERT_TRUE(table.Finish().ok());
  TableParts parts;
  ASSERT_TRUE(parts.Open(table.file).ok());
  EXPECT_EQ(parts.properties.user_collected_properties["deletes"], "2");
  EXPECT_EQ(parts.properties.property_collectors_names, "[CountingFactory]");
  EXPECT_TRUE(table.builder->NeedsCompaction());
}

TEST(TableBuilder, BlocksStayNearTheirSize) {
  BlockTableBuildOptions options = DefaultOptions();
  TableParts parts;
  Build(options, SomeEntries(5000), &parts);
  std::vector<std::pair<std::string, BlockHandle>> index;
  ASSERT_TRUE(parts.ReadIndex(&index).ok());
  for (size_t i = 0; i + 1 < index.size(); i++) {
    EXPECT_LE(index[i].second.size, 4096u + 100);
    EXPECT_GE(index[i].second.size, 3600u);
  }
}

}  // namespace
}  // namespace varve
