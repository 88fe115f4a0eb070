// SPDX-License-Identifier: Apache-2.0

// Goal: programs written for RocksDB get the answers that they rely on. There is one test for each.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "varve/comparator.h"
#include "varve/statistics.h"
#include "varve/table.h"
#include "varve/utilities/table_properties_collectors.h"

#include "tests/harness/database.h"

namespace varve::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Stores the lines that are logged.
class KeepingLogger final : public Logger {
 public:
  using Logger::Logv;
  void Logv(const char* format, va_list ap) override {
    std::string line(size_t{64} << 10, 0);
    (void)std::vsnprintf(line.data(), line.size(), format, ap);
    text += std::string(line.c_str()) + "\n";
  }
  std::string text;
};

// Orders keys by their first byte.
class ByFirstByte final : public Comparator {
 public:
  const char* Name() const override { return "first byte"; }
  int Compare(const Slice& a, const Slice& b) const override {
    return Slice(a.data(), a.empty() ? 0 : 1).compare(Slice(b.data(), b.empty() ? 0 : 1));
  }
  bool Equal(const Slice& a, const Slice& b) const override { return Compare(a, b) == 0; }
  bool CanKeysWithDifferentByteContentsBeEqual() const override { return true; }
  void FindShortestSeparator(std::string*, const Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}
};

class ClientAnswersTest : public Database {};

TEST_F(ClientAnswersTest, EnablingManualCompactionBeforeDisablingCounts) {
  Open();
  MakeTable({"a"});
  db()->EnableManualCompaction();
  db()->DisableManualCompaction();
  ASSERT_TRUE(db()->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok());
  EXPECT_NE(Levels(), "1");
  db()->DisableManualCompaction();
  MakeTable({"b"});
  EXPECT_TRUE(db()->CompactRange(CompactRangeOptions(), nullptr, nullptr).IsIncomplete());
  db()->EnableManualCompaction();
  EXPECT_TRUE(db()->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok());
}

TEST_F(ClientAnswersTest, ATailingIteratorSeesWhatIsAddedAheadOfIt) {
  Open();
  Put("b", "1");
  ReadOptions options;
  options.tailing = true;
  for (const bool flushed : {false, true}) {
    const std::unique_ptr<Iterator> it(db()->NewIterator(options));
    it->SeekToFirst();
    ASSERT_TRUE(it->Valid());
    Put("c", "2");
    Put("d", "3");
    if (flushed) Flush();
    EXPECT_EQ(Rest(it.get()), "b=1 c=2 d=3") << flushed;
    it->Seek("c");
    Delete("d");
    it->Next();
    EXPECT_FALSE(it->Valid()) << "deleted ahead of it";
    EXPECT_TRUE(it->status().ok());
    it->SeekToLast();
    Put("bb", "4");
    it->Prev();
    ASSERT_TRUE(it->Valid());
    EXPECT_EQ(it->key(), Slice("bb"));
    Delete("bb");
    Delete("c");
  }
  const std::unique_ptr<Iterator> still(db()->NewIterator(ReadOptions()));
  still->SeekToFirst();
  Put("z", "9");
  EXPECT_EQ(Rest(still.get()), "b=1") << "others stay at their moment";
}

TEST_F(ClientAnswersTest, AHashInBlocksIsLeftOutWhereDifferentBytesMayBeEqual) {
  static const ByFirstByte order;
  options_.comparator = &order;
  BlockBasedTableOptions table;
  table.data_block_index_type = BlockBasedTableOptions::kDataBlockBinaryAndHash;
  options_.table_factory.reset(NewBlockBasedTableFactory(table));
  Open();
  MakeTable({"apple", "banana"});
  EXPECT_EQ(Get("bread"), Get("banana"));
  EXPECT_EQ(Get("cherry"), "NOT_FOUND");
}

TEST_F(ClientAnswersTest, AWriteBufferOfNothingBecomesTheSmallest) {
  options_.write_buffer_size = 0;
  Open();
  Put("a", "1");
  EXPECT_EQ(Get("a"), "1");
  EXPECT_TRUE(db()->SetOptions({{"write_buffer_size", "0"}}).ok());
}

TEST_F(ClientAnswersTest, OptionsThatAreNotToBeHadMayBeSetToWhatTheyAre) {
  Open();
  for (const char* name : {"memtable_protection_bytes_per_key"}) {
    EXPECT_TRUE(db()->SetOptions({{name, "0"}}).ok()) << name;
    const Status s = db()->SetOptions({{name, "3"}});
    EXPECT_TRUE(s.IsNotSupported()) << name << ": " << s.ToString();
    EXPECT_THAT(s.ToString(), HasSubstr(name));
  }
}

TEST_F(ClientAnswersTest, WhatIsThereInsteadOfADatabaseIsSaid) {
  options_.create_if_missing = false;
  Status s = TryOpen();
  EXPECT_EQ(s.ToString(), "Invalid argument: /db: does not exist (create_if_missing is false)");
  ASSERT_TRUE(file_system()->CreateDir(kName, IOOptions(), nullptr).ok());
  s = TryOpen();
  EXPECT_TRUE(s.IsInvalidArgument());
  EXPECT_THAT(s.ToString(), HasSubstr("a directory without a database"));
  EXPECT_THAT(s.ToString(), HasSubstr("create_if_missing is false"));
  options_.create_if_missing = true;
  Open();
  MakeTable({"a"});
  ASSERT_TRUE(Close().ok());
  options_.create_if_missing = false;
  ASSERT_TRUE(file_system()->DeleteFile("/db/CURRENT", IOOptions(), nullptr).ok());
  s = TryOpen();
  EXPECT_TRUE(s.IsCorruption()) << s.ToString();
  EXPECT_THAT(s.ToString(), HasSubstr("CURRENT is missing"));
  EXPECT_THAT(s.ToString(), HasSubstr("RepairDB"));
}

TEST_F(ClientAnswersTest, AMergeWithoutAnOperatorIsNotSupported) {
  Open();
  const Status s = db()->Merge(WriteOptions(), "k", "v");
  EXPECT_TRUE(s.IsNotSupported()) << s.ToString();
  EXPECT_THAT(s.ToString(), HasSubstr("merge_operator"));
}

// Clients count the calls of theirs.
TEST_F(ClientAnswersTest, TablesOfOneKeyAskNoComparator) {
  class Counting final : public Comparator {
   public:
    const char* Name() const override { return "Counting"; }
    int Compare(const Slice& a, const Slice& b) const override {
      calls++;
      return BytewiseComparator()->Compare(a, b);
    }
    void FindShortestSeparator(std::string* /*start*/, const Slice& /*limit*/) const override {}
    void FindShortSuccessor(std::string* /*key*/) const override {}
    mutable std::atomic<int> calls{0};
  };
  const Counting counting;
  options_.comparator = &counting;
  Open();
  ASSERT_TRUE(db()->Put(WriteOptions(), "k", "v").ok());
  ASSERT_TRUE(db()->Flush(FlushOptions()).ok());
  EXPECT_EQ(counting.calls, 0);
  ASSERT_TRUE(Close().ok());
  Open();
  EXPECT_EQ(counting.calls, 0);
  ASSERT_TRUE(Close().ok());
  options_.comparator = BytewiseComparator();
}

TEST_F(ClientAnswersTest, StatsTellHowMuchWasWritten) {
  Open();
  for (const char* key : {"a", "b", "c"}) Put(key, "1");
  WriteOptions synced;
  synced.sync = true;
  ASSERT_TRUE(db()->Put(synced, "d", "1").ok());
  WriteOptions unlogged;
  unlogged.disableWAL = true;
  ASSERT_TRUE(db()->Put(unlogged, "e", "1").ok());
  const std::string stats = Text("rocksdb.stats");
  EXPECT_THAT(stats, HasSubstr("Compaction Stats"));
  EXPECT_THAT(stats, HasSubstr("Cumulative writes: 5 writes, 5 keys, 5 commit groups"));
  EXPECT_THAT(stats, HasSubstr("Cumulative WAL: 4 writes, 1 syncs, 4.00 writes per sync"));
  EXPECT_THAT(stats, HasSubstr("Interval writes: 5 writes"));
  Put("f", "1");
  const std::string again = Text("rocksdb.dbstats");
  EXPECT_THAT(again, HasSubstr("Cumulative writes: 6 writes"));
  EXPECT_THAT(again, HasSubstr("Interval writes: 1 writes, 1 keys"));
  ASSERT_TRUE(db()->ResetStats().ok());
  EXPECT_THAT(Text("rocksdb.dbstats"), HasSubstr("Cumulative writes: 0 writes"));
  ASSERT_TRUE(Close().ok());
}

TEST_F(ClientAnswersTest, TheLogHasAllOptions) {
  const auto log = std::make_shared<KeepingLogger>();
  options_.info_log = log;
  options_.max_background_jobs = 3;
  options_.table_properties_collector_factories = {
      NewCompactOnDeletionCollectorFactory(5, 10, 0.5)};
  Open({"default", "side"});
  for (const char* line :
       {"Varve version: ", "DB SUMMARY", "DB pointer 0x", "Options.max_background_jobs: 3",
        "Options for column family [default]:", "Options for column family [side]:",
        "Options.write_buffer_size: ", "Options.table_factory: ", "Options.atomic_flush: 0",
        "\n  cache_index_and_filter_blocks: 0", "\n  data_block_index_type: 0",
        "upported on this processor", "kLZ4Compression supported: 1",
        "Options.compression: NoCompression", "Options.bottommost_compression: Disabled",
        "block_cache_options:\n    capacity : ",
        "Options.table_properties_collectors: CompactOnDeletionCollector (Sliding window size = 5 "
        "Deletion trigger = 10 Deletion ratio = 0.5)"}) {
    EXPECT_THAT(log->text, HasSubstr(line));
  }
  ColumnFamilyHandle* later = nullptr;
  ASSERT_TRUE(db()->CreateColumnFamily(options_, "later", &later).ok());
  EXPECT_THAT(log->text, HasSubstr("Options for column family [later]:"));
  ASSERT_TRUE(db()->DestroyColumnFamilyHandle(later).ok());
  ASSERT_TRUE(Close().ok());
  options_.info_log = SilentLogger();
}

TEST_F(ClientAnswersTest, ATableThatCannotBeOpenedFailsTheOpeningIfAllAreToBeOpen) {
  Open();
  MakeTable({"a", "b"});
  ASSERT_TRUE(Close().ok());
  FaultRule rule;
  rule.calls = Only(FaultCall::kOpenRead);
  rule.path_contains = ".sst";
  rule.sticky = true;
  faults().Inject(rule);
  const Status refused = TryOpen();
  EXPECT_TRUE(refused.IsIOError());
  EXPECT_THAT(refused.ToString(), AllOf(HasSubstr(".sst"), HasSubstr("max_open_files")));
  EXPECT_TRUE(TryOpenReadOnly().IsIOError());
  options_.max_open_files = 100;
  ASSERT_TRUE(TryOpen().ok());
  EXPECT_THAT(Get("a"), HasSubstr("IO error"));
  ASSERT_TRUE(Close().ok());
  faults().ClearFaults();
  options_.max_open_files = -1;
  ASSERT_TRUE(TryOpen().ok());
  EXPECT_EQ(Get("a"), "of a");
}

// Tables that are there stay as they are; those to come are built as was said, after an opening,
// too.
TEST_F(ClientAnswersTest, OptionsOfTablesAreChangedWhileTheDatabaseIsOpen) {
  BlockBasedTableOptions tables;
  tables.block_size = 4096;
  options_.table_factory.reset(NewBlockBasedTableFactory(tables));
  options_.disable_auto_compactions = true;
  options_.write_buffer_size = 4 << 20;
  Open();
  const auto blocks_of_newest = [this] {
    for (int i = 0; i < 2000; i++) Put("k" + std::to_string(i), std::string(20, 'v'));
    Flush();
    std::vector<LiveFileMetaData> files;
    db()->GetLiveFilesMetaData(&files);
    TablePropertiesCollection all;
    EXPECT_TRUE(db()->GetPropertiesOfAllTables(&all).ok());
    uint64_t newest = 0;
    std::string name;
    for (const LiveFileMetaData& file : files) {
      if (file.smallest_seqno < newest) continue;
      newest = file.smallest_seqno;
      name = file.name;
    }
    for (const auto& [path, properties] : all) {
      if (path.ends_with(name))
        return std::pair(properties->num_data_blocks, properties->filter_size);
    }
    return std::pair(uint64_t{0}, uint64_t{0});
  };
  const auto before = blocks_of_newest();
  EXPECT_EQ(before.second, 0u);
  ASSERT_TRUE(db()->SetOptions({{"block_based_table_factory",
                                 "{block_size=512;filter_policy=bloomfilter:10:false}"},
                                {"write_buffer_size", "2M"}})
                  .ok());
  const auto after = blocks_of_newest();
  EXPECT_GT(after.first, 4 * before.first);
  EXPECT_GT(after.second, 0u);
  for (int i = 0; i < 2000; i += 7) ASSERT_EQ(Get("k" + std::to_string(i)), std::string(20, 'v'));

  for (const char* const refused :
       {"{no_block_cache=true}", "{block_cache=1M}", "{unknown=1}", "{block_size=0}",
        "{block_size=x}", "{}", "block_size", "{format_version=99}"}) {
    const Status s = db()->SetOptions({{"block_based_table_factory", refused}});
    EXPECT_TRUE(s.IsInvalidArgument() || s.IsNotSupported()) << refused << ": " << s.ToString();
  }
  EXPECT_EQ(blocks_of_newest(), after);
  ASSERT_TRUE(db()->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok());
  for (int i = 0; i < 2000; i += 7) ASSERT_EQ(Get("k" + std::to_string(i)), std::string(20, 'v'));
  const auto* const now = db()->GetOptions().table_factory->GetOptions<BlockBasedTableOptions>();
  ASSERT_NE(now, nullptr);
  EXPECT_EQ(now->block_size, 512u);
}

// Counts the files in `directory` that this process has open, and would still have after an exec.
void CountOpenFiles(const std::string& directory, int* open, int* kept) {
  *open = *kept = 0;
  for (int fd = 0; fd < 1024; fd++) {
    char path[4096];
    const ssize_t n = readlink(("/proc/self/fd/" + std::to_string(fd)).c_str(), path, sizeof(path));
    if (n <= 0 || !Slice(path, static_cast<size_t>(n)).starts_with(directory + "/")) continue;
    const std::string name(path, static_cast<size_t>(n));
    const bool is_data = name.ends_with(".sst") || name.ends_with(".log") ||
                         name.find("/MANIFEST-") != std::string::npos;
    const bool stays = (fcntl(fd, F_GETFD) & FD_CLOEXEC) == 0;
    if (!is_data) {
      EXPECT_FALSE(stays) << name;  // never another program's
      continue;
    }
    (*open)++;
    if (stays) (*kept)++;
  }
}

TEST(ClientAnswersOnDiskTest, FilesAreClosedByExecUnlessAskedFor) {
  const std::string name = ::testing::TempDir() + "client_answers_exec";
  for (const bool closed : {true, false}) {
    Options options;
    options.create_if_missing = true;
    options.is_fd_close_on_exec = closed;
    ASSERT_TRUE(DestroyDB(name, options).ok());
    std::unique_ptr<DB> db;
    ASSERT_TRUE(DB::Open(options, name, &db).ok());
    ASSERT_TRUE(db->Put(WriteOptions(), "k", "v").ok());
    ASSERT_TRUE(db->Flush(FlushOptions()).ok());
    std::string value;
    ASSERT_TRUE(db->Get(ReadOptions(), "k", &value).ok());
    int open = 0;
    int kept = 0;
    CountOpenFiles(name, &open, &kept);
    EXPECT_GE(open, 2);  // a table and the MANIFEST at least
    EXPECT_EQ(kept, closed ? 0 : open);
    db.reset();
    ASSERT_TRUE(DestroyDB(name, options).ok());
  }
}

}  // namespace
}  // namespace varve::testing
