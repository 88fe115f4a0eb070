// SPDX-License-Identifier: Apache-2.0

// Goal: a wall clock that steps by ten years, stops or runs backwards changes no answer, keeps
// recovery from errors in its pace and delayed writes in theirs. Method: an Env whose wall clock is
// set by the test while its monotonic clock goes on.

#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "varve/env_wrappers.h"
#include "varve/system_clock.h"

#include "tests/harness/database.h"

namespace varve::testing {
namespace {

constexpr int64_t kTenYears = int64_t{10} * 365 * 86400 * 1000000;

class SteppingClock final : public SystemClockWrapper {
 public:
  SteppingClock() : SystemClockWrapper(SystemClock::Default()) {}
  const char* Name() const override { return "SteppingClock"; }
  uint64_t NowMicros() override {
    if (stopped.load()) return 5;
    return static_cast<uint64_t>(static_cast<int64_t>(target_->NowMicros()) + step.load());
  }
  Status GetCurrentTime(int64_t* seconds) override {
    *seconds = stopped.load() ? -7 : static_cast<int64_t>(NowMicros() / 1000000);
    return Status::OK();
  }
  std::atomic<int64_t> step{0};
  std::atomic<bool> stopped{false};
};

class SteppingClockEnv final : public EnvWrapper {
 public:
  SteppingClockEnv(Env* base, std::shared_ptr<SystemClock> clock) : EnvWrapper(base) {
    file_system_ = base->GetFileSystem();
    system_clock_ = std::move(clock);
  }
  const char* Name() const override { return "SteppingClockEnv"; }
};

class ClockTest : public Database {
 protected:
  ClockTest() : env_(options_.env, clock_) { options_.env = &env_; }
  ~ClockTest() override {
    clock_->stopped = false;
    faults().ClearFaults();
    EXPECT_TRUE(Close().ok());
  }

  // Each of them in turn, with what a test does meanwhile.
  template <typename Body>
  void WithEachClock(Body body) {
    for (const int64_t step : {kTenYears, -kTenYears, int64_t{0}}) {
      clock_->step = step;
      body("stepped by " + std::to_string(step));
    }
    clock_->stopped = true;
    body("stopped");
    clock_->stopped = false;
  }

  const std::shared_ptr<SteppingClock> clock_ = std::make_shared<SteppingClock>();
  SteppingClockEnv env_;
};

TEST_F(ClockTest, AnswersDoNotDependOnIt) {
  Open();
  ASSERT_EQ(options_.env->GetSystemClock().get(), clock_.get());
  std::string expected;
  int round = 0;
  WithEachClock([&](const std::string& name) {
    SCOPED_TRACE(name);
    const std::string key = "k" + std::to_string(round++);
    MakeTable({key});
    expected += (expected.empty() ? "" : " ") + key + "=of " + key;
    Put("m", "m");
    EXPECT_EQ(Scan(), expected + " m=m");
    EXPECT_TRUE(db()->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok());
    Reopen();
    EXPECT_EQ(Scan(), expected + " m=m");
    Delete("m");
  });
}

TEST_F(ClockTest, RecoveryFromErrorsKeepsItsPace) {
  Open();
  WithEachClock([&](const std::string& name) {
    SCOPED_TRACE(name);
    clock_->step.fetch_add(kTenYears);
    Put("k", "v");
    FaultRule rule;
    rule.calls = Only(FaultCall::kWrite) | Only(FaultCall::kCreate) | Only(FaultCall::kAllocate);
    rule.effect = FaultEffect::kNoSpace;
    rule.sticky = true;
    faults().Inject(rule);
    EXPECT_FALSE(db()->Flush(FlushOptions()).ok());
    // This is in the middle of a pause.
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    clock_->step.fetch_sub(kTenYears);
    faults().ClearFaults();
    EXPECT_TRUE(Eventually([&] { return db()->Put(WriteOptions(), "k", "w").ok(); }, 6));
  });
}

TEST_F(ClockTest, DelayedWritesAreLetGo) {
  options_.delayed_write_rate = 1 << 20;
  options_.level0_slowdown_writes_trigger = 2;
  options_.level0_stop_writes_trigger = 100;
  options_.level0_file_num_compaction_trigger = 2;
  options_.disable_auto_compactions = false;
  Open();
  ASSERT_TRUE(db()->PauseBackgroundWork().ok());
  ASSERT_TRUE(db()->ContinueBackgroundWork().ok());
  WithEachClock([&](const std::string& name) {
    SCOPED_TRACE(name);
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < 8; i++) MakeTable({"k" + std::to_string(i)});
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
  });
}

}  // namespace
}  // namespace varve::testing
