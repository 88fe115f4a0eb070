// SPDX-License-Identifier: Apache-2.0

// Goal: clients of the timer are called when they want to be and not after they have left, however
// they come and go, and a child of fork() has a timer of its own. Method: clients that count.

#include "util/sync/shared_timer.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

namespace varve {
namespace {

constexpr uint64_t kNever = UINT64_MAX;

class Counter final : public SharedTimer::Client {
 public:
  explicit Counter(uint64_t again = kNever) : again_(again) {}
  ~Counter() override {
    SharedTimer::Default().Remove(this);
    EXPECT_FALSE(inside);
  }
  uint64_t OnTime() noexcept override {
    inside = true;
    if (slow) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    calls++;
    inside = false;
    return again_;
  }
  bool Reach(int n) const {
    for (int i = 0; i < 10000 && calls < n; i++) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return calls >= n;
  }
  std::atomic<int> calls{0};
  std::atomic<bool> inside{false};
  std::atomic<bool> slow{false};

 private:
  const uint64_t again_;
};

TEST(SharedTimerTest, CallsAtOnceAndThenAsWanted) {
  Counter once;
  Counter often(1000);
  ASSERT_TRUE(SharedTimer::Default().Add(&once));
  ASSERT_TRUE(SharedTimer::Default().Add(&often));
  EXPECT_TRUE(often.Reach(5));
  EXPECT_TRUE(once.Reach(1));
  EXPECT_EQ(once.calls, 1);
  SharedTimer::Default().Wake(&once);
  EXPECT_TRUE(once.Reach(2));
  SharedTimer::Default().Remove(&often);
  const int calls = often.calls;
  SharedTimer::Default().Wake(&often);  // it is not there
  SharedTimer::Default().Wake(&once);
  EXPECT_TRUE(once.Reach(3));
  EXPECT_EQ(often.calls, calls);
}

TEST(SharedTimerTest, RemoveWaitsForTheCallUnderWay) {
  for (int round = 0; round < 5; round++) {
    Counter slow;
    slow.slow = true;
    ASSERT_TRUE(SharedTimer::Default().Add(&slow));
    while (!slow.inside && slow.calls == 0) std::this_thread::yield();
  }  // its destructor looks
}

TEST(SharedTimerTest, ClientsComeAndGoBesideEachOther) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; t++) {
    threads.emplace_back([] {
      for (int i = 0; i < 100; i++) {
        Counter client;
        ASSERT_TRUE(SharedTimer::Default().Add(&client));
        EXPECT_TRUE(i % 10 != 0 || client.Reach(1));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

#ifndef __SANITIZE_THREAD__  // it does not follow a process of several threads through fork()
TEST(SharedTimerTest, AChildHasATimerOfItsOwn) {
  Counter parents(1000);
  ASSERT_TRUE(SharedTimer::Default().Add(&parents));
  ASSERT_TRUE(parents.Reach(1));
  const pid_t child = fork();
  if (child == 0) {
    Counter own(1000);
    const bool called = SharedTimer::Default().Add(&own) && own.Reach(3);
    SharedTimer::Default().Remove(&own);
    _exit(called ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  const int calls = parents.calls;
  EXPECT_TRUE(parents.Reach(calls + 3));
}
#endif

}  // namespace
}  // namespace varve
