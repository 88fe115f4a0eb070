// SPDX-License-Identifier: Apache-2.0

// Goal: flushes begin for the right reasons beside a full memtable (old logs, range deletions), and
// leave the right memtables in memory.

#include <algorithm>
#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "varve/listener.h"
#include "varve/metadata.h"
#include "varve/statistics.h"
#include "varve/write_buffer_manager.h"

#include "tests/harness/database.h"
#include "util/env/mem_file_system.h"

namespace varve::testing {
namespace {

class FlushRulesTest : public Database {
 protected:
  uint64_t LogBytes() {
    uint64_t bytes = 0;
    for (const std::string& name : Files(kWalFile)) {
      uint64_t size = 0;  // stays when the log has gone meanwhile
      const std::string path = std::string(kName) + "/" + name;
      mem().GetFileSize(path, IOOptions(), &size, nullptr).PermitUncheckedError();
      bytes += size;
    }
    return bytes;
  }
};

TEST_F(FlushRulesTest, IdleFamiliesDoNotKeepLogsAtTheDefaultLimit) {
  options_.write_buffer_size = 64 << 10;
  options_.arena_block_size = 4 << 10;
  std::vector<std::string> families = {"default"};
  for (int i = 0; i < 20; i++) families.push_back("idle" + std::to_string(i));
  Open(families);
  for (int i = 0; i < 19; i++) Put("k", "old", "idle" + std::to_string(i));
  uint64_t most = 0;
  for (int i = 0; i < 1500; i++) {
    Put(std::to_string(i), std::string(4 << 10, 'v'));
    if (i % 100 == 99) most = std::max(most, LogBytes());
  }
  // Four times what all families may hold together would be 10 MiB.
  EXPECT_LT(most, 3u << 20);
  EXPECT_TRUE(Eventually([&] { return Levels("idle0") == "1" && Levels("idle18") == "1"; }));
  EXPECT_EQ(Levels("idle19"), "") << "it has nothing in any log";
  EXPECT_EQ(Get("k", "idle7"), "old");
  Kill();
  Open(families);
  EXPECT_EQ(Get("k", "idle7"), "old");
  EXPECT_EQ(Get("1499"), std::string(4 << 10, 'v'));
}

TEST_F(FlushRulesTest, MemtablesThatWaitToBeMergedDoNotKeepLogs) {
  options_.write_buffer_size = 64 << 10;
  options_.max_write_buffer_number = 4;
  options_.min_write_buffer_number_to_merge = 3;
  options_.max_total_wal_size = 512 << 10;
  Open({"default", "a"});
  for (int i = 0; Number("rocksdb.num-immutable-mem-table", "a") == 0; i++) {
    Put(std::to_string(i), std::string(4 << 10, 'v'), "a");
  }
  EXPECT_EQ(Levels("a"), "");
  for (int i = 0; i < 300; i++) Put(std::to_string(i), std::string(4 << 10, 'v'));
  EXPECT_TRUE(Eventually([&] { return Levels("a") == "1"; }));
}

TEST_F(FlushRulesTest, RangeDeletionsAreCounted) {
  options_.memtable_max_range_deletions = 3;
  Open();
  for (int i = 0; i < 3; i++) {
    ASSERT_TRUE(db()->DeleteRange(WriteOptions(), "a", "b" + std::to_string(i)).ok());
  }
  for (int i = 0; i < 3; i++) Put("k" + std::to_string(i), "v");
  EXPECT_TRUE(Eventually([&] { return Levels() == "1"; }));
  ASSERT_TRUE(db()->SetOptions({{"memtable_max_range_deletions", "0"}}).ok());
  for (int i = 0; i < 9; i++) {
    ASSERT_TRUE(db()->DeleteRange(WriteOptions(), "a", "b" + std::to_string(i)).ok());
  }
  ASSERT_TRUE(db()->WaitForCompact(WaitForCompactOptions()).ok());
  EXPECT_EQ(Levels(), "1");
}

// Counts each reason that has a ticker, alone and where families are flushed together.
TEST_F(FlushRulesTest, FlushesAreCountedByTheirReason) {
  struct Case {
    const char* name;
    size_t write_buffer_bytes;
    size_t manager_bytes;
    uint32_t range_deletions;
    Tickers of_flush;
    Tickers of_atomic;
    Histograms memory;
  };
  const Case cases[] = {
      {"full", 64 << 10, 0, 0, FLUSH_REASON_WRITE_BUFFER_FULL,
       ATOMIC_FLUSH_REQUEST_REASON_WRITE_BUFFER_FULL,
       FLUSH_WRITE_BUFFER_FULL_MEMTABLE_MEMORY_BYTES},
      {"manager", 4 << 20, 64 << 10, 0, FLUSH_REASON_WRITE_BUFFER_MANAGER,
       ATOMIC_FLUSH_REQUEST_REASON_WRITE_BUFFER_MANAGER,
       FLUSH_WRITE_BUFFER_MANAGER_MEMTABLE_MEMORY_BYTES},
      {"ranges", 4 << 20, 0, 2, FLUSH_REASON_MEMTABLE_MAX_RANGE_DELETIONS,
       ATOMIC_FLUSH_REQUEST_REASON_MEMTABLE_MAX_RANGE_DELETIONS, FLUSH_MEMTABLE_MEMORY_BYTES},
  };
  for (const Case& c : cases) {
    for (const bool atomic : {false, true}) {
      SCOPED_TRACE(c.name + std::string(atomic ? " atomic" : ""));
      Statistics& counts = *(options_.statistics = CreateDBStatistics());
      options_.atomic_flush = atomic;
      options_.write_buffer_size = c.write_buffer_bytes;
      options_.write_buffer_manager = std::make_shared<WriteBufferManager>(c.manager_bytes);
      options_.memtable_max_range_deletions = c.range_deletions;
      Open();
      for (int i = 0; i < 60; i++) {
        if (c.range_deletions != 0) {
          ASSERT_TRUE(db()->DeleteRange(WriteOptions(), "a", "b").ok());
        }
        Put(std::to_string(i), std::string(4 << 10, 'v'));
      }
      ASSERT_TRUE(db()->WaitForCompact(WaitForCompactOptions()).ok());
      Put("last", "v");
      ASSERT_TRUE(db()->WaitForCompact(WaitForCompactOptions()).ok());
      const uint64_t flushes = counts.getTickerCount(c.of_flush);
      EXPECT_GT(flushes, 0u);
      EXPECT_EQ(counts.getTickerCount(c.of_atomic) > 0, atomic);
      EXPECT_EQ(counts.getTickerCount(ATOMIC_FLUSH_REQUEST_REASON_OTHER), 0u);
      Flush();
      EXPECT_EQ(counts.getTickerCount(ATOMIC_FLUSH_REQUEST_REASON_OTHER), atomic ? 1u : 0u);
      EXPECT_EQ(counts.getTickerCount(c.of_flush), flushes);
      HistogramData data;
      counts.histogramData(c.memory, &data);
      EXPECT_GE(data.max, 4 << 10);
      counts.histogramData(FLUSH_MEMTABLE_TOTAL_DATA_SIZE_BYTES, &data);
      EXPECT_GT(data.count, flushes);
      ASSERT_TRUE(Close().ok());
      ASSERT_TRUE(DestroyDB(kName, options_).ok());
    }
  }
}

TEST_F(FlushRulesTest, HistoryIsKeptUpToItsSize) {
  options_.arena_block_size = 4 << 10;
  options_.write_buffer_size = 256 << 10;
  options_.max_write_buffer_size_to_maintain = 512 << 10;
  Open();
  for (int i = 0; i < 3; i++) MakeTable({"a", "b"});
  EXPECT_EQ(Number("rocksdb.num-immutable-mem-table-flushed"), 3u);
  EXPECT_GT(Number("rocksdb.size-all-mem-tables"), Number("rocksdb.cur-size-all-mem-tables"));
  for (int i = 0; i < 400; i++) Put(std::to_string(i), std::string(4 << 10, 'v'));
  Flush();
  EXPECT_LE(Number("rocksdb.size-all-mem-tables"), 512u << 10);
  EXPECT_GT(Number("rocksdb.num-immutable-mem-table-flushed"), 0u);
}

TEST_F(FlushRulesTest, NoHistoryByDefault) {
  Open();
  MakeTable({"a"});
  EXPECT_EQ(Number("rocksdb.num-immutable-mem-table-flushed"), 0u);
  EXPECT_EQ(Number("rocksdb.size-all-mem-tables"), Number("rocksdb.cur-size-all-mem-tables"));
}

// Looks at the memory of all memtables when a flush has ended.
class MemoryAtFlushEnd final : public EventListener {
 public:
  explicit MemoryAtFlushEnd(std::shared_ptr<WriteBufferManager> memory)
      : memory_(std::move(memory)) {}
  void OnFlushCompleted(DB*, const FlushJobInfo&) override { seen_.store(memory_->memory_usage()); }
  size_t seen() const { return seen_.load(); }

 private:
  const std::shared_ptr<WriteBufferManager> memory_;
  std::atomic<size_t> seen_{0};
};

class FlushedMemoryTest : public FlushRulesTest {
 protected:
  FlushedMemoryTest() {
    options_.write_buffer_size = 4 << 20;
    options_.write_buffer_manager = memory_;
    options_.listeners = {listener_};
  }
  void Write(const std::string& family, int mebibytes) {
    for (int i = 0; i < mebibytes << 8; i++) {
      Put("k" + std::to_string(i % 100), std::string(4 << 10, 'v'), family);
    }
  }

  static constexpr size_t kEmpty = 128 << 10;  // bytes of two empty tables, at most
  const std::shared_ptr<WriteBufferManager> memory_ =
      std::make_shared<WriteBufferManager>(size_t{1} << 30);
  const std::shared_ptr<MemoryAtFlushEnd> listener_ = std::make_shared<MemoryAtFlushEnd>(memory_);
};

TEST_F(FlushedMemoryTest, IsGivenBackBeforeAnybodyHearsOfTheFlush) {
  Open();
  Write("default", 2);
  EXPECT_GT(memory_->memory_usage(), 2u << 20);
  Flush();
  EXPECT_TRUE(Eventually([&] { return listener_->seen() != 0; }));
  EXPECT_LE(listener_->seen(), kEmpty);
}

TEST_F(FlushedMemoryTest, NothingIsKeptOnceAllFamiliesAreIdle) {
  Open({"default", "other"});
  std::thread writer([&] { Write("other", 30); });
  Write("default", 30);
  writer.join();
  Flush();
  Flush("other");
  EXPECT_TRUE(Eventually([&] { return memory_->memory_usage() <= kEmpty; }))
      << memory_->memory_usage();
  EXPECT_LE(Number("rocksdb.size-all-mem-tables") + Number("rocksdb.size-all-mem-tables", "other"),
            kEmpty);
}

TEST_F(FlushedMemoryTest, AnIteratorKeepsItsOwnAndNoMore) {
  Open();
  Write("default", 2);
  std::unique_ptr<Iterator> pinning(db()->NewIterator(ReadOptions()));
  Flush();
  Write("default", 2);
  Flush();
  EXPECT_TRUE(Eventually([&] { return memory_->memory_usage() < 3u << 20; }));
  EXPECT_GT(memory_->memory_usage(), 2u << 20);
  pinning->SeekToFirst();
  EXPECT_TRUE(pinning->Valid());
  pinning.reset();
  EXPECT_TRUE(Eventually([&] { return memory_->memory_usage() <= kEmpty; }));
}

// Memtables that were frozen together are flushed in one job, also if one waited already.
TEST_F(FlushRulesTest, AtomicFlushesThatWaitBecomeOne) {
  options_.atomic_flush = true;
  Open({"default", "a", "b"});
  WriteOptions unlogged;
  unlogged.disableWAL = true;
  FlushOptions no_wait;
  no_wait.wait = false;
  no_wait.allow_write_stall = true;
  ASSERT_TRUE(db()->PauseBackgroundWork().ok());
  ASSERT_TRUE(db()->Put(unlogged, Handle("a"), "k", "1").ok());
  ASSERT_TRUE(db()->Flush(no_wait).ok());
  WriteBatch both;
  ASSERT_TRUE(both.Put(Handle("a"), "k", "2").ok());
  ASSERT_TRUE(both.Put(Handle("b"), "k", "2").ok());
  ASSERT_TRUE(db()->Write(unlogged, &both).ok());
  ASSERT_TRUE(db()->Flush(no_wait).ok());
  EXPECT_EQ(Number("rocksdb.mem-table-flush-pending", "a"), 1u);
  const uint64_t before = Number("rocksdb.current-super-version-number", "b");
  ASSERT_TRUE(db()->ContinueBackgroundWork().ok());
  EXPECT_TRUE(Eventually([&] { return Levels("a") == "1"; })) << "both memtables in one table";
  EXPECT_EQ(Levels("b"), "1") << "in force in the same step";
  EXPECT_GT(Number("rocksdb.current-super-version-number", "b"), before);
}

// Makes nothing of errors, counts them, and notes how many tables there are after the first flush.
class ForgivingListener final : public EventListener {
 public:
  void OnBackgroundError(BackgroundErrorReason, Status* status) override {
    errors.fetch_add(1);
    *status = Status::OK();
  }
  void OnFlushCompleted(DB* db, const FlushJobInfo&) override {
    std::vector<LiveFileMetaData> files;
    db->GetLiveFilesMetaData(&files);
    size_t none = 0;
    tables.compare_exchange_strong(none, files.size());
  }
  std::atomic<int> errors{0};
  std::atomic<size_t> tables{0};
};

TEST_F(FlushRulesTest, AForgivenAtomicFlushIsRepeatedWhole) {
  const auto listener = std::make_shared<ForgivingListener>();
  options_.listeners = {listener};
  options_.atomic_flush = true;
  options_.create_missing_column_families = true;
  Open({"default", "a", "b"});
  WriteOptions unlogged;
  unlogged.disableWAL = true;
  WriteBatch both;
  ASSERT_TRUE(both.Put(Handle("a"), "k", "1").ok());
  ASSERT_TRUE(both.Put(Handle("b"), "k", "1").ok());
  ASSERT_TRUE(db()->Write(unlogged, &both).ok());
  FaultRule rule;
  rule.calls = Only(FaultCall::kCreate);
  rule.path_contains = ".sst";
  rule.nth = 2;
  faults().Inject(rule);
  ASSERT_TRUE(db()->Flush(FlushOptions(), {Handle("a"), Handle("b")}).ok());
  EXPECT_EQ(listener->errors, 1);
  EXPECT_TRUE(Eventually([&] { return listener->tables != 0; }));
  EXPECT_EQ(listener->tables, 2u) << "in force in the same step";
}

TEST_F(FlushRulesTest, AForgivenFlushIsRepeatedAfterARest) {
  const auto listener = std::make_shared<ForgivingListener>();
  options_.listeners = {listener};
  Open();
  Put("k", "1");
  FaultRule rule;
  rule.calls = Only(FaultCall::kCreate);
  rule.path_contains = ".sst";
  rule.sticky = true;
  faults().Inject(rule);
  std::thread flush([&] { EXPECT_TRUE(db()->Flush(FlushOptions()).ok()); });
  EXPECT_TRUE(Eventually([&] { return listener->errors >= 2; }));
  EXPECT_LE(listener->errors, 3);
  faults().ClearFaults();
  flush.join();
  EXPECT_EQ(Levels(), "1");
}

// A huge budget asks for few flushes.
TEST_F(FlushRulesTest, HugeBudgetsLetLogsGrow) {
  for (const int shift : {61, 62, 63}) {
    options_.write_buffer_size = size_t{1} << shift;
    Open({"default", "other"});
    for (int i = 0; i < 40; i++) Put("k" + std::to_string(i), std::string(32 << 10, 'v'));
    ASSERT_TRUE(db()->WaitForCompact(WaitForCompactOptions()).ok());
    EXPECT_EQ(Levels(), "") << shift;
    ASSERT_TRUE(Close().ok());
    Remount(std::make_shared<MemFileSystem>());
  }
}

// Notes which flushes make writers wait because of level 0: "-" none, "d" delays, "s" stops them.
class StallingFlushes final : public EventListener {
 public:
  void OnFlushCompleted(DB*, const FlushJobInfo& info) override {
    text += info.triggered_writes_stop ? 's' : info.triggered_writes_slowdown ? 'd' : '-';
  }
  std::string text;
};

TEST_F(FlushRulesTest, ListenersHearThatLevel0MakesWritersWait) {
  const auto listener = std::make_shared<StallingFlushes>();
  options_.listeners = {listener};
  options_.disable_auto_compactions = true;
  options_.level0_file_num_compaction_trigger = 1;
  options_.level0_slowdown_writes_trigger = 2;
  options_.level0_stop_writes_trigger = 3;
  Open();
  for (int i = 0; i < 3; i++) MakeTable({"a"});
  ASSERT_TRUE(Close().ok());
  EXPECT_EQ(listener->text, "-ds");
}

// Holds the first flush back until the test lets it go on, and counts those that begin and end.
class FirstFlushWaits final : public EventListener {
 public:
  void OnFlushBegin(DB*, const FlushJobInfo&) override {
    if (begun_.fetch_add(1) > 0) return;
    held_.wait(true);
  }
  void OnFlushCompleted(DB*, const FlushJobInfo&) override { ended_.fetch_add(1); }
  void LetGo() {
    held_.store(false);
    held_.notify_all();
  }
  int begun() const { return begun_.load(); }
  int ended() const { return ended_.load(); }

 private:
  std::atomic<bool> held_{true};
  std::atomic<int> begun_{0};
  std::atomic<int> ended_{0};
};

class FlushesAtOnceTest : public FlushRulesTest {
 protected:
  FlushesAtOnceTest() {
    options_.write_buffer_size = 64 << 10;
    options_.arena_block_size = 4 << 10;
    options_.max_write_buffer_number = 8;
    options_.max_background_jobs = 16;
    options_.disable_auto_compactions = true;
    options_.listeners = {listener_};
  }
  ~FlushesAtOnceTest() override { listener_->LetGo(); }
  // Holds the flush of the oldest of `n` memtables before that of the next one can begin.
  void HoldOldestOf(uint64_t n) {
    FillMemtables(1);
    ASSERT_TRUE(Eventually([&] { return listener_->begun() == 1; }));
    FillMemtables(n);
    ASSERT_TRUE(Eventually([&] { return listener_->begun() == static_cast<int>(n); }));
  }
  // Overwrites a few keys until this many memtables wait.
  void FillMemtables(uint64_t wanted) {
    for (int i = 0; Number("rocksdb.num-immutable-mem-table") < wanted; i++) {
      newest_ = std::to_string(i) + std::string(1 << 10, 'v');
      Put("k" + std::to_string(i % 5), newest_);
      newest_key_ = "k" + std::to_string(i % 5);
    }
  }

  const std::shared_ptr<FirstFlushWaits> listener_ = std::make_shared<FirstFlushWaits>();
  std::string newest_key_;
  std::string newest_;
};

TEST_F(FlushesAtOnceTest, NewerOnesWaitForOlderOnesBeforeTheyAreInForce) {
  Open();
  HoldOldestOf(4);
  EXPECT_EQ(Levels(), "") << "the oldest is held back";
  EXPECT_EQ(Number("rocksdb.num-running-flushes"), 4u);
  EXPECT_EQ(Get(newest_key_), newest_);
  listener_->LetGo();
  EXPECT_TRUE(Eventually([&] { return Levels() == "4" && listener_->ended() == 4; }));
  EXPECT_EQ(Get(newest_key_), newest_);
  Kill();
  Open();
  EXPECT_EQ(Get(newest_key_), newest_);
}

TEST_F(FlushesAtOnceTest, NewerOnesGiveWayWhenAnOlderOneFails) {
  Open();
  HoldOldestOf(3);
  // The newer tables are written by now, or about to be; the oldest cannot be.
  EXPECT_TRUE(Eventually([&] { return Files(kTableFile).size() == 2; }));
  FaultRule rule;
  rule.calls = Only(FaultCall::kCreate);
  rule.path_contains = ".sst";
  rule.sticky = true;  // or recovery would have done it before this looks
  faults().Inject(rule);
  listener_->LetGo();
  EXPECT_TRUE(Eventually([&] { return Number("rocksdb.background-errors") > 0; }));
  EXPECT_TRUE(Eventually([&] { return Number("rocksdb.num-running-flushes") == 0; }));
  EXPECT_EQ(Number("rocksdb.background-errors"), 1u) << "the newer ones have nothing to report";
  EXPECT_EQ(Levels(), "");
  EXPECT_TRUE(Files(kTableFile).empty());
  EXPECT_EQ(Get(newest_key_), newest_);
  faults().ClearFaults();
  ASSERT_TRUE(db()->Resume().ok());
  EXPECT_EQ(Number("rocksdb.num-immutable-mem-table"), 0u);
  EXPECT_EQ(Get(newest_key_), newest_);
  Kill();
  Open();
  EXPECT_EQ(Get(newest_key_), newest_);
}

TEST_F(FlushesAtOnceTest, WhatWaitsIsFlushedInTablesOfFullMemtables) {
  listener_->LetGo();
  Open();
  ASSERT_TRUE(db()->PauseBackgroundWork().ok());
  FillMemtables(5);
  ASSERT_TRUE(db()->ContinueBackgroundWork().ok());
  EXPECT_TRUE(Eventually([&] { return Levels() == "5"; }));
}

TEST_F(FlushesAtOnceTest, SmallMemtablesMakeOneTable) {
  listener_->LetGo();
  Open();
  FlushOptions no_wait;
  no_wait.wait = false;
  no_wait.allow_write_stall = true;
  ASSERT_TRUE(db()->PauseBackgroundWork().ok());
  for (int i = 0; i < 4; i++) {
    Put("k", std::to_string(i));
    ASSERT_TRUE(db()->Flush(no_wait).ok());
  }
  ASSERT_TRUE(db()->ContinueBackgroundWork().ok());
  EXPECT_TRUE(Eventually([&] { return Levels() == "1"; }));
  EXPECT_EQ(Number("rocksdb.num-immutable-mem-table"), 0u);
  EXPECT_EQ(Get("k"), "3");
}

TEST_F(FlushesAtOnceTest, MemtablesToBeMergedStayTogether) {
  options_.min_write_buffer_number_to_merge = 3;
  Open();
  FillMemtables(6);
  EXPECT_TRUE(Eventually([&] { return listener_->begun() == 2; }));
  listener_->LetGo();
  EXPECT_TRUE(Eventually([&] { return Levels() == "2" && listener_->ended() == 2; }));
  EXPECT_EQ(Get(newest_key_), newest_);
}

TEST_F(FlushesAtOnceTest, ARequestBehindAFullMemtablesFlushIsNotForgotten) {
  listener_->LetGo();
  options_.min_write_buffer_number_to_merge = 2;
  Open();
  ASSERT_TRUE(db()->PauseBackgroundWork().ok());
  FillMemtables(2);
  FlushOptions no_wait;
  no_wait.wait = false;
  no_wait.allow_write_stall = true;
  ASSERT_TRUE(db()->Flush(no_wait).ok());
  ASSERT_TRUE(db()->ContinueBackgroundWork().ok());
  EXPECT_TRUE(Eventually([&] { return Number("rocksdb.num-immutable-mem-table") == 0; }));
  EXPECT_EQ(Get(newest_key_), newest_);
}

}  // namespace
}  // namespace varve::testing
