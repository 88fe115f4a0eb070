// SPDX-License-Identifier: Apache-2.0

// Goal: where programs that were written for RocksDB lean on an answer, they get it. One test an
// answer.

#include <gmock/gmock.h>

#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "varve/comparator.h"
#include "varve/table.h"

#include "tests/harness/database.h"

namespace varve::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Keeps what it is told.
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
  for (const char* name : {"sample_for_compression", "memtable_protection_bytes_per_key"}) {
    EXPECT_TRUE(db()->SetOptions({{name, "0"}}).ok()) << name;
    const Status s = db()->SetOptions({{name, "1"}});
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

TEST_F(ClientAnswersTest, TheLogHasAllOptions) {
  const auto log = std::make_shared<KeepingLogger>();
  options_.info_log = log;
  options_.max_background_jobs = 3;
  Open({"default", "side"});
  for (const char* line :
       {"Varve version: ", "DB SUMMARY", "Options.max_background_jobs: 3",
        "Options for column family [default]:", "Options for column family [side]:",
        "Options.write_buffer_size: ", "Options.table_factory: ", "Options.atomic_flush: 0",
        "\n  cache_index_and_filter_blocks: 0", "\n  data_block_index_type: 0",
        "Fast CRC32 supported: ", "kLZ4Compression supported: 1",
        "Options.table_properties_collectors: "}) {
    EXPECT_THAT(log->text, HasSubstr(line));
  }
  ASSERT_TRUE(Close().ok());
  options_.info_log = SilentLogger();
}

}  // namespace
}  // namespace varve::testing
