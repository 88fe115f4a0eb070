// SPDX-License-Identifier: Apache-2.0
//
// The background threads. Order between threads is made with mutexes, never with sleeps.

#include "util/env/thread_pool.h"

#include <gtest/gtest.h>
#include <linux/ioprio.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <vector>

#include "varve/env.h"

#include "util/sync/mutex.h"

namespace varve {
namespace {

// Jobs that block on a gate, so that a test knows what runs and what waits.
struct Gate {
  Mutex mutex;
  CondVar changed{&mutex};
  bool open = false;
  int inside = 0;
  int done = 0;

  static void Pass(void* arg) {
    auto* g = static_cast<Gate*>(arg);
    MutexLock lock(&g->mutex);
    ++g->inside;
    g->changed.SignalAll();
    while (!g->open) g->changed.Wait();
    --g->inside;
    ++g->done;
    g->changed.SignalAll();
  }
  void AwaitInside(int n) {
    MutexLock lock(&mutex);
    while (inside != n) changed.Wait();
  }
  void AwaitDone(int n) {
    MutexLock lock(&mutex);
    while (done != n) changed.Wait();
  }
  void Open() {
    MutexLock lock(&mutex);
    open = true;
    changed.SignalAll();
  }
};

void Count(void* arg) {
  static_cast<std::atomic<int>*>(arg)->fetch_add(1, std::memory_order_relaxed);
}

TEST(ThreadPoolTest, RunsAsManyJobsAtOnceAsTheLimitAllows) {
  Gate gate;
  ThreadPool pool("test", Env::LOW, 2);
  for (int i = 0; i < 5; ++i) pool.Schedule(Gate::Pass, &gate, nullptr, nullptr);
  gate.AwaitInside(2);
  EXPECT_EQ(pool.queue_length(), 3u);
  pool.RaiseLimit(1);
  EXPECT_EQ(pool.limit(), 2);
  pool.SetLimit(4);
  gate.AwaitInside(4);
  EXPECT_EQ(pool.queue_length(), 1u);
  gate.Open();
  gate.AwaitDone(5);
}

TEST(ThreadPoolTest, AtLimitZeroJobsWait) {
  Gate gate;
  gate.Open();
  ThreadPool pool("test", Env::LOW, 0);
  pool.Schedule(Gate::Pass, &gate, nullptr, nullptr);
  EXPECT_EQ(pool.queue_length(), 1u);
  pool.SetLimit(1);
  gate.AwaitDone(1);
}

TEST(ThreadPoolTest, ALowerLimitEndsThreadsAfterTheirJobs) {
  Gate gate;
  ThreadPool pool("test", Env::LOW, 3);
  for (int i = 0; i < 3; ++i) pool.Schedule(Gate::Pass, &gate, nullptr, nullptr);
  gate.AwaitInside(3);
  pool.SetLimit(1);
  gate.Open();
  gate.AwaitDone(3);
  Gate second;
  for (int i = 0; i < 3; ++i) pool.Schedule(Gate::Pass, &second, nullptr, nullptr);
  second.AwaitInside(1);
  EXPECT_EQ(pool.queue_length(), 2u);
  second.Open();
  second.AwaitDone(3);
}

TEST(ThreadPoolTest, UnscheduledJobsAreHandedBack) {
  Gate gate;
  ThreadPool pool("test", Env::LOW, 1);
  pool.Schedule(Gate::Pass, &gate, &gate, nullptr);
  gate.AwaitInside(1);
  std::atomic<int> ran{0};
  std::atomic<int> removed{0};
  int tag = 0;
  for (int i = 0; i < 3; ++i) pool.Schedule(Count, &ran, &tag, nullptr);
  pool.Schedule(Count, &removed, &tag, Count);
  pool.Schedule(Count, &ran, nullptr, nullptr);
  EXPECT_EQ(pool.Unschedule(&tag), 4);
  EXPECT_EQ(removed.load(), 1);
  EXPECT_EQ(pool.Unschedule(&tag), 0);
  // A running job is not touched, and jobs without a tag cannot be removed.
  EXPECT_EQ(pool.Unschedule(&gate), 0);
  EXPECT_EQ(pool.Unschedule(nullptr), 0);
  gate.Open();
  gate.AwaitDone(1);
  Gate last;
  last.Open();
  pool.Schedule(Gate::Pass, &last, nullptr, nullptr);
  last.AwaitDone(1);
  EXPECT_EQ(ran.load(), 1);
}

TEST(ThreadPoolTest, ReservedThreadsTakeNoJobs) {
  Gate gate;
  ThreadPool pool("test", Env::LOW, 3);
  EXPECT_EQ(pool.Reserve(5), 3);
  EXPECT_EQ(pool.Release(2), 2);
  for (int i = 0; i < 3; ++i) pool.Schedule(Gate::Pass, &gate, nullptr, nullptr);
  gate.AwaitInside(2);
  EXPECT_EQ(pool.queue_length(), 1u);
  EXPECT_EQ(pool.Reserve(1), 0);
  EXPECT_EQ(pool.Release(9), 1);
  gate.AwaitInside(3);
  gate.Open();
  gate.AwaitDone(3);
}

TEST(ThreadPoolTest, TheDestructorRunsWhatWaits) {
  std::atomic<int> ran{0};
  {
    ThreadPool pool("test", Env::LOW, 0);
    for (int i = 0; i < 100; ++i) pool.Schedule(Count, &ran, nullptr, nullptr);
  }
  EXPECT_EQ(ran.load(), 100);
}

TEST(ThreadPoolTest, ManyThreadsMayScheduleAndResizeAtOnce) {
  std::atomic<int> ran{0};
  {
    ThreadPool pool("test", Env::LOW, 1);
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&pool, &ran, t] {
        for (int i = 0; i < 2000; ++i) {
          pool.Schedule(Count, &ran, nullptr, nullptr);
          if (i % 50 == 0) pool.SetLimit((i / 50 + t) % 5);
        }
      });
    }
    for (std::thread& t : threads) t.join();
  }
  EXPECT_EQ(ran.load(), 8000);
}

// Holds how the system sees the thread that runs it.
struct Seen {
  int nice = 0;
  int policy = 0;
  long io_class = 0;

  static void Look(void* arg) {
    auto* seen = static_cast<Seen*>(arg);
    seen->nice = ::getpriority(PRIO_PROCESS, 0);
    seen->policy = ::sched_getscheduler(0);
    seen->io_class = IOPRIO_PRIO_CLASS(::syscall(SYS_ioprio_get, IOPRIO_WHO_PROCESS, 0));
  }
};

// Runs in the pool's only thread.
Seen LookIn(ThreadPool* pool) {
  Seen seen;
  Gate gate;
  gate.Open();
  pool->Schedule(Seen::Look, &seen, nullptr, nullptr);
  pool->Schedule(Gate::Pass, &gate, nullptr, nullptr);
  gate.AwaitDone(1);
  return seen;
}

TEST(ThreadPoolTest, ALoweredPriorityIsInForceFromTheNextJobOn) {
  const int own = ::getpriority(PRIO_PROCESS, 0);
  const long own_io = IOPRIO_PRIO_CLASS(::syscall(SYS_ioprio_get, IOPRIO_WHO_PROCESS, 0));
  ThreadPool pool("test", Env::LOW, 1);
  ThreadPool other("test", Env::LOW, 1);
  Seen seen = LookIn(&pool);
  EXPECT_EQ(seen.nice, own);
  EXPECT_EQ(seen.io_class, own_io);
  pool.LowerCpuPriority(CpuPriority::kNormal);
  EXPECT_EQ(LookIn(&pool).nice, own);
  pool.LowerCpuPriority(CpuPriority::kLow);
  seen = LookIn(&pool);
  EXPECT_EQ(seen.nice, 19);
  EXPECT_EQ(seen.policy, SCHED_OTHER);
  EXPECT_EQ(seen.io_class, own_io);
  pool.LowerIoPriority();
  EXPECT_EQ(LookIn(&pool).io_class, IOPRIO_CLASS_IDLE);
  pool.LowerCpuPriority(CpuPriority::kIdle);
  EXPECT_EQ(LookIn(&pool).policy, SCHED_IDLE);
  // The change affects one pool alone, and not the calling thread.
  EXPECT_EQ(LookIn(&other).nice, own);
  EXPECT_EQ(::getpriority(PRIO_PROCESS, 0), own);
}

// The system may not let the thread up again, so the pool does not try.
TEST(ThreadPoolTest, AHigherPriorityIsForLaterThreads) {
  const int own = ::getpriority(PRIO_PROCESS, 0);
  ThreadPool pool("test", Env::LOW, 1);
  pool.LowerCpuPriority(CpuPriority::kLow);
  EXPECT_EQ(LookIn(&pool).nice, 19);
  pool.LowerCpuPriority(CpuPriority::kNormal);
  EXPECT_EQ(LookIn(&pool).nice, 19);
  Gate gate;
  pool.Schedule(Gate::Pass, &gate, nullptr, nullptr);
  gate.AwaitInside(1);  // the lowered one
  pool.SetLimit(2);
  EXPECT_EQ(LookIn(&pool).nice, own);
  gate.Open();
  gate.AwaitDone(1);
}

TEST(DefaultEnvTest, PoolsAreLoweredByPriority) {
  Env* const env = Env::Default();
  EXPECT_TRUE(env->LowerThreadPoolCPUPriority(Env::USER, CpuPriority::kLow).ok());
  env->LowerThreadPoolIOPriority(Env::USER);
  Seen seen;
  Gate gate;
  gate.Open();
  env->Schedule(Seen::Look, &seen, Env::USER, nullptr, nullptr);
  env->Schedule(Gate::Pass, &gate, Env::USER, nullptr, nullptr);
  gate.AwaitDone(1);
  EXPECT_EQ(seen.nice, 19);
  EXPECT_EQ(seen.io_class, IOPRIO_CLASS_IDLE);
}

TEST(DefaultEnvTest, PoolsAreSeparateAndGrowOnDemand) {
  Env* const env = Env::Default();
  Gate gate;
  env->Schedule(Gate::Pass, &gate, Env::LOW, nullptr, nullptr);
  gate.AwaitInside(1);
  Gate high;
  high.Open();
  env->Schedule(Gate::Pass, &high, Env::HIGH, nullptr, nullptr);
  high.AwaitDone(1);
  env->IncBackgroundThreadsIfNeeded(2, Env::LOW);
  EXPECT_GE(env->GetBackgroundThreads(Env::LOW), 2);
  EXPECT_EQ(env->GetBackgroundThreads(Env::BOTTOM), 0);
  Gate low;
  low.Open();
  env->Schedule(Gate::Pass, &low, Env::LOW, nullptr, nullptr);
  low.AwaitDone(1);
  gate.Open();
  gate.AwaitDone(1);
}

TEST(DefaultEnvTest, StartedThreadsAreJoined) {
  std::atomic<int> sum{0};
  Env* const env = Env::Default();
  env->StartThread(Count, &sum);
  env->StartThreadTyped([&sum](int a, int b) { sum.fetch_add(a * b); }, 6, 7);
  env->WaitForJoin();
  EXPECT_EQ(sum.load(), 43);
}

#ifndef __SANITIZE_THREAD__  // it does not follow a process of several threads through fork()

// A thread is busy and a job waits at the moment of the fork.
TEST(ThreadPoolTest, IsAsNewInAChildOfFork) {
  Gate gate;
  std::atomic<int> ran{0};
  auto pool = std::make_unique<ThreadPool>("test", Env::LOW, 1);
  pool->Schedule(Gate::Pass, &gate, nullptr, nullptr);
  gate.AwaitInside(1);
  pool->Schedule(Count, &ran, nullptr, nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);
    if (pool->queue_length() != 0) ::_exit(1);
    std::atomic<int> mine{0};
    for (int i = 0; i < 10; i++) pool->Schedule(Count, &mine, nullptr, nullptr);
    pool.reset();
    ::_exit(mine.load() == 10 && ran.load() == 0 ? 0 : 2);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  gate.Open();
  pool.reset();
  EXPECT_EQ(ran.load(), 1);
}

#endif

}  // namespace
}  // namespace varve
