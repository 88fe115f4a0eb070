// SPDX-License-Identifier: Apache-2.0
// Goal: a table factory's options are set, printed, compared and checked as text, all of them or
// none. Method: what clients of RocksDB ask of their factory, and the schema for what there is.

#include "util/options/block_based_table_factory.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "varve/convenience.h"
#include "varve/filter_policy.h"
#include "varve/table.h"

#include "util/options/option_schema.h"

namespace varve {
namespace {

using OptionMap = std::unordered_map<std::string, std::string>;

class BlockBasedTableOptionsTextTest : public ::testing::Test {
 protected:
  BlockBasedTableOptions* options() { return factory_->GetOptions<BlockBasedTableOptions>(); }

  const ConfigOptions config_;
  const std::shared_ptr<TableFactory> factory_{NewBlockBasedTableFactory()};
};

TEST_F(BlockBasedTableOptionsTextTest, OptionsAreSetTogetherOrNotAtAll) {
  ASSERT_TRUE(factory_->ConfigureFromString(config_, "{block_size=99;format_version=4}").ok());
  EXPECT_EQ(options()->block_size, 99u);
  EXPECT_EQ(options()->format_version, 4u);
  ASSERT_TRUE(factory_
                  ->ConfigureFromString(config_,
                                        "filter_policy={id=bloomfilter:10:false};"
                                        "metadata_cache_options={partition_pinning=kAll}")
                  .ok());
  ASSERT_NE(options()->filter_policy, nullptr);
  EXPECT_EQ(options()->metadata_cache_options.partition_pinning, PinningTier::kAll);

  Status s = factory_->ConfigureFromMap(config_, {{"block_size", "98"}, {"bogus", "1"}});
  EXPECT_TRUE(s.IsNotFound()) << s.ToString();
  EXPECT_NE(s.ToString().find("bogus"), std::string::npos) << s.ToString();
  s = factory_->ConfigureFromMap(config_, {{"block_size", "large"}, {"format_version", "3"}});
  EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
  EXPECT_NE(s.ToString().find("block_size"), std::string::npos) << s.ToString();
  EXPECT_TRUE(factory_->ConfigureFromString(config_, "block_size").IsInvalidArgument());
  EXPECT_TRUE(factory_->ConfigureFromString(config_, "id=BlockBasedTable").IsNotFound());
  EXPECT_EQ(options()->block_size, 99u);
  EXPECT_EQ(options()->format_version, 4u);

  OptionMap unused;
  ASSERT_TRUE(
      factory_->ConfigureFromMap(config_, {{"block_size", "97"}, {"bogus", "1"}}, &unused).ok());
  EXPECT_EQ(unused, OptionMap({{"bogus", "1"}}));
  EXPECT_EQ(options()->block_size, 97u);
  ASSERT_TRUE(factory_->ConfigureOption(config_, "block_size", "96").ok());
  EXPECT_EQ(options()->block_size, 96u);
  EXPECT_TRUE(factory_->ConfigureOption(config_, "bogus", "1").IsNotFound());
}

TEST_F(BlockBasedTableOptionsTextTest, OnlyWhatIsDynamicChangesIfThatIsAsked) {
  ConfigOptions dynamic;
  dynamic.mutable_options_only = true;
  EXPECT_TRUE(factory_->ConfigureOption(dynamic, "block_size", "96").ok());
  EXPECT_TRUE(factory_->ConfigureOption(dynamic, "no_block_cache", "true").IsInvalidArgument());
  std::unordered_set<std::string> names;
  ASSERT_TRUE(factory_->GetOptionNames(dynamic, &names).ok());
  EXPECT_TRUE(names.contains("block_size"));
  EXPECT_FALSE(names.contains("no_block_cache"));
}

TEST_F(BlockBasedTableOptionsTextTest, OptionsAreRead) {
  options()->block_size = 95;
  options()->filter_policy.reset(NewBloomFilterPolicy(10));
  std::string text;
  ASSERT_TRUE(factory_->GetOptionString(config_, &text).ok());
  EXPECT_NE(text.find("block_size=95;"), std::string::npos) << text;
  const std::unique_ptr<TableFactory> other(NewBlockBasedTableFactory());
  ASSERT_TRUE(other->ConfigureFromString(config_, text).ok());
  EXPECT_TRUE(EqualOptions(BlockBasedTableOptionTable(), options(),
                           other->GetOptions<BlockBasedTableOptions>()));
  EXPECT_EQ(factory_->ToString(config_), "{id=BlockBasedTable;" + text + "}");
  EXPECT_NE(factory_->GetPrintableOptions().find("  block_size: 95\n"), std::string::npos);

  ASSERT_TRUE(factory_->GetOption(config_, "block_size", &text).ok());
  EXPECT_EQ(text, "95");
  ASSERT_TRUE(factory_->GetOption(config_, "id", &text).ok());
  EXPECT_EQ(text, "BlockBasedTable");
  EXPECT_TRUE(factory_->GetOption(config_, "persistent_cache", &text).IsNotSupported());
  EXPECT_TRUE(factory_->GetOption(config_, "bogus", &text).IsNotFound());

  std::unordered_set<std::string> names;
  ASSERT_TRUE(factory_->GetOptionNames(config_, &names).ok());
  for (const OptionRow& row : BlockBasedTableOptionTable().rows()) {
    EXPECT_EQ(names.contains(std::string(row.name)), row.HasText()) << row.name;
  }
}

TEST_F(BlockBasedTableOptionsTextTest, FactoriesAreCompared) {
  const std::unique_ptr<TableFactory> other(NewBlockBasedTableFactory());
  std::string name;
  EXPECT_TRUE(factory_->AreEquivalent(config_, other.get(), &name)) << name;
  options()->block_size = 95;
  EXPECT_FALSE(factory_->AreEquivalent(config_, other.get(), &name));
  EXPECT_EQ(name, "block_size");
}

TEST_F(BlockBasedTableOptionsTextTest, OptionsAreCheckedAsOpeningDoes) {
  EXPECT_TRUE(factory_->ValidateOptions(DBOptions(), ColumnFamilyOptions()).ok());
  options()->cache_index_and_filter_blocks = true;
  options()->no_block_cache = true;
  const Status s = factory_->ValidateOptions(DBOptions(), ColumnFamilyOptions());
  EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
  EXPECT_NE(s.ToString().find("cache_index_and_filter_blocks"), std::string::npos);
}

// Both built-in factories have these functions from the schema.
TEST(PlainTableOptionsTextTest, OptionsAreSetAndReadLikeThoseOfBlockBasedTables) {
  const ConfigOptions config;
  const std::unique_ptr<TableFactory> factory(NewPlainTableFactory());
  const auto* const options = factory->GetOptions<PlainTableOptions>();
  ASSERT_NE(options, nullptr);
  EXPECT_EQ(factory->GetOptions<BlockBasedTableOptions>(), nullptr);
  ASSERT_TRUE(factory->ConfigureFromString(config, "user_key_len=8;encoding_type=kPrefix").ok());
  EXPECT_EQ(options->user_key_len, 8u);
  EXPECT_EQ(options->encoding_type, kPrefix);

  Status s = factory->ConfigureFromMap(config, {{"user_key_len", "9"}, {"bogus", "1"}});
  EXPECT_TRUE(s.IsNotFound()) << s.ToString();
  s = factory->ConfigureFromMap(config, {{"user_key_len", "9"}, {"encoding_type", "bogus"}});
  EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
  EXPECT_EQ(options->user_key_len, 8u);

  std::string text;
  ASSERT_TRUE(factory->GetOptionString(config, &text).ok());
  EXPECT_EQ(factory->ToString(config), "{id=PlainTable;" + text + "}");
  EXPECT_NE(factory->GetPrintableOptions().find("  user_key_len: 8\n"), std::string::npos);
  ASSERT_TRUE(factory->GetOption(config, "encoding_type", &text).ok());
  EXPECT_EQ(text, "kPrefix");
  EXPECT_TRUE(factory->GetOption(config, "bogus", &text).IsNotFound());
}

TEST_F(BlockBasedTableOptionsTextTest, IsKnownByItsName) {
  EXPECT_TRUE(factory_->IsInstanceOf(TableFactory::kBlockBasedTableName()));
  EXPECT_EQ(factory_->CheckedCast<BlockBasedTableFactory>(), factory_.get());
  EXPECT_EQ(factory_->GetOptions<Cache>(TableFactory::kBlockCacheOpts()), nullptr);
  EXPECT_EQ(factory_->GetOptions<BlockBasedTableOptions>("bogus"), nullptr);
}

}  // namespace
}  // namespace varve
