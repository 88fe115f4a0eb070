// SPDX-License-Identifier: Apache-2.0

// Tests syncing the set of logs: synced bytes are not synced again, many callers share one sync,
// and a sync that may have come too late does not count.

#include "db/wal/log_set.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "varve/system_clock.h"

#include "db/wal/synced_marks.h"
#include "tests/db/wal/mapped_log_harness.h"
#include "tests/harness/fault_file_system.h"

namespace varve {
namespace {

class LogSetTest : public ::testing::Test {
 protected:
  explicit LogSetTest(wal::SyncedMarks* marks = nullptr)
      : fs_(std::make_shared<FaultFileSystem>(mem_)), logs_(false, marks) {
    mem_->OfferMappedFiles();
    fs_->OfferMappedFiles();
    EXPECT_TRUE(fs_->NewDirectory("/", IOOptions(), &directory_, nullptr).ok());
    Start(1);
  }

  void Start(uint64_t number, const std::string& mark = "") {
    std::unique_ptr<MappedFile> file;
    ASSERT_TRUE(NewMappedFile(fs_.get(), "/" + std::to_string(number), FileOptions(), &file).ok());
    std::unique_ptr<wal::MappedLog> log;
    ASSERT_TRUE(wal::MappedLog::Open(std::move(file), number, &log).ok());
    if (!mark.empty()) {
      wal::LogReservation place;
      ASSERT_TRUE(log->Reserve(mark.size(), &place).ok());
      log->Fill(place, mark);
    }
    logs_.Switch(std::move(log), directory_.get());
  }

  wal::LogReservation Add(const std::string& record) {
    wal::LogReservation place;
    EXPECT_TRUE(logs_.Reserve(record.size(), &place).ok());
    place.log->Fill(place, record);
    EXPECT_TRUE(place.log->WaitWhole(place).ok());
    return place;
  }

  // Does the write of one of several threads.
  IOStatus AddAndSync() {
    wal::LogReservation place;
    IOStatus s;
    {
      MutexLock lock(&reserve_mu_);
      s = logs_.Reserve(4, &place);
    }
    if (!s.ok()) return s;
    place.log->Fill(place, "data");
    s = place.log->WaitWhole(place);
    return s.ok() ? logs_.SyncTo(place) : s;
  }

  uint64_t Syncs() const { return fs_->calls(FaultCall::kSync); }
  uint64_t Closes() const { return fs_->calls(FaultCall::kClose); }
  static std::vector<uint64_t> Numbers(const std::vector<LogSet::Retired>& logs) {
    std::vector<uint64_t> numbers;
    for (const LogSet::Retired& log : logs) numbers.push_back(log.number);
    return numbers;
  }

  const std::shared_ptr<MemFileSystem> mem_ = std::make_shared<MemFileSystem>();
  std::shared_ptr<FaultFileSystem> fs_;
  std::unique_ptr<FSDirectory> directory_;
  LogSet logs_;
  Mutex reserve_mu_;
};

// A disk on which others come while one syncs.
class SlowSyncs final : public MemFileSystem::CallHook {
 public:
  void BeforeCall(uint64_t, MemCall call, const std::string&) override {
    if (call == MemCall::kSync) std::this_thread::sleep_for(std::chrono::milliseconds(3));
  }
};

// Does something in the middle of the first call of a kind.
class During final : public MemFileSystem::CallHook {
 public:
  During(MemCall call, std::function<void()> action) : call_(call), action_(std::move(action)) {}
  void BeforeCall(uint64_t, MemCall call, const std::string&) override {
    if (call == call_ && !done_.exchange(true)) action_();
  }

 private:
  const MemCall call_;
  const std::function<void()> action_;
  std::atomic<bool> done_{false};
};

// Marks whose clock throws. A base, as the marks must be there before the logs.
struct ThrowingMarks {
  class Clock final : public SystemClockWrapper {
   public:
    using SystemClockWrapper::SystemClockWrapper;
    const char* Name() const override { return "Clock"; }
    uint64_t NowNanos() override { throw std::runtime_error("no time"); }
  };
  Clock clock{SystemClock::Default()};
  wal::SyncedMarks marks{std::make_shared<MemFileSystem>(), "/", &clock};
};

class MarkedLogSetTest : public ThrowingMarks, public LogSetTest {
 protected:
  MarkedLogSetTest() : LogSetTest(&marks) {}
};

// A round that did not end would hold up all that follow.
TEST_F(MarkedLogSetTest, ARoundEndsThoughTheClockThrows) {
  for (const char* record : {"first", "second"}) {
    const IOStatus s = logs_.SyncTo(Add(record));
    ASSERT_TRUE(s.ok()) << s.ToString();
    EXPECT_TRUE(logs_.AllSynced());
  }
  EXPECT_EQ(Syncs(), 2u);
}

TEST_F(LogSetTest, ASyncCoversAllBeforeIt) {
  const wal::LogReservation first = Add("first");
  const wal::LogReservation second = Add("second");
  ASSERT_TRUE(logs_.SyncTo(second).ok());
  EXPECT_EQ(Syncs(), 1u);
  EXPECT_TRUE(logs_.AllSynced());
  ASSERT_TRUE(logs_.SyncTo(first).ok());
  ASSERT_TRUE(logs_.SyncTo(second).ok());
  EXPECT_EQ(Syncs(), 1u);
  ASSERT_TRUE(logs_.SyncTo(Add("third")).ok());
  EXPECT_EQ(Syncs(), 2u);
}

TEST_F(LogSetTest, EarlierLogsAreSyncedToo) {
  const wal::LogReservation first = Add("first");
  Start(2);
  uint64_t size = 0;
  ASSERT_TRUE(fs_->GetFileSize("/1", IOOptions(), &size, nullptr).ok());
  EXPECT_EQ(size, wal::kHeaderBytes + 5) << "cut when it was left";
  const wal::LogReservation second = Add("second");
  ASSERT_TRUE(logs_.SyncTo(second).ok());
  EXPECT_EQ(Syncs(), 2u);
  ASSERT_TRUE(logs_.SyncTo(first).ok());
  EXPECT_EQ(Syncs(), 2u);
  EXPECT_EQ(Numbers(logs_.TakeObsolete(2)), std::vector<uint64_t>{1});
  EXPECT_TRUE(logs_.SyncTo(first).ok()) << "what it held is in tables";
}

TEST_F(LogSetTest, SizesAreLogical) {
  Add("12345");
  EXPECT_EQ(logs_.total_bytes(), wal::kHeaderBytes + 5);
  EXPECT_EQ(logs_.List().front().bytes, wal::kHeaderBytes + 5);
  EXPECT_EQ(logs_.unsynced_bytes(), wal::kHeaderBytes + 5);
}

TEST_F(LogSetTest, AFailedSyncIsNotForgotten) {
  const wal::LogReservation place = Add("record");
  FaultRule rule;
  rule.calls = Only(FaultCall::kSync);
  fs_->Inject(rule);
  EXPECT_FALSE(logs_.SyncTo(place).ok());
  EXPECT_FALSE(logs_.SyncTo(place).ok());
  EXPECT_TRUE(logs_.current_failed());
  Start(2);
  EXPECT_FALSE(logs_.SyncTo(Add("after")).ok()) << "it depends on what was lost";
  logs_.MarkClosedFlushed();
  EXPECT_TRUE(logs_.SyncTo(Add("more")).ok());
}

// After the first failure the system may consider the directory clean, and the next sync a no-op.
TEST_F(LogSetTest, AFailedSyncOfTheDirectoryIsNotForgotten) {
  for (const bool names_only : {false, true}) {
    const wal::LogReservation place = Add("record");
    FaultRule rule;
    rule.calls = Only(FaultCall::kSyncDir);
    fs_->Inject(rule);
    EXPECT_FALSE((names_only ? logs_.SyncNames() : logs_.SyncTo(place)).ok());
    EXPECT_FALSE(logs_.SyncTo(place).ok()) << "the log may have lost its name";
    EXPECT_FALSE(logs_.Sync().ok());
    EXPECT_TRUE(logs_.current_failed());
    EXPECT_EQ(logs_.CurrentEnd().number, 0u) << "no later log may depend on it";
    Start(logs_.current_number() + 1);
    EXPECT_TRUE(logs_.SyncNames().ok());
    EXPECT_FALSE(logs_.current_failed());
    EXPECT_FALSE(logs_.SyncTo(Add("after")).ok()) << "it depends on what may be lost";
    logs_.MarkClosedFlushed();
    EXPECT_TRUE(logs_.SyncTo(Add("more")).ok());
    fs_->ClearFaults();
    Start(logs_.current_number() + 1);
  }
}

TEST_F(LogSetTest, ANameMadeDuringASyncOfTheDirectoryIsNotCoveredByIt) {
  Add("first");
  During during(MemCall::kSyncDir, [&] { Start(2); });
  mem_->SetCallHook(&during);
  ASSERT_TRUE(logs_.Sync().ok());
  mem_->SetCallHook(nullptr);
  const uint64_t before = fs_->calls(FaultCall::kSyncDir);
  ASSERT_TRUE(logs_.SyncTo(Add("second")).ok());
  EXPECT_EQ(fs_->calls(FaultCall::kSyncDir), before + 1);
}

// The purge holds the DB mutex.
TEST_F(LogSetTest, TakingObsoleteLogsWaitsForNoSync) {
  int wakes = 0;
  logs_.SetWaker([&] { wakes++; });
  Add("first");
  Start(2);
  During during(MemCall::kSync, [&] {
    EXPECT_TRUE(logs_.TakeObsolete(2).empty()) << "a sync is at it";
    EXPECT_EQ(wakes, 0);
  });
  mem_->SetCallHook(&during);
  ASSERT_TRUE(logs_.Sync().ok());
  mem_->SetCallHook(nullptr);
  EXPECT_EQ(wakes, 1);
  std::vector<LogSet::Retired> taken = logs_.TakeObsolete(2);
  EXPECT_EQ(Numbers(taken), std::vector<uint64_t>{1});
  EXPECT_EQ(Closes(), 0u);
  LogSet::CloseRetired(&taken);
  EXPECT_EQ(Closes(), 1u);
  logs_.SetWaker(nullptr);
}

TEST_F(LogSetTest, LogsThatStayAreClosedOnceTheyAreDurable) {
  for (uint64_t number = 2; number < 10; number++) {
    Add("record");
    const uint64_t bytes = logs_.total_bytes();
    Start(number);
    ASSERT_TRUE(logs_.SyncClosed().ok());
    EXPECT_EQ(Closes(), number - 1);
    EXPECT_EQ(logs_.total_bytes(), bytes);
    EXPECT_TRUE(logs_.AllSynced());
  }
  EXPECT_EQ(logs_.oldest_number(), 1u);
  EXPECT_EQ(logs_.TakeObsolete(9).size(), 8u);
}

// Deletions may be disabled for a long time.
TEST_F(LogSetTest, ObsoleteLogsThatStayAreClosedWithoutASync) {
  Add("record");
  Start(2);
  Add("record");
  Start(3);
  logs_.CloseKept(2);
  EXPECT_EQ(Closes(), 1u);
  EXPECT_EQ(Syncs(), 0u);
  ASSERT_TRUE(logs_.SyncTo(Add("last")).ok());
  EXPECT_EQ(Syncs(), 2u) << "of the logs that are needed";
}

// If the log fails elsewhere than in a sync, earlier records cannot be synced any more, and the
// error says why.
TEST_F(LogSetTest, ALogThatFailedSaysWhyItCannotBeSynced) {
  const wal::LogReservation place = Add("record");
  FaultRule rule;
  rule.path_contains = "/1";
  rule.sticky = true;
  fs_->Inject(rule);
  wal::LogReservation next;
  IOStatus failure;
  for (int i = 0; i < 1000 && failure.ok(); i++) {
    failure = logs_.Reserve(1 << 20, &next);
    if (failure.ok()) next.log->Fill(next, std::string(1 << 20, 'x'));
  }
  ASSERT_FALSE(failure.ok()) << "the log could grow";
  ASSERT_EQ(Syncs(), 0u);
  EXPECT_EQ(logs_.SyncTo(place).ToString(), failure.ToString());
  EXPECT_EQ(Syncs(), 0u);
}

// The mark of a log, which is there when it becomes the current one, is no reason to sync, nor to
// begin another log; it is a reason once the log is left.
TEST_F(LogSetTest, ALogWithNothingButItsMarkIsEmpty) {
  ASSERT_TRUE(logs_.SyncTo(Add("first")).ok());
  EXPECT_EQ(logs_.CurrentEnd().number, 1u);
  EXPECT_EQ(logs_.CurrentEnd().bytes, wal::kHeaderBytes + 5);
  Start(2, "mark");
  EXPECT_TRUE(logs_.current_empty());
  const uint64_t syncs = Syncs();
  ASSERT_TRUE(logs_.Sync().ok());
  EXPECT_EQ(Syncs(), syncs);
  Start(3, "mark");
  ASSERT_TRUE(logs_.Sync().ok());
  EXPECT_EQ(Syncs(), syncs + 1) << "of log 2, which the mark in log 3 names";
  ASSERT_TRUE(logs_.SyncTo(Add("record")).ok());
  EXPECT_EQ(Syncs(), syncs + 2);
}

// All threads are woken, whatever other threads sync, fail or leave meanwhile.
TEST_F(LogSetTest, EveryCallerIsWoken) {
  constexpr int kThreads = 6;
  constexpr int kEach = 200;
  for (const bool failing : {false, true}) {
    if (failing) {
      FaultRule rule;
      rule.calls = Only(FaultCall::kSync);
      rule.nth = 50;
      fs_->Inject(rule);
    }
    std::atomic<int> running{kThreads};
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; t++) {
      threads.emplace_back([&] {
        for (int i = 0; i < kEach; i++) {
          if (!AddAndSync().ok()) break;
        }
        running--;
      });
    }
    while (running.load() > 0) {
      (void)logs_.SyncClosed().ok();
      (void)logs_.Sync().ok();
      (void)logs_.SyncNames().ok();
      (void)logs_.TakeObsolete(0);
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(logs_.current_failed(), failing);
  }
}

TEST_F(LogSetTest, ManyThreadsShareSyncs) {
  constexpr int kThreads = 8;
  constexpr int kEach = 20;
  SlowSyncs slow;
  mem_->SetCallHook(&slow);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; t++) {
    threads.emplace_back([&] {
      for (int i = 0; i < kEach; i++) ASSERT_TRUE(AddAndSync().ok());
    });
  }
  for (std::thread& thread : threads) thread.join();
  mem_->SetCallHook(nullptr);
  EXPECT_LE(Syncs(), uint64_t{kThreads} * kEach / 2);
  EXPECT_TRUE(logs_.AllSynced());
}

}  // namespace
}  // namespace varve
