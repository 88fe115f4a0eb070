// SPDX-License-Identifier: Apache-2.0

// Goal: writes that wait are counted by wall time, told of with reason and length, and paced
// smoothly; a write with no_slowdown does not wait for others. Method: a clock that moves only when
// the test, or a sleep, moves it.

#include <gmock/gmock.h>
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <future>
#include <thread>

#include "varve/env_wrappers.h"
#include "varve/statistics.h"
#include "varve/system_clock.h"

#include "tests/harness/database.h"
#include "util/sync/mutex.h"

namespace varve::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ManualClock final : public SystemClockWrapper {
 public:
  explicit ManualClock(std::shared_ptr<SystemClock> base) : SystemClockWrapper(std::move(base)) {}
  const char* Name() const override { return "ManualClock"; }
  uint64_t NowMicros() override { return now_.load(); }
  uint64_t NowNanos() override { return now_.load() * 1000; }
  void SleepForMicroseconds(int micros) override {
    longest_sleep_ = std::max(longest_sleep_, micros);
    now_.fetch_add(static_cast<uint64_t>(micros));
  }
  void Advance(uint64_t micros) { now_.fetch_add(micros); }
  int longest_sleep() const { return longest_sleep_; }

 private:
  std::atomic<uint64_t> now_{1000000};
  int longest_sleep_ = 0;
};

class ClockEnv final : public EnvWrapper {
 public:
  explicit ClockEnv(Env* base) : EnvWrapper(base), clock_(new ManualClock(base->GetSystemClock())) {
    file_system_ = base->GetFileSystem();
    system_clock_ = clock_;
  }
  ManualClock& clock() { return *clock_; }

 private:
  const std::shared_ptr<ManualClock> clock_;
};

class StallRecorder final : public EventListener {
 public:
  void OnStallConditionsChanged(const WriteStallInfo& info) override {
    MutexLock lock(&mu_);
    seen_.push_back(info.condition.cur);
  }
  void OnMemTableSealed(const MemTableInfo&) override {
    entered.store(true);
    while (hold_seals.load()) std::this_thread::yield();
  }
  std::vector<WriteStallCondition> seen() {
    MutexLock lock(&mu_);
    return seen_;
  }
  std::atomic<bool> hold_seals{false};
  std::atomic<bool> entered{false};

 private:
  Mutex mu_;
  std::vector<WriteStallCondition> seen_;
};

// Holds jobs at their beginning.
class JobHolder final : public EventListener {
 public:
  void OnFlushBegin(DB*, const FlushJobInfo&) override { Hold(flushes); }
  void OnCompactionBegin(DB*, const CompactionJobInfo&) override {
    compacts.store(true);
    Hold(compactions);
  }
  std::atomic<bool> flushes{false};
  std::atomic<bool> compactions{false};
  std::atomic<bool> compacts{false};  // one has begun

 private:
  static void Hold(const std::atomic<bool>& flag) {
    while (flag.load()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
};

class AdmissionTest : public Database {
 protected:
  AdmissionTest() {
    options_.env = &env_;
    options_.statistics = CreateDBStatistics();
    options_.listeners = {recorder_};
  }
  ~AdmissionTest() override { EXPECT_TRUE(Close().ok()); }

  // Makes two tables in L0, pauses background work, and enables automatic compaction with these
  // triggers.
  void StallByFiles(const std::string& slowdown, const std::string& stop,
                    const std::vector<std::string>& families = {"default"}) {
    options_.level0_file_num_compaction_trigger = 2;
    options_.disable_auto_compactions = true;
    Open(families);
    MakeTable({"a", "z"});
    MakeTable({"a", "z"});
    ASSERT_TRUE(db()->PauseBackgroundWork().ok());
    ASSERT_TRUE(db()->SetOptions({{"disable_auto_compactions", "false"},
                                  {"level0_slowdown_writes_trigger", slowdown},
                                  {"level0_stop_writes_trigger", stop}})
                    .ok());
  }
  Status QuickPut() {
    WriteOptions options;
    options.no_slowdown = true;
    return db()->Put(options, "quick", "q");
  }
  std::string Stall(const std::string& property, const std::string& name) {
    std::map<std::string, std::string> map;
    EXPECT_TRUE(db()->GetMapProperty(property, &map)) << property;
    return map[name];
  }

  ClockEnv env_{options_.env};
  const std::shared_ptr<StallRecorder> recorder_ = std::make_shared<StallRecorder>();
  const std::shared_ptr<JobHolder> hold_ = std::make_shared<JobHolder>();
};

TEST_F(AdmissionTest, WaitsOfManyWritersCountOnce) {
  StallByFiles("2", "2");
  std::vector<std::thread> writers;
  for (int i = 0; i < 3; i++) {
    writers.emplace_back(
        [&, i] { EXPECT_TRUE(db()->Put(WriteOptions(), std::to_string(i), "v").ok()); });
  }
  EXPECT_TRUE(
      Eventually([&] { return Stall("rocksdb.db-write-stall-stats", "stopped-writes") == "3"; }));
  env_.clock().Advance(5000000);
  EXPECT_EQ(Stall("rocksdb.db-write-stall-stats", "stall-micros"), "5000000");
  EXPECT_THAT(Text("rocksdb.stats"), HasSubstr("for 5.000 s"));
  EXPECT_THAT(Text("rocksdb.stats"), HasSubstr("ends when compactions"));
  EXPECT_EQ(Stall("rocksdb.cf-write-stall-stats", "l0-file-count-limit-stops"), "1");
  EXPECT_EQ(Stall("rocksdb.cf-write-stall-stats", "total-stops"), "1");
  EXPECT_EQ(Stall("rocksdb.cfstats", "total-stops"), "1");
  EXPECT_EQ(options_.statistics->getTickerCount(STALL_MICROS), 0u) << "when it is over";
  ASSERT_TRUE(db()->ContinueBackgroundWork().ok());
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(options_.statistics->getTickerCount(STALL_MICROS), 5000000u);
  HistogramData waits;
  options_.statistics->histogramData(WRITE_STALL, &waits);
  EXPECT_EQ(waits.count, 3u);
  EXPECT_EQ(waits.sum, 15000000u);
  EXPECT_EQ(Text("varve.write-stall-reason"), "");
  // Listeners are called without the mutex, and perhaps after the writers went on.
  EXPECT_TRUE(Eventually([&] { return recorder_->seen().size() == 2; }));
  EXPECT_THAT(recorder_->seen(),
              ElementsAre(WriteStallCondition::kStopped, WriteStallCondition::kNormal));
}

TEST_F(AdmissionTest, StoppedWritersSleepUntilTheStopEnds) {
  constexpr int kWriters = 4;
  constexpr int kChanges = 100;
  StallByFiles("2", "2");
  std::atomic<int64_t> sleeps{0};
  std::vector<std::thread> writers;
  for (int i = 0; i < kWriters; i++) {
    writers.emplace_back([&, i] {
      rusage before{};
      rusage after{};
      getrusage(RUSAGE_THREAD, &before);
      EXPECT_TRUE(db()->Put(WriteOptions(), std::to_string(i), "v").ok());
      getrusage(RUSAGE_THREAD, &after);
      sleeps += after.ru_nvcsw - before.ru_nvcsw;
    });
  }
  EXPECT_TRUE(
      Eventually([&] { return Stall("rocksdb.db-write-stall-stats", "stopped-writes") == "4"; }));
  // Each signals threads that wait for something else.
  for (int i = 0; i < kChanges; i++) {
    EXPECT_TRUE(db()->LockWAL().ok());
    EXPECT_TRUE(db()->UnlockWAL().ok());
    std::this_thread::sleep_for(std::chrono::microseconds(300));
  }
  ASSERT_TRUE(db()->ContinueBackgroundWork().ok());
  for (std::thread& writer : writers) writer.join();
  EXPECT_LT(sleeps.load(), kWriters * kChanges / 4);
}

TEST_F(AdmissionTest, DelayedWritesKeepTheRateInSlices) {
  options_.delayed_write_rate = 1 << 20;
  StallByFiles("2", "100");
  const auto rate = static_cast<double>(Number("rocksdb.actual-delayed-write-rate"));
  ASSERT_GT(rate, 0);
  env_.clock().Advance(60000000);  // a pause saves nothing up
  const uint64_t start = env_.clock().NowMicros();
  for (int i = 0; i < 50; i++) Put(std::to_string(i), std::string(10000, 'v'));
  const auto micros = static_cast<double>(env_.clock().NowMicros() - start);
  EXPECT_NEAR(micros / 1e6, 49 * 10020 / rate, 0.05 * micros / 1e6);
  EXPECT_LE(env_.clock().longest_sleep(), 1000);
  EXPECT_EQ(options_.statistics->getTickerCount(STALL_MICROS), static_cast<uint64_t>(micros));
  EXPECT_TRUE(QuickPut().IsIncomplete());
  EXPECT_EQ(env_.clock().NowMicros(), start + static_cast<uint64_t>(micros));
  ASSERT_TRUE(db()->ContinueBackgroundWork().ok());
}

// Full memtables stop writes for the time of a flush, which says nothing of compactions.
TEST_F(AdmissionTest, AStopByMemtablesLeavesTheRateOfDelayedWrites) {
  std::vector<uint64_t> rates;
  for (const int buffers : {10, 2}) {
    options_.max_write_buffer_number = buffers;
    StallByFiles("2", "100", {"default", "full"});
    FlushOptions no_wait;
    no_wait.wait = false;
    no_wait.allow_write_stall = true;
    for (int i = 0; i < 2; i++) {
      Put("k", "v", "full");
      ASSERT_TRUE(db()->Flush(no_wait, Handle("full")).ok());
    }
    EXPECT_EQ(Number("rocksdb.is-write-stopped"), buffers == 2 ? 1u : 0u);
    rates.push_back(Number("rocksdb.actual-delayed-write-rate"));
    ASSERT_TRUE(db()->ContinueBackgroundWork().ok());
    ASSERT_TRUE(Close().ok());
    ASSERT_TRUE(DestroyDB(kName, options_).ok());
  }
  EXPECT_EQ(rates[1], rates[0]);
}

// One family is delayed, and then stopped by its memtables.
TEST_F(AdmissionTest, AStopByMemtablesDoesNotRaiseTheRateEither) {
  options_.max_write_buffer_number = 2;
  options_.listeners.push_back(hold_);
  options_.max_background_jobs = 4;
  StallByFiles("2", "100");
  hold_->compactions.store(true);
  ASSERT_TRUE(db()->ContinueBackgroundWork().ok());
  EXPECT_TRUE(Eventually([&] { return hold_->compacts.load(); }));
  const uint64_t before = Number("rocksdb.actual-delayed-write-rate");
  EXPECT_GT(before, 0u);
  FlushOptions no_wait;
  no_wait.wait = false;
  no_wait.allow_write_stall = true;
  hold_->flushes.store(true);
  for (int i = 0; i < 2; i++) {
    Put("k", "v");
    ASSERT_TRUE(db()->Flush(no_wait).ok());
  }
  EXPECT_EQ(Number("rocksdb.is-write-stopped"), 1u);
  hold_->flushes.store(false);
  EXPECT_TRUE(Eventually([&] { return Number("rocksdb.num-immutable-mem-table") == 0; }));
  // The debt has grown, and each time that it is judged then takes a fifth.
  EXPECT_LE(Number("rocksdb.actual-delayed-write-rate"), before / 5 * 4 + 1);
  EXPECT_GT(Number("rocksdb.actual-delayed-write-rate"), 0u);
  hold_->compactions.store(false);
}

TEST_F(AdmissionTest, NoSlowdownDoesNotWaitForALockedLog) {
  Open();
  ASSERT_TRUE(db()->LockWAL().ok());
  EXPECT_TRUE(QuickPut().IsIncomplete());
  EXPECT_TRUE(QuickPut().IsIncomplete());
  ASSERT_TRUE(db()->UnlockWAL().ok());
  EXPECT_TRUE(QuickPut().ok());
}

TEST_F(AdmissionTest, NoSlowdownDoesNotWaitForAnothersSwitch) {
  options_.write_buffer_size = 64 << 10;
  Open();
  recorder_->hold_seals.store(true);
  std::thread writer([&] {
    for (int i = 0; !recorder_->entered.load(); i++) Put(std::to_string(i), std::string(4096, 'v'));
  });
  EXPECT_TRUE(Eventually([&] { return recorder_->entered.load(); }));
  EXPECT_TRUE(QuickPut().IsIncomplete());
  recorder_->hold_seals.store(false);
  writer.join();
  EXPECT_TRUE(Eventually([&] { return QuickPut().ok(); }));
}

// A flush that was requested keeps writers out without being a writer's switch.
TEST_F(AdmissionTest, NoSlowdownWithAFullMemtableDoesNotWaitForAFlush) {
  options_.write_buffer_size = 64 << 10;
  Open({"default", "a"});
  Put("k", "v");
  Put("large", std::string(128 << 10, 'v'), "a");  // the next writer is to switch it
  recorder_->hold_seals.store(true);
  std::thread flusher([&] { Flush(); });
  EXPECT_TRUE(Eventually([&] { return recorder_->entered.load(); }));
  std::future<Status> quick = std::async(std::launch::async, [&] { return QuickPut(); });
  EXPECT_EQ(quick.wait_for(std::chrono::seconds(5)), std::future_status::ready);
  recorder_->hold_seals.store(false);
  flusher.join();
  EXPECT_TRUE(quick.get().IsIncomplete());
  EXPECT_TRUE(Eventually([&] { return QuickPut().ok(); }));
}

// Lowering a limit must not leave memtables behind that wait to be merged with more.
TEST_F(AdmissionTest, AStopByMemtablesThatNobodyFlushesEnds) {
  options_.write_buffer_size = 64 << 10;
  options_.max_write_buffer_number = 6;
  options_.min_write_buffer_number_to_merge = 4;
  Open();
  for (int i = 0; Number("rocksdb.num-immutable-mem-table") < 2; i++) {
    Put(std::to_string(i), std::string(4096, 'v'));
  }
  EXPECT_EQ(Levels(), "");
  ASSERT_TRUE(db()->SetOptions({{"max_write_buffer_number", "2"}}).ok());
  Put("after", "v");
  EXPECT_EQ(Get("after"), "v");
}

}  // namespace
}  // namespace varve::testing
