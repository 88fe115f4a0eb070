// SPDX-License-Identifier: Apache-2.0

// Goal: work at a pace yields after each piece of its own processor time, unless it hurries, and
// the most urgent wish of all is found. Method: a clock that the test sets, and a pace that counts;
// the scheduler decides which thread runs after a yield.

#include "util/sync/give_way.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <memory>
#include <optional>
#include <thread>

namespace varve {
namespace {

constexpr uint64_t kMicro = 1000;
constexpr uint64_t kMilli = 1000 * kMicro;

class HandClock final : public SystemClockWrapper {
 public:
  HandClock() : SystemClockWrapper(SystemClock::Default()) {}
  const char* Name() const override { return "HandClock"; }
  uint64_t NowNanos() override {
    reads++;
    return now;
  }
  uint64_t CPUNanos() override { return cpu; }
  void Work(uint64_t nanos) {
    now += nanos;
    cpu += nanos;
  }

  uint64_t now = kMilli;
  uint64_t cpu = kMilli;
  int reads = 0;
};

class CountingPace final : public WorkPace {
 public:
  explicit CountingPace(SystemClock* clock) : WorkPace(clock) {}
  Urgency wanted = Urgency::kCalm;
  int judged = 0;
  uint64_t steps = 0;

 protected:
  Urgency Judge(uint64_t so_far) override {
    judged++;
    steps = so_far;
    return wanted;
  }
};

class GiveWayTest : public ::testing::Test {
 protected:
  // Steps of so long each.
  void Work(int steps, uint64_t nanos) {
    for (int i = 0; i < steps; i++) {
      clock_.Work(nanos);
      GiveWay::Step();
    }
  }

  HandClock clock_;
  CountingPace pace_{&clock_};
};

TEST_F(GiveWayTest, WithoutAPaceNobodyLooksAtTheClock) {
  EXPECT_EQ(GiveWay::CurrentPace(), nullptr);
  Work(10000, kMicro);
  const GiveWay at_no_pace(nullptr);
  Work(10000, kMicro);
  EXPECT_EQ(clock_.reads, 0);
}

TEST_F(GiveWayTest, CalmWorkPausesFourTimesAMillisecond) {
  const GiveWay at_pace(&pace_);
  EXPECT_EQ(GiveWay::CurrentPace(), &pace_);
  Work(100'000, kMicro);
  EXPECT_GE(pace_.pauses(), 350u);
  EXPECT_LE(pace_.pauses(), 400u);
  EXPECT_LT(clock_.reads, 10'000) << "the clock costs as much as a step";
}

TEST_F(GiveWayTest, PressingWorkPausesLess) {
  pace_.wanted = Urgency::kPressing;
  const GiveWay at_pace(&pace_);
  Work(100'000, kMicro);
  EXPECT_GE(pace_.pauses(), 170u);
  EXPECT_LE(pace_.pauses(), 200u);
}

TEST_F(GiveWayTest, WhoHurriesDoesNotPauseButAsksOn) {
  pace_.wanted = Urgency::kHurry;
  const GiveWay at_pace(&pace_);
  Work(50'000, kMicro);
  EXPECT_EQ(pace_.pauses(), 0u);
  EXPECT_GE(pace_.judged, 40);
  EXPECT_GT(pace_.steps, 48'000u);
  EXPECT_LE(pace_.steps, 50'000u);
  pace_.wanted = Urgency::kCalm;
  Work(50'000, kMicro);
  EXPECT_GE(pace_.pauses(), 150u);
}

TEST_F(GiveWayTest, TimeThatOthersHadIsNotItsOwn) {
  const GiveWay at_pace(&pace_);
  Work(1000, kMicro);
  const uint64_t before = pace_.pauses();
  for (int i = 0; i < 10; i++) {
    clock_.now += 4 * kMilli;  // another thread ran
    Work(10, kMicro);
  }
  EXPECT_LE(pace_.pauses(), before + 1) << "it had 100 us";
  Work(1000, kMicro);
  EXPECT_GE(pace_.pauses(), before + 3);
}

TEST_F(GiveWayTest, AfterLongStepsItPausesAtEach) {
  const GiveWay at_pace(&pace_);
  Work(10'000, kMicro / 10);  // looks seldom
  Work(65, kMilli);           // finds out
  const uint64_t before = pace_.pauses();
  Work(100, kMilli);
  EXPECT_GE(pace_.pauses(), before + 90);
}

TEST_F(GiveWayTest, AClockThatKnowsNoProcessorTimeWillDo) {
  clock_.cpu = 0;
  const GiveWay at_pace(&pace_);
  for (int i = 0; i < 10'000; i++) {
    clock_.now += kMicro;
    GiveWay::Step();
  }
  EXPECT_GE(pace_.pauses(), 30u);
}

TEST_F(GiveWayTest, HelpersFollow) {
  std::thread helper([this, pace = &pace_] {
    const GiveWay at_pace(pace, GiveWay::Part::kHelper);
    Work(10'000, kMicro);
  });
  helper.join();
  EXPECT_EQ(pace_.judged, 0);
  EXPECT_GE(pace_.pauses(), 30u);
}

TEST_F(GiveWayTest, OneInsideAnotherHoldsUntilItsEnd) {
  const GiveWay at_pace(&pace_);
  {
    const GiveWay urgent(nullptr);
    Work(10'000, kMicro);
    EXPECT_EQ(pace_.pauses(), 0u);
  }
  Work(10'000, kMicro);
  EXPECT_GE(pace_.pauses(), 30u);
}

TEST(SharedHasteTest, TheNearestOfAllWishesCounts) {
  SharedUrgency shared;
  SharedUrgency::Wish one(&shared);
  std::optional<SharedUrgency::Wish> other(&shared);
  EXPECT_EQ(shared.nearest(), Urgency::kCalm);
  one.Set(Urgency::kSoon);
  EXPECT_EQ(shared.nearest(), Urgency::kSoon);
  other->Set(Urgency::kHurry);
  one.Set(Urgency::kCalm);
  EXPECT_EQ(shared.nearest(), Urgency::kHurry);
  one.Set(Urgency::kHurry);
  one.Set(Urgency::kHurry);
  one.Set(Urgency::kSoon);
  EXPECT_EQ(shared.nearest(), Urgency::kHurry);
  other.reset();
  EXPECT_EQ(shared.nearest(), Urgency::kSoon);
  one.Set(Urgency::kCalm);
  EXPECT_EQ(shared.nearest(), Urgency::kCalm);
}

#ifndef __SANITIZE_THREAD__  // it does not follow a process of several threads through fork()

// The databases that wish something are the parent's.
TEST(SharedHasteTest, AChildOfForkHasNoWishes) {
  SharedUrgency shared;
  SharedUrgency::Wish parents(&shared);
  parents.Set(Urgency::kHurry);
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);
    if (shared.nearest() != Urgency::kCalm) ::_exit(1);
    SharedUrgency::Wish own(&shared);
    own.Set(Urgency::kSoon);
    parents.Set(Urgency::kCalm);
    if (shared.nearest() != Urgency::kSoon) ::_exit(2);
    own.Set(Urgency::kCalm);
    ::_exit(shared.nearest() == Urgency::kCalm ? 0 : 3);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(shared.nearest(), Urgency::kHurry);
}

#endif

}  // namespace
}  // namespace varve
