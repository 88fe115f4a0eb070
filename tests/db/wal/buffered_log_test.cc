// SPDX-License-Identifier: Apache-2.0

// Goal: the state that a buffered log reports is true at any moment: a ticket counts when its
// record is in the file, and bytes are those of the file. Method: logs of each kind, looked at
// while a record is appended, filled by several threads while another syncs, and read back.

#include "db/wal/buffered_log.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <thread>
#include <vector>

#include "tests/db/wal/log_test_file.h"

namespace varve {
namespace {

constexpr wal::LogWriterOptions kKinds[] = {
    {.manual_flush = false, .recyclable = false, .compression = kNoCompression},
    {.manual_flush = true, .recyclable = false, .compression = kNoCompression},
    {.manual_flush = false, .recyclable = true, .compression = kNoCompression},
    {.manual_flush = false, .recyclable = false, .compression = kZSTD},
};

class BufferedLogTest : public ::testing::Test, public MemFileSystem::CallHook {
 protected:
  void Make(const wal::LogWriterOptions& options) {
    fs_ = std::make_shared<MemFileSystem>();
    std::unique_ptr<WritableFileWriter> file;
    ASSERT_TRUE(WritableFileWriter::Create(fs_.get(), "/log", FileOptions(), {}, &file).ok());
    log_ = std::make_unique<wal::BufferedLog>(
        std::make_unique<wal::LogWriter>(std::move(file), 1, options));
  }
  ~BufferedLogTest() override { fs_->SetCallHook(nullptr); }

  wal::LogReservation Reserve(const std::string& record) {
    wal::LogReservation place;
    MutexLock lock(&reserve_mu_);
    EXPECT_TRUE(log_->Reserve(record.size(), &place).ok());
    return place;
  }
  void Add(const std::string& record) {
    const wal::LogReservation place = Reserve(record);
    log_->Fill(place, record);
    EXPECT_TRUE(log_->WaitWhole(place).ok());
  }
  uint64_t FileBytes() {
    uint64_t bytes = 0;
    EXPECT_TRUE(fs_->GetFileSize("/log", IOOptions(), &bytes, nullptr).ok());
    return bytes;
  }
  void BeforeCall(uint64_t, MemCall call, const std::string&) override {
    if (call == MemCall::kAppend && during_append_) during_append_();
  }

  std::shared_ptr<MemFileSystem> fs_;
  std::unique_ptr<wal::BufferedLog> log_;
  Mutex reserve_mu_;
  std::function<void()> during_append_;
};

TEST_F(BufferedLogTest, SizesAreThoseOfTheFile) {
  for (const wal::LogWriterOptions& kind : kKinds) {
    Make(kind);
    fs_->SetCallHook(this);
    for (uint64_t i = 1; i <= 20; i++) {
      // Nothing of a record is counted while it is handed over.
      const uint64_t before = log_->size();
      during_append_ = [&] {
        EXPECT_EQ(log_->last_ticket(), i);
        if (!kind.manual_flush) {
          EXPECT_EQ(log_->size(), before);
        }
      };
      Add(std::string(i * 1000, 'r'));
      wal::LogExtent covered;
      ASSERT_TRUE(log_->Sync(false, &covered).ok());
      EXPECT_EQ(covered.ticket, i);
      EXPECT_EQ(covered.bytes, FileBytes());
      EXPECT_EQ(log_->size(), FileBytes());
    }
    during_append_ = nullptr;
    fs_->SetCallHook(nullptr);
    ASSERT_TRUE(log_->Close().ok());
  }
}

// Bytes that came while a sync was at the file are not covered by it, however large the file is
// then.
TEST_F(BufferedLogTest, ASyncCoversWhatWasThereWhenItBegan) {
  for (const wal::LogWriterOptions& kind : kKinds) {
    if (kind.manual_flush) continue;  // appends wait for its syncs
    Make(kind);
    Add("first");
    const uint64_t bytes = log_->size();
    class WhileSyncing final : public MemFileSystem::CallHook {
     public:
      explicit WhileSyncing(std::function<void()> action) : action_(std::move(action)) {}
      void BeforeCall(uint64_t, MemCall call, const std::string&) override {
        if (call == MemCall::kSync) action_();
      }

     private:
      const std::function<void()> action_;
    } during([&] { Add("second"); });
    fs_->SetCallHook(&during);
    wal::LogExtent covered;
    ASSERT_TRUE(log_->Sync(false, &covered).ok());
    fs_->SetCallHook(nullptr);
    EXPECT_EQ(covered.ticket, 1u);
    EXPECT_EQ(covered.bytes, bytes);
    EXPECT_EQ(log_->last_ticket(), 2u);
    EXPECT_GT(log_->size(), bytes);
  }
}

TEST_F(BufferedLogTest, WhateverIsCoveredIsWhole) {
  constexpr int kThreads = 3;
  constexpr int kRecords = 150;
  for (const wal::LogWriterOptions& kind : kKinds) {
    Make(kind);
    std::atomic<int> running{kThreads};
    std::vector<std::thread> writers;
    for (int t = 0; t < kThreads; t++) {
      writers.emplace_back([&] {
        for (int i = 0; i < kRecords; i++) Add(std::string(static_cast<size_t>(i % 90) * 7, 'x'));
        running--;
      });
    }
    std::vector<wal::LogExtent> seen;
    while (running.load() > 0) {
      wal::LogExtent covered;
      EXPECT_TRUE(log_->Sync(false, &covered).ok());
      seen.push_back(covered);
      EXPECT_TRUE(log_->Flush().ok());
    }
    for (std::thread& writer : writers) writer.join();
    ASSERT_TRUE(log_->Close().ok());
    const LogContents read = ReadLog(fs_.get(), "/log", WALRecoveryMode::kPointInTimeRecovery, 1);
    ASSERT_EQ(read.records.size(), size_t{kThreads} * kRecords);
    for (const wal::LogExtent& covered : seen) {
      EXPECT_EQ(covered.bytes, covered.ticket == 0 ? 0 : read.ends[covered.ticket - 1]);
    }
  }
}

// A caller that flushes logs need not know that one of them was closed meanwhile.
TEST_F(BufferedLogTest, NothingIsLeftToFlushBehindClose) {
  for (const wal::LogWriterOptions& kind : kKinds) {
    Make(kind);
    Add("record");
    ASSERT_TRUE(log_->Close().ok());
    EXPECT_TRUE(log_->Flush().ok());
    EXPECT_EQ(log_->size(), FileBytes());
  }
}

// The end of a recycled log must be synced like a record.
TEST_F(BufferedLogTest, SealingARecycledLogAsksForASync) {
  for (const wal::LogWriterOptions& kind : kKinds) {
    Make(kind);
    Add("record");
    wal::LogExtent covered;
    ASSERT_TRUE(log_->Sync(false, &covered).ok());
    ASSERT_TRUE(log_->Seal().ok());
    EXPECT_EQ(log_->last_ticket() > covered.ticket, kind.recyclable);
    ASSERT_TRUE(log_->Sync(false, &covered).ok());
    EXPECT_EQ(log_->last_ticket(), covered.ticket);
  }
}

}  // namespace
}  // namespace varve
