// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <thread>

#include "varve/filter_policy.h"
#include "varve/slice_transform.h"

#include "table/block/block_builder.h"
#include "table/reader/block_table_reader.h"
#include "tests/harness/environment.h"
#include "tests/table/iterator_walk.h"
#include "tests/table/table_harness.h"

namespace varve {
namespace {

using test::BuiltTable;
using test::Entries;
using test::FromHex;
using test::IKey;
using test::InternalKeyLess;
using test::Model;
using test::OpenTable;
using Table = BlockBasedTableOptions;

// Keys in several versions, some of them spread over blocks.
Model SampleModel(const InternalKeyComparator* icmp, uint32_t seed, size_t keys) {
  std::mt19937 random(seed);
  Model model{InternalKeyLess{icmp}};
  for (size_t i = 0; i < keys; i++) {
    char text[32];
    snprintf(text, sizeof(text), "user%06zu", i * 7 % 100003);
    const std::string user_key = text + test::RandomUserKey(&random, 3, 6);
    const size_t versions = random() % 40 == 0 ? 60 : 1 + random() % 2;
    for (size_t v = 0; v < versions; v++) {
      const ValueType type = random() % 8 == 0 ? kTypeDeletion : kTypeValue;
      model[IKey(user_key, 1 + random() % 5000, type)] =
          std::string(random() % 20 == 0 ? 700 : random() % 60, static_cast<char>('a' + v % 26));
    }
  }
  return model;
}

std::string BuildTable(const Model& model, BlockTableBuildOptions options) {
  BuiltTable built(options);
  EXPECT_TRUE(built.create_status.ok()) << built.create_status.ToString();
  if (!built.create_status.ok()) return "";
  for (const auto& [key, value] : model) built.builder->Add(key, value);
  const Status s = built.Finish();
  EXPECT_TRUE(s.ok()) << s.ToString();
  return built.file;
}

PointLookup::State ExpectedState(const Model& model, const Slice& user_key, SequenceNumber snapshot,
                                 std::string* value) {
  const auto it = model.lower_bound(IKey(user_key, snapshot, kValueTypeForSeek));
  if (it == model.end() || ExtractUserKey(it->first) != user_key) {
    return PointLookup::State::kSearching;
  }
  if (ExtractValueType(it->first) != kTypeValue) return PointLookup::State::kDeleted;
  *value = it->second;
  return PointLookup::State::kFound;
}

// Everything that can be read agrees with the model.
void CheckAgainst(OpenTable* table, const Model& model, uint32_t seed) {
  ASSERT_TRUE(table->reader->VerifyChecksum(ReadOptions()).ok());
  Entries entries;
  ASSERT_TRUE(table->ReadAll(&entries).ok());
  ASSERT_EQ(entries, Entries(model.begin(), model.end()));
  const std::vector<std::string> targets = test::TargetsFor(model, seed);
  const ReadOptions read;
  const auto iter = table->reader->NewIterator(read, TableIterOptions());
  test::WalkAtRandom(iter.get(), model, targets, seed, 600);
  if (::testing::Test::HasFatalFailure()) return;
  std::mt19937 random(seed);
  for (int i = 0; i < 1500; i++) {
    const std::string& target = targets[random() % targets.size()];
    const Slice user_key = ExtractUserKey(target);
    const SequenceNumber snapshot = ExtractSequence(target);
    std::string value;
    std::string expected;
    ASSERT_EQ(table->Get(user_key, snapshot, &value, ReadOptions(), /*speculate=*/i % 2 == 0),
              ExpectedState(model, user_key, snapshot, &expected))
        << user_key.ToString(true) << "@" << snapshot << table->status.ToString();
    ASSERT_EQ(value, expected);
  }
}

struct Variation {
  const char* name;
  std::function<void(BlockTableBuildOptions*)> change;
};

const Variation kVariations[] = {
    {"defaults", [](BlockTableBuildOptions*) {}},
    {"version 2", [](BlockTableBuildOptions* o) { o->table.format_version = 2; }},
    {"version 3", [](BlockTableBuildOptions* o) { o->table.format_version = 3; }},
    {"version 4", [](BlockTableBuildOptions* o) { o->table.format_version = 4; }},
    {"crc32c", [](BlockTableBuildOptions* o) { o->table.checksum = kCRC32c; }},
    {"no checksum", [](BlockTableBuildOptions* o) { o->table.checksum = kNoChecksum; }},
    {"partitions",
     [](BlockTableBuildOptions* o) {
       o->table.index_type = Table::kTwoLevelIndexSearch;
       o->table.metadata_block_size = 200;
       o->table.index_block_restart_interval = 3;
     }},
    {"partitioned filters",
     [](BlockTableBuildOptions* o) {
       o->table.index_type = Table::kTwoLevelIndexSearch;
       o->table.partition_filters = true;
       o->table.metadata_block_size = 80;
     }},
    {"partitioned ribbon, version 2",
     [](BlockTableBuildOptions* o) {
       o->table.format_version = 2;
       o->table.index_type = Table::kTwoLevelIndexSearch;
       o->table.partition_filters = true;
       o->table.metadata_block_size = 500;
       o->table.filter_policy.reset(NewRibbonFilterPolicy(10, -1));
     }},
    {"ribbon",
     [](BlockTableBuildOptions* o) {
       o->table.filter_policy.reset(NewRibbonFilterPolicy(10, -1));
     }},
    {"hash index",
     [](BlockTableBuildOptions* o) {
       static const std::unique_ptr<const SliceTransform> extractor(NewCappedPrefixTransform(8));
       o->table.index_type = Table::kHashSearch;
       o->prefix_extractor = extractor.get();
     }},
    {"aligned",
     [](BlockTableBuildOptions* o) {
       o->table.block_align = true;
       o->table.block_size = 512;
     }},
    {"first keys",
     [](BlockTableBuildOptions* o) { o->table.index_type = Table::kBinarySearchWithFirstKey; }},
    {"stored hash",
     [](BlockTableBuildOptions* o) {
       o->table.data_block_index_type = Table::kDataBlockBinaryAndHash;
     }},
    {"whole keys", [](BlockTableBuildOptions* o) { o->table.use_delta_encoding = false; }},
    {"restart at each", [](BlockTableBuildOptions* o) { o->table.block_restart_interval = 1; }},
    {"snappy", [](BlockTableBuildOptions* o) { o->compression = kSnappyCompression; }},
    {"lz4", [](BlockTableBuildOptions* o) { o->compression = kLZ4Compression; }},
    {"zstd dictionary",
     [](BlockTableBuildOptions* o) {
       o->compression = kZSTD;
       o->compression_opts.max_dict_bytes = 2048;
     }},
    {"large blocks", [](BlockTableBuildOptions* o) { o->table.block_size = 200000; }},
};

TEST(TableReader, ReadsEveryLayoutInEveryModeOfCaching) {
  for (const Comparator* comparator : {BytewiseComparator(), ReverseBytewiseComparator()}) {
    const InternalKeyComparator icmp(comparator);
    const Model model = SampleModel(&icmp, 17, 700);
    for (const Variation& variation : kVariations) {
      BlockTableBuildOptions build;
      build.icmp = &icmp;
      build.table.block_size = 600;
      build.table.filter_policy.reset(NewBloomFilterPolicy(10));
      variation.change(&build);
      const std::string file = BuildTable(model, build);
      for (int mode = 0; mode < 5; mode++) {
        OpenTable table(comparator);
        Table& options = table.options.table;
        options.filter_policy = build.table.filter_policy;
        options.no_block_cache = mode == 0;
        if (mode != 0) options.block_cache = NewLRUCache(mode == 4 ? 5000 : 8 << 20);
        options.cache_index_and_filter_blocks = mode >= 2;
        if (mode == 3) options.metadata_cache_options.partition_pinning = PinningTier::kAll;
        if (mode == 3) options.metadata_cache_options.unpartitioned_pinning = PinningTier::kAll;
        table.mapped = mode == 1 || mode == 4;
        const Status s = table.Open(file);
        ASSERT_TRUE(s.ok()) << s.ToString();
        CheckAgainst(&table, model, static_cast<uint32_t>(mode));
        if (::testing::Test::HasFatalFailure()) FAIL() << variation.name << ", mode " << mode;
        table.reader.reset();
        if (mode != 0) {
          EXPECT_EQ(options.block_cache->GetPinnedUsage(), 0u);
        }
      }
    }
  }
}

TEST(TableReader, ReadsTheSmallestTableWrittenByHand) {
  const std::string file = FromHex(R"(
000a026b3101010000000000007631010902320102000000000000763200000000010000000043ec2b5d
00026b32002500000000010000000073336811
002404726f636b7364622e626c6f636b2e62617365642e7461626c652e696e6465782e7479706500000000080a1a636f6d70
617261746f726c6576656c64622e4279746577697365436f6d70617261746f720c070d72657373696f6e4e6f436f6d707265
7373696f6e080c0164656c657465642e6b65797300081501696e6465782e6b65792e69732e757365722e6b6579010e160176
616c75652e69732e64656c74612e656e636f64656401080b016e756d2e656e747269657302080c017261772e6b65792e7369
7a65140c0a0176616c75652e73697a6504000000000100000000314f1f17
001203726f636b7364622e70726f706572746965733de10100000000010000000065d90c2d
01a302202a0e000000000000000000000000000000000000000000000000000000000000000000000005000000f7cff485b7
41e288)");
  ASSERT_EQ(file.size(), 381u);
  OpenTable table;
  ASSERT_TRUE(table.Open(file).ok());
  Entries entries;
  ASSERT_TRUE(table.ReadAll(&entries).ok());
  EXPECT_EQ(entries, (Entries{{IKey("k1", 1), "v1"}, {IKey("k2", 2), "v2"}}));
  std::string value;
  EXPECT_EQ(table.Get("k1", 10, &value), PointLookup::State::kFound);
  EXPECT_EQ(value, "v1");
  EXPECT_EQ(table.Get("k2", 1, &value), PointLookup::State::kSearching);  // too new
  EXPECT_EQ(table.Get("k3", 10, &value), PointLookup::State::kSearching);
  EXPECT_EQ(table.reader->properties()->num_entries, 2u);
  EXPECT_TRUE(table.reader->VerifyChecksum(ReadOptions()).ok());
}

BlockBuilder::Options BlockOptions() {
  return BlockBuilder::Options();
}

// Returns a table of version 6 or 7: context checksums, and the index in the metaindex.
std::string ContextTable(uint32_t version, const Entries& entries) {
  constexpr uint32_t kContext = 0x12345678;
  std::string file;
  const auto write = [&file](const std::string& block) {
    const BlockHandle handle{file.size(), block.size()};
    char trailer[kBlockTrailerBytes];
    EncodeBlockTrailer(kXXH3, kContext, handle.offset, block, kNoCompression, trailer);
    file += block;
    file.append(trailer, sizeof(trailer));
    return handle;
  };
  BlockBuilder data{BlockOptions()};
  for (const auto& [key, value] : entries) data.Add(key, value);
  std::string encoded;
  write(data.Finish().ToString()).EncodeTo(&encoded);
  BlockBuilder index{BlockOptions()};
  index.Add(entries.back().first, encoded);
  const BlockHandle index_handle = write(index.Finish().ToString());
  std::string properties;
  EncodeProperties(TableProperties(), TableTraits(), &properties);
  const BlockHandle properties_handle = write(properties);
  BlockBuilder metaindex{BlockOptions()};
  encoded.clear();
  index_handle.EncodeTo(&encoded);
  metaindex.Add(meta_block::kIndex, encoded);
  encoded.clear();
  properties_handle.EncodeTo(&encoded);
  metaindex.Add(meta_block::kProperties, encoded);
  Footer footer;
  footer.format_version = version;
  footer.base_context_checksum = kContext;
  footer.metaindex = write(metaindex.Finish().ToString());
  footer.EncodeTo(file.size(), &file);
  return file;
}

TEST(TableReader, ReadsVersionsWithContextChecksums) {
  const Entries entries = {{IKey("a", 3), "1"}, {IKey("b", 4), "2"}};
  for (const uint32_t version : {6u, 7u}) {
    const std::string file = ContextTable(version, entries);
    OpenTable table;
    ASSERT_TRUE(table.Open(file).ok()) << version;
    Entries read;
    ASSERT_TRUE(table.ReadAll(&read).ok());
    EXPECT_EQ(read, entries);
    // Elsewhere in the file the same bytes do not verify.
    OpenTable moved;
    const Status s = moved.Open("x" + file);
    EXPECT_TRUE(s.IsCorruption()) << s.ToString();
  }
}

TEST(TableReader, LargeValuesStayPinnedWhileTheirHolderLives) {
  const InternalKeyComparator icmp(BytewiseComparator());
  Model model{InternalKeyLess{&icmp}};
  for (int i = 0; i < 50; i++) model[IKey("k" + std::to_string(i), 5)] = std::string(2000, 'v');
  BlockTableBuildOptions build;
  build.icmp = &icmp;
  const std::string file = BuildTable(model, build);
  OpenTable table;
  table.options.table.block_cache = NewLRUCache(1 << 20);
  Cache* const cache = table.options.table.block_cache.get();
  ASSERT_TRUE(table.Open(file).ok());
  {
    PinnableSlice value;
    PointLookup lookup("k7", 9, &value);
    ASSERT_TRUE(table.reader->Get(ReadOptions(), &lookup).ok());
    ASSERT_EQ(lookup.state(), PointLookup::State::kFound);
    EXPECT_TRUE(value.IsPinned());
    EXPECT_GT(cache->GetPinnedUsage(), 0u);
    cache->EraseUnRefEntries();
    EXPECT_EQ(value.ToString(), std::string(2000, 'v'));
  }
  EXPECT_EQ(cache->GetPinnedUsage(), 0u);
  Cleanable pin;
  {
    const ReadOptions read;
    const auto iter = table.reader->NewIterator(read, TableIterOptions());
    iter->SeekToFirst();
    const Slice value = iter->value();
    ASSERT_TRUE(iter->PinValue(&pin));
    iter->SeekToLast();
    EXPECT_EQ(value.ToString(), std::string(2000, 'v'));
  }
  EXPECT_GT(cache->GetPinnedUsage(), 0u);
  pin.Reset();
  EXPECT_EQ(cache->GetPinnedUsage(), 0u);
}

TEST(TableReader, AValueFromAMappedFileOutlivesTheMapping) {
  const InternalKeyComparator icmp(BytewiseComparator());
  Model model{InternalKeyLess{&icmp}};
  model[IKey("key", 1)] = std::string(2000, 'v');
  BlockTableBuildOptions build;
  build.icmp = &icmp;
  OpenTable table;
  table.mapped = true;
  ASSERT_TRUE(table.Open(BuildTable(model, build)).ok());
  PinnableSlice value;
  PointLookup lookup("key", 9, &value);
  ASSERT_TRUE(table.reader->Get(ReadOptions(), &lookup).ok());
  table.reader.reset();
  EXPECT_EQ(value.ToString(), std::string(2000, 'v'));
}

TEST(TableReader, PinDataKeepsEveryValueInPlace) {
  const InternalKeyComparator icmp(BytewiseComparator());
  const Model model = SampleModel(&icmp, 3, 300);
  BlockTableBuildOptions build;
  build.icmp = &icmp;
  build.table.block_size = 500;
  build.table.use_delta_encoding = false;
  OpenTable table;
  table.options.table.block_cache = NewLRUCache(2000);  // evicts all the time
  ASSERT_TRUE(table.Open(BuildTable(model, build)).ok());
  ReadOptions read;
  read.pin_data = true;
  const auto iter = table.reader->NewIterator(read, TableIterOptions());
  std::vector<std::pair<Slice, Slice>> seen;
  for (iter->SeekToFirst(); iter->Valid(); iter->Next()) {
    ASSERT_TRUE(iter->IsValuePinned());
    ASSERT_TRUE(iter->IsKeyPinned());
    seen.emplace_back(iter->key(), iter->value());
  }
  ASSERT_EQ(seen.size(), model.size());
  auto it = model.begin();
  for (const auto& [key, value] : seen) {
    ASSERT_EQ(key, Slice(it->first));
    ASSERT_EQ(value, Slice((it++)->second));
  }
}

// Threads read at random through a cache of three blocks, beside scans and a second reader of the
// same file that comes and goes.
TEST(TableReader, ThreadsReadRightThroughACacheOfAFewBlocks) {
  const InternalKeyComparator icmp(BytewiseComparator());
  Model model{InternalKeyLess{&icmp}};
  for (int i = 0; i < 2000; i++) {
    const std::string number = std::to_string(100000 + i * 3);
    model[IKey("key" + number, 5)] = number + std::string(i % 40 == 0 ? 400 : 60, 'v');
  }
  BlockTableBuildOptions build;
  build.icmp = &icmp;
  build.table.block_size = 1000;
  const std::string bytes = BuildTable(model, build);
  OpenTable table;
  LRUCacheOptions cache;
  cache.capacity = 4500;
  cache.num_shard_bits = 0;
  table.options.table.block_cache = cache.MakeSharedCache();
  ASSERT_TRUE(table.Open(bytes).ok());
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < 3; t++) {
    threads.emplace_back([&, t] {
      std::mt19937 random(t);
      for (int i = 0; i < 4000; i++) {
        const int n = static_cast<int>(random() % 6000);
        const std::string number = std::to_string(100000 + n);
        PinnableSlice value;
        PointLookup lookup("key" + number, 9, &value);
        ASSERT_TRUE(table.reader->Get(ReadOptions(), &lookup).ok());
        ASSERT_EQ(lookup.state() == PointLookup::State::kFound, n % 3 == 0) << number;
        if (n % 3 != 0) continue;
        ASSERT_EQ(value.ToString().substr(0, number.size()), number);
      }
    });
  }
  threads.emplace_back([&] {
    for (int i = 0; i < 20; i++) {
      OpenTable other;
      other.options.table.block_cache = table.options.table.block_cache;
      ASSERT_TRUE(other.Open(bytes).ok());
      Entries entries;
      ASSERT_TRUE(other.ReadAll(&entries).ok());
      ASSERT_EQ(entries.size(), model.size());
    }
  });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(table.options.table.block_cache->GetPinnedUsage(), 0u);
}

TEST(TableReader, ReadsOfTheCacheOnlySayIncomplete) {
  const InternalKeyComparator icmp(BytewiseComparator());
  const Model model = SampleModel(&icmp, 5, 200);
  BlockTableBuildOptions build;
  build.icmp = &icmp;
  OpenTable table;
  table.options.table.block_cache = NewLRUCache(1 << 20);
  ASSERT_TRUE(table.Open(BuildTable(model, build)).ok());
  ReadOptions cached;
  cached.read_tier = kBlockCacheTier;
  const std::string user_key = ExtractUserKey(model.begin()->first).ToString();
  std::string value;
  EXPECT_EQ(table.Get(user_key, 9999, &value, cached), PointLookup::State::kFailed);
  EXPECT_TRUE(table.status.IsIncomplete()) << table.status.ToString();
  const auto iter = table.reader->NewIterator(cached, TableIterOptions());
  iter->SeekToFirst();
  EXPECT_FALSE(iter->Valid());
  EXPECT_TRUE(iter->status().IsIncomplete());
  ReadOptions no_fill;
  no_fill.fill_cache = false;
  Entries entries;
  ASSERT_TRUE(table.ReadAll(&entries, no_fill).ok());
  EXPECT_EQ(table.options.table.block_cache->GetOccupancyCount(), 0u);
  entries.clear();
  ASSERT_TRUE(table.ReadAll(&entries).ok());
  const size_t reads = *table.reads;
  entries.clear();
  ASSERT_TRUE(table.ReadAll(&entries, cached).ok());
  EXPECT_EQ(entries.size(), model.size());
  EXPECT_EQ(*table.reads, reads);
}

TEST(TableReader, AStrictCacheRefusesRatherThanOverflows) {
  const InternalKeyComparator icmp(BytewiseComparator());
  const Model model = SampleModel(&icmp, 5, 200);
  BlockTableBuildOptions build;
  build.icmp = &icmp;
  OpenTable table;
  table.options.table.block_cache = NewLRUCache(100, 0, true);
  ASSERT_TRUE(table.Open(BuildTable(model, build)).ok());
  std::string value;
  EXPECT_EQ(table.Get(ExtractUserKey(model.begin()->first), 9999, &value),
            PointLookup::State::kFailed);
  EXPECT_TRUE(table.status.IsMemoryLimit()) << table.status.ToString();
}

TEST(TableReader, BlocksBeyondTheUpperBoundAreNotRead) {
  const InternalKeyComparator icmp(BytewiseComparator());
  const Model model = SampleModel(&icmp, 5, 2000);
  BlockTableBuildOptions build;
  build.icmp = &icmp;
  build.table.block_size = 300;
  OpenTable table;
  table.options.table.max_auto_readahead_size = 0;
  ASSERT_TRUE(table.Open(BuildTable(model, build)).ok());
  const Slice upper("user000100");
  ReadOptions read;
  read.iterate_upper_bound = &upper;
  const size_t before = *table.reads;
  const auto iter = table.reader->NewIterator(read, TableIterOptions());
  size_t count = 0;
  for (iter->SeekToFirst(); iter->Valid(); iter->Next()) {
    if (ExtractUserKey(iter->key()).compare(upper) < 0) count++;
  }
  size_t expected = 0;
  for (const auto& [key, value] : model) {
    expected += ExtractUserKey(key).compare(upper) < 0 ? 1 : 0;
  }
  EXPECT_EQ(count, expected);
  EXPECT_LT(*table.reads - before, 40u);
}

TEST(TableReader, ReadaheadEndsAtTheUpperBoundIfItMay) {
  const InternalKeyComparator icmp(BytewiseComparator());
  const Model model = SampleModel(&icmp, 5, 2000);
  BlockTableBuildOptions build;
  build.icmp = &icmp;
  build.table.block_size = 300;
  OpenTable table;
  ASSERT_TRUE(table.Open(BuildTable(model, build)).ok());
  const Slice upper("user000100");
  ReadOptions read;
  read.iterate_upper_bound = &upper;
  read.readahead_size = 16 << 20;
  read.fill_cache = false;
  for (const bool trims : {true, false}) {
    read.auto_readahead_size = trims;
    const auto iter = table.reader->NewIterator(read, TableIterOptions());
    size_t before = *table.reads;
    iter->SeekToFirst();
    EXPECT_EQ(*table.reads - before, 1u);
    // Blocks after the bound are here only if it did not end the readahead.
    before = *table.reads;
    iter->Seek(InternalKey("user000500", kMaxSequenceNumber, kValueTypeForSeek).Encode());
    EXPECT_EQ(*table.reads - before, trims ? 1u : 0u);
  }
}

TEST(TableReader, SequentialReadsGrowLarge) {
  const InternalKeyComparator icmp(BytewiseComparator());
  const Model model = SampleModel(&icmp, 5, 5000);
  BlockTableBuildOptions build;
  build.icmp = &icmp;
  build.table.block_size = 500;
  OpenTable table;
  ASSERT_TRUE(table.Open(BuildTable(model, build)).ok());
  const uint64_t blocks = table.reader->properties()->num_data_blocks;
  ASSERT_GT(blocks, 300u);
  size_t before = *table.reads;
  Entries entries;
  ASSERT_TRUE(table.ReadAll(&entries).ok());
  EXPECT_LT(*table.reads - before, 40u);
  before = *table.reads;
  TableIterOptions compaction;
  compaction.for_compaction = true;
  entries.clear();
  ASSERT_TRUE(table.ReadAll(&entries, ReadOptions(), compaction).ok());
  // Reads of 64 KiB from the first one on.
  EXPECT_LE(*table.reads - before, 18u);
}

TEST(TableReader, FiltersAnswerForWholeKeysAndPrefixes) {
  const InternalKeyComparator icmp(BytewiseComparator());
  Model model{InternalKeyLess{&icmp}};
  for (int p = 0; p < 100; p += 2) {
    for (int i = 0; i < 10; i++) {
      char text[32];
      snprintf(text, sizeof(text), "pre%03d-%d", p, i);
      model[IKey(text, 5)] = "v";
    }
  }
  const std::shared_ptr<const SliceTransform> extractor(NewFixedPrefixTransform(6));
  for (const bool whole : {true, false}) {
    BlockTableBuildOptions build;
    build.icmp = &icmp;
    build.prefix_extractor = extractor.get();
    build.table.filter_policy.reset(NewBloomFilterPolicy(20));
    build.table.whole_key_filtering = whole;
    OpenTable table;
    table.options.table = build.table;
    table.options.prefix_extractor = extractor;
    ASSERT_TRUE(table.Open(BuildTable(model, build)).ok());
    const ReadOptions read;
    const auto may_match = [&](const char* key) {
      return table.reader->KeyMayMatch(read, PointLookup(key, 9, nullptr));
    };
    EXPECT_TRUE(may_match("pre004-3"));
    EXPECT_FALSE(may_match("pre005-3"));
    EXPECT_EQ(may_match("pre004-x"), !whole);
    TableIterOptions prefix_mode;
    prefix_mode.prefix_mode = true;
    const auto iter = table.reader->NewIterator(read, prefix_mode);
    iter->Seek(IKey("pre005", 9));
    EXPECT_FALSE(iter->Valid());
    iter->Seek(IKey("pre006", 9));
    ASSERT_TRUE(iter->Valid());
    EXPECT_EQ(ExtractUserKey(iter->key()).ToString(), "pre006-0");
    // Without the table's own extractor prefixes prove nothing.
    table.options.prefix_extractor.reset(NewFixedPrefixTransform(5));
    ASSERT_TRUE(table.Open(BuildTable(model, build)).ok());
    EXPECT_EQ(may_match("pre005-3"), !whole);
    table.options.table.filter_policy = nullptr;
    ASSERT_TRUE(table.Open(BuildTable(model, build)).ok());
    EXPECT_TRUE(may_match("pre005-3"));
  }
}

// Prefix mode must find, in both directions, what has the target's prefix; what it gives beyond is
// not specified.
TEST(TableReader, PrefixModeSeesAcrossTheBordersOfFilterPartitions) {
  const InternalKeyComparator icmp(BytewiseComparator());
  Model model{InternalKeyLess{&icmp}};
  std::mt19937 random(3);
  for (int i = 0; i < 400; i++) {
    char text[32];
    snprintf(text, sizeof(text), "%03d-%d", static_cast<int>(random() % 300) * 2,
             static_cast<int>(random() % 10));
    model[IKey(text, 5)] = "v";
  }
  const std::shared_ptr<const SliceTransform> extractor(NewFixedPrefixTransform(3));
  for (const bool whole : {true, false}) {
    BlockTableBuildOptions build;
    build.icmp = &icmp;
    build.prefix_extractor = extractor.get();
    build.table.block_size = 60;
    build.table.filter_policy.reset(NewBloomFilterPolicy(25));
    build.table.whole_key_filtering = whole;
    build.table.index_type = Table::kTwoLevelIndexSearch;
    build.table.partition_filters = true;
    build.table.metadata_block_size = 64;
    OpenTable table;
    table.options.table = build.table;
    table.options.prefix_extractor = extractor;
    ASSERT_TRUE(table.Open(BuildTable(model, build)).ok());
    const ReadOptions read;
    TableIterOptions prefix_mode;
    prefix_mode.prefix_mode = true;
    const auto iter = table.reader->NewIterator(read, prefix_mode);
    size_t skipped = 0;
    for (int p = 0; p < 600; p++) {
      for (const char* suffix : {"", "-3", "-5x", "-9", "~"}) {
        char text[32];
        snprintf(text, sizeof(text), "%03d%s", p, suffix);
        const std::string target = IKey(text, kMaxSequenceNumber, kValueTypeForSeek);
        const auto has_prefix = [&](const std::string& key) {
          return key.compare(0, 3, text, 3) == 0;
        };
        auto it = model.lower_bound(target);
        iter->Seek(target);
        if (it != model.end() && has_prefix(it->first)) {
          ASSERT_TRUE(iter->Valid()) << text;
          ASSERT_EQ(iter->key(), Slice(it->first));
        }
        skipped += iter->Valid() ? 0 : 1;
        iter->SeekForPrev(target);
        if (it != model.begin() && has_prefix((--it)->first)) {
          ASSERT_TRUE(iter->Valid()) << text;
          ASSERT_EQ(iter->key(), Slice(it->first));
        }
      }
    }
    EXPECT_GT(skipped, 1000u) << "prefixes that no key has";
  }
}

TEST(TableReader, TombstonesCoverOlderEntries) {
  const InternalKeyComparator icmp(BytewiseComparator());
  BlockTableBuildOptions build;
  build.icmp = &icmp;
  BuiltTable built(build);
  ASSERT_TRUE(built.create_status.ok());
  built.builder->Add(IKey("b", 3), "old");
  built.builder->Add(IKey("c", 9), "new");
  built.builder->AddTombstone(IKey("a", 5, kTypeRangeDeletion), "d");
  ASSERT_TRUE(built.Finish().ok());
  OpenTable table;
  ASSERT_TRUE(table.Open(built.file).ok());
  std::string value;
  EXPECT_EQ(table.Get("b", 10, &value), PointLookup::State::kDeleted);
  EXPECT_EQ(table.Get("b", 4, &value), PointLookup::State::kFound);
  EXPECT_EQ(table.Get("c", 10, &value), PointLookup::State::kFound);
  ReadOptions ignore;
  ignore.ignore_range_deletions = true;
  EXPECT_EQ(table.Get("b", 10, &value, ignore), PointLookup::State::kFound);
  ASSERT_NE(table.reader->tombstones(), nullptr);
  EXPECT_EQ(table.reader->tombstones()->MaxCoveringSeq("a", 10), 5u);
}

// An external file may hold such tombstones.
TEST(TableReader, NestedTombstonesTakeMemoryAsTheirNumber) {
  constexpr int kNested = 5000;
  const InternalKeyComparator icmp(BytewiseComparator());
  BlockTableBuildOptions build;
  build.icmp = &icmp;
  BuiltTable built(build);
  ASSERT_TRUE(built.create_status.ok());
  for (int i = 0; i < kNested; i++) {
    built.builder->AddTombstone(
        IKey(std::to_string(10000 + i), static_cast<SequenceNumber>(i + 1), kTypeRangeDeletion),
        std::to_string(10000 + 3 * kNested - i));
  }
  ASSERT_TRUE(built.Finish().ok());
  OpenTable table;
  ASSERT_TRUE(table.Open(built.file).ok());
  EXPECT_LE(table.reader->MemoryUsage(), size_t{kNested} * 400 + (64 << 10));
  for (int i = 1; i < kNested; i += 100) {
    const std::string key = std::to_string(10000 + i);
    const auto seq = static_cast<SequenceNumber>(i + 1);
    EXPECT_EQ(table.reader->tombstones()->MaxCoveringSeq(key, kMaxSequenceNumber), seq);
    EXPECT_EQ(table.reader->tombstones()->MaxCoveringSeq(key, seq - 1), seq - 1);
  }
}

// Returns a table with an external file's properties, and its global sequence number written in
// place.
std::string ExternalTable(uint64_t stored_seq) {
  TableProperties external;
  PutFixed32(&external.user_collected_properties["rocksdb.external_sst_file.version"], 2);
  PutFixed64(&external.user_collected_properties["rocksdb.external_sst_file.global_seqno"], 0);
  std::string properties;
  EncodeProperties(external, TableTraits(), &properties);
  TableProperties parsed;
  TableTraits traits;
  EXPECT_TRUE(ParseProperties(properties, &parsed, &traits).ok());

  std::string file;
  const auto write = [&file](const std::string& block) {
    const BlockHandle handle{file.size(), block.size()};
    char trailer[kBlockTrailerBytes];
    EncodeBlockTrailer(kCRC32c, 0, handle.offset, block, kNoCompression, trailer);
    file += block;
    file.append(trailer, sizeof(trailer));
    return handle;
  };
  BlockBuilder data{BlockOptions()};
  data.Add(IKey("a", 0), "1");
  data.Add(IKey("b", 0), "2");
  std::string encoded;
  write(data.Finish().ToString()).EncodeTo(&encoded);
  BlockBuilder index{BlockOptions()};
  index.Add(IKey("b", 0), encoded);
  Footer footer;
  footer.checksum = kCRC32c;
  footer.index = write(index.Finish().ToString());
  BlockBuilder tombstones{BlockOptions()};
  tombstones.Add(IKey("x", 0, kTypeRangeDeletion), "z");
  const BlockHandle tombstones_handle = write(tombstones.Finish().ToString());
  const BlockHandle properties_handle = write(properties);
  EncodeFixed64(file.data() + properties_handle.offset + traits.external_global_seqno_offset,
                stored_seq);
  BlockBuilder metaindex{BlockOptions()};
  encoded.clear();
  properties_handle.EncodeTo(&encoded);
  metaindex.Add(meta_block::kProperties, encoded);
  encoded.clear();
  tombstones_handle.EncodeTo(&encoded);
  metaindex.Add(meta_block::kRangeDeletions, encoded);
  footer.metaindex = write(metaindex.Finish().ToString());
  footer.EncodeTo(file.size(), &file);
  return file;
}

TEST(TableReader, ExternalTablesTakeOneSequenceNumber) {
  struct Case {
    uint64_t stored;
    SequenceNumber from_manifest;
    SequenceNumber effective;  // 0: Corruption
  };
  for (const Case& c :
       {Case{0, 42, 42}, Case{42, 42, 42}, Case{42, kMaxSequenceNumber, 42}, Case{41, 42, 0}}) {
    OpenTable table;
    table.options.largest_seq = c.from_manifest;
    const Status s = table.Open(ExternalTable(c.stored));
    if (c.effective == 0) {
      EXPECT_TRUE(s.IsCorruption()) << s.ToString();
      EXPECT_NE(s.ToString().find("global sequence number"), std::string::npos) << s.ToString();
      continue;
    }
    ASSERT_TRUE(s.ok()) << s.ToString();
    Entries entries;
    ASSERT_TRUE(table.ReadAll(&entries).ok());
    EXPECT_EQ(entries, (Entries{{IKey("a", c.effective), "1"}, {IKey("b", c.effective), "2"}}));
    std::string value;
    EXPECT_EQ(table.Get("b", c.effective, &value), PointLookup::State::kFound);
    EXPECT_EQ(table.Get("b", c.effective - 1, &value), PointLookup::State::kSearching);
    EXPECT_EQ(table.reader->tombstones()->MaxCoveringSeq("y", 100), c.effective);
    const ReadOptions read;
    const auto iter = table.reader->NewIterator(read, TableIterOptions());
    iter->SeekForPrev(IKey("b", c.effective - 1));
    ASSERT_TRUE(iter->Valid());
    EXPECT_EQ(iter->key(), Slice(IKey("b", c.effective)));
  }
}

TEST(TableReader, RefusesWhatItCannotHonour) {
  const std::string file = ContextTable(7, {{IKey("a", 3), "1"}});
  OpenTable table;
  table.options.expected_unique_id = std::string(16, 'x');
  EXPECT_TRUE(table.Open(file).ok());  // the table has no identity
  EXPECT_TRUE(table.Open("").IsCorruption());
  EXPECT_TRUE(table.Open(std::string(60, 'x')).IsCorruption());
  table.options.table.no_block_cache = true;
  table.options.table.block_cache = NewLRUCache(1000);
  EXPECT_TRUE(table.Open(file).IsInvalidArgument());
}

TEST(TableReader, TheUniqueIdMustBeTheExpectedOne) {
  const InternalKeyComparator icmp(BytewiseComparator());
  BlockTableBuildOptions build;
  build.icmp = &icmp;
  build.db_id = "a database";
  build.db_session_id = "ABCDEFGHIJKLMNOPQRST";
  build.file_number = 7;
  BuiltTable built(build);
  ASSERT_TRUE(built.create_status.ok());
  built.builder->Add(IKey("b", 3), "v");
  ASSERT_TRUE(built.Finish().ok());
  OpenTable table;
  table.options.expected_unique_id = built.builder->UniqueId();
  ASSERT_EQ(table.options.expected_unique_id.size(), 16u);
  EXPECT_TRUE(table.Open(built.file).ok());
  table.options.expected_unique_id[3]++;
  EXPECT_TRUE(table.Open(built.file).IsCorruption());
}

// Reads all there is; true if every step succeeded with the model's content.
bool ReadsIntact(const std::string& file, const Model& model, std::string* message) {
  OpenTable table;
  table.options.table.filter_policy.reset(NewBloomFilterPolicy(10));
  table.options.table.block_cache = NewLRUCache(1 << 20);
  table.options.prefix_extractor.reset(NewCappedPrefixTransform(8));  // for tables that have it
  Status s = table.Open(file);
  bool same = true;
  if (s.ok()) {
    Entries entries;
    s = table.ReadAll(&entries);
    same = entries == Entries(model.begin(), model.end());
    for (const auto& [key, value] : model) {
      std::string found;
      (void)table.Get(ExtractUserKey(key), 9999, &found);
    }
    const ReadOptions read;
    TableIterOptions prefix_mode;
    prefix_mode.prefix_mode = true;
    const auto by_prefix = table.reader->NewIterator(read, prefix_mode);
    for (const auto& [key, value] : model) {
      by_prefix->Seek(key);
      by_prefix->SeekForPrev(key);
    }
    const auto iter = table.reader->NewIterator(read, TableIterOptions());
    size_t steps = 0;
    for (iter->SeekToLast(); iter->Valid() && steps < file.size(); iter->Prev()) steps++;
    EXPECT_LT(steps, file.size());
    if (s.ok()) s = table.reader->VerifyChecksum(read);
  }
  *message = s.ToString();
  return s.ok() && same;
}

TEST(TableReader, EveryFlippedByteIsNoticedOrHarmless) {
  const InternalKeyComparator icmp(BytewiseComparator());
  const Model model = SampleModel(&icmp, 5, 40);
  const std::unique_ptr<const SliceTransform> extractor(NewCappedPrefixTransform(8));
  for (const auto index_type :
       {Table::kBinarySearch, Table::kTwoLevelIndexSearch, Table::kHashSearch}) {
    BlockTableBuildOptions build;
    build.icmp = &icmp;
    build.table.block_size = 300;
    build.table.filter_policy.reset(NewBloomFilterPolicy(10));
    build.table.index_type = index_type;
    build.table.metadata_block_size = 64;
    build.table.partition_filters = true;
    if (index_type == Table::kHashSearch) build.prefix_extractor = extractor.get();
    const std::string good = BuildTable(model, build);
    std::string message;
    ASSERT_TRUE(ReadsIntact(good, model, &message)) << message;
    for (size_t i = testing::FirstSample(); i < good.size(); i += testing::SampleStep()) {
      std::string bad = good;
      bad[i] = static_cast<char>(bad[i] ^ (1 << (i % 8)));
      const bool intact = ReadsIntact(bad, model, &message);
      // The footer's padding is the only place without a checksum that may change unnoticed.
      if (i + Footer::kBytes < good.size()) {
        ASSERT_FALSE(intact) << "byte " << i;
        ASSERT_NE(message.find("000007.sst"), std::string::npos) << message;
      }
    }
  }
}

// Without checksums nothing stands between hostile bytes and the decoders.
// Keys of a table without timestamps are rewritten to be shown, which needs to know their types.
TEST(TableReader, SalvageCountsTheBlockOfAKeyThatCannotBeShown) {
  const InternalKeyComparator icmp(BytewiseComparator());
  BlockTableBuildOptions build;
  build.icmp = &icmp;
  build.persist_timestamps = false;
  build.table.checksum = kNoChecksum;
  Model model{InternalKeyLess{&icmp}};
  for (const char* const key : {"a", "b", "c"}) model[IKey(key, 7)] = "value";
  std::string content = BuildTable(model, build);
  const size_t at = content.find(IKey("b", 7));
  ASSERT_NE(at, std::string::npos);
  content[at + 1] = '\x7f';  // the type
  OpenTable table(BytewiseComparatorWithU64Ts());
  ASSERT_TRUE(table.Open(content).ok());
  std::string shown;
  SalvageCount count;
  const Status s = table.reader->Salvage(
      [&](const Slice& key, const Slice& value) {
        shown += ExtractUserKey(key).ToString().substr(0, 1) + "=" + value.ToString() + " ";
        return Status::OK();
      },
      &count);
  EXPECT_TRUE(s.ok()) << s.ToString();
  EXPECT_EQ(shown, "a=value ");
  EXPECT_EQ(count.entries, 1u);
  EXPECT_EQ(count.lost_blocks, 1u);
  EXPECT_GT(count.lost_bytes, 0u);
  EXPECT_TRUE(count.first_error.IsCorruption()) << count.first_error.ToString();
}

TEST(TableReader, HostileBytesWithoutChecksumsNeverCrash) {
  const InternalKeyComparator icmp(BytewiseComparator());
  const Model model = SampleModel(&icmp, 5, 40);
  const std::unique_ptr<const SliceTransform> extractor(NewCappedPrefixTransform(8));
  for (const auto index_type : {Table::kBinarySearch, Table::kTwoLevelIndexSearch,
                                Table::kBinarySearchWithFirstKey, Table::kHashSearch}) {
    BlockTableBuildOptions build;
    build.icmp = &icmp;
    build.prefix_extractor = extractor.get();
    build.table.partition_filters = true;
    build.table.checksum = kNoChecksum;
    build.table.block_size = 300;
    build.table.index_type = index_type;
    build.table.metadata_block_size = 64;
    build.table.filter_policy.reset(NewBloomFilterPolicy(10));
    build.compression = kSnappyCompression;
    const std::string good = BuildTable(model, build);
    std::string message;
    for (size_t i = testing::FirstSample(); i < good.size(); i += testing::SampleStep()) {
      for (const char flip : {'\x01', '\x80', '\xff'}) {
        std::string bad = good;
        bad[i] = static_cast<char>(bad[i] ^ flip);
        (void)ReadsIntact(bad, model, &message);
      }
    }
    std::mt19937 random(6);
    for (int n = 0; n < 300; n++) {
      std::string bad = good;
      for (int k = 0; k < 8; k++) bad[random() % bad.size()] = static_cast<char>(random());
      (void)ReadsIntact(bad, model, &message);
      (void)ReadsIntact(good.substr(0, random() % good.size()), model, &message);
    }
  }
}

}  // namespace
}  // namespace varve
