// SPDX-License-Identifier: Apache-2.0

// Every field has its row, and every row reads what it prints.

#include "util/options/option_schema.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <new>
#include <set>
#include <string>
#include <vector>

#include "varve/convenience.h"
#include "varve/filter_policy.h"
#include "varve/merge_operator.h"
#include "varve/options.h"
#include "varve/slice_transform.h"
#include "varve/table.h"
#include "varve/utilities/object_registry.h"

namespace varve {
namespace {

const std::vector<const OptionTable*>& AllTables() {
  static const std::vector<const OptionTable*> tables = {
      &DbOptionTable(),
      &CfOptionTable(),
      &BlockBasedTableOptionTable(),
      &PlainTableOptionTable(),
      &CompressionOptionTable(),
      &UniversalCompactionOptionTable(),
      &FifoCompactionOptionTable(),
      &MetadataCacheOptionTable(),
  };
  return tables;
}

size_t AlignedUp(size_t n, size_t alignment) {
  return (n + alignment - 1) / alignment * alignment;
}

TEST(OptionSchemaTest, RowsCoverTheirStructWithoutAGap) {
  for (const OptionTable* table : AllTables()) {
    const std::shared_ptr<const void> object = table->MakeDefault();
    struct Span {
      size_t begin, size, alignment;
      std::string name;
    };
    std::vector<Span> spans;
    size_t struct_alignment = 1;
    for (const OptionRow& row : table->rows()) {
      const size_t begin = static_cast<size_t>(static_cast<const char*>(row.Field(object.get())) -
                                               static_cast<const char*>(object.get()));
      spans.push_back({begin, row.size, row.alignment, std::string(row.name)});
      struct_alignment = std::max(struct_alignment, row.alignment);
    }
    std::sort(spans.begin(), spans.end(),
              [](const Span& a, const Span& b) { return a.begin < b.begin; });
    size_t end = 0;
    std::string last = "the beginning";
    for (const Span& span : spans) {
      EXPECT_EQ(span.begin, AlignedUp(end, span.alignment))
          << table->struct_name() << ": a field without a row (or two rows for one field) between "
          << last << " and " << span.name;
      end = span.begin + span.size;
      last = span.name;
    }
    EXPECT_EQ(table->struct_size(), AlignedUp(end, struct_alignment))
        << table->struct_name() << ": a field without a row behind " << last;
  }
}

TEST(OptionSchemaTest, NamesAreUniqueAndRowsAreExplained) {
  for (const OptionTable* table : AllTables()) {
    std::set<std::string_view> names;
    for (const OptionRow& row : table->rows()) {
      EXPECT_TRUE(names.insert(row.name).second) << row.name;
      EXPECT_FALSE(row.help.empty()) << row.name;
      EXPECT_EQ(row.reason.empty(), row.support == OptionSupport::kHonoured) << row.name;
      EXPECT_EQ(table->Find(row.name), &row);
      EXPECT_TRUE(row.file == OptionFileForm::kNone || row.HasText()) << row.name;
    }
    EXPECT_EQ(table->Find("no_such_option"), nullptr);
  }
}

TEST(OptionSchemaTest, DefaultsAreValidAndReadBackEqual) {
  for (const OptionTable* table : AllTables()) {
    const std::shared_ptr<const void> defaults = table->MakeDefault();
    EXPECT_TRUE(CheckOptions(*table, "", defaults.get()).ok()) << table->struct_name();
    const std::shared_ptr<const void> target = table->MakeDefault();
    for (const OptionRow& row : table->rows()) {
      if (!row.HasText()) continue;
      const std::string text = row.type().print({}, row.Field(defaults.get()));
      Status s =
          row.type().parse(ConfigOptions(), text, row.field(const_cast<void*>(target.get())));
      EXPECT_TRUE(s.ok()) << row.name << "=" << text << ": " << s.ToString();
      EXPECT_TRUE(row.type().equal(row.Field(target.get()), row.Field(defaults.get())))
          << row.name << "=" << text;
    }
  }
}

// Changes every field that has text and lives in the struct itself, prints, and reads back.
TEST(OptionSchemaTest, ChangedValuesReadBackEqual) {
  ColumnFamilyOptions cf;
  cf.comparator = ReverseBytewiseComparator();
  cf.prefix_extractor.reset(NewCappedPrefixTransform(9));
  cf.compression = kZSTD;
  cf.compression_per_level = {kNoCompression, kSnappyCompression, kZSTD};
  cf.max_bytes_for_level_multiplier_additional = {1, 2, 3};
  cf.compression_opts.level = -3;
  cf.compression_opts.checksum = true;
  cf.compaction_options_universal.stop_style = kCompactionStopStyleSimilarSize;
  cf.max_bytes_for_level_multiplier = 8.5;
  cf.max_write_buffer_size_to_maintain = -1;
  cf.compaction_pri = kRoundRobin;
  cf.memtable_max_range_deletions = 77;
  BlockBasedTableOptions table;
  table.filter_policy.reset(NewBloomFilterPolicy(9.5));
  table.metadata_cache_options.partition_pinning = PinningTier::kAll;
  table.checksum = kCRC32c;
  table.block_size = 16384;
  cf.table_factory.reset(NewBlockBasedTableFactory(table));

  const std::string text = PrintOptions(CfOptionTable(), {.detailed = true}, &cf);
  OptionPairs pairs;
  ASSERT_TRUE(SplitOptionText(text, &pairs).ok());
  ColumnFamilyOptions back;
  Status s = ApplyOptions(CfOptionTable(), ConfigOptions(), pairs, OptionScope::kAll, &back);
  ASSERT_TRUE(s.ok()) << s.ToString();
  for (const OptionRow& row : CfOptionTable().rows()) {
    EXPECT_TRUE(row.type().equal(row.Field(&cf), row.Field(&back))) << row.name;
  }
}

TEST(OptionSchemaTest, UnreadableValuesAreRefusedByName) {
  DBOptions db;
  for (const auto& [name, value] : OptionPairs{{"max_open_files", "many"},
                                               {"max_open_files", "4294967296"},
                                               {"create_if_missing", "yes"},
                                               {"wal_recovery_mode", "kHope"},
                                               {"max_subcompactions", "-1"}}) {
    bool found = false;
    const Status s =
        ApplyOption(DbOptionTable(), ConfigOptions(), name, value, OptionScope::kAll, &db, &found);
    EXPECT_TRUE(s.IsInvalidArgument()) << name << "=" << value;
    EXPECT_NE(s.ToString().find(name), std::string::npos) << s.ToString();
  }
}

TEST(OptionSchemaTest, UnknownNamesAreRefusedUnlessTheyMayBeIgnored) {
  DBOptions db;
  bool found = true;
  ConfigOptions config;
  const auto apply = [&](const char* name, const char* value) {
    return ApplyOption(DbOptionTable(), config, name, value, OptionScope::kAll, &db, &found);
  };
  EXPECT_TRUE(apply("no_such_option", "1").IsInvalidArgument());
  EXPECT_FALSE(found);
  EXPECT_TRUE(apply("random_access_max_buffer_size", "5").ok());
  EXPECT_TRUE(apply("compaction_service", "nullptr").ok());
  EXPECT_TRUE(apply("compaction_service", "Mine").IsNotSupported());
  EXPECT_TRUE(found);
  config.ignore_unknown_options = true;
  EXPECT_TRUE(apply("no_such_option", "1").ok());
  EXPECT_TRUE(apply("compaction_service", "Mine").ok());
}

TEST(OptionSchemaTest, ObjectsThatTextCannotMakeAreRefusedUnlessTheyMayBeDropped) {
  ColumnFamilyOptions cf;
  bool found = false;
  ConfigOptions config;
  config.ignore_unsupported_options = false;
  const auto apply = [&](const char* name, const char* value) {
    return ApplyOption(CfOptionTable(), config, name, value, OptionScope::kAll, &cf, &found);
  };
  EXPECT_TRUE(apply("merge_operator", "{id=My.Operator;delimiter=,;}").IsNotSupported());
  EXPECT_TRUE(apply("comparator", "my.Comparator").IsNotSupported());
  EXPECT_TRUE(apply("memtable_factory", "cuckoo_hash").IsNotSupported());
  EXPECT_TRUE(apply("table_factory", "CuckooTable").IsNotSupported());
  EXPECT_TRUE(apply("merge_operator", "nullptr").ok());
  EXPECT_TRUE(apply("memtable_factory", "skip_list:16").ok());
  config.ignore_unsupported_options = true;
  EXPECT_TRUE(apply("merge_operator", "Anything").ok());
  EXPECT_EQ(cf.merge_operator, nullptr);
  EXPECT_TRUE(apply("comparator", "my.Comparator").ok());
  EXPECT_EQ(cf.comparator, BytewiseComparator());
}

// A program's factory may throw what has no text, and nothing is known but the code.
TEST(OptionSchemaTest, AnErrorWithoutAMessageHasTheNameOfItsOption) {
  const ConfigOptions config;
  const auto library = config.registry->AddLibrary("mine");
  library->AddFactory<MergeOperator>("Faulty",
                                     [](const std::string&, std::unique_ptr<MergeOperator>*,
                                        std::string*) -> MergeOperator* { throw 7; });
  library->AddFactory<MergeOperator>(
      "Large",
      [](const std::string&, std::unique_ptr<MergeOperator>*, std::string*) -> MergeOperator* {
        throw std::bad_alloc();
      });
  for (const char* id : {"Faulty", "Large"}) {
    std::shared_ptr<MergeOperator> made;
    const Status cause = MergeOperator::CreateFromString(config, id, &made);
    EXPECT_TRUE(cause.IsAborted()) << cause.ToString();
    ASSERT_EQ(cause.getState(), nullptr) << "otherwise this tests nothing";
    ColumnFamilyOptions cf;
    bool found = false;
    const Status s =
        ApplyOption(CfOptionTable(), config, "merge_operator", id, OptionScope::kAll, &cf, &found);
    EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
    ASSERT_NE(s.getState(), nullptr);
    EXPECT_EQ(s.getState(), "ColumnFamilyOptions::merge_operator: " + cause.ToString());
    EXPECT_EQ(cf.merge_operator, nullptr);
  }
}

TEST(OptionSchemaTest, CompressionOptionsHaveAnOlderForm) {
  const OptionType& type = OptionTypeOf<CompressionOptions>();
  CompressionOptions opts;
  ASSERT_TRUE(type.parse(ConfigOptions(), "4:5:6:7:8:true", &opts).ok());
  EXPECT_EQ(opts.window_bits, 4);
  EXPECT_EQ(opts.level, 5);
  EXPECT_EQ(opts.strategy, 6);
  EXPECT_EQ(opts.max_dict_bytes, 7u);
  EXPECT_EQ(opts.zstd_max_train_bytes, 8u);
  EXPECT_TRUE(opts.enabled);
  ASSERT_TRUE(type.parse(ConfigOptions(), "4:5:6:7:8:2:false:9:false", &opts).ok());
  EXPECT_EQ(opts.parallel_threads, 2u);
  EXPECT_FALSE(opts.enabled);
  EXPECT_EQ(opts.max_dict_buffer_bytes, 9u);
  EXPECT_FALSE(opts.use_zstd_dict_trainer);
  EXPECT_TRUE(type.parse(ConfigOptions(), "4:5", &opts).IsInvalidArgument());
  EXPECT_TRUE(type.parse(ConfigOptions(), "{level=x}", &opts).IsInvalidArgument());
  EXPECT_TRUE(type.parse(ConfigOptions(), "{level=9}", &opts).ok());
  EXPECT_EQ(opts.level, 9);
  EXPECT_EQ(opts.window_bits, 4) << "fields that are not named stay";
}

}  // namespace
}  // namespace varve
