// SPDX-License-Identifier: Apache-2.0
#pragma once

// Counts running tasks, up to a limit that several databases may share. Refused callers are not
// recorded. Instead, when there may be room again, all clients of the process's timer (SharedTimer)
// are woken. Each open database is one of them, and tries again what it wants to run.

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "varve/concurrent_task_limiter.h"

#include "util/sync/fork_watch.h"

namespace varve {

// The limiter of NewConcurrentTaskLimiter. Any thread may call any method.
class TaskLimiter final : public ConcurrentTaskLimiter, private ForkWatch {
 public:
  TaskLimiter(const std::string& name, int32_t limit);
  ~TaskLimiter() override;

  const std::string& GetName() const override { return name_; }
  void SetMaxOutstandingTask(int32_t limit) override;
  void ResetMaxOutstandingTask() override { SetMaxOutstandingTask(-1); }
  int32_t GetOutstandingTask() const override { return outstanding_.load(); }

  // Counts one more task, unless the limit is reached; `force` ignores the limit. If it returns
  // false, the clients of SharedTimer are woken when that may have changed.
  bool Take(bool force);
  // Counts one task less, and wakes the clients of SharedTimer if a caller was refused.
  void GiveBack();
  // True if Take without `force` would fail; arranges the same wake-up.
  bool MustWait();

 private:
  // True if the limit is reached. A negative limit allows any number.
  bool Full() const {
    const int32_t limit = limit_.load();
    return limit >= 0 && outstanding_.load() >= limit;
  }
  void WakeThoseWhoWait();
  // The tasks are threads of the parent.
  void InChild() override { outstanding_.store(0); }

  const std::string name_;
  std::atomic<int32_t> limit_;
  std::atomic<int32_t> outstanding_{0};
  // True if a caller was refused since the last wake-up.
  std::atomic<bool> awaited_{false};
};

// Returns null for a limiter that NewConcurrentTaskLimiter has not created.
TaskLimiter* TaskLimiterOf(ConcurrentTaskLimiter* limiter);

// Holds the count of one running task, or none.
class TaskSlot {
 public:
  TaskSlot() = default;
  ~TaskSlot() { Release(); }
  TaskSlot(const TaskSlot&) = delete;
  TaskSlot& operator=(const TaskSlot&) = delete;

  // Counts a task; returns false if the limit is reached and not to be ignored (see
  // TaskLimiter::Take). Requires that the slot is free, and that the limiter is one of
  // NewConcurrentTaskLimiter or null: then it counts nothing and returns true.
  bool Take(const std::shared_ptr<ConcurrentTaskLimiter>& limiter, bool force);
  // Gives the count back; does nothing if the slot is free.
  void Release();

 private:
  std::shared_ptr<ConcurrentTaskLimiter> limiter_;
};

}  // namespace varve
