// SPDX-License-Identifier: Apache-2.0

// Locks: exclusion, sharing, waiting, and the debug checks of order and ownership.

#include "util/sync/mutex.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "util/sync/spin.h"

namespace varve {
namespace {

TEST(MutexTest, ExcludesOtherThreads) {
  Mutex mu;
  int64_t count = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; t++) {
    threads.emplace_back([&] {
      for (int i = 0; i < 10000; i++) {
        MutexLock lock(&mu);
        count++;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(count, 40000);
}

TEST(MutexTest, TryLockFailsWhileAnotherThreadHoldsIt) VARVE_NO_THREAD_SAFETY_ANALYSIS {
  Mutex mu;
  mu.Lock();
  std::thread([&]() VARVE_NO_THREAD_SAFETY_ANALYSIS { EXPECT_FALSE(mu.TryLock()); }).join();
  mu.Unlock();
  std::thread([&]() VARVE_NO_THREAD_SAFETY_ANALYSIS {
    EXPECT_TRUE(mu.TryLock());
    mu.AssertHeld();
    mu.Unlock();
  }).join();
}

TEST(MutexTest, GuardsCanGiveTheLockUpForAWhile) {
  Mutex mu;
  MutexLock lock(&mu);
  lock.Unlock();
  { MutexLock other(&mu); }
  lock.Lock();
  {
    MutexUnlock unlocked(&mu);
    std::thread([&] { MutexLock other(&mu); }).join();
  }
  mu.AssertHeld();
}

TEST(CondVarTest, SignalWakesAWaiterAndTimeRunsOut) {
  Mutex mu;
  CondVar cv(&mu);
  bool ready = false;
  std::thread waker([&] {
    MutexLock lock(&mu);
    ready = true;
    cv.SignalAll();
  });
  {
    MutexLock lock(&mu);
    while (!ready) cv.Wait();
    mu.AssertHeld();
    bool in_time = true;
    // A wakeup without a signal is allowed, but not for ever.
    while (in_time) in_time = cv.WaitFor(1000);
    mu.AssertHeld();
  }
  waker.join();
}

TEST(CondVarTest, VeryLongWaitsDoNotOverflow) {
  Mutex mu;
  CondVar cv(&mu);
  bool ready = false;
  std::thread waker([&] {
    MutexLock lock(&mu);
    ready = true;
    cv.Signal();
  });
  {
    MutexLock lock(&mu);
    while (!ready) EXPECT_TRUE(cv.WaitFor(UINT64_MAX));
  }
  waker.join();
}

TEST(SpinWaitTest, EndsUpYielding) {
  SpinWait spin;
  int rounds = 0;
  while (!spin.yielding()) {
    spin.Once();
    rounds++;
  }
  EXPECT_GT(rounds, 1);
  EXPECT_LT(rounds, 100);
  spin.Once();
  spin.Reset();
  EXPECT_FALSE(spin.yielding());
}

class LockChecksDeathTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!lock_checks::kEnabled) GTEST_SKIP() << "only debug builds check locks";
    ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  }
};

TEST_F(LockChecksDeathTest, RanksMustAscend) {
  Mutex low(10);
  Mutex high(20);
  Mutex unranked;
  {
    MutexLock a(&low);
    MutexLock b(&high);
    MutexLock c(&unranked);
  }
  EXPECT_DEATH(
      {
        MutexLock b(&high);
        MutexLock a(&low);
      },
      "out of order");
  Mutex same(20);
  EXPECT_DEATH(
      {
        MutexLock b(&high);
        MutexLock a(&same);
      },
      "out of order");
}

TEST_F(LockChecksDeathTest, OwnershipIsChecked) {
  Mutex mu;
  EXPECT_DEATH(mu.AssertHeld(), "not held");
  EXPECT_DEATH([&]() VARVE_NO_THREAD_SAFETY_ANALYSIS { mu.Unlock(); }(), "not held");
  EXPECT_DEATH(
      [&]() VARVE_NO_THREAD_SAFETY_ANALYSIS {
        mu.Lock();
        mu.Lock();
      }(),
      "taken twice");
}

TEST_F(LockChecksDeathTest, WaitingGivesTheRankBack) {
  Mutex high(20);
  CondVar cv(&high);
  {
    MutexLock lock(&high);
    (void)cv.WaitFor(1);
  }
  Mutex low(10);
  MutexLock lock(&low);
}

}  // namespace
}  // namespace varve
