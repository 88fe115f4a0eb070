// SPDX-License-Identifier: Apache-2.0
// Goal: the token bucket grants its rate and no more, in order of priority, and never loses a
// wake-up. Method: a clock that only moves when a thread waits on it makes one thread's schedule
// exact; real threads on a clock driven by the test cover queueing and fairness.

#include "util/env/rate_limiter.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace varve {
namespace {

constexpr int64_t kPeriodUs = 1000;
constexpr int64_t kRate = 1'000'000;  // 1000 bytes a period

class FakeClock : public SystemClock {
 public:
  const char* Name() const override { return "FakeClock"; }
  uint64_t NowMicros() override { return micros_.load(std::memory_order_relaxed); }
  void SleepForMicroseconds(int micros) override { Advance(static_cast<uint64_t>(micros)); }
  Status GetCurrentTime(int64_t* /*unix_time*/) override { return Status::NotSupported("clock"); }
  std::string TimeToString(uint64_t /*time*/) override { return ""; }

  void Advance(uint64_t micros) { micros_.fetch_add(micros, std::memory_order_relaxed); }

 protected:
  std::atomic<uint64_t> micros_{5'000'000};
};

// Waiting takes no real time: it moves the clock to the deadline.
class JumpingClock final : public FakeClock {
 public:
  bool TimedWait(CondVar* /*cv*/, std::chrono::microseconds deadline) override {
    micros_.store(static_cast<uint64_t>(deadline.count()), std::memory_order_relaxed);
    waits.fetch_add(1, std::memory_order_relaxed);
    return true;
  }

  std::atomic<int> waits{0};
};

// Waiting gives the mutex up for a moment of real time; only Advance() moves the clock.
class StandingClock final : public FakeClock {
 public:
  bool TimedWait(CondVar* cv, std::chrono::microseconds deadline) override {
    cv->WaitFor(200);
    return NowMicros() >= static_cast<uint64_t>(deadline.count());
  }
};

template <typename Clock>
struct Fixture {
  explicit Fixture(int32_t fairness = 10, bool auto_tuned = false, int64_t burst = 0,
                   int64_t rate = kRate)
      : limiter(rate, kPeriodUs, fairness, RateLimiter::Mode::kWritesOnly, clock, auto_tuned,
                burst) {}

  std::shared_ptr<Clock> clock = std::make_shared<Clock>();
  GenericRateLimiter limiter;
};

TEST(RateLimiter, GrantsOnePeriodsBytesWithoutWaiting) {
  Fixture<JumpingClock> f;
  EXPECT_EQ(f.limiter.GetSingleBurstBytes(), 1000);
  f.limiter.Request(1000, Env::IO_HIGH, nullptr);
  EXPECT_EQ(f.clock->waits, 0);
  f.limiter.Request(1, Env::IO_HIGH, nullptr);
  EXPECT_EQ(f.clock->waits, 1);
}

TEST(RateLimiter, KeepsTheRateOverTime) {
  for (const int64_t request : {1, 7, 999, 1000, 2500}) {
    SCOPED_TRACE(request);
    Fixture<JumpingClock> f;
    const uint64_t start = f.clock->NowMicros();
    const int64_t requests = 100'000 / request;
    for (int64_t i = 0; i < requests; ++i) f.limiter.Request(request, Env::IO_LOW, nullptr);
    const uint64_t elapsed = f.clock->NowMicros() - start;
    // The rate is 1 byte a microsecond; the first period's bytes are there at once.
    EXPECT_NEAR(static_cast<double>(elapsed), static_cast<double>(requests * request),
                2.0 * kPeriodUs);
    EXPECT_EQ(f.limiter.GetTotalBytesThrough(), requests * request);
    EXPECT_EQ(f.limiter.GetTotalRequests(Env::IO_LOW), requests);
    EXPECT_EQ(f.limiter.GetTotalRequests(Env::IO_HIGH), 0);
  }
}

TEST(RateLimiter, RatesBelowOneBytePerPeriodAreKeptToo) {
  Fixture<JumpingClock> f(10, false, 0, /*rate=*/100);
  const uint64_t start = f.clock->NowMicros();
  for (int i = 0; i < 50; ++i) f.limiter.Request(1, Env::IO_LOW, nullptr);
  EXPECT_NEAR(static_cast<double>(f.clock->NowMicros() - start), 500'000.0, 20'000.0);
}

TEST(RateLimiter, IdleTimeSavesUpOnePeriodOnly) {
  Fixture<JumpingClock> f;
  f.clock->Advance(100 * kPeriodUs);
  f.limiter.Request(1000, Env::IO_LOW, nullptr);
  EXPECT_EQ(f.clock->waits, 0);
  f.limiter.Request(1000, Env::IO_LOW, nullptr);
  EXPECT_GE(f.clock->waits, 1);
}

TEST(RateLimiter, BurstSizeIsSeparateFromThePeriod) {
  Fixture<JumpingClock> f(10, false, /*burst=*/5000);
  EXPECT_EQ(f.limiter.GetSingleBurstBytes(), 5000);
  f.clock->Advance(100 * kPeriodUs);
  f.limiter.Request(5000, Env::IO_LOW, nullptr);
  EXPECT_EQ(f.clock->waits, 0);
  EXPECT_TRUE(f.limiter.SetSingleBurstBytes(-1).IsInvalidArgument());
  ASSERT_TRUE(f.limiter.SetSingleBurstBytes(0).ok());
  EXPECT_EQ(f.limiter.GetSingleBurstBytes(), 1000);
}

TEST(RateLimiter, NewRateAppliesFromTheNextRefill) {
  Fixture<JumpingClock> f;
  f.limiter.Request(1000, Env::IO_LOW, nullptr);
  f.limiter.SetBytesPerSecond(10 * kRate);
  EXPECT_EQ(f.limiter.GetBytesPerSecond(), 10 * kRate);
  const uint64_t start = f.clock->NowMicros();
  for (int i = 0; i < 10; ++i) f.limiter.Request(10'000, Env::IO_LOW, nullptr);
  EXPECT_NEAR(static_cast<double>(f.clock->NowMicros() - start), 10'000.0, kPeriodUs);
}

TEST(RateLimiter, OutOfRangeArgumentsAreTamed) {
  auto clock = std::make_shared<JumpingClock>();
  GenericRateLimiter limiter(-5, 0, 1000, RateLimiter::Mode::kAllIo, clock, false, -1);
  EXPECT_EQ(limiter.GetBytesPerSecond(), 1);
  limiter.SetBytesPerSecond(INT64_MAX);
  EXPECT_GT(limiter.GetBytesPerSecond(), int64_t{1} << 34);
  ASSERT_TRUE(limiter.SetSingleBurstBytes(INT64_MAX).ok());
  clock->Advance(uint64_t{1} << 50);
  limiter.Request(-1, Env::IO_LOW, nullptr);
  limiter.Request(1 << 30, Env::IO_TOTAL, nullptr);
  EXPECT_EQ(limiter.GetTotalBytesThrough(), 1 << 30);
  EXPECT_TRUE(limiter.GetTotalPendingRequests(nullptr).IsInvalidArgument());
}

TEST(RateLimiter, ModeDecidesWhoPays) {
  struct Case {
    RateLimiter::Mode mode;
    bool reads;
    bool writes;
  };
  for (const Case c : {Case{RateLimiter::Mode::kReadsOnly, true, false},
                       Case{RateLimiter::Mode::kWritesOnly, false, true},
                       Case{RateLimiter::Mode::kAllIo, true, true}}) {
    GenericRateLimiter limiter(kRate, kPeriodUs, 10, c.mode, std::make_shared<JumpingClock>(),
                               false);
    limiter.Request(10, Env::IO_LOW, nullptr, RateLimiter::OpType::kRead);
    EXPECT_EQ(limiter.GetTotalBytesThrough(), c.reads ? 10 : 0);
    limiter.Request(10, Env::IO_LOW, nullptr, RateLimiter::OpType::kWrite);
    EXPECT_EQ(limiter.GetTotalBytesThrough(), (c.reads ? 10 : 0) + (c.writes ? 10 : 0));
  }
}

TEST(RateLimiter, TokensRespectBurstAndAlignment) {
  struct Case {
    size_t bytes;
    size_t alignment;
    Env::IOPriority pri;
    size_t granted;
  };
  for (const Case c : {Case{600, 0, Env::IO_LOW, 600}, Case{5000, 0, Env::IO_LOW, 1000},
                       Case{5000, 512, Env::IO_LOW, 512}, Case{600, 4096, Env::IO_LOW, 4096},
                       Case{5000, 0, Env::IO_TOTAL, 5000}}) {
    Fixture<JumpingClock> f;
    EXPECT_EQ(
        f.limiter.RequestToken(c.bytes, c.alignment, c.pri, nullptr, RateLimiter::OpType::kWrite),
        c.granted);
    EXPECT_EQ(f.limiter.GetTotalBytesThrough(),
              c.pri == Env::IO_TOTAL ? 0 : static_cast<int64_t>(c.granted));
    EXPECT_EQ(
        f.limiter.RequestToken(c.bytes, c.alignment, c.pri, nullptr, RateLimiter::OpType::kRead),
        c.bytes);
  }
}

TEST(RateLimiter, DrainedPeriodsAreTicked) {
  Fixture<JumpingClock> f;
  const std::shared_ptr<Statistics> statistics = CreateDBStatistics();
  for (int i = 0; i < 5; ++i) f.limiter.Request(1000, Env::IO_LOW, statistics.get());
  EXPECT_EQ(statistics->getTickerCount(NUMBER_RATE_LIMITER_DRAINS), 4U);
}

TEST(RateLimiter, AutoTuningFollowsDemand) {
  Fixture<JumpingClock> f(10, /*auto_tuned=*/true);
  EXPECT_EQ(f.limiter.GetBytesPerSecond(), kRate / 2);
  for (int i = 0; i < 3000; ++i) {
    f.limiter.Request(f.limiter.GetSingleBurstBytes(), Env::IO_LOW, nullptr);
  }
  EXPECT_EQ(f.limiter.GetBytesPerSecond(), kRate) << "steady demand should reach the maximum";
  f.clock->Advance(1000 * kPeriodUs);
  f.limiter.Request(1, Env::IO_LOW, nullptr);
  f.clock->Advance(1000 * kPeriodUs);
  f.limiter.Request(1, Env::IO_LOW, nullptr);
  EXPECT_EQ(f.limiter.GetBytesPerSecond(), kRate / 20) << "no demand should reach the minimum";
}

// Queues one request of a full period at each given priority behind an empty bucket, then lets time
// pass a period at a time and returns the priorities in the order of their grants.
std::vector<Env::IOPriority> GrantOrder(Fixture<StandingClock>* f,
                                        const std::vector<Env::IOPriority>& priorities) {
  f->limiter.Request(1000, Env::IO_USER, nullptr);  // empties the bucket
  std::vector<std::unique_ptr<std::atomic<bool>>> done;
  std::vector<std::thread> threads;
  int64_t waiting = 0;
  for (const Env::IOPriority pri : priorities) {
    auto* const flag = done.emplace_back(std::make_unique<std::atomic<bool>>(false)).get();
    threads.emplace_back([f, pri, flag] {
      f->limiter.Request(1000, pri, nullptr);
      flag->store(true, std::memory_order_relaxed);
    });
    int64_t pending = 0;
    while (pending <= waiting) {
      EXPECT_TRUE(f->limiter.GetTotalPendingRequests(&pending).ok());
      std::this_thread::yield();
    }
    waiting = pending;
  }
  std::vector<Env::IOPriority> order;
  std::vector<bool> seen(priorities.size());
  while (order.size() < priorities.size()) {
    f->clock->Advance(kPeriodUs);
    const size_t before = order.size();
    while (order.size() == before) {
      for (size_t i = 0; i < priorities.size(); ++i) {
        if (seen[i] || !done[i]->load(std::memory_order_relaxed)) continue;
        seen[i] = true;
        order.push_back(priorities[i]);
      }
      std::this_thread::yield();
    }
    EXPECT_EQ(order.size(), before + 1) << "one period holds one request";
  }
  for (std::thread& thread : threads) thread.join();
  return order;
}

TEST(RateLimiter, FullFairnessLetsTheLowestGoFirstAfterUsers) {
  Fixture<StandingClock> f(/*fairness=*/1);
  EXPECT_EQ(GrantOrder(&f, {Env::IO_HIGH, Env::IO_LOW, Env::IO_USER}),
            (std::vector<Env::IOPriority>{Env::IO_USER, Env::IO_LOW, Env::IO_HIGH}));
}

TEST(RateLimiter, HigherPrioritiesUsuallyGoFirst) {
  int low_first = 0;
  constexpr int kRounds = 40;
  Fixture<StandingClock> f(/*fairness=*/10);
  for (int i = 0; i < kRounds; ++i) {
    const auto order = GrantOrder(&f, {Env::IO_LOW, Env::IO_HIGH});
    ASSERT_EQ(order.size(), 2U);
    if (order[0] == Env::IO_LOW) ++low_first;
    f.clock->Advance(kPeriodUs);  // refill for the next round
  }
  EXPECT_LT(low_first, kRounds / 2);
}

TEST(RateLimiter, ManyThreadsGetEverythingTheyAskFor) {
  auto clock = SystemClock::Default();
  GenericRateLimiter limiter(50'000'000, 1000, 10, RateLimiter::Mode::kAllIo, clock, false);
  constexpr int kThreads = 8;
  constexpr int64_t kRequests = 50;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&limiter, t] {
      for (int64_t i = 0; i < kRequests; ++i) {
        limiter.Request(10'000, static_cast<Env::IOPriority>(t % Env::IO_TOTAL), nullptr);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(limiter.GetTotalBytesThrough(), kThreads * kRequests * 10'000);
  EXPECT_EQ(limiter.GetTotalRequests(), kThreads * kRequests);
  int64_t pending = -1;
  ASSERT_TRUE(limiter.GetTotalPendingRequests(&pending).ok());
  EXPECT_EQ(pending, 0);
}

TEST(RateLimiter, FactoryReturnsAWorkingLimiter) {
  const std::unique_ptr<RateLimiter> limiter(NewGenericRateLimiter(int64_t{1} << 30));
  limiter->Request(1 << 20, Env::IO_HIGH, nullptr, RateLimiter::OpType::kWrite);
  EXPECT_EQ(limiter->GetTotalBytesThrough(Env::IO_HIGH), 1 << 20);
  EXPECT_EQ(limiter->GetBytesPerSecond(), int64_t{1} << 30);
}

}  // namespace
}  // namespace varve
