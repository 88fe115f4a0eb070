// SPDX-License-Identifier: Apache-2.0
#include "util/sync/fork_watch.h"

#include <pthread.h>

#include <memory>
#include <mutex>
#include <set>

namespace varve {

struct ForkWatches {
  std::mutex mutex;  // Held over a fork, so that the child sees a consistent set.
  std::set<ForkWatch*> all;

  // Never destroyed: a process may fork while it ends.
  static ForkWatches& Get() {
    static ForkWatches* const watches = [] {
      auto made = std::make_unique<ForkWatches>();
      // If this fails for lack of memory, only children of fork are affected.
      (void)::pthread_atfork(&Before, &InParent, &InChild);
      return made.release();
    }();
    return *watches;
  }

  static void Before() {
    Get().mutex.lock();
    for (const ForkWatch* watch : Get().all) {
      if (watch->mutex_ != nullptr) watch->mutex_->mu_.lock();
    }
  }
  static void InParent() {
    for (const ForkWatch* watch : Get().all) {
      if (watch->mutex_ != nullptr) watch->mutex_->mu_.unlock();
    }
    Get().mutex.unlock();
  }
  static void InChild() {
    for (ForkWatch* watch : Get().all) watch->InChild();
    InParent();
  }
};

void ForkWatch::Watch(Mutex* mutex) {
  ForkWatches& watches = ForkWatches::Get();
  const std::lock_guard<std::mutex> lock(watches.mutex);
  mutex_ = mutex;
  watches.all.insert(this);
}

void ForkWatch::Forget() {
  ForkWatches& watches = ForkWatches::Get();
  const std::lock_guard<std::mutex> lock(watches.mutex);
  watches.all.erase(this);
}

}  // namespace varve
