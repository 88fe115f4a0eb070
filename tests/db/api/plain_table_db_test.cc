// SPDX-License-Identifier: Apache-2.0

// Goal: a family may hold tables of several formats, and a family of PlainTables answers all that
// one of block-based tables does, but DeleteRange. Method: databases whose factory changes from
// opening to opening, compared with what was written.

#include <gmock/gmock.h>

#include "varve/convenience.h"
#include "varve/slice_transform.h"
#include "varve/sst_file_reader.h"
#include "varve/sst_file_writer.h"
#include "varve/table.h"
#include "varve/utilities/options_util.h"
#include "varve/utilities/repair.h"

#include "tests/harness/database.h"
#include "util/coding/fixed.h"

namespace varve::testing {
namespace {

using ::testing::HasSubstr;

constexpr uint64_t kPlainMagic = 0x4f3418eb7a8f13b8;

class PlainTableDbTest : public Database {
 protected:
  PlainTableDbTest() { options_.disable_auto_compactions = true; }

  void UsePlain(EncodingType encoding = kPlain) {
    PlainTableOptions table;
    table.encoding_type = encoding;
    options_.table_factory.reset(NewPlainTableFactory(table));
    options_.prefix_extractor.reset(NewCappedPrefixTransform(2));
  }
  void UseBlocks() { options_.table_factory.reset(NewBlockBasedTableFactory()); }

  // Returns one letter for each table: p or b.
  std::string Formats() {
    std::string formats;
    for (const std::string& name : Files(kTableFile)) {
      const std::string bytes = ReadFile(std::string(kName) + "/" + name);
      const uint64_t magic = DecodeFixed64(bytes.data() + bytes.size() - 8);
      formats += magic == kPlainMagic ? 'p' : 'b';
    }
    return formats;
  }

  std::string Backward() {
    const std::unique_ptr<Iterator> it(db()->NewIterator(ReadOptions()));
    std::string text;
    for (it->SeekToLast(); it->Valid(); it->Prev()) {
      text += (text.empty() ? "" : " ") + it->key().ToString() + "=" + it->value().ToString();
    }
    return it->status().ok() ? text : it->status().ToString();
  }
};

TEST_F(PlainTableDbTest, AFamilyHoldsTablesOfSeveralFormats) {
  for (const EncodingType encoding : {kPlain, kPrefix}) {
    Remount(std::make_shared<MemFileSystem>());
    UsePlain(encoding);
    Open();
    Put("aa1", "1");
    Put("aa2", "2");
    Put("bb1", "3");
    Flush();
    ASSERT_TRUE(Close().ok());
    UseBlocks();
    Open();
    Put("aa2", "two");
    Delete("bb1");
    Put("cc1", "4");
    Flush();
    EXPECT_EQ(Formats(), "pb");
    EXPECT_EQ(Scan(), "aa1=1 aa2=two cc1=4");
    EXPECT_EQ(Backward(), "cc1=4 aa2=two aa1=1");
    const std::vector<Slice> keys = {"aa1", "aa2", "bb1", "cc1", "dd"};
    std::vector<std::string> values;
    const std::vector<Status> statuses = db()->MultiGet(ReadOptions(), keys, &values);
    EXPECT_EQ(values[0] + values[1] + values[3], "1two4");
    EXPECT_TRUE(statuses[2].IsNotFound() && statuses[4].IsNotFound());
    EXPECT_TRUE(db()->VerifyChecksum().ok());
    ASSERT_TRUE(Close().ok());

    // A compaction writes in the family's format.
    UsePlain(encoding);
    Open();
    ASSERT_TRUE(db()->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok());
    EXPECT_EQ(Formats(), "p");
    Reopen();
    EXPECT_EQ(Scan(), "aa1=1 aa2=two cc1=4");
    ASSERT_TRUE(Close().ok());
    UseBlocks();
    Open();
    CompactRangeOptions force;
    force.bottommost_level_compaction = BottommostLevelCompaction::kForce;
    ASSERT_TRUE(db()->CompactRange(force, nullptr, nullptr).ok());
    EXPECT_EQ(Formats(), "b");
    EXPECT_EQ(Scan(), "aa1=1 aa2=two cc1=4");
    ASSERT_TRUE(Close().ok());
  }
}

TEST_F(PlainTableDbTest, SnapshotsAndMergesSeeWhatTheyShould) {
  UsePlain(kPrefix);
  Open();
  Put("k", "old");
  Flush();
  const Snapshot* const before = db()->GetSnapshot();
  Put("k", "new");
  Put("l", "new");
  Flush();
  EXPECT_EQ(Get("k", "default", before), "old");
  EXPECT_EQ(Get("l", "default", before), "NOT_FOUND");
  EXPECT_EQ(Get("k"), "new");
  ASSERT_TRUE(db()->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok());
  EXPECT_EQ(Get("k", "default", before), "old");
  db()->ReleaseSnapshot(before);
}

TEST_F(PlainTableDbTest, DeleteRangeIsRefusedAtTheCall) {
  UsePlain();
  Open();
  Put("a", "1");
  const Status s = db()->DeleteRange(WriteOptions(), db()->DefaultColumnFamily(), "a", "b");
  EXPECT_TRUE(s.IsNotSupported()) << s.ToString();
  WriteBatch batch;
  ASSERT_TRUE(batch.Put("b", "2").ok());
  ASSERT_TRUE(batch.DeleteRange("a", "b").ok());
  EXPECT_TRUE(db()->Write(WriteOptions(), &batch).IsNotSupported());
  EXPECT_EQ(Scan(), "a=1");
  Put("c", "3");
  EXPECT_EQ(Scan(), "a=1 c=3");
}

// Range deletions of the time before the factory was exchanged go on in block-based tables.
TEST_F(PlainTableDbTest, EarlierRangeDeletionsStay) {
  Open();
  for (const char* const key : {"a", "b", "c"}) Put(key, "1");
  Flush();
  ASSERT_TRUE(db()->DeleteRange(WriteOptions(), db()->DefaultColumnFamily(), "a", "b").ok());
  Flush();
  ASSERT_TRUE(db()->DeleteRange(WriteOptions(), db()->DefaultColumnFamily(), "c", "d").ok());
  Kill();
  UsePlain();
  Open();
  Put("e", "5");
  Flush();
  EXPECT_EQ(Scan(), "b=1 e=5");
  const Snapshot* const held = db()->GetSnapshot();
  ASSERT_TRUE(db()->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok());
  db()->ReleaseSnapshot(held);
  EXPECT_EQ(Scan(), "b=1 e=5");
  Reopen();
  EXPECT_EQ(Scan(), "b=1 e=5");
}

TEST_F(PlainTableDbTest, OptionsAreWrittenAndReadAgain) {
  UsePlain(kPrefix);
  Open();
  DBOptions loaded;
  std::vector<ColumnFamilyDescriptor> families;
  ConfigOptions config;
  config.env = options_.env;
  ASSERT_TRUE(LoadLatestOptions(config, kName, &loaded, &families).ok());
  const auto* const table = families[0].options.table_factory->GetOptions<PlainTableOptions>();
  ASSERT_NE(table, nullptr);
  EXPECT_EQ(table->encoding_type, kPrefix);
  EXPECT_EQ(table->bloom_bits_per_key, 10);
  EXPECT_TRUE(CheckOptionsCompatibility(config, kName, loaded, families).ok());

  ColumnFamilyOptions text;
  ASSERT_TRUE(GetColumnFamilyOptionsFromString(
                  config, ColumnFamilyOptions(),
                  "table_factory={id=PlainTable;encoding_type=kPrefix;index_sparseness=4}", &text)
                  .ok());
  const auto* const parsed = text.table_factory->GetOptions<PlainTableOptions>();
  ASSERT_NE(parsed, nullptr);
  EXPECT_EQ(parsed->encoding_type, kPrefix);
  EXPECT_EQ(parsed->index_sparseness, 4u);
}

TEST_F(PlainTableDbTest, KeysWithTimestampsAreRefused) {
  UsePlain();
  options_.comparator = BytewiseComparatorWithU64Ts();
  const Status s = TryOpen();
  EXPECT_TRUE(s.IsNotSupported()) << s.ToString();
  EXPECT_THAT(s.ToString(), HasSubstr("PlainTable"));
}

TEST_F(PlainTableDbTest, ARepairKeepsPlainTables) {
  UsePlain();
  Open();
  Put("a", "1");
  Put("b", "2");
  Flush();
  ASSERT_TRUE(Close().ok());
  for (const std::string& name : Files(kDescriptorFile)) {
    ASSERT_TRUE(mem().DeleteFile(std::string(kName) + "/" + name, IOOptions(), nullptr).ok());
  }
  ASSERT_TRUE(RepairDB(kName, options_).ok());
  Open();
  EXPECT_EQ(Scan(), "a=1 b=2");
}

TEST_F(PlainTableDbTest, ADamagedTableNamesItself) {
  UsePlain();
  options_.max_open_files = 100;
  Open();
  Put("a", "1");
  Put("b", "2");
  Flush();
  ASSERT_TRUE(Close().ok());
  const std::string name = Files(kTableFile).front();
  std::string bytes = ReadFile(std::string(kName) + "/" + name);
  bytes[0] = '\x7f';
  WriteFile(std::string(kName) + "/" + name, bytes);
  Open();
  const std::string answer = Get("a");
  EXPECT_THAT(answer, HasSubstr("Corruption"));
  EXPECT_THAT(answer, HasSubstr(name));
}

TEST_F(PlainTableDbTest, FilesOfProgramsMayBePlainTables) {
  UsePlain();
  SstFileWriter writer(EnvOptions(), options_);
  ASSERT_TRUE(writer.Open("/made.sst").ok());
  ASSERT_TRUE(writer.Put("a", "1").ok());
  ASSERT_TRUE(writer.Put("b", "2").ok());
  ASSERT_TRUE(writer.Finish().ok());
  Open();
  Put("a", "old");
  ASSERT_TRUE(db()->IngestExternalFile({"/made.sst"}, IngestExternalFileOptions()).ok());
  EXPECT_EQ(Scan(), "a=1 b=2");
  Reopen();
  EXPECT_EQ(Scan(), "a=1 b=2");
}

TEST_F(PlainTableDbTest, HashMemtablesAreAcceptedByName) {
  for (const char* const name :
       {"prefix_hash:1000", "hash_linkedlist:100", "HashSkipListRepFactory",
        "{id=HashLinkListRepFactory;bucket_count=100;threshold=256}"}) {
    SCOPED_TRACE(name);
    Remount(std::make_shared<MemFileSystem>());
    ConfigOptions config;
    ColumnFamilyOptions family;
    ASSERT_TRUE(GetColumnFamilyOptionsFromString(config, ColumnFamilyOptions(),
                                                 "memtable_factory=" + std::string(name), &family)
                    .ok());
    options_.memtable_factory = family.memtable_factory;
    options_.inplace_update_support = true;
    Open();
    Put("b", "1");
    const Snapshot* const before = db()->GetSnapshot();
    Put("b", "2");
    Put("a", "3");
    EXPECT_EQ(Scan(), "a=3 b=2");
    EXPECT_EQ(Backward(), "b=2 a=3");
    EXPECT_EQ(Get("b", "default", before), "1");
    db()->ReleaseSnapshot(before);
    Reopen();
    EXPECT_EQ(Scan(), "a=3 b=2");
    EXPECT_STREQ(db()->GetOptions().memtable_factory->NickName(),
                 family.memtable_factory->NickName());
    ASSERT_TRUE(Close().ok());
  }
}

}  // namespace
}  // namespace varve::testing
