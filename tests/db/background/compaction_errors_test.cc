// SPDX-License-Identifier: Apache-2.0

// Goal: compactions that fail are tried again as often as is allowed and no more, people are told
// of a recovery once a compaction has shown it, and no writer waits for one that will not come.
// Method: a compaction filter that throws while it is told to.

#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "varve/compaction_filter.h"
#include "varve/statistics.h"

#include "tests/harness/database.h"

namespace varve::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

class BreakingFilter final : public CompactionFilter {
 public:
  const char* Name() const override { return "BreakingFilter"; }
  bool Filter(int, const Slice&, const Slice&, std::string*, bool*) const override {
    while (held) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (!broken) return false;
    runs++;
    throw std::runtime_error("the filter is broken");
  }
  std::atomic<bool> held{false};
  std::atomic<bool> broken{true};
  mutable std::atomic<int> runs{0};  // that it has broken
};

class RecoveryRecorder final : public EventListener {
 public:
  void OnErrorRecoveryBegin(BackgroundErrorReason, Status, bool* automatic) override {
    *automatic = recovers;
    Note("begin");
  }
  void OnErrorRecoveryCompleted(Status) override { Note("completed"); }
  void OnErrorRecoveryEnd(const BackgroundErrorRecoveryInfo& info) override {
    Note(info.new_bg_error.ok() ? "ok" : "failed");
  }
  void OnCompactionCompleted(DB*, const CompactionJobInfo& info) override {
    if (info.status.ok()) Note("compacted");
  }
  std::vector<std::string> Take() {
    const std::lock_guard<std::mutex> lock(mu_);
    return std::exchange(events_, {});
  }
  std::atomic<bool> recovers{true};

 private:
  void Note(const char* event) {
    const std::lock_guard<std::mutex> lock(mu_);
    events_.emplace_back(event);
  }
  std::mutex mu_;
  std::vector<std::string> events_;
};

class CompactionErrorsTest : public Database {
 protected:
  static constexpr int kStop = 4;

  CompactionErrorsTest() {
    options_.compaction_filter = &filter_;
    options_.listeners = {recorder_};
    options_.statistics = CreateDBStatistics();
    options_.bgerror_resume_retry_interval = 1000;
    options_.level0_file_num_compaction_trigger = 2;
    options_.level0_slowdown_writes_trigger = kStop;
    options_.level0_stop_writes_trigger = kStop;
  }
  ~CompactionErrorsTest() override {
    filter_.held = false;
    Close().PermitUncheckedError();
  }

  // Opens with a table in the last level, so that a compaction of L0 is more than a move.
  void OpenOverATable() {
    Open();
    filter_.broken = false;
    AddTables(1);
    ASSERT_TRUE(db()->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok());
    recorder_->Take();
    filter_.broken = true;
  }
  void AddTables(int n) {
    FlushOptions flush;
    flush.allow_write_stall = true;
    for (int i = 0; i < n; i++) {
      Put("k", "v");
      ASSERT_TRUE(db()->Flush(flush).ok());
    }
  }
  // Writes are stopped, and the compaction that would end that is held.
  void FillL0() {
    filter_.held = true;
    AddTables(kStop);
    EXPECT_NE(Text("varve.write-stall-reason"), "");
  }
  Status Write() { return db()->Put(WriteOptions(), "k", "w"); }
  // Expects that no more compactions run for as long as several retries take.
  void ExpectRunsStay(int runs) {
    EXPECT_TRUE(Eventually([&] { return filter_.runs >= runs; }));
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    EXPECT_EQ(filter_.runs, runs);
  }
  uint64_t Ticker(Tickers ticker) { return options_.statistics->getTickerCount(ticker); }

  BreakingFilter filter_;
  const std::shared_ptr<RecoveryRecorder> recorder_ = std::make_shared<RecoveryRecorder>();
};

TEST_F(CompactionErrorsTest, AreTriedAgainAsOftenAsIsAllowed) {
  options_.max_bgerror_resume_count = 2;
  OpenOverATable();
  AddTables(2);
  ExpectRunsStay(3);
  EXPECT_THAT(recorder_->Take(), ElementsAre("begin", "failed", "failed"));
  EXPECT_EQ(Ticker(ERROR_HANDLER_AUTORESUME_RETRY_TOTAL_COUNT), 2u);
  EXPECT_EQ(Ticker(ERROR_HANDLER_AUTORESUME_SUCCESS_COUNT), 0u);
  EXPECT_GT(Number("rocksdb.background-errors"), 0u);
  // The user's attempt is followed by as many others.
  EXPECT_TRUE(db()->Resume().ok());
  ExpectRunsStay(6);
  EXPECT_THAT(recorder_->Take(), ElementsAre("failed", "failed", "failed"));
  filter_.broken = false;
  EXPECT_TRUE(db()->Resume().ok());
  EXPECT_TRUE(db()->WaitForCompact(WaitForCompactOptions()).ok());
  EXPECT_THAT(recorder_->Take(), UnorderedElementsAre("compacted", "completed", "ok"));
  EXPECT_EQ(Ticker(ERROR_HANDLER_AUTORESUME_SUCCESS_COUNT), 0u) << "it was not automatic";
  EXPECT_EQ(Number("rocksdb.background-errors"), 0u);
}

TEST_F(CompactionErrorsTest, ARecoveryIsToldOfOnceACompactionHasWorked) {
  options_.max_bgerror_resume_count = 4;
  OpenOverATable();
  for (int error = 0; error < 2; error++) {
    filter_.runs = 0;
    filter_.broken = true;
    AddTables(2);
    EXPECT_TRUE(Eventually([&] { return filter_.runs >= 3; }));
    filter_.broken = false;
    EXPECT_TRUE(Eventually([&] { return Levels().substr(0, 1) == "0"; }, 5)) << Levels();
    EXPECT_TRUE(db()->WaitForCompact(WaitForCompactOptions()).ok());
    std::vector<std::string> events = recorder_->Take();
    ASSERT_GE(events.size(), 6u);
    EXPECT_EQ(events.front(), "begin");
    EXPECT_EQ(std::ranges::count(events, "begin"), 1);
    EXPECT_EQ(std::ranges::count(events, "completed"), 1);
    EXPECT_EQ(std::ranges::count(events, "ok"), 1);
    EXPECT_GE(std::ranges::count(events, "failed"), 2);
    EXPECT_EQ(Ticker(ERROR_HANDLER_AUTORESUME_SUCCESS_COUNT), static_cast<uint64_t>(error + 1));
  }
}

TEST_F(CompactionErrorsTest, ARecoveryIsOverWhenNothingIsDueAnyMore) {
  options_.max_bgerror_resume_count = 1000;
  OpenOverATable();
  AddTables(2);
  EXPECT_TRUE(Eventually([&] { return filter_.runs >= 2; }));
  ASSERT_TRUE(db()->SetOptions({{"disable_auto_compactions", "true"}}).ok());
  EXPECT_TRUE(Eventually([&] { return Ticker(ERROR_HANDLER_AUTORESUME_SUCCESS_COUNT) == 1; }, 5));
  EXPECT_EQ(Number("rocksdb.background-errors"), 0u);
}

TEST_F(CompactionErrorsTest, AreLeftToTheUserAsLongAsTheyLast) {
  recorder_->recovers = false;
  OpenOverATable();
  AddTables(2);
  ExpectRunsStay(1);
  EXPECT_TRUE(db()->Resume().ok());
  ExpectRunsStay(2);
  EXPECT_THAT(recorder_->Take(), ElementsAre("begin", "failed"));
  filter_.broken = false;
  EXPECT_TRUE(db()->Resume().ok());
  EXPECT_TRUE(db()->WaitForCompact(WaitForCompactOptions()).ok());
}

TEST_F(CompactionErrorsTest, AStoppedWriterDoesNotWaitForWhatWillNotCome) {
  options_.max_bgerror_resume_count = 0;
  OpenOverATable();
  FillL0();
  filter_.held = false;
  EXPECT_TRUE(Eventually([&] { return Number("rocksdb.background-errors") > 0; }));
  EXPECT_THAT(Text("varve.write-stall-reason"), HasSubstr("the filter is broken"));
  EXPECT_THAT(Text("varve.write-stall-reason"), HasSubstr("DB::Resume"));
  const Status s = Write();
  EXPECT_FALSE(s.ok());
  EXPECT_EQ(s.severity(), Status::kSoftError);
  EXPECT_THAT(s.ToString(), HasSubstr("the filter is broken"));
  EXPECT_THAT(s.ToString(), HasSubstr("DB::Resume"));
  WriteOptions no_slowdown;
  no_slowdown.no_slowdown = true;
  EXPECT_EQ(db()->Put(no_slowdown, "k", "w").ToString(), s.ToString());
  EXPECT_EQ(Get("k"), "v");
  filter_.broken = false;
  EXPECT_TRUE(db()->Resume().ok());
  EXPECT_TRUE(Write().ok());
  EXPECT_EQ(Text("varve.write-stall-reason"), "");
}

TEST_F(CompactionErrorsTest, WritersThatWaitAreToldWhenTheLastRetryHasFailed) {
  options_.max_bgerror_resume_count = 2;
  OpenOverATable();
  FillL0();
  std::atomic<int> told{0};
  std::vector<std::thread> writers;
  for (int i = 0; i < 3; i++) {
    writers.emplace_back([&] {
      EXPECT_THAT(Write().ToString(), HasSubstr("DB::Resume"));
      EXPECT_EQ(filter_.runs, 3) << "a retry may help";
      told++;
    });
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_EQ(told, 0);
  filter_.held = false;
  EXPECT_TRUE(Eventually([&] { return told == 3; }, 5));
  filter_.broken = false;
  EXPECT_TRUE(db()->Resume().ok());
  for (std::thread& writer : writers) writer.join();
  EXPECT_TRUE(Write().ok());
}

TEST_F(CompactionErrorsTest, WritersWaitForARetryThatHelps) {
  OpenOverATable();
  FillL0();
  std::thread writer([&] { EXPECT_TRUE(Write().ok()); });
  filter_.held = false;
  EXPECT_TRUE(Eventually([&] { return filter_.runs >= 2; }));
  filter_.broken = false;
  writer.join();
}

}  // namespace
}  // namespace varve::testing
