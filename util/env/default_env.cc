// SPDX-License-Identifier: Apache-2.0
// Defines Env::Default(), which owns the background threads, and the Envs that use them.

#include <limits.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "util/base/caught_exception.h"
#include "util/env/env_adapters.h"
#include "util/env/io_error.h"
#include "util/env/mem_file_system.h"
#include "util/env/thread_pool.h"
#include "util/env/thread_registry.h"
#include "util/sync/fork_watch.h"
#include "util/sync/lock_ranks.h"
#include "util/sync/mutex.h"

namespace varve {

namespace {

class DefaultEnv final : public FileSystemEnv, private ForkWatch {
 public:
  DefaultEnv() : FileSystemEnv(FileSystem::Default(), SystemClock::Default()) { Watch(&mutex_); }
  ~DefaultEnv() override { Forget(); }

  const char* Name() const override { return kDefaultName(); }

  void Schedule(void (*function)(void* arg), void* arg, Priority pri, void* tag,
                void (*unschedule)(void* arg)) override {
    PoolOf(pri).Schedule(function, arg, tag, unschedule);
  }
  int UnSchedule(void* tag, Priority pri) override { return PoolOf(pri).Unschedule(tag); }
  unsigned int GetThreadPoolQueueLen(Priority pri) const override {
    return static_cast<unsigned int>(pools_[IndexOf(pri)].queue_length());
  }
  int ReserveThreads(int n, Priority pri) override { return PoolOf(pri).Reserve(n); }
  int ReleaseThreads(int n, Priority pri) override { return PoolOf(pri).Release(n); }
  void SetBackgroundThreads(int number, Priority pri) override { PoolOf(pri).SetLimit(number); }
  int GetBackgroundThreads(Priority pri) override { return PoolOf(pri).limit(); }
  void IncBackgroundThreadsIfNeeded(int number, Priority pri) override {
    PoolOf(pri).RaiseLimit(number);
  }

  void LowerThreadPoolIOPriority(Priority pool) override { PoolOf(pool).LowerIoPriority(); }
  void LowerThreadPoolCPUPriority(Priority pool) override {
    PoolOf(pool).LowerCpuPriority(CpuPriority::kLow);
  }
  Status LowerThreadPoolCPUPriority(Priority pool, CpuPriority pri) override {
    PoolOf(pool).LowerCpuPriority(pri);
    return Status::OK();
  }

  void StartThread(void (*function)(void* arg), void* arg) override {
    MutexLock lock(&mutex_);
    started_.emplace_back(function, arg);
  }

  void WaitForJoin() override {
    std::vector<std::thread> joining;
    {
      MutexLock lock(&mutex_);
      joining.swap(started_);
    }
    for (std::thread& t : joining) t.join();
  }

  Status GetThreadList(std::vector<ThreadStatus>* thread_list) override {
    return Guarded([&] { *thread_list = ListThreads(); });
  }

  Status GetHostName(char* name, uint64_t len) override {
    if (len == 0) return Status::InvalidArgument("GetHostName", "no room for the name");
    if (::gethostname(name, len) != 0) {
      if (errno == EFAULT || errno == EINVAL) {
        return Status::InvalidArgument("GetHostName", "the buffer cannot be used");
      }
      return IoErrorFromErrno("gethostname", "host", errno);
    }
    // POSIX does not terminate a truncated name.
    name[len - 1] = '\0';
    return Status::OK();
  }

 private:
  // The threads were the parent's: they can be neither joined nor detached.
  void InChild() override VARVE_NO_THREAD_SAFETY_ANALYSIS { std::construct_at(&started_); }

  // Returns the pool's index. A priority out of range, TOTAL included, counts as LOW.
  static size_t IndexOf(Priority pri) { return pri >= BOTTOM && pri < TOTAL ? pri : LOW; }
  ThreadPool& PoolOf(Priority pri) { return pools_[IndexOf(pri)]; }

  // The pools by priority. If BOTTOM has no threads, LOW does its work.
  std::array<ThreadPool, TOTAL> pools_ = {ThreadPool("bottom", BOTTOM, 0),
                                          ThreadPool("low", LOW, 1), ThreadPool("high", HIGH, 1),
                                          ThreadPool("user", USER, 1)};
  Mutex mutex_{lock_ranks::kStartedThreads};
  std::vector<std::thread> started_ VARVE_GUARDED_BY(mutex_);
};

// An Env with its own files and time, and the threads of another Env.
class CompositeEnv final : public FileSystemEnv {
 public:
  // `base` is not owned. `name` is a literal.
  CompositeEnv(Env* base, const std::shared_ptr<FileSystem>& fs, const char* name)
      : FileSystemEnv(fs, base->GetSystemClock()), target_(base), name_(name) {}

  const char* Name() const override { return name_; }

  void Schedule(void (*function)(void* arg), void* arg, Priority pri, void* tag,
                void (*unschedule)(void* arg)) override {
    target_->Schedule(function, arg, pri, tag, unschedule);
  }
  unsigned int GetThreadPoolQueueLen(Priority pri) const override {
    return target_->GetThreadPoolQueueLen(pri);
  }
  VARVE_THREAD_CALLS

 private:
  Env* const target_;
  const char* const name_;
};

}  // namespace

Env* Env::Default() {
  // Never destroyed: background threads may still run while the process ends, and waiting for them
  // in a static destructor could hang.
  static Env* const instance = std::make_unique<DefaultEnv>().release();
  return instance;
}

std::unique_ptr<Env> NewCompositeEnv(const std::shared_ptr<FileSystem>& fs) {
  return std::make_unique<CompositeEnv>(Env::Default(), fs, "CompositeEnv");
}

Env* NewMemEnv(Env* base_env) {
  return std::make_unique<CompositeEnv>(
             base_env, std::make_shared<MemFileSystem>(base_env->GetSystemClock()), "MemEnv")
      .release();
}

}  // namespace varve
