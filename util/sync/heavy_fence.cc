// SPDX-License-Identifier: Apache-2.0
#include "util/sync/heavy_fence.h"

#include <sched.h>

#include <cerrno>

#if defined(__linux__)
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

#if defined(__SANITIZE_THREAD__)
#define VARVE_NO_HEAVY_FENCE 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define VARVE_NO_HEAVY_FENCE 1
#endif
#endif

namespace varve {

#if defined(__linux__) && !defined(VARVE_NO_HEAVY_FENCE)

namespace {

bool Membarrier(int command) {
  return syscall(SYS_membarrier, command, 0, 0) == 0;
}

}  // namespace

bool PrepareHeavyFence() {
  return Membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
}

bool HeavyFence() {
  // The kernel may be short of memory for a moment.
  constexpr int kTries = 100;
  for (int i = 0; i < kTries; i++) {
    if (Membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED)) return true;
    if (errno != ENOMEM) break;
    sched_yield();
  }
  // A child of fork may have to register again.
  return PrepareHeavyFence() && Membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
}

#else

bool PrepareHeavyFence() {
  return false;
}
bool HeavyFence() {
  return false;
}

#endif

}  // namespace varve
