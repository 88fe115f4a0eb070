// SPDX-License-Identifier: Apache-2.0

// OPTIONS files of ours read back, those of RocksDB load, and damaged ones are refused.

#include "util/options/options_file.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "varve/convenience.h"
#include "varve/env.h"
#include "varve/filter_policy.h"
#include "varve/memtablerep.h"
#include "varve/merge_operator.h"
#include "varve/slice_transform.h"
#include "varve/table.h"
#include "varve/utilities/options_util.h"

#include "util/env/durable_write.h"
#include "util/env/file_names.h"
#include "util/env/mem_file_system.h"
#include "util/options/option_schema.h"

namespace varve {
namespace {

// Unusual in as many ways as text can carry.
std::vector<ColumnFamilyDescriptor> SomeFamilies() {
  ColumnFamilyOptions first;
  first.write_buffer_size = 7 << 20;
  first.compression_per_level = {kNoCompression, kZSTD};
  first.memtable_max_range_deletions = 11;
  first.punch_holes_in_blob_files = true;
  ColumnFamilyOptions second;
  second.prefix_extractor.reset(NewFixedPrefixTransform(4));
  second.compression_opts.max_compressed_bytes_per_kb = 1000;
  BlockBasedTableOptions table;
  table.filter_policy.reset(NewBloomFilterPolicy(10));
  table.block_size = 8192;
  table.use_delta_encoding = false;
  second.table_factory.reset(NewBlockBasedTableFactory(table));
  return {{"odd \"name\" # : \n", second}, {kDefaultColumnFamilyName, first}};
}

DBOptions SomeDbOptions() {
  DBOptions db;
  db.wal_dir = "/logs#1:2\\3";
  db.max_background_jobs = 9;
  db.compaction_verify_record_count = false;
  db.info_log_level = WARN_LEVEL;
  return db;
}

TEST(OptionsFileTest, WhatIsEmptyIsNotTakenForTheDefault) {
  DBOptions db;
  db.db_host_id.clear();
  ColumnFamilyOptions family;
  family.max_bytes_for_level_multiplier_additional.clear();
  const std::string text = FormatOptionsFile(db, {{kDefaultColumnFamilyName, family}});
  OptionsFileContents contents;
  ASSERT_TRUE(ParseOptionsFile(ConfigOptions(), "OPTIONS-000001", text, &contents).ok());
  EXPECT_EQ(contents.db_options.db_host_id, "");
  const ColumnFamilyOptions& read = contents.column_families[0].options;
  EXPECT_TRUE(read.max_bytes_for_level_multiplier_additional.empty());
  std::string one_line;
  ColumnFamilyOptions again;
  ASSERT_TRUE(GetStringFromColumnFamilyOptions(ConfigOptions(), family, &one_line).ok());
  ASSERT_TRUE(GetColumnFamilyOptionsFromString(ConfigOptions(), again, one_line, &again).ok());
  EXPECT_TRUE(again.max_bytes_for_level_multiplier_additional.empty());
}

TEST(OptionsFileTest, ReadsBackWhatItWrites) {
  const std::string text = FormatOptionsFile(SomeDbOptions(), SomeFamilies());
  OptionsFileContents contents;
  const Status s = ParseOptionsFile(ConfigOptions(), "OPTIONS-000001", text, &contents);
  ASSERT_TRUE(s.ok()) << s.ToString() << text;
  const DBOptions db = SomeDbOptions();
  for (const OptionRow& row : DbOptionTable().rows()) {
    EXPECT_TRUE(row.type().equal(row.Field(&db), row.Field(&contents.db_options))) << row.name;
  }
  const std::vector<ColumnFamilyDescriptor> families = SomeFamilies();
  ASSERT_EQ(contents.column_families.size(), 2u);
  EXPECT_EQ(contents.column_families[0].name, kDefaultColumnFamilyName);
  EXPECT_EQ(contents.column_families[1].name, families[0].name);
  EXPECT_EQ(contents.comparator_names[0], "leveldb.BytewiseComparator");
  for (const OptionRow& row : CfOptionTable().rows()) {
    EXPECT_TRUE(row.type().equal(row.Field(&families[1].options),
                                 row.Field(&contents.column_families[0].options)))
        << row.name;
    EXPECT_TRUE(row.type().equal(row.Field(&families[0].options),
                                 row.Field(&contents.column_families[1].options)))
        << row.name;
  }
}

TEST(OptionsFileTest, PlainLinesHoldOnlyNamesThatRocksDb7Knows) {
  const std::string text = FormatOptionsFile(SomeDbOptions(), SomeFamilies());
  EXPECT_NE(text.find("rocksdb_version=7.8.3"), std::string::npos);
  EXPECT_NE(text.find("options_file_version=1.1"), std::string::npos);
  for (const char* name :
       {"memtable_max_range_deletions", "punch_holes_in_blob_files",
        "compaction_verify_record_count", "max_compressed_bytes_per_kb", "use_delta_encoding"}) {
    const size_t found = text.find(name);
    ASSERT_NE(found, std::string::npos) << name;
    const size_t line = text.rfind('\n', found) + 1;
    EXPECT_EQ(text.substr(line, 4), "  #+") << name;
    EXPECT_EQ(text.find("\n  " + std::string(name)), std::string::npos) << name;
  }
  const std::string defaults = FormatOptionsFile(DBOptions(), {ColumnFamilyDescriptor()});
  EXPECT_EQ(defaults.find("#+"), std::string::npos) << "defaults need no extension";
}

// A shortened file that RocksDB 7.8.3 writes for a default database, with an operator and a
// listener that cannot be made here.
constexpr char kRocksFile[] = R"(# This is an option file.
[Version]
  rocksdb_version=7.8.3
  options_file_version=1.1

[DBOptions]
  compaction_readahead_size=0
  lowest_used_cache_tier=kNonVolatileBlockTier
  db_host_id=__hostname__
  random_access_max_buffer_size=1048576
  listeners={ErrorHandlerListener:ErrorHandlerListener}
  file_checksum_gen_factory=nullptr
  access_hint_on_compaction_start=NORMAL
  wal_filter=nullptr
  enable_pipelined_write=true

[CFOptions "default"]
  compression_opts={max_dict_buffer_bytes=0;enabled=false;level=32767;window_bits=-14;}
  prefix_extractor=rocksdb.FixedPrefix.8
  blob_garbage_collection_force_threshold=1.000000
  ignore_max_compaction_bytes_for_input=true
  compaction_options_fifo={allow_compaction=true;age_for_warm=0;max_table_files_size=0;}
  max_bytes_for_level_multiplier_additional=1:1:1:1:1:1:1
  last_level_temperature=kUnknown
  compaction_options_universal={incremental=false;max_merge_width=4294967295;}
  ttl=2592000
  experimental_mempurge_threshold=0.000000
  memtable_factory=SkipListFactory
  merge_operator={id=StringAppendOperator;delimiter=,;}
  table_factory=BlockBasedTable
  comparator=leveldb.BytewiseComparator

[TableOptions/BlockBasedTable "default"]
  filter_policy=bloomfilter:10:false
  flush_block_policy_factory=FlushBlockBySizePolicyFactory
  block_size=4096
  metadata_cache_options={unpartitioned_pinning=kFallback;partition_pinning=kFallback;}
)";

TEST(OptionsFileTest, LoadsAFileOfRocksDb) {
  OptionsFileContents contents;
  const Status s = ParseOptionsFile(ConfigOptions(), "OPTIONS-000007", kRocksFile, &contents);
  ASSERT_TRUE(s.ok()) << s.ToString();
  EXPECT_TRUE(contents.db_options.enable_pipelined_write);
  const ColumnFamilyOptions& cf = contents.column_families[0].options;
  EXPECT_EQ(cf.prefix_extractor->AsString(), "rocksdb.FixedPrefix.8");
  ASSERT_NE(cf.merge_operator, nullptr);
  EXPECT_EQ(cf.merge_operator->GetId(), "{id=StringAppendOperator;delimiter=,;}");
  const auto* table = cf.table_factory->GetOptions<BlockBasedTableOptions>();
  ASSERT_NE(table, nullptr);
  EXPECT_NE(table->filter_policy, nullptr);
  EXPECT_EQ(table->flush_block_policy_factory, nullptr);
}

TEST(OptionsFileTest, NamesOfMergeOperatorsAreFoundInAnyText) {
  const std::shared_ptr<MemFileSystem> fs = std::make_shared<MemFileSystem>();
  ASSERT_TRUE(fs->CreateDirIfMissing("/db", IOOptions(), nullptr).ok());
  const auto names = [&](const std::string& text) {
    EXPECT_TRUE(WriteFileDurably(fs.get(), "/db", "tmp", "OPTIONS-000007", text).ok());
    std::map<std::string, std::string> found;
    EXPECT_TRUE(ReadMergeOperatorNames(fs.get(), "/db/OPTIONS-000007", &found).ok());
    std::string list;
    for (const auto& [family, name] : found) list += family + "=" + name + " ";
    return list;
  };
  EXPECT_EQ(names(kRocksFile), "default=StringAppendOperator ");
  EXPECT_EQ(names("[CFOptions \"a\"]\n merge_operator=Mine # or yours\n"
                  "[CFOptions \"b\"]\nmerge_operator=nullptr\n"
                  "[CFOptions \"c\\#\"]\nmerge_operator={delimiter=,;id=X}\n"
                  "[TableOptions/BlockBasedTable \"d\"]\nmerge_operator=No"),
            "a=Mine c#=X ");
  EXPECT_EQ(names("[CFOptions \"a\"]\nmerge_operator={id=S;delimiter=};}\n"
                  "[CFOptions \"b\"]\nmerge_operator={id=S;delimiter={;}\n"
                  "[CFOptions \"c\"]\nmerge_operator={id=S;delimiter=;;}\n"
                  "[CFOptions \"d\"]\nmerge_operator=app=v1\n"
                  "[CFOptions \"e\"]\nmerge_operator={id=app\\:v1}"),
            "a=S b=S c=S d=app=v1 e=app:v1 ");
  for (const char* text : {"", "\n", "[", "[]", "[CFOptions \"", "[CFOptions \"]\nmerge_operator=A",
                           "merge_operator=A", "[CFOptions \"a\"]\nmerge_operator=",
                           "[CFOptions \"a\"]\nmerge_operator={", "=\n[CFOptions \"a\"]"}) {
    EXPECT_EQ(names(text), "") << text;
  }
  std::map<std::string, std::string> found;
  EXPECT_FALSE(ReadMergeOperatorNames(fs.get(), "/db/OPTIONS-000008", &found).ok());
}

TEST(OptionsFileTest, PermissionToChangeTheMergeOperatorIsNotStored) {
  std::vector<ColumnFamilyDescriptor> families = SomeFamilies();
  for (ColumnFamilyDescriptor& family : families) family.options.allow_other_merge_operator = true;
  EXPECT_EQ(FormatOptionsFile(SomeDbOptions(), families).find("allow_other_merge_operator"),
            std::string::npos);
}

TEST(OptionsFileTest, KindsOfMemtablesGoBothWays) {
  const auto loaded = [](const std::string& text) {
    OptionsFileContents contents;
    const Status s = ParseOptionsFile(ConfigOptions(), "OPTIONS-000007", text, &contents);
    EXPECT_TRUE(s.ok()) << s.ToString();
    return contents.column_families[0].options.memtable_factory->GetId();
  };
  const auto with = [&](const std::string& value) {
    return loaded("[DBOptions]\n[CFOptions \"default\"]\n  memtable_factory=" + value + "\n");
  };
  EXPECT_EQ(with("VectorRepFactory"), "VectorRepFactory");
  EXPECT_EQ(with("{id=VectorRepFactory;}"), "VectorRepFactory");
  EXPECT_EQ(with("vector:100"), "vector:100");
  EXPECT_EQ(with("{id=VectorRepFactory;count=100;}"), "vector:100");
  EXPECT_EQ(with("{count=100;id=vector}"), "vector:100");
  EXPECT_EQ(with("{id=SkipListFactory;lookahead=4;}"), "skip_list:4");
  EXPECT_EQ(with("plain_skip_list:4"), "plain_skip_list:4");
  EXPECT_EQ(with("{skip_list;blocked=false}"), "plain_skip_list");
  ColumnFamilyOptions cf;
  EXPECT_TRUE(GetColumnFamilyOptionsFromString(ConfigOptions(), cf,
                                               "memtable_factory={id=vector;lookahead=4}", &cf)
                  .IsInvalidArgument());
  std::vector<ColumnFamilyDescriptor> plain = SomeFamilies();
  for (ColumnFamilyDescriptor& family : plain) {
    family.options.memtable_factory = std::make_shared<SkipListFactory>(0, /*blocked=*/false);
  }
  EXPECT_EQ(loaded(FormatOptionsFile(SomeDbOptions(), plain)), "plain_skip_list");
  for (const size_t count : {0, 100}) {
    std::vector<ColumnFamilyDescriptor> families = SomeFamilies();
    for (ColumnFamilyDescriptor& family : families) {
      family.options.memtable_factory = std::make_shared<VectorRepFactory>(count);
    }
    EXPECT_EQ(loaded(FormatOptionsFile(SomeDbOptions(), families)),
              count == 0 ? "VectorRepFactory" : "vector:100");
  }
}

TEST(OptionsFileTest, NewerNamesAreSkippedOnlyWhereTheyAskForNothing) {
  const auto with = [](const std::string& line) {
    const std::string text = "[DBOptions]\n[CFOptions \"default\"]\n" + line + "\n";
    OptionsFileContents contents;
    return ParseOptionsFile(ConfigOptions(), "OPTIONS-000007", text, &contents);
  };
  EXPECT_TRUE(with("preclude_last_level_data_seconds=0").ok());
  EXPECT_TRUE(with("preclude_last_level_data_seconds=5").IsNotSupported());
  EXPECT_TRUE(with("something_from_the_future=1").IsInvalidArgument());
}

TEST(OptionsFileTest, DamagedFilesAreRefusedWithTheirPlace) {
  struct Case {
    const char* text;
    const char* place;
  };
  for (const Case& c : {
           Case{"", "F:0"},
           Case{"[DBOptions]\n", "F:1"},
           Case{"[CFOptions \"default\"]\n", "F:1"},
           Case{"[DBOptions]\n[DBOptions]\n", "F:2"},
           Case{"[DBOptions]\n[CFOptions \"other\"]\n", "F:2"},
           Case{"[DBOptions]\n[CFOptions \"default\"]\n[CFOptions \"default\"]\n", "F:3"},
           Case{"[DBOptions]\n[CFOptions \"default]\n", "F:2"},
           Case{"[DBOptions\n", "F:1"},
           Case{"[Nonsense]\n", "F:1"},
           Case{"max_open_files=1\n", "F:1"},
           Case{"[DBOptions]\nnonsense\n", "F:2"},
           Case{"[DBOptions]\n=1\n", "F:2"},
           Case{"[DBOptions]\n[TableOptions/BlockBasedTable \"default\"]\n", "F:2"},
       }) {
    OptionsFileContents contents;
    const Status s = ParseOptionsFile(ConfigOptions(), "F", c.text, &contents);
    EXPECT_TRUE(s.IsCorruption()) << c.text << s.ToString();
    EXPECT_NE(s.ToString().find(c.place), std::string::npos) << c.text << s.ToString();
  }
  OptionsFileContents contents;
  EXPECT_TRUE(
      ParseOptionsFile(ConfigOptions(), "F", "[Version]\noptions_file_version=2.0\n", &contents)
          .IsNotSupported());
  EXPECT_TRUE(ParseOptionsFile(ConfigOptions(), "F",
                               "[DBOptions]\n[CFOptions \"default\"]\n"
                               "[TableOptions/CuckooTable \"default\"]\n",
                               &contents)
                  .IsNotSupported());
}

TEST(OptionsFileTest, OptionsOfPlainTablesAreWrittenAndRead) {
  PlainTableOptions table;
  table.encoding_type = kPrefix;
  table.bloom_bits_per_key = 7;
  std::vector<ColumnFamilyDescriptor> families(1);
  families[0].name = kDefaultColumnFamilyName;
  families[0].options.table_factory.reset(NewPlainTableFactory(table));
  const std::string text = FormatOptionsFile(DBOptions(), families);
  EXPECT_NE(text.find("table_factory=PlainTable\n"), std::string::npos);
  EXPECT_NE(text.find("[TableOptions/PlainTable \"default\"]\n"), std::string::npos);
  OptionsFileContents contents;
  ASSERT_TRUE(ParseOptionsFile(ConfigOptions(), "F", text, &contents).ok());
  const auto* const read =
      contents.column_families[0].options.table_factory->GetOptions<PlainTableOptions>();
  ASSERT_NE(read, nullptr);
  EXPECT_EQ(read->encoding_type, kPrefix);
  EXPECT_EQ(read->bloom_bits_per_key, 7);
  EXPECT_EQ(read->index_sparseness, 16u);
}

TEST(OptionsFileTest, AFileThatWasCutIsRefusedWhereverThatWas) {
  const std::string whole = FormatOptionsFile(SomeDbOptions(), SomeFamilies());
  OptionsFileContents contents;
  for (size_t bytes = 0; bytes + 1 < whole.size(); bytes += bytes < 200 ? 1 : 7) {
    const Status s =
        ParseOptionsFile(ConfigOptions(), "F", std::string_view(whole).substr(0, bytes), &contents);
    ASSERT_TRUE(s.IsCorruption()) << bytes << ": " << s.ToString();
  }
  const size_t table = whole.find("[TableOptions/BlockBasedTable \"default\"]");
  ASSERT_NE(table, std::string::npos);
  const size_t line_end = whole.find('\n', whole.find("block_size=", table)) + 1;
  const Status s = ParseOptionsFile(ConfigOptions(), "F",
                                    std::string_view(whole).substr(0, line_end), &contents);
  EXPECT_NE(s.ToString().find("its last line is missing, the rest of [TableOptions/BlockBasedTable "
                              "\"default\"], and what came after that"),
            std::string::npos)
      << s.ToString();
  // A line that an editor leaves without its end is whole.
  EXPECT_TRUE(ParseOptionsFile(ConfigOptions(), "F",
                               std::string_view(whole).substr(0, whole.size() - 1), &contents)
                  .ok());
}

TEST(OptionsFileTest, MutatedFilesNeverCrash) {
  std::mt19937 random(11);
  const std::string whole = FormatOptionsFile(SomeDbOptions(), SomeFamilies());
  for (int round = 0; round < 3000; ++round) {
    std::string text = whole;
    for (int edits = 1 + static_cast<int>(random() % 4); edits > 0; --edits) {
      const size_t at = random() % text.size();
      switch (random() % 3) {
        case 0:
          text[at] = static_cast<char>(random());
          break;
        case 1:
          text.erase(at, random() % 50);
          break;
        default:
          text.insert(at, std::string(random() % 20, "{}=;#\"[]\n"[random() % 9]));
      }
      if (text.empty()) text = "x";
    }
    OptionsFileContents contents;
    ParseOptionsFile(ConfigOptions(), "F", text, &contents).PermitUncheckedError();
  }
}

class OptionsDirTest : public testing::Test {
 protected:
  OptionsDirTest() {
    std::string pattern = testing::TempDir() + "varve_options_XXXXXX";
    dir_ = mkdtemp(pattern.data());
  }
  ~OptionsDirTest() override {
    std::vector<std::string> names;
    env_->GetChildren(dir_, &names).PermitUncheckedError();
    for (const std::string& name : names) {
      env_->DeleteFile(dir_ + "/" + name).PermitUncheckedError();
    }
    env_->DeleteDir(dir_).PermitUncheckedError();
  }

  Env* const env_ = Env::Default();
  std::string dir_;
};

TEST_F(OptionsDirTest, TheLatestFileIsLoaded) {
  FileSystem* const fs = env_->GetFileSystem().get();
  DBOptions db;
  std::vector<ColumnFamilyDescriptor> families;
  EXPECT_TRUE(LoadLatestOptions(dir_, env_, &db, &families).IsNotFound());
  db.max_background_jobs = 3;
  ASSERT_TRUE(WriteOptionsFile(fs, dir_, 5, db, {ColumnFamilyDescriptor()}).ok());
  db.max_background_jobs = 4;
  ASSERT_TRUE(WriteOptionsFile(fs, dir_, 12, db, {ColumnFamilyDescriptor()}).ok());
  std::vector<uint64_t> numbers;
  ASSERT_TRUE(ListOptionsFiles(fs, dir_, &numbers).ok());
  EXPECT_EQ(numbers, (std::vector<uint64_t>{12, 5}));

  DBOptions loaded;
  ASSERT_TRUE(LoadLatestOptions(dir_, env_, &loaded, &families).ok());
  EXPECT_EQ(loaded.max_background_jobs, 4);
  ASSERT_EQ(families.size(), 1u);
  EXPECT_EQ(families[0].name, kDefaultColumnFamilyName);
  std::string name;
  ASSERT_TRUE(GetLatestOptionsFileName(dir_, env_, &name).ok());
  EXPECT_EQ(name, "OPTIONS-000012");
}

// Such large files belong to databases with thousands of families.
TEST_F(OptionsDirTest, LargeFilesAreReadAgain) {
  FileSystem* const fs = env_->GetFileSystem().get();
  std::vector<ColumnFamilyDescriptor> families(1);
  for (char c = 'a'; c <= 'j'; c++)
    families.emplace_back(std::string(1 << 20, c), families[0].options);
  families.back().options.write_buffer_size = 77777;
  ASSERT_TRUE(WriteOptionsFile(fs, dir_, 5, DBOptions(), families).ok());
  uint64_t bytes = 0;
  ASSERT_TRUE(env_->GetFileSize(dir_ + "/OPTIONS-000005", &bytes).ok());
  ASSERT_GT(bytes, uint64_t{17} << 20);
  DBOptions db;
  std::vector<ColumnFamilyDescriptor> loaded;
  const Status s = LoadLatestOptions(dir_, env_, &db, &loaded);
  ASSERT_TRUE(s.ok()) << s.ToString();
  ASSERT_EQ(loaded.size(), families.size());
  EXPECT_EQ(loaded.back().options.write_buffer_size, 77777u);
  std::map<std::string, std::string> operators;
  EXPECT_TRUE(ReadMergeOperatorNames(fs, dir_ + "/OPTIONS-000005", &operators).ok());
}

// A file that is too large for readers is not written. The pages are never touched.
TEST_F(OptionsDirTest, NothingAboveTheReadersLimitIsWritten) {
  const size_t bytes = kOptionsFileBytesMax + 1;
  void* const pages =
      mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(pages, MAP_FAILED);
  const Status s = WriteOptionsFile(env_->GetFileSystem().get(), dir_, 5,
                                    Slice(static_cast<const char*>(pages), bytes));
  EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
  munmap(pages, bytes);
  std::vector<std::string> names;
  ASSERT_TRUE(env_->GetChildren(dir_, &names).ok());
  EXPECT_TRUE(names.empty());
}

TEST_F(OptionsDirTest, AnotherComparatorIsFoundOut) {
  FileSystem* const fs = env_->GetFileSystem().get();
  ASSERT_TRUE(WriteOptionsFile(fs, dir_, 5, DBOptions(), {ColumnFamilyDescriptor()}).ok());
  const auto check = [&](const std::vector<ColumnFamilyDescriptor>& families) {
    return CheckOptionsCompatibility(dir_, env_, DBOptions(), families);
  };
  EXPECT_TRUE(check({ColumnFamilyDescriptor()}).ok());
  EXPECT_TRUE(check({}).IsInvalidArgument());
  EXPECT_TRUE(
      check({ColumnFamilyDescriptor(), ColumnFamilyDescriptor("b", {})}).IsInvalidArgument());
  ColumnFamilyDescriptor reversed;
  reversed.options.comparator = ReverseBytewiseComparator();
  EXPECT_TRUE(check({reversed}).IsInvalidArgument());
}

}  // namespace
}  // namespace varve
