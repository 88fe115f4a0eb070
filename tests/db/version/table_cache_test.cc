// SPDX-License-Identifier: Apache-2.0

// Readers opened once, kept as long as they may be.

#include "db/version/table_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "varve/table.h"

#include "table/table_builder.h"
#include "tests/db/version/drawn_tree.h"
#include "tests/harness/fault_file_system.h"
#include "util/env/durable_write.h"
#include "util/env/file_names.h"
#include "util/env/mem_file_system.h"
#include "util/env/writable_file_writer.h"

namespace varve {
namespace {

class TableCacheTest : public ::testing::Test {
 protected:
  TableCacheTest() : fs_(std::make_shared<FaultFileSystem>(std::make_shared<MemFileSystem>())) {
    options_.paths = std::make_shared<const TablePaths>("/db");
    options_.fs = fs_;
    options_.icmp = &BytewiseOrder();
    auto cf = std::make_shared<ColumnFamilyOptions>();
    BlockBasedTableOptions table;
    table.block_cache = NewLRUCache(1 << 20);
    cf->table_factory.reset(NewBlockBasedTableFactory(table));
    options_.cf_options = cf;
    EXPECT_TRUE(fs_->CreateDirIfMissing("/db", IOOptions(), nullptr).ok());
  }

  std::shared_ptr<FileMetaData> MakeTable(uint64_t number, bool old_name = false) {
    const std::string path =
        old_name ? LevelDbTableFileName("/db", number) : TableFileName("/db", number);
    std::unique_ptr<WritableFileWriter> file;
    EXPECT_TRUE(WritableFileWriter::Create(fs_.get(), path, FileOptions(), {}, &file).ok());
    TableBuildOptions build;
    build.icmp = &BytewiseOrder();
    build.factory.reset(NewBlockBasedTableFactory());
    build.file_number = number;
    std::unique_ptr<TableBuilder> builder;
    EXPECT_TRUE(TableBuilder::Create(build, file.get(), &builder).ok());
    builder->Add(InternalKey("k", 1, kTypeValue).Encode(), "v");
    EXPECT_TRUE(builder->Finish().ok());
    EXPECT_TRUE(file->Close().ok());
    auto meta = std::make_shared<FileMetaData>();
    meta->number = number;
    meta->size = builder->FileSize();
    meta->largest_seq = 1;
    return meta;
  }

  uint64_t Opens() const { return fs_->calls(FaultCall::kOpenRead); }

  std::shared_ptr<FaultFileSystem> fs_;
  TableCacheOptions options_;
};

TEST_F(TableCacheTest, OpensAFileOnceEvenForRacingThreads) {
  for (bool limited : {false, true}) {
    options_.limited = limited ? TableCache::NewLimitedCache(10) : nullptr;
    TableCache cache(options_);
    const auto file = MakeTable(limited ? 8 : 7);
    const uint64_t before = Opens();
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; t++) {
      threads.emplace_back([&] {
        TableRef table;
        EXPECT_TRUE(cache.Find(file.get(), 0, ReadOptions(), &table).ok());
        EXPECT_TRUE(static_cast<bool>(table));
        EXPECT_EQ(table->properties()->num_entries, 1u);
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(Opens() - before, 1u);
    EXPECT_EQ(file->reader.load() != nullptr, !limited);
  }
}

TEST_F(TableCacheTest, KeepsNoMoreThanTheLimitButWhatIsInUse) {
  options_.limited = TableCache::NewLimitedCache(2);
  TableCache cache(options_);
  std::vector<std::shared_ptr<FileMetaData>> files;
  for (uint64_t number = 1; number <= 5; number++) files.push_back(MakeTable(number));
  TableRef held;
  ASSERT_TRUE(cache.Find(files[0].get(), 1, ReadOptions(), &held).ok());
  for (const auto& file : files) {
    TableRef table;
    ASSERT_TRUE(cache.Find(file.get(), 1, ReadOptions(), &table).ok());
  }
  EXPECT_LE(options_.limited->GetUsage(), 3u);
  TableRef moved = std::move(held);
  EXPECT_FALSE(static_cast<bool>(held));
  EXPECT_EQ(moved->properties()->num_entries, 1u);
  moved.Reset();
  cache.Evict(1);
  const uint64_t before = Opens();
  TableRef again;
  ASSERT_TRUE(cache.Find(files[0].get(), 1, ReadOptions(), &again).ok());
  EXPECT_EQ(Opens() - before, 1u);
}

TEST_F(TableCacheTest, FallsBackToTheOldName) {
  TableCache cache(options_);
  TableRef table;
  const auto file = MakeTable(3, /*old_name=*/true);
  EXPECT_TRUE(cache.Find(file.get(), 0, ReadOptions(), &table).ok());
}

TEST_F(TableCacheTest, OpensNothingWhenReadsAreNotAllowed) {
  TableCache cache(options_);
  const auto file = MakeTable(3);
  ReadOptions options;
  options.read_tier = kBlockCacheTier;
  TableRef table;
  EXPECT_TRUE(cache.Find(file.get(), 0, options, &table).IsIncomplete());
  EXPECT_TRUE(cache.Find(file.get(), 0, ReadOptions(), &table).ok());
  EXPECT_TRUE(cache.Find(file.get(), 0, options, &table).ok());
}

TEST_F(TableCacheTest, AFailureIsReportedAndNotRemembered) {
  TableCache cache(options_);
  const auto file = MakeTable(3);
  FaultRule rule;
  rule.calls = Only(FaultCall::kOpenRead) | Only(FaultCall::kRead);
  rule.sticky = true;
  fs_->Inject(rule);
  TableRef table;
  EXPECT_TRUE(cache.Find(file.get(), 0, ReadOptions(), &table).IsIOError());
  EXPECT_FALSE(static_cast<bool>(table));
  fs_->ClearFaults();
  EXPECT_TRUE(cache.Find(file.get(), 0, ReadOptions(), &table).ok());
  const auto missing = std::make_shared<FileMetaData>();
  missing->number = 99;
  EXPECT_FALSE(cache.Find(missing.get(), 0, ReadOptions(), &table).ok());
}

}  // namespace
}  // namespace varve
