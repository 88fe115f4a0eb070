// SPDX-License-Identifier: Apache-2.0
#pragma once

// Counts tasks that run, up to a limit. Whoever was refused is told when there may be room: the
// clients of the shared timer are, all of them, as a limiter knows nobody who shares it.

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "varve/concurrent_task_limiter.h"

#include "util/sync/fork_watch.h"

namespace varve {

class TaskLimiter final : public ConcurrentTaskLimiter, private ForkWatch {
 public:
  TaskLimiter(const std::string& name, int32_t limit);
  ~TaskLimiter() override;

  const std::string& GetName() const override { return name_; }
  void SetMaxOutstandingTask(int32_t limit) override;
  void ResetMaxOutstandingTask() override { SetMaxOutstandingTask(-1); }
  int32_t GetOutstandingTask() const override { return outstanding_.load(); }

  // One more runs, unless the limit is reached; `force`: even then. False: the timer's clients are
  // woken when that may have changed.
  bool Take(bool force);
  void GiveBack();
  // The same answer without taking.
  bool MustWait();

 private:
  bool Full() const {
    const int32_t limit = limit_.load();
    return limit >= 0 && outstanding_.load() >= limit;
  }
  void WakeThoseWhoWait();
  // The tasks are threads of the parent's.
  void InChild() override { outstanding_.store(0); }

  const std::string name_;
  std::atomic<int32_t> limit_;
  std::atomic<int32_t> outstanding_{0};
  std::atomic<bool> awaited_{false};
};

// Null for one that NewConcurrentTaskLimiter has not made.
TaskLimiter* TaskLimiterOf(ConcurrentTaskLimiter* limiter);

// One task that runs, or none.
class TaskSlot {
 public:
  TaskSlot() = default;
  ~TaskSlot() { Release(); }
  TaskSlot(const TaskSlot&) = delete;
  TaskSlot& operator=(const TaskSlot&) = delete;

  // Of a slot that is free. Without a limiter nothing is counted, and the answer is true.
  bool Take(const std::shared_ptr<ConcurrentTaskLimiter>& limiter, bool force);
  void Release();

 private:
  std::shared_ptr<ConcurrentTaskLimiter> limiter_;
};

}  // namespace varve
