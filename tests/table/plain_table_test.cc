// SPDX-License-Identifier: Apache-2.0

// Goal: a PlainTable of either encoding, by whomever it was written, answers every read as a sorted
// list would, mapped or not, and damaged rows are refused at opening. Method: golden bytes of
// RocksDB 7.8.3; tables of random entries compared with a model; bytes changed one by one.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "varve/perf_context.h"
#include "varve/slice_transform.h"

#include "table/builder/table_description.h"
#include "table/factory/table_format.h"
#include "table/meta/metaindex_builder.h"
#include "table/plain/plain_key_map.h"
#include "table/plain/plain_table_builder.h"
#include "table/plain/plain_table_format.h"
#include "table/plain/plain_table_reader.h"
#include "tests/harness/random.h"
#include "tests/table/table_harness.h"
#include "util/coding/fixed.h"
#include "util/key/merge_operands.h"

namespace varve::test {
namespace {

using testing::Random;

const SliceTransform* Prefix2() {
  static const std::unique_ptr<const SliceTransform> two(NewFixedPrefixTransform(2));
  return two.get();
}

// Describes one table.
struct Form {
  EncodingType encoding = kPlain;
  bool mapped = false;
  size_t sparseness = 16;
  int bloom_bits = 10;
  uint32_t key_bytes = 0;
};

std::string NameOf(const Form& form) {
  return std::string(form.encoding == kPlain ? "plain" : "prefix") +
         (form.mapped ? " mapped" : " read") + " every " + std::to_string(form.sparseness) +
         " bloom " + std::to_string(form.bloom_bits);
}

std::vector<Form> Forms() {
  std::vector<Form> forms;
  for (const EncodingType encoding : {kPlain, kPrefix}) {
    for (const bool mapped : {false, true}) {
      forms.push_back({encoding, mapped, 16, 10});
      forms.push_back({encoding, mapped, 1, 0});
      forms.push_back({encoding, mapped, 3, 5});
    }
  }
  return forms;
}

// A PlainTable in memory, and its reader.
class PlainTable {
 public:
  explicit PlainTable(const Form& form) : form_(form) {
    PlainTableBuildOptions options;
    options.icmp = &Bytewise();
    options.prefix_extractor = Prefix2();
    options.table.encoding_type = form.encoding;
    options.table.index_sparseness = form.sparseness;
    options.table.user_key_len = form.key_bytes;
    writer_ = std::make_unique<WritableFileWriter>(std::make_unique<StringFile>(&file), "test.sst",
                                                   WritableFileWriter::Options());
    EXPECT_TRUE(PlainTableBuilder::Create(options, writer_.get(), &builder).ok());
  }

  Status Finish() {
    const Status s = builder->Finish();
    return s.ok() ? writer_->Flush() : s;
  }
  Status Open() { return OpenBytes(file); }
  Status OpenBytes(const std::string& bytes) {
    PlainTableOptions table;
    table.bloom_bits_per_key = form_.bloom_bits;
    table.index_sparseness = form_.sparseness;
    TableOpenOptions options;
    options.icmp = &Bytewise();
    options.factory.reset(NewPlainTableFactory(table));
    options.file_name = "000007.sst";
    return OpenWith(options, bytes);
  }
  Status OpenWith(const TableOpenOptions& options, const std::string& bytes) {
    auto content = std::make_shared<const std::string>(bytes);
    RandomAccessFileReader::Options file_options;
    file_options.maps = form_.mapped;
    auto file_reader = std::make_unique<RandomAccessFileReader>(
        std::make_unique<StringReadFile>(content, form_.mapped, reads), "000007.sst", file_options);
    reader.reset();
    return TableReader::Open(options, std::move(file_reader), bytes.size(), &reader);
  }

  std::string file;
  std::unique_ptr<TableBuilder> builder;
  std::unique_ptr<TableReader> reader;
  std::shared_ptr<std::atomic<size_t>> reads = std::make_shared<std::atomic<size_t>>(0);

 private:
  const Form form_;
  std::unique_ptr<WritableFileWriter> writer_;
};

// The newest first among entries of a key.
struct PlainKeyOrder {
  bool operator()(const std::string& a, const std::string& b) const {
    return Bytewise().Compare(a, b) < 0;
  }
};
using PlainModel = std::map<std::string, std::string, PlainKeyOrder>;

PlainModel RandomModel(Random* random, size_t entries) {
  PlainModel model;
  while (model.size() < entries) {
    std::string key(1 + random->Below(3), static_cast<char>('a' + random->Below(3)));
    key += std::to_string(random->Below(entries));
    if (random->OneIn(50)) key.append(100, 'k');
    const SequenceNumber seq = random->OneIn(4) ? 0 : 1 + random->Below(3);
    const ValueType type = random->OneIn(9) ? kTypeDeletion : kTypeValue;
    model[IKey(key, seq, type)] = std::string(random->Below(40), 'v');
  }
  return model;
}

void Fill(const PlainModel& model, PlainTable* table) {
  for (const auto& [key, value] : model) table->builder->Add(key, value);
  ASSERT_TRUE(table->Finish().ok());
}

void ExpectAt(const InternalIterator& it, const PlainModel& model,
              PlainModel::const_iterator want) {
  ASSERT_EQ(it.Valid(), want != model.end()) << it.status().ToString();
  if (!it.Valid()) return;
  EXPECT_EQ(it.key().ToString(true), Slice(want->first).ToString(true));
  EXPECT_EQ(it.value(), Slice(want->second));
}

void ExpectWalks(const TableReader& reader, const PlainModel& model) {
  const ReadOptions read;
  const auto it = reader.NewIterator(read, TableIterOptions());
  auto want = model.begin();
  for (it->SeekToFirst(); it->Valid(); it->Next()) ExpectAt(*it, model, want++);
  EXPECT_TRUE(want == model.end()) << it->status().ToString();
  auto back = model.rbegin();
  for (it->SeekToLast(); it->Valid(); it->Prev()) ExpectAt(*it, model, std::prev((back++).base()));
  EXPECT_TRUE(back == model.rend()) << it->status().ToString();
  BatchEntry batch[7];
  want = model.begin();
  it->SeekToFirst();
  if (it->Valid()) ExpectAt(*it, model, want++);
  while (it->Valid()) {
    const size_t n = it->NextBatch(batch, std::size(batch));
    for (size_t i = 0; i < n; i++, ++want) {
      ASSERT_EQ(batch[i].key().ToString(true), Slice(want->first).ToString(true));
      EXPECT_EQ(batch[i].value(), Slice(want->second));
    }
  }
  EXPECT_TRUE(want == model.end());
}

void ExpectSeeks(const TableReader& reader, const PlainModel& model, Random* random) {
  const ReadOptions read;
  const auto it = reader.NewIterator(read, TableIterOptions());
  for (int i = 0; i < 200; i++) {
    std::string key =
        std::next(model.begin(), static_cast<std::ptrdiff_t>(random->Below(model.size())))->first;
    if (random->OneIn(2)) key = IKey(key.substr(0, random->Below(key.size() - 7)) + "b", 2);
    const auto next = model.lower_bound(key);
    it->Seek(key);
    ExpectAt(*it, model, next);
    if (it->Valid() && next != model.begin() && random->OneIn(3)) {
      it->Prev();
      ExpectAt(*it, model, std::prev(next));
    }
    it->SeekForPrev(key);
    const auto after = model.upper_bound(key);
    ExpectAt(*it, model, after == model.begin() ? model.end() : std::prev(after));
    if (it->Valid() && random->OneIn(3)) {
      it->Next();
      ExpectAt(*it, model, after);
    }
  }
}

void ExpectPointReads(const TableReader& reader, const PlainModel& model) {
  for (const auto& entry : model) {
    const std::string& key = entry.first;
    PinnableSlice found;
    PointLookup lookup(ExtractUserKey(key), ExtractSequence(key), &found);
    ASSERT_TRUE(reader.Get(ReadOptions(), &lookup).ok());
    const auto seen =
        model.lower_bound(IKey(ExtractUserKey(key), ExtractSequence(key), kValueTypeForSeek));
    ASSERT_NE(seen, model.end());
    if (ExtractValueType(seen->first) == kTypeDeletion) {
      EXPECT_EQ(lookup.state(), PointLookup::State::kDeleted) << Slice(key).ToString(true);
    } else {
      ASSERT_EQ(lookup.state(), PointLookup::State::kFound) << Slice(key).ToString(true);
      EXPECT_EQ(found, Slice(seen->second));
    }
  }
  for (const char* const absent : {"", "a", "zzzz", "aa99999", "b-"}) {
    PointLookup lookup(absent, kMaxSequenceNumber, nullptr);
    ASSERT_TRUE(reader.Get(ReadOptions(), &lookup).ok());
    EXPECT_EQ(lookup.state(), PointLookup::State::kSearching) << absent;
  }
}

TEST(PlainTableTest, AnswersLikeASortedList) {
  Random random(1);
  for (const Form& form : Forms()) {
    for (const size_t entries : {1u, 2u, 40u, 3000u}) {
      SCOPED_TRACE(NameOf(form) + " of " + std::to_string(entries));
      const PlainModel model = RandomModel(&random, entries);
      PlainTable table(form);
      Fill(model, &table);
      ASSERT_TRUE(table.Open().ok());
      ExpectWalks(*table.reader, model);
      ExpectSeeks(*table.reader, model, &random);
      ExpectPointReads(*table.reader, model);
      EXPECT_TRUE(table.reader->VerifyChecksum(ReadOptions()).ok());
      EXPECT_EQ(table.reader->properties()->num_entries, entries);
    }
  }
}

TEST(PlainTableTest, AnEmptyTableHasNothing) {
  PlainTable table({});
  ASSERT_TRUE(table.Finish().ok());
  ASSERT_TRUE(table.Open().ok());
  ExpectWalks(*table.reader, {});
  PointLookup lookup("a", kMaxSequenceNumber, nullptr);
  EXPECT_TRUE(table.reader->Get(ReadOptions(), &lookup).ok());
  EXPECT_EQ(lookup.state(), PointLookup::State::kSearching);
}

// The rows that RocksDB 7.8.3 writes for these entries.
TEST(PlainTableTest, RowsAreThoseOfRocksDB) {
  const std::pair<EncodingType, const char*> golden[] = {
      {kPlain,
       "04 61616161 0101000000000000 01 31  04 61616262 0102000000000000 02 3232"
       "04 61616363 0103000000000000 03 333333  04 62626262 0104000000000000 01 34"},
      {kPrefix,
       "04 61616161 0101000000000000 01 31  42 82 6262 0102000000000000 02 3232"
       "82 6363 0103000000000000 03 333333  04 62626262 0104000000000000 01 34"}};
  for (const auto& [encoding, rows] : golden) {
    PlainTable table({.encoding = encoding});
    table.builder->Add(IKey("aaaa", 1), "1");
    table.builder->Add(IKey("aabb", 2), "22");
    table.builder->Add(IKey("aacc", 3), "333");
    table.builder->Add(IKey("bbbb", 4), "4");
    ASSERT_TRUE(table.Finish().ok());
    const size_t n = FromHex(rows).size();
    EXPECT_EQ(ToHex(Slice(table.file.data(), n)), ToHex(FromHex(rows)));
    EXPECT_EQ(table.builder->properties().data_size, n);
    EXPECT_EQ(DecodeFixed64(table.file.data() + table.file.size() - 8), kLegacyPlainTableMagic);
  }
}

TEST(PlainTableTest, AValueWithSequenceZeroHasAShortTrailer) {
  PlainTable table({});
  table.builder->Add(IKey("a", 0), "v");
  table.builder->Add(IKey("b", 0, kTypeDeletion), "");
  ASSERT_TRUE(table.Finish().ok());
  const std::string rows = FromHex("01 61 ff 01 76  01 62 0000000000000000 00");
  EXPECT_EQ(ToHex(Slice(table.file.data(), rows.size())), ToHex(rows));
  ASSERT_TRUE(table.Open().ok());
  ExpectWalks(*table.reader, {{IKey("a", 0), "v"}, {IKey("b", 0, kTypeDeletion), ""}});
}

TEST(PlainTableTest, TheOrderOfAnotherComparatorIsNotChecked) {
  PlainTable table({});
  table.builder->Add(IKey("a", 1), "v");
  table.builder->Add(IKey("b", 1), "v");
  ASSERT_TRUE(table.Finish().ok());
  const InternalKeyComparator backward(ReverseBytewiseComparator());
  TableOpenOptions options;
  options.icmp = &backward;
  ASSERT_TRUE(table.OpenWith(options, table.file).ok());
  EXPECT_EQ(table.reader->properties()->num_entries, 2u);
}

TEST(PlainTableTest, SeeksPassRowsThatShowALaterSequenceNumber) {
  PlainTable table({.sparseness = 1});
  for (const char* key : {"a", "b", "c"}) table.builder->Add(IKey(key, 0), "v");
  ASSERT_TRUE(table.Finish().ok());
  ASSERT_TRUE(table.Open().ok());
  table.reader->SetSequence(9);
  const ReadOptions read;
  const auto iter = table.reader->NewIterator(read, TableIterOptions());
  iter->Seek(IKey("b", 10));
  ASSERT_TRUE(iter->Valid());
  EXPECT_EQ(iter->key(), Slice(IKey("b", 9)));
  iter->Seek(IKey("b", 8));
  ASSERT_TRUE(iter->Valid());
  EXPECT_EQ(iter->key(), Slice(IKey("c", 9)));
  iter->SeekForPrev(IKey("b", 8));
  ASSERT_TRUE(iter->Valid());
  EXPECT_EQ(iter->key(), Slice(IKey("b", 9)));
  iter->Seek(IKey("c", 8));
  EXPECT_FALSE(iter->Valid());
}

// Makes a file of these rows.
std::string FileOf(const std::string& rows, uint64_t entries, EncodingType encoding,
                   uint64_t key_bytes = 0) {
  TableProperties properties;
  properties.data_size = rows.size();
  properties.num_entries = entries;
  properties.fixed_key_len = key_bytes;
  PutFixed32(&properties.user_collected_properties[kPlainEncodingProperty],
             static_cast<uint32_t>(encoding));
  std::string file = rows;
  std::string block;
  EncodeProperties(properties, &block);
  MetaindexBuilder metaindex;
  metaindex.Add(meta_block::kProperties, {file.size(), block.size()});
  file += block;
  PlainFooter footer;
  footer.metaindex_offset = file.size();
  block = metaindex.Finish();
  footer.metaindex_size = block.size();
  file += block;
  footer.EncodeTo(&file);
  return file;
}

TEST(PlainTableTest, KeysOfOneLengthAreRead) {
  const std::string rows = FromHex("61616161 ff 01 31  61616262 ff 02 3232");
  PlainTable table({});
  ASSERT_TRUE(table.OpenBytes(FileOf(rows, 2, kPlain, 4)).ok());
  ExpectWalks(*table.reader, {{IKey("aaaa", 0), "1"}, {IKey("aabb", 0), "22"}});
}

TEST(PlainTableTest, KeysOfOneLengthAreWrittenWithoutIt) {
  PlainTable table({.key_bytes = 4});
  table.builder->Add(IKey("aaaa", 0), "1");
  table.builder->Add(IKey("aabb", 0), "22");
  ASSERT_TRUE(table.Finish().ok());
  EXPECT_EQ(ToHex(Slice(table.file.data(), 15)),
            ToHex(FromHex("61616161 ff 01 31 61616262 ff 02 3232")));
  EXPECT_EQ(table.builder->properties().fixed_key_len, 4u);
  ASSERT_TRUE(table.Open().ok());
  ExpectWalks(*table.reader, {{IKey("aaaa", 0), "1"}, {IKey("aabb", 0), "22"}});

  PlainTable other({.key_bytes = 4});
  other.builder->Add(IKey("aaa", 0), "1");
  EXPECT_TRUE(other.builder->status().IsInvalidArgument());
  EXPECT_NE(other.builder->status().ToString().find("user_key_len"), std::string::npos);
}

TEST(PlainTableTest, DamagedRowsAreRefusedWithFileAndOffset) {
  struct Case {
    const char* what;
    const char* rows;
    uint64_t entries;
    EncodingType encoding;
    const char* said;
  };
  const Case cases[] = {
      {"a value beyond the end", "01 61 ff 05 31", 1, kPlain, "offset 0"},
      {"a key beyond the end", "01 61 ff 00  7f 62 ff 00", 2, kPlain, "offset 4"},
      {"half a trailer", "01 61 01 02 03", 1, kPlain, "offset 0"},
      {"an unknown type", "01 61 4001000000000000 00", 1, kPlain, "no type of entries"},
      {"a range deletion", "01 61 0f01000000000000 00", 1, kPlain, "no type of entries"},
      {"rows out of order", "01 62 ff 00  01 61 ff 00", 2, kPlain, "offset 4"},
      {"a row twice", "01 61 ff 00  01 61 ff 00", 2, kPlain, "not in order"},
      {"a wrong count", "01 61 ff 00", 2, kPlain, "properties say 2"},
      {"a prefix longer than the key", "02 6161 ff 00  43 81 62 ff 00", 2, kPrefix, "offset 5"},
      {"a prefix without a key", "41 81 62 ff 00", 1, kPrefix, "offset 0"},
      {"a prefix after a suffix", "02 6161 ff 00  41 81 62 ff 00  41 81 63 ff 00", 3, kPrefix,
       "offset 10"},
      {"an unknown part", "c1 61 ff 00", 1, kPrefix, "offset 0"},
      {"a prefix without a suffix", "02 6161 ff 00  41 01 62 ff 00", 2, kPrefix, "offset 5"},
  };
  for (const Case& c : cases) {
    for (const bool mapped : {false, true}) {
      SCOPED_TRACE(c.what);
      PlainTable table({.mapped = mapped});
      const Status s = table.OpenBytes(FileOf(FromHex(c.rows), c.entries, c.encoding));
      EXPECT_TRUE(s.IsCorruption()) << s.ToString();
      EXPECT_NE(s.ToString().find(c.said), std::string::npos) << s.ToString();
      EXPECT_NE(s.ToString().find("000007.sst"), std::string::npos) << s.ToString();
    }
  }
}

// Whatever a byte becomes, the table is refused or answers from rows in order.
TEST(PlainTableTest, AnyChangedByteIsRefusedOrRead) {
  Random random(7);
  for (const EncodingType encoding : {kPlain, kPrefix}) {
    PlainTable table({.encoding = encoding, .sparseness = 3});
    Fill(RandomModel(&random, 30), &table);
    for (size_t at = 0; at < table.file.size(); at++) {
      std::string changed = table.file;
      changed[at] = static_cast<char>(changed[at] ^ (1 << random.Below(8)));
      const Status s = table.OpenBytes(changed);
      if (!s.ok()) continue;
      std::string last;
      const ReadOptions read;
      const auto it = table.reader->NewIterator(read, TableIterOptions());
      for (it->SeekToFirst(); it->Valid(); it->Next()) {
        ASSERT_TRUE(last.empty() || Bytewise().Compare(last, it->key()) < 0) << at;
        last = it->key().ToString();
      }
      EXPECT_TRUE(it->status().ok()) << at << it->status().ToString();
    }
    for (size_t size = 0; size < table.file.size(); size += 3) {
      EXPECT_FALSE(table.OpenBytes(table.file.substr(0, size)).ok()) << size;
    }
  }
}

TEST(PlainTableTest, RowsThatChangeAfterOpeningAreCorruption) {
  PlainTable table({});
  table.builder->Add(IKey("a", 1), "1");
  table.builder->Add(IKey("b", 2), "2");
  ASSERT_TRUE(table.Finish().ok());
  auto bytes = std::make_shared<std::string>(table.file);
  TableOpenOptions options;
  options.icmp = &Bytewise();
  std::unique_ptr<TableReader> reader;
  ASSERT_TRUE(TableReader::Open(options,
                                std::make_unique<RandomAccessFileReader>(
                                    std::make_unique<StringReadFile>(bytes, false, table.reads),
                                    "000007.sst", RandomAccessFileReader::Options()),
                                bytes->size(), &reader)
                  .ok());
  (*bytes)[10] = '\x7f';  // the length of the first value
  PointLookup lookup("b", kMaxSequenceNumber, nullptr);
  EXPECT_TRUE(reader->Get(ReadOptions(), &lookup).IsCorruption());
  const ReadOptions read;
  const auto it = reader->NewIterator(read, TableIterOptions());
  it->SeekToFirst();
  EXPECT_FALSE(it->Valid());
  EXPECT_TRUE(it->status().IsCorruption());
  EXPECT_TRUE(reader->VerifyChecksum(ReadOptions()).IsCorruption());
  SalvageCount count;
  EXPECT_TRUE(
      reader->Salvage([](const Slice&, const Slice&) { return Status::OK(); }, &count).ok());
  EXPECT_EQ(count.lost_blocks, 1u);
}

TEST(PlainTableTest, RangeDeletionsAndTimestampsAreRefused) {
  PlainTable table({});
  table.builder->AddTombstone(IKey("a", 1, kTypeRangeDeletion), "b");
  EXPECT_TRUE(table.builder->status().IsNotSupported());
  EXPECT_TRUE(table.Finish().IsNotSupported());

  PlainTable other({});
  other.builder->Add(IKey("a", 1), "v");
  ASSERT_TRUE(other.Finish().ok());
  const InternalKeyComparator stamped(BytewiseComparatorWithU64Ts());
  TableOpenOptions options;
  options.icmp = &stamped;
  EXPECT_TRUE(other.OpenWith(options, other.file).IsNotSupported());
}

TEST(PlainTableTest, ACacheOnlyReadIsIncompleteUnlessMapped) {
  for (const bool mapped : {false, true}) {
    PlainTable table({.mapped = mapped});
    table.builder->Add(IKey("a", 1), "v");
    ASSERT_TRUE(table.Finish().ok());
    ASSERT_TRUE(table.Open().ok());
    ReadOptions cached;
    cached.read_tier = kBlockCacheTier;
    PointLookup lookup("a", kMaxSequenceNumber, nullptr);
    const Status s = table.reader->Get(cached, &lookup);
    EXPECT_EQ(s.IsIncomplete(), !mapped) << s.ToString();
  }
}

// A filter answers without a read.
TEST(PlainTableTest, AFilterSavesReads) {
  PlainTable table({});
  for (int i = 100; i < 200; i++) table.builder->Add(IKey(std::to_string(i), 1), "v");
  ASSERT_TRUE(table.Finish().ok());
  ASSERT_TRUE(table.Open().ok());
  const size_t before = *table.reads;
  for (int i = 0; i < 100; i++) {
    PointLookup lookup(std::to_string(100 + i) + "x", kMaxSequenceNumber, nullptr);
    ASSERT_TRUE(table.reader->Get(ReadOptions(), &lookup).ok());
  }
  EXPECT_LT(*table.reads - before, 15u);
}

// The index takes a share of the file at most, though every key has a long part in common.
TEST(PlainTableTest, ManyRowsThatShareALongKeyTakeLittleMemory) {
  std::string rows(1, '\x3f');
  const std::string shared(60000, 's');
  PutVarint32(&rows, static_cast<uint32_t>(shared.size() - 0x3f));
  rows += shared + std::string("\xff\x00", 2);
  rows += '\x7f';
  PutVarint32(&rows, static_cast<uint32_t>(shared.size() - 0x3f));
  constexpr uint32_t kRows = 20000;
  for (uint32_t i = 0; i < kRows; i++) {
    std::string suffix;
    PutFixed32(&suffix, ByteSwap(i));
    rows += '\x84' + suffix + std::string("\xff\x00", 2);
  }
  PlainTable table({});
  ASSERT_TRUE(table.OpenBytes(FileOf(rows, kRows + 1, kPrefix)).ok());
  EXPECT_LT(table.reader->MemoryUsage(), 4 * rows.size());
  const ReadOptions read;
  const auto it = table.reader->NewIterator(read, TableIterOptions());
  uint32_t met = 0;
  for (it->SeekToFirst(); it->Valid(); it->Next()) met++;
  EXPECT_EQ(met, kRows + 1);
}

TEST(PlainTableTest, BatchesOfSeveralFormatsAreLookedUpTogether) {
  for (const bool mapped : {false, true}) {
    PlainTable plain({.mapped = mapped});
    plain.builder->Add(IKey("a", 5), "plain a");
    plain.builder->Add(IKey("c", 5), "plain c");
    ASSERT_TRUE(plain.Finish().ok());
    ASSERT_TRUE(plain.Open().ok());
    BlockTableBuildOptions options;
    options.icmp = &Bytewise();
    BuiltTable block(options);
    block.builder->Add(IKey("b", 5), "block b");
    ASSERT_TRUE(block.Finish().ok());
    OpenTable opened;
    ASSERT_TRUE(opened.Open(block.file).ok());

    const char* const keys[] = {"a", "b", "c", "d"};
    const TableReader* const readers[] = {plain.reader.get(), opened.reader.get(),
                                          plain.reader.get(), opened.reader.get()};
    std::vector<PinnableSlice> values(std::size(keys));
    std::vector<std::unique_ptr<PointLookup>> lookups;
    std::vector<TableProbe> probes;
    for (size_t i = 0; i < std::size(keys); i++) {
      lookups.push_back(std::make_unique<PointLookup>(keys[i], kMaxSequenceNumber, &values[i]));
      probes.push_back({readers[i], lookups[i].get()});
    }
    MultiGetFromTables(ReadOptions(), probes);
    EXPECT_EQ(values[0], Slice("plain a"));
    EXPECT_EQ(values[1], Slice("block b"));
    EXPECT_EQ(values[2], Slice("plain c"));
    EXPECT_EQ(lookups[3]->state(), PointLookup::State::kSearching);
  }
}

// The map of keys leads to the row itself.
TEST(PlainTableTest, AMappedRowIsFoundWithOneComparison) {
  for (const int rows : {1, 2, 16, 17, 500}) {
    SCOPED_TRACE(rows);
    PlainTable table({.mapped = true});
    for (int i = 0; i < rows; i++) table.builder->Add(IKey(std::to_string(1000 + i), 1), "v");
    ASSERT_TRUE(table.Finish().ok());
    ASSERT_TRUE(table.Open().ok());
    for (int i = 0; i < rows; i++) {
      PinnableSlice value;
      PointLookup lookup(std::to_string(1000 + i), kMaxSequenceNumber, &value);
      TableHint hint;
      table.reader->Prefetch(lookup);
      table.reader->PrefetchSpeculatively(lookup, &hint);
      EXPECT_TRUE(table.reader->KeyMayMatch(ReadOptions(), lookup));
      get_perf_context()->Reset();
      EXPECT_TRUE(table.reader->Get(ReadOptions(), &lookup, hint).ok());
      EXPECT_EQ(value, Slice("v"));
      EXPECT_EQ(get_perf_context()->user_key_comparison_count, 1u);
    }
  }
}

// A read of the past does not pass all newer versions one by one.
TEST(PlainTableTest, OldVersionsOfAMappedKeyAreFound) {
  constexpr SequenceNumber kVersions = 2000;
  PlainTable table({.mapped = true});
  table.builder->Add(IKey("a", 1), "first");
  for (SequenceNumber seq = kVersions; seq > 0; seq--) {
    table.builder->Add(IKey("k", 2 * seq), std::to_string(seq));
  }
  table.builder->Add(IKey("z", 1), "last");
  ASSERT_TRUE(table.Finish().ok());
  ASSERT_TRUE(table.Open().ok());
  for (SequenceNumber seq = 1; seq <= kVersions; seq++) {
    PinnableSlice value;
    PointLookup lookup("k", 2 * seq + 1, &value);
    get_perf_context()->Reset();
    ASSERT_TRUE(table.reader->Get(ReadOptions(), &lookup).ok());
    EXPECT_EQ(value, Slice(std::to_string(seq)));
    EXPECT_LT(get_perf_context()->user_key_comparison_count, 50u);
  }
  PointLookup before("k", 1, nullptr);
  ASSERT_TRUE(table.reader->Get(ReadOptions(), &before).ok());
  EXPECT_EQ(before.state(), PointLookup::State::kSearching);
}

TEST(PlainTableTest, OperandsOfAMappedKeyAreCollected) {
  PlainTable table({.mapped = true});
  table.builder->Add(IKey("j", 9), "of another key");
  for (const SequenceNumber seq : {8, 7, 6, 5}) {
    table.builder->Add(IKey("k", seq, kTypeMerge), std::to_string(seq));
  }
  table.builder->Add(IKey("k", 4), "base");
  table.builder->Add(IKey("k", 3), "older");
  ASSERT_TRUE(table.Finish().ok());
  ASSERT_TRUE(table.Open().ok());
  for (const SequenceNumber snapshot : {9, 8, 7, 6, 5}) {
    MergeOperands* const operands = MergeOperands::Acquire();
    operands->wants_value = false;
    PointLookup lookup("k", snapshot, nullptr);
    lookup.CollectInto(operands, snapshot);
    ASSERT_TRUE(table.reader->Get(ReadOptions(), &lookup).ok());
    EXPECT_EQ(lookup.state(), PointLookup::State::kMerging);
    EXPECT_EQ(operands->slices().size(), std::min<SequenceNumber>(snapshot, 8) - 4) << snapshot;
    EXPECT_EQ(operands->slices().back(), Slice("5"));
  }
}

TEST(PlainTableTest, MappedRowsOfAnIngestedFileShowItsSequenceNumber) {
  PlainTable table({.mapped = true});
  for (const char* key : {"a", "b", "c"}) table.builder->Add(IKey(key, 0), "v");
  ASSERT_TRUE(table.Finish().ok());
  ASSERT_TRUE(table.Open().ok());
  table.reader->SetSequence(9);
  for (const char* key : {"a", "b", "c"}) {
    PointLookup before(key, 8, nullptr);
    ASSERT_TRUE(table.reader->Get(ReadOptions(), &before).ok());
    EXPECT_EQ(before.state(), PointLookup::State::kSearching);
    PinnableSlice value;
    PointLookup after(key, 9, &value);
    ASSERT_TRUE(table.reader->Get(ReadOptions(), &after).ok());
    EXPECT_EQ(after.state(), PointLookup::State::kFound);
    EXPECT_EQ(after.found_seq(), 9u);
  }
}

// Rows of 12 bytes, of which a look-up reads only its own.
TEST(PlainTableTest, MappedRowsThatChangeAfterOpeningAreCorruptionOrAbsent) {
  struct Case {
    const char* what;
    size_t at;
    char byte;
    bool corrupt;
  };
  const Case cases[] = {
      {"a key beyond the end", 24, '\x7f', true},
      {"a key that ends at the end", 24, '\x0b', true},
      {"a key of five bytes for its length", 24, '\xff', true},
      {"another key", 25, 'd', false},
      {"an unknown type", 26, '\x40', true},
      {"a value beyond the end", 34, '\x02', true},
      {"another row's value beyond the end", 22, '\x7f', false},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.what);
    PlainTable table({});
    for (const char* key : {"a", "b", "c"}) table.builder->Add(IKey(key, 1), "1");
    ASSERT_TRUE(table.Finish().ok());
    auto bytes = std::make_shared<std::string>(table.file);
    TableOpenOptions options;
    options.icmp = &Bytewise();
    RandomAccessFileReader::Options file_options;
    file_options.maps = true;
    std::unique_ptr<TableReader> reader;
    ASSERT_TRUE(TableReader::Open(options,
                                  std::make_unique<RandomAccessFileReader>(
                                      std::make_unique<StringReadFile>(bytes, true, table.reads),
                                      "000007.sst", file_options),
                                  bytes->size(), &reader)
                    .ok());
    (*bytes)[c.at] = c.byte;
    PointLookup lookup("c", kMaxSequenceNumber, nullptr);
    const Status s = reader->Get(ReadOptions(), &lookup);
    EXPECT_EQ(s.IsCorruption(), c.corrupt) << s.ToString();
    if (c.corrupt) {
      EXPECT_EQ(lookup.state(), PointLookup::State::kFailed);
      EXPECT_NE(s.ToString().find("offset 24"), std::string::npos) << s.ToString();
    }
  }
}

// Only the map of keys differs between a table that is mapped and one that is read.
size_t MemoryOfTheMap(int rows, const std::string& value, EncodingType encoding = kPlain) {
  size_t memory[2];
  for (const bool mapped : {false, true}) {
    PlainTable table({.encoding = encoding, .mapped = mapped, .bloom_bits = 0});
    for (int i = 0; i < rows; i++) table.builder->Add(IKey(std::to_string(10000 + i), 0), value);
    EXPECT_TRUE(table.Finish().ok());
    EXPECT_TRUE(table.Open().ok());
    memory[mapped ? 1 : 0] = table.reader->MemoryUsage();
    for (int i = 0; i < rows; i += 7) {
      PinnableSlice found;
      PointLookup lookup(std::to_string(10000 + i), kMaxSequenceNumber, &found);
      EXPECT_TRUE(table.reader->Get(ReadOptions(), &lookup).ok());
      EXPECT_EQ(found, Slice(value));
    }
  }
  return memory[1] - memory[0];
}

TEST(PlainTableTest, TheMapOfKeysIsCounted) {
  EXPECT_EQ(MemoryOfTheMap(1, "v"), PlainKeyMap::BytesFor(1));
  EXPECT_EQ(MemoryOfTheMap(20000, std::string(100, 'v')), PlainKeyMap::BytesFor(20000));
  EXPECT_EQ(MemoryOfTheMap(1000, "v", kPrefix), 0u);
}

// The map would be larger than the rows.
TEST(PlainTableTest, ManyTinyRowsHaveNoMap) {
  EXPECT_EQ(MemoryOfTheMap(40000, ""), 0u);
}

}  // namespace
}  // namespace varve::test
