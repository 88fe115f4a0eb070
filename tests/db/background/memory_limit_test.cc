// SPDX-License-Identifier: Apache-2.0

// Goal: writers wait at the limit of a WriteBufferManager that may stall, and never for nothing.

#include <gmock/gmock.h>

#include <atomic>
#include <thread>

#include "varve/statistics.h"
#include "varve/write_buffer_manager.h"

#include "tests/harness/database.h"

namespace varve::testing {
namespace {

using ::testing::HasSubstr;

class MemoryLimitTest : public Database {
 protected:
  MemoryLimitTest() {
    options_.write_buffer_size = 64 << 20;
    options_.arena_block_size = 16 << 10;
    options_.statistics = CreateDBStatistics();
    options_.write_buffer_manager = memory_;
  }

  // Writes until the limit refuses it. Background work is paused.
  void Fill() {
    ASSERT_TRUE(db()->PauseBackgroundWork().ok());
    WriteOptions quick;
    quick.no_slowdown = true;
    Status s;
    for (int i = 0; i < 10000 && s.ok(); i++) {
      s = db()->Put(quick, std::to_string(i), std::string(4 << 10, 'v'));
    }
    EXPECT_TRUE(s.IsIncomplete()) << s.ToString();
    EXPECT_THAT(s.ToString(), HasSubstr("write-buffer manager"));
    EXPECT_GE(memory_->memory_usage(), memory_->buffer_size());
  }
  std::string Stops() {
    std::map<std::string, std::string> map;
    EXPECT_TRUE(db()->GetMapProperty("rocksdb.db-write-stall-stats", &map));
    return map["write-buffer-manager-limit-stops"];
  }
  // A writer that waits, and what ends that.
  void ExpectToEndTheWait(const std::function<void()>& end) {
    std::atomic<bool> done{false};
    Status s;
    std::thread writer([&] {
      s = db()->Put(WriteOptions(), "patient", "p");
      done.store(true);
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    EXPECT_FALSE(done.load());
    end();
    EXPECT_TRUE(Eventually([&] { return done.load(); }));
    writer.join();
    result_ = s;
  }

  const std::shared_ptr<WriteBufferManager> memory_ =
      std::make_shared<WriteBufferManager>(512 << 10, nullptr, /*allow_stall=*/true);
  Status result_;
};

TEST_F(MemoryLimitTest, WritersWaitForAFlush) {
  Open();
  Fill();
  ExpectToEndTheWait([&] { ASSERT_TRUE(db()->ContinueBackgroundWork().ok()); });
  EXPECT_TRUE(result_.ok()) << result_.ToString();
  EXPECT_EQ(Get("patient"), "p");
  EXPECT_EQ(Stops(), "1");
  EXPECT_EQ(options_.statistics->getTickerCount(STALL_MICROS), 0u) << "another mechanism";
}

TEST_F(MemoryLimitTest, AHigherLimitOrNoStallEndsTheWait) {
  Open();
  Fill();
  ExpectToEndTheWait([&] { memory_->SetBufferSize(8 << 20); });
  EXPECT_TRUE(result_.ok());
  memory_->SetBufferSize(256 << 10);
  ExpectToEndTheWait([&] { memory_->SetAllowStall(false); });
  EXPECT_TRUE(result_.ok());
  ASSERT_TRUE(db()->ContinueBackgroundWork().ok());
}

TEST_F(MemoryLimitTest, ClosingEndsTheWait) {
  Open();
  Fill();
  ExpectToEndTheWait([&] { EXPECT_TRUE(db()->Close().ok()); });
  EXPECT_TRUE(result_.IsShutdownInProgress()) << result_.ToString();
}

// The memory belongs to another database, which gets no writes.
TEST_F(MemoryLimitTest, AnIdleDatabaseIsFlushedForOthers) {
  memory_->SetBufferSize(64 << 20);
  Open();
  for (int i = 0; i < 150; i++) Put(std::to_string(i), std::string(4 << 10, 'v'));
  std::unique_ptr<DB> other;
  ASSERT_TRUE(DB::Open(options_, "/other", &other).ok());
  memory_->SetBufferSize(512 << 10);
  for (int i = 0; i < 20; i++) {
    ASSERT_TRUE(other->Put(WriteOptions(), std::to_string(i), std::string(1 << 10, 'w')).ok());
  }
  EXPECT_TRUE(Eventually([&] { return Levels() == "1"; }));
  EXPECT_LT(memory_->memory_usage(), memory_->buffer_size());
  other.reset();
}

TEST_F(MemoryLimitTest, WhatNoFlushFreesHoldsNobodyUp) {
  Open();
  for (int i = 0; i < 80; i++) Put(std::to_string(i), std::string(4 << 10, 'v'));
  const std::unique_ptr<Iterator> pinned(db()->NewIterator(ReadOptions()));
  pinned->SeekToFirst();
  Flush();
  memory_->SetBufferSize(128 << 10);
  EXPECT_GE(memory_->memory_usage(), memory_->buffer_size());
  for (int i = 0; i < 5; i++) Put("after" + std::to_string(i), "v");
  EXPECT_EQ(Get("after4"), "v");
}

// Memory that iterators hold exceeds the limit, or almost: that makes no tables of a single key.
TEST_F(MemoryLimitTest, PinnedMemoryMakesNoTinyTables) {
  options_.disable_auto_compactions = true;
  options_.level0_slowdown_writes_trigger = options_.level0_stop_writes_trigger = 10000;
  Open();
  for (int i = 0; i < 80; i++) Put(std::to_string(i), std::string(4 << 10, 'v'));
  std::unique_ptr<Iterator> pinned(db()->NewIterator(ReadOptions()));
  pinned->SeekToFirst();
  Flush();
  ASSERT_EQ(Levels(), "1");
  const size_t held = memory_->memory_usage();
  const auto tables = [this] { return std::stoull(Text("rocksdb.num-files-at-level0")); };
  uint64_t before = tables();
  for (const size_t limit : {held / 2, held + (2 << 10)}) {
    memory_->SetBufferSize(limit);
    for (int i = 0; i < 300; i++) Put("small" + std::to_string(i), "v");
    EXPECT_LE(tables(), before + 3) << limit;
    before = tables();
    // Much of it is flushed, though.
    for (int i = 0; i < 300; i++) Put("large" + std::to_string(i), std::string(4 << 10, 'v'));
    EXPECT_TRUE(Eventually([&] { return tables() > before; }));
    EXPECT_LE(tables(), before + 80) << limit;
    EXPECT_TRUE(Eventually([&] { return memory_->memory_usage() < held + limit; }));
    before = tables();
  }
  EXPECT_EQ(Get("small299"), "v");
}

TEST_F(MemoryLimitTest, IdleFamiliesAreFlushed) {
  Open({"default", "idle"});
  for (int i = 0; i < 60; i++) Put(std::to_string(i), std::string(4 << 10, 'v'), "idle");
  for (int i = 0; i < 300; i++) Put(std::to_string(i), std::string(4 << 10, 'v'));
  EXPECT_TRUE(Eventually([&] { return Levels("idle") == "1"; }));
}

TEST_F(MemoryLimitTest, HistoryGoesBeforeAnybodyWaits) {
  options_.max_write_buffer_size_to_maintain = 1 << 30;
  Open();
  for (int i = 0; i < 80; i++) Put(std::to_string(i), std::string(4 << 10, 'v'));
  Flush();
  EXPECT_EQ(Number("rocksdb.num-immutable-mem-table-flushed"), 1u);
  memory_->SetBufferSize(128 << 10);
  Put("after", "v");
  Put("after", "w");
  EXPECT_EQ(Number("rocksdb.num-immutable-mem-table-flushed"), 0u);
  EXPECT_EQ(Get("after"), "w");
}

}  // namespace
}  // namespace varve::testing
