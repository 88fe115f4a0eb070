// SPDX-License-Identifier: Apache-2.0

// Goal: families and databases that share a ConcurrentTaskLimiter never run more automatic
// compactions than it allows, all of them run in the end, and waiting ones are told when they may.

#include "util/sync/task_limiter.h"

#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "varve/compaction_filter.h"
#include "varve/concurrent_task_limiter.h"

#include "tests/harness/database.h"

namespace varve::testing {
namespace {

using ::testing::HasSubstr;

// Knows how many compactions were in a filter at once.
class SlowFilter final : public CompactionFilter {
 public:
  const char* Name() const override { return "slow"; }
  bool Filter(int, const Slice&, const Slice&, std::string*, bool*) const override {
    const int now = ++running_;
    for (int most = most_; now > most && !most_.compare_exchange_weak(most, now);) {
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    running_--;
    return false;
  }
  int most() const { return most_; }

 private:
  mutable std::atomic<int> running_{0};
  mutable std::atomic<int> most_{0};
};

class TaskLimiterTest : public Database {
 protected:
  TaskLimiterTest() {
    options_.compression = kNoCompression;
    options_.level0_file_num_compaction_trigger = 2;
    options_.max_background_jobs = 8;
    options_.compaction_filter = &filter_;
    options_.create_missing_column_families = true;
  }

  void Make(int32_t limit) {
    limiter_.reset(NewConcurrentTaskLimiter("shared", limit));
    options_.compaction_thread_limiter = limiter_;
  }
  void FillTable(const std::string& family = "default") {
    for (int i = 0; i < 10; i++) Put("key" + std::to_string(i), "v", family);
    Flush(family);
  }
  // L0 calls for a compaction, and nothing of it can be moved down.
  void FillL0(const std::string& family = "default") {
    FillTable(family);
    ASSERT_TRUE(db()->CompactRange(CompactRangeOptions(), Handle(family), nullptr, nullptr).ok());
    FillTable(family);
    FillTable(family);
  }

  static constexpr const char* kWaits = "2,0,0,0,0,0,1";
  static constexpr const char* kDone = "0,0,0,0,0,0,1";

  SlowFilter filter_;
  std::shared_ptr<ConcurrentTaskLimiter> limiter_;
};

TEST_F(TaskLimiterTest, CountsUpToItsLimit) {
  Make(2);
  TaskSlot slots[4];
  EXPECT_TRUE(slots[0].Take(limiter_, false));
  EXPECT_FALSE(TaskLimiterOf(limiter_.get())->MustWait());
  EXPECT_TRUE(slots[1].Take(limiter_, false));
  EXPECT_FALSE(slots[2].Take(limiter_, false));
  EXPECT_TRUE(slots[3].Take(limiter_, true));
  EXPECT_EQ(limiter_->GetOutstandingTask(), 3);
  slots[0].Release();
  EXPECT_FALSE(slots[2].Take(limiter_, false));
  slots[1].Release();
  EXPECT_TRUE(slots[2].Take(limiter_, false));
  EXPECT_FALSE(slots[0].Take(limiter_, false));
  limiter_->ResetMaxOutstandingTask();
  EXPECT_TRUE(slots[0].Take(limiter_, false));
  limiter_->SetMaxOutstandingTask(0);
  EXPECT_FALSE(slots[1].Take(limiter_, false));
  EXPECT_EQ(limiter_->GetName(), "shared");
}

TEST_F(TaskLimiterTest, HoldsOverThreads) {
  Make(3);
  std::atomic<int> running{0};
  std::atomic<bool> passed{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; i++) {
    threads.emplace_back([&] {
      for (int n = 0; n < 20'000; n++) {
        TaskSlot slot;
        if (!slot.Take(limiter_, false)) continue;
        if (++running > 3) passed = true;
        running--;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(passed);
  EXPECT_EQ(limiter_->GetOutstandingTask(), 0);
}

TEST_F(TaskLimiterTest, OneAtATimeOverFamiliesAndDatabases) {
  Make(0);
  Open({"default", "a", "b"});
  DB* other = nullptr;
  options_.create_if_missing = true;
  ASSERT_TRUE(DB::Open(options_, "/other", &other).ok());
  const std::unique_ptr<DB> owner(other);
  for (const char* family : {"default", "a", "b"}) FillL0(family);
  for (int table = 0; table < 3; table++) {
    for (int i = 0; i < 10; i++) {
      ASSERT_TRUE(other->Put(WriteOptions(), "key" + std::to_string(i), "v").ok());
    }
    ASSERT_TRUE(other->Flush(FlushOptions()).ok());
    if (table > 0) continue;
    ASSERT_TRUE(other->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok());
  }
  EXPECT_EQ(limiter_->GetOutstandingTask(), 0);
  for (const char* family : {"default", "a", "b"}) EXPECT_EQ(Levels(family), kWaits);
  // Neither a write nor a call follows.
  limiter_->SetMaxOutstandingTask(1);
  EXPECT_TRUE(Eventually([&] {
    std::string l0;
    return Levels() == kDone && Levels("a") == kDone && Levels("b") == kDone &&
           other->GetProperty("rocksdb.num-files-at-level0", &l0) && l0 == "0";
  }));
  EXPECT_EQ(filter_.most(), 1);
  EXPECT_TRUE(Eventually([&] { return limiter_->GetOutstandingTask() == 0; }));
}

TEST_F(TaskLimiterTest, CallsCountButDoNotWait) {
  Make(0);
  Open();
  FillL0();
  EXPECT_EQ(Levels(), kWaits);
  ASSERT_TRUE(db()->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok());
  EXPECT_EQ(Levels(), kDone);
  EXPECT_EQ(limiter_->GetOutstandingTask(), 0);
}

TEST_F(TaskLimiterTest, WhoWaitsCanBeClosed) {
  Make(0);
  Open();
  FillL0();
  ASSERT_TRUE(Close().ok());
  limiter_->SetMaxOutstandingTask(1);
  Open();
  EXPECT_TRUE(Eventually([&] { return Levels() == kDone; }));
}

// Its tables would stay as long as it waits.
TEST_F(TaskLimiterTest, ADroppedFamilyDoesNotWait) {
  Make(0);
  Open({"default", "a"});
  FillL0("a");
  ASSERT_TRUE(db()->DropColumnFamily(Handle("a")).ok());
  GiveBack("a");
  EXPECT_TRUE(Eventually([&] { return Files(kTableFile).empty(); }));
}

TEST_F(TaskLimiterTest, WritersThatWereStoppedGoOn) {
  Make(0);
  Open();
  FillL0();
  ASSERT_TRUE(db()->SetOptions({{"level0_slowdown_writes_trigger", "2"},
                                {"level0_stop_writes_trigger", "2"}})
                  .ok());
  WriteOptions no_slowdown;
  no_slowdown.no_slowdown = true;
  EXPECT_TRUE(db()->Put(no_slowdown, "k", "v").IsIncomplete());
  std::thread raises([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    limiter_->ResetMaxOutstandingTask();
  });
  Put("k", "v");
  raises.join();
  EXPECT_TRUE(Eventually([&] { return Levels() == kDone; }));
}

TEST_F(TaskLimiterTest, OthersAreRefused) {
  class Other final : public ConcurrentTaskLimiter {
    const std::string& GetName() const override { return name_; }
    void SetMaxOutstandingTask(int32_t) override {}
    void ResetMaxOutstandingTask() override {}
    int32_t GetOutstandingTask() const override { return 0; }
    std::string name_;
  };
  options_.compaction_thread_limiter = std::make_shared<Other>();
  DB* db = nullptr;
  options_.create_if_missing = true;
  const Status s = DB::Open(options_, "/refused", &db);
  EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
  EXPECT_THAT(s.ToString(), HasSubstr("compaction_thread_limiter"));
}

}  // namespace
}  // namespace varve::testing
