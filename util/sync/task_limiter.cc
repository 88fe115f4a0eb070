// SPDX-License-Identifier: Apache-2.0
#include "util/sync/task_limiter.h"

#include <utility>

#include "util/base/assert.h"
#include "util/sync/shared_timer.h"

namespace varve {

TaskLimiter::TaskLimiter(const std::string& name, int32_t limit) : name_(name), limit_(limit) {
  Watch(nullptr);
}

TaskLimiter::~TaskLimiter() {
  Forget();
}

void TaskLimiter::SetMaxOutstandingTask(int32_t limit) {
  limit_.store(limit);
  WakeThoseWhoWait();
}

// Increments only a number that it has compared with the limit. If MustWait finds that a task has
// ended meanwhile, another caller may take its place first, so the new number is compared again.
bool TaskLimiter::Take(bool force) {
  int32_t running = outstanding_.load();
  for (;;) {
    const int32_t limit = limit_.load();
    if (force || limit < 0 || running < limit) {
      if (outstanding_.compare_exchange_weak(running, running + 1)) return true;
    } else {
      if (MustWait()) return false;
      running = outstanding_.load();
    }
  }
}

void TaskLimiter::GiveBack() {
  const int32_t before = outstanding_.fetch_sub(1);
  VARVE_ASSERT(before > 0);
  (void)before;
  WakeThoseWhoWait();
}

// A task that ends between the two checks sees the flag, or the second check sees that it ended.
bool TaskLimiter::MustWait() {
  if (!Full()) return false;
  awaited_.store(true);
  return Full();
}

void TaskLimiter::WakeThoseWhoWait() {
  if (!Full() && awaited_.exchange(false)) SharedTimer::Default().WakeAll();
}

TaskLimiter* TaskLimiterOf(ConcurrentTaskLimiter* limiter) {
  return dynamic_cast<TaskLimiter*>(limiter);
}

bool TaskSlot::Take(const std::shared_ptr<ConcurrentTaskLimiter>& limiter, bool force) {
  VARVE_ASSERT(limiter_ == nullptr);
  if (limiter == nullptr) return true;
  if (!TaskLimiterOf(limiter.get())->Take(force)) return false;
  limiter_ = limiter;
  return true;
}

void TaskSlot::Release() {
  if (limiter_ == nullptr) return;
  TaskLimiterOf(limiter_.get())->GiveBack();
  limiter_ = nullptr;
}

ConcurrentTaskLimiter* NewConcurrentTaskLimiter(const std::string& name, int32_t limit) {
  return new TaskLimiter(name, limit);
}

}  // namespace varve
