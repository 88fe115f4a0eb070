// SPDX-License-Identifier: Apache-2.0

// Goal: data blocks end where a program's policy says, whatever else the table has, and by size
// where it has none. Method: policies that can be told by the blocks they make; tables taken apart
// by the format's grammar.

#include "varve/flush_block_policy.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "varve/convenience.h"
#include "varve/filter_policy.h"

#include "tests/table/table_file.h"

namespace varve {
namespace {

using test::BuiltTable;
using test::Bytewise;
using test::Entries;
using test::IKey;
using test::TableParts;

// A factory of policies that ask a function.
class Asking final : public FlushBlockPolicyFactory {
 public:
  using Ask = std::function<bool(const Slice& key, const Slice& value)>;
  using NewAsk = std::function<Ask()>;

  explicit Asking(NewAsk make) : make_(std::move(make)) {}
  const char* Name() const override { return "Asking"; }
  FlushBlockPolicy* NewFlushBlockPolicy(const BlockBasedTableOptions&,
                                        const BlockBuilder&) const override {
    return new Policy(make_());
  }

 private:
  struct Policy final : FlushBlockPolicy {
    explicit Policy(Ask ask) : ask_(std::move(ask)) {}
    bool Update(const Slice& key, const Slice& value) override { return ask_(key, value); }
    const Ask ask_;
  };
  const NewAsk make_;
};

Asking::Ask EndAtLetters() {
  return [letter = '\0'](const Slice& key, const Slice&) mutable {
    return std::exchange(letter, key[0]) != key[0];
  };
}

// Returns some entries of each letter, each with two versions.
Entries Letters() {
  Entries entries;
  for (const char letter : {'a', 'b', 'c'}) {
    for (int i = 0; i < 500; i++) {
      const std::string key = letter + std::to_string(1000 + i);
      entries.emplace_back(IKey(key, 2), std::string(20, 'v'));
      entries.emplace_back(IKey(key, 1), "older");
    }
  }
  return entries;
}

BlockTableBuildOptions WithPolicy(std::shared_ptr<FlushBlockPolicyFactory> factory) {
  BlockTableBuildOptions options;
  options.icmp = &Bytewise();
  options.db_session_id = "5ORSHT3GGKGFEY5MNVDB";
  options.table.flush_block_policy_factory = std::move(factory);
  return options;
}

std::string BuildAndRead(const BlockTableBuildOptions& options, const Entries& entries,
                         TableParts* parts) {
  BuiltTable table(options);
  EXPECT_TRUE(table.create_status.ok()) << table.create_status.ToString();
  for (const auto& [key, value] : entries) table.builder->Add(key, value);
  EXPECT_TRUE(table.Finish().ok()) << table.builder->status().ToString();
  EXPECT_TRUE(parts->Open(table.file).ok());
  Entries read;
  EXPECT_TRUE(parts->ReadAll(&read).ok());
  EXPECT_EQ(read, entries);
  return table.file;
}

TEST(FlushBlockPolicy, AProgramDecidesUnderEveryLayout) {
  using Table = BlockBasedTableOptions;
  const std::function<void(BlockTableBuildOptions*)> kLayouts[] = {
      [](BlockTableBuildOptions*) {},
      [](BlockTableBuildOptions* o) { o->table.block_align = true; },
      [](BlockTableBuildOptions* o) { o->table.format_version = 7; },
      [](BlockTableBuildOptions* o) {
        o->table.data_block_index_type = Table::kDataBlockBinaryAndHash;
      },
      [](BlockTableBuildOptions* o) {
        o->table.index_type = Table::kTwoLevelIndexSearch;
        o->table.partition_filters = true;
        o->table.filter_policy.reset(NewBloomFilterPolicy(10));
        o->table.metadata_block_size = 20;
      },
      [](BlockTableBuildOptions* o) {
        o->compression = kZSTD;
        o->compression_opts.max_dict_bytes = 4096;
      },
      [](BlockTableBuildOptions* o) {
        o->compression = kLZ4Compression;
        o->compression_opts.parallel_threads = 3;
      },
      [](BlockTableBuildOptions* o) { o->compression = kBZip2Compression; },
  };
  for (const auto& layout : kLayouts) {
    BlockTableBuildOptions options = WithPolicy(std::make_shared<Asking>(EndAtLetters));
    layout(&options);
    TableParts parts;
    BuildAndRead(options, Letters(), &parts);
    EXPECT_EQ(parts.properties.num_data_blocks, 3u);
  }
}

TEST(FlushBlockPolicy, HearsOfEveryEntryOnce) {
  Entries heard;
  const auto factory = std::make_shared<Asking>([&heard] {
    return [&heard](const Slice& key, const Slice& value) {
      heard.emplace_back(key.ToString(), value.ToString());
      return false;
    };
  });
  TableParts parts;
  BuildAndRead(WithPolicy(factory), Letters(), &parts);
  EXPECT_EQ(heard, Letters());
  EXPECT_EQ(parts.properties.num_data_blocks, 1u) << "however large it becomes";
}

TEST(FlushBlockPolicy, ABlockMayHoldOneEntry) {
  const auto factory =
      std::make_shared<Asking>([] { return [](const Slice&, const Slice&) { return true; }; });
  TableParts parts;
  BuildAndRead(WithPolicy(factory), Letters(), &parts);
  EXPECT_EQ(parts.properties.num_data_blocks, Letters().size());
}

TEST(FlushBlockPolicy, EachTableHasItsOwn) {
  int made = 0;
  const auto factory = std::make_shared<Asking>([&made] {
    made++;
    return EndAtLetters();
  });
  for (int tables = 1; tables < 3; tables++) {
    TableParts parts;
    BuildAndRead(WithPolicy(factory), Letters(), &parts);
    EXPECT_EQ(parts.properties.num_data_blocks, 3u);
    EXPECT_EQ(made, tables);
  }
}

// The file has the same bytes as without a factory.
TEST(FlushBlockPolicy, WithoutAPolicyBlocksEndBySize) {
  struct MakesNone final : FlushBlockPolicyFactory {
    const char* Name() const override { return "MakesNone"; }
    FlushBlockPolicy* NewFlushBlockPolicy(const BlockBasedTableOptions&,
                                          const BlockBuilder&) const override {
      return nullptr;
    }
  };
  TableParts parts;
  const std::string expected = BuildAndRead(WithPolicy(nullptr), Letters(), &parts);
  EXPECT_GT(parts.properties.num_data_blocks, 3u);
  for (const std::shared_ptr<FlushBlockPolicyFactory>& factory :
       {std::shared_ptr<FlushBlockPolicyFactory>(new MakesNone),
        std::shared_ptr<FlushBlockPolicyFactory>(new FlushBlockBySizePolicyFactory)}) {
    TableParts same;
    EXPECT_TRUE(BuildAndRead(WithPolicy(factory), Letters(), &same) == expected) << factory->Name();
  }
}

// This serves policies that leave most decisions to the built-in one.
TEST(FlushBlockPolicy, TheOneBySizeCanBeAsked) {
  struct Inherits final : FlushBlockBySizePolicyFactory {
    FlushBlockPolicy* NewFlushBlockPolicy(const BlockBasedTableOptions&,
                                          const BlockBuilder& block) const override {
      asked = true;
      return FlushBlockBySizePolicyFactory::NewFlushBlockPolicy(2000, 10, block);
    }
    mutable bool asked = false;
  };
  const auto factory = std::make_shared<Inherits>();
  TableParts asked;
  BuildAndRead(WithPolicy(factory), Letters(), &asked);
  EXPECT_TRUE(factory->asked) << "though it has the name of the one by size";
  BlockTableBuildOptions options = WithPolicy(nullptr);
  options.table.block_size = 2000;
  TableParts by_size;
  BuildAndRead(options, Letters(), &by_size);
  const auto expected = static_cast<double>(by_size.properties.num_data_blocks);
  EXPECT_NEAR(static_cast<double>(asked.properties.num_data_blocks), expected, 0.1 * expected);

  options.table.flush_block_policy_factory = std::make_shared<FlushBlockBySizePolicyFactory>();
  BlockBuilder block(BlockBuilder::Options{});
  const std::unique_ptr<FlushBlockPolicy> policy(
      options.table.flush_block_policy_factory->NewFlushBlockPolicy(options.table, block));
  EXPECT_FALSE(policy->Update(IKey("a", 1), std::string(5000, 'v'))) << "there is nothing to end";
}

TEST(FlushBlockPolicy, IsMadeByName) {
  std::shared_ptr<FlushBlockPolicyFactory> made = std::make_shared<Asking>(EndAtLetters);
  const ConfigOptions config;
  EXPECT_TRUE(FlushBlockPolicyFactory::CreateFromString(config, "nullptr", &made).ok());
  EXPECT_EQ(made, nullptr);
  made = std::make_shared<Asking>(EndAtLetters);
  EXPECT_TRUE(FlushBlockPolicyFactory::CreateFromString(config, "Other", &made).IsNotSupported());
  EXPECT_NE(made, nullptr) << "left alone";
  const std::string by_size = FlushBlockBySizePolicyFactory::kClassName();
  EXPECT_TRUE(FlushBlockPolicyFactory::CreateFromString(config, by_size, &made).ok());
  EXPECT_EQ(made, nullptr) << "blocks end by size then, too";
}

}  // namespace
}  // namespace varve
