// SPDX-License-Identifier: Apache-2.0

// Goal: threads that take and give back at once never hold more tasks than the limit allows.
// Method: each thread that has taken a task counts those that run beside it; after a refusal it
// tries again at once, so that it often meets the end of another's task.

#include "util/sync/task_limiter.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "varve/concurrent_task_limiter.h"

namespace varve {
namespace {

TEST(TaskLimiterRaceTest, ThreadsTogetherKeepToTheLimit) {
  for (const int32_t limit : {1, 2}) {
    const std::unique_ptr<ConcurrentTaskLimiter> limiter(NewConcurrentTaskLimiter("shared", limit));
    TaskLimiter* const tasks = TaskLimiterOf(limiter.get());
    std::atomic<int> running{0};
    std::atomic<int> too_many{0};
    const auto work = [&] {
      for (int i = 0; i < 1'000'000; i++) {
        if (!tasks->Take(/*force=*/false)) continue;
        if (++running > limit) too_many++;
        running--;
        tasks->GiveBack();
      }
    };
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; i++) threads.emplace_back(work);
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(too_many, 0);
    EXPECT_EQ(limiter->GetOutstandingTask(), 0);
  }
}

TEST(TaskLimiterRaceTest, ForceGoesBeyondTheLimit) {
  const std::unique_ptr<ConcurrentTaskLimiter> limiter(NewConcurrentTaskLimiter("shared", 0));
  TaskLimiter* const tasks = TaskLimiterOf(limiter.get());
  EXPECT_FALSE(tasks->Take(/*force=*/false));
  EXPECT_TRUE(tasks->Take(/*force=*/true));
  EXPECT_EQ(limiter->GetOutstandingTask(), 1);
  tasks->GiveBack();
}

}  // namespace
}  // namespace varve
