// SPDX-License-Identifier: Apache-2.0
#include "db/background/fork_guard.h"

#include <pthread.h>

#include <memory>
#include <mutex>
#include <set>

namespace varve {

namespace {

struct Registry {
  std::mutex mutex;  // held over a fork, so that the child sees the set whole
  std::set<Engine*> engines;
};

// Never destroyed: a process may fork while it ends.
Registry& Watched() {
  static Registry* const registry = std::make_unique<Registry>().release();
  return *registry;
}

// Stores to atomics are all that may be done here.
void MarkAllDead() {
  for (Engine* engine : Watched().engines) {
    engine->forked.store(true, std::memory_order_release);
    engine->closed.store(true, std::memory_order_release);
    engine->shutting_down.store(true, std::memory_order_release);
  }
  Watched().mutex.unlock();
}

}  // namespace

void ForkGuard::Watch(Engine* engine) {
  static const int registered = ::pthread_atfork([] { Watched().mutex.lock(); },
                                                 [] { Watched().mutex.unlock(); }, &MarkAllDead);
  (void)registered;
  const std::lock_guard<std::mutex> lock(Watched().mutex);
  engine_ = engine;
  Watched().engines.insert(engine);
}

ForkGuard::~ForkGuard() {
  if (engine_ == nullptr) return;
  const std::lock_guard<std::mutex> lock(Watched().mutex);
  Watched().engines.erase(engine_);
}

}  // namespace varve
