// SPDX-License-Identifier: Apache-2.0
#include "util/sync/idle_threads.h"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>

namespace varve {

namespace {

// Processes of one step, and the rest behind it: about 0.25 ms of work every 50 ms.
constexpr int kProcessesOfStep = 32;
constexpr uint64_t kRestNanos = 50'000'000;
// Threads of one process beyond this are not looked at.
constexpr int kThreadsOfProcessMax = 64;
// A thread with this nice value has at most a tenth of the weight of a usual one.
constexpr long kIdleNice = 10;

// Numbers of the fields of a stat line, from the state, which is the first behind the name.
constexpr int kNiceField = 16;
constexpr int kThreadsField = 17;
constexpr int kPolicyField = 38;

uint64_t MonotonicNanos() noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

bool IsNumber(const char* name) noexcept {
  return *name >= '0' && *name <= '9';
}

// False if the file cannot be read, as when its process has ended, or is malformed.
bool ReadStat(const char* path, ThreadStat* stat) noexcept {
  const int file = ::open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  char text[1024];
  const ssize_t got = ::read(file, text, sizeof(text) - 1);
  ::close(file);
  if (got <= 0) return false;
  text[got] = '\0';
  return stat->Parse(text);
}

struct CloseDirectory {
  void operator()(DIR* directory) const noexcept { ::closedir(directory); }
};

}  // namespace

// The line is like "71 (a name) R 1 71 ...". The name may have spaces and parentheses.
bool ThreadStat::Parse(const char* text) noexcept {
  const char* at = ::strrchr(text, ')');
  if (at == nullptr || at[1] != ' ') return false;
  at += 2;
  runnable = *at == 'R';
  long nice = 0;
  for (int field = 0; field < kPolicyField; field++) {
    at = ::strchr(at, ' ');
    if (at == nullptr) return false;
    at++;
    if (field + 1 == kNiceField) nice = ::strtol(at, nullptr, 10);
    if (field + 1 == kThreadsField) threads = ::strtoul(at, nullptr, 10);
  }
  if (!IsNumber(at)) return false;
  idle_priority = ::strtol(at, nullptr, 10) == SCHED_IDLE || nice >= kIdleNice;
  return true;
}

IdleThreads& IdleThreads::OfMachine() {
  static IdleThreads* const instance = std::make_unique<IdleThreads>("/proc").release();
  return *instance;
}

IdleThreads::~IdleThreads() {
  const MutexLock lock(&mu_);
  if (processes_ != nullptr) ::closedir(processes_);
}

size_t IdleThreads::Count() noexcept {
  if (MonotonicNanos() >= next_step_nanos_.load(std::memory_order_relaxed)) Step();
  return count_.load(std::memory_order_relaxed);
}

bool IdleThreads::Step() noexcept {
  if (!mu_.TryLock()) return false;
  const bool ended = StepLocked();
  next_step_nanos_.store(MonotonicNanos() + kRestNanos, std::memory_order_relaxed);
  mu_.Unlock();
  return ended;
}

bool IdleThreads::StepLocked() noexcept {
  if (processes_ == nullptr) processes_ = ::opendir(proc_);
  if (processes_ == nullptr) return true;
  for (int looked_at = 0; looked_at < kProcessesOfStep;) {
    const dirent* const entry = ::readdir(processes_);
    if (entry == nullptr) {
      count_.store(so_far_, std::memory_order_relaxed);
      so_far_ = 0;
      ::rewinddir(processes_);
      return true;
    }
    if (!IsNumber(entry->d_name)) continue;
    so_far_ += RunnableOf(entry->d_name);
    looked_at++;
  }
  return false;
}

size_t IdleThreads::RunnableOf(const char* process) const noexcept {
  char path[128];
  ThreadStat stat;
  ::snprintf(path, sizeof(path), "%s/%.20s/stat", proc_, process);
  if (!ReadStat(path, &stat) || !stat.idle_priority) return 0;
  if (stat.threads <= 1) return stat.runnable ? 1 : 0;
  ::snprintf(path, sizeof(path), "%s/%.20s/task", proc_, process);
  const std::unique_ptr<DIR, CloseDirectory> threads(::opendir(path));
  if (threads == nullptr) return 0;
  size_t runnable = 0;
  for (int looked_at = 0; looked_at < kThreadsOfProcessMax;) {
    const dirent* const entry = ::readdir(threads.get());
    if (entry == nullptr) break;
    if (!IsNumber(entry->d_name)) continue;
    looked_at++;
    ::snprintf(path, sizeof(path), "%s/%.20s/task/%.20s/stat", proc_, process, entry->d_name);
    if (ReadStat(path, &stat) && stat.idle_priority && stat.runnable) runnable++;
  }
  return runnable;
}

}  // namespace varve
