// SPDX-License-Identifier: Apache-2.0
#include "util/env/thread_priority.h"

#include <linux/ioprio.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace varve {

bool LowerCpuPriority(CpuPriority priority) {
  switch (priority) {
    case CpuPriority::kIdle: {
      const struct sched_param none = {};
      return ::sched_setscheduler(0, SCHED_IDLE, &none) == 0;
    }
    case CpuPriority::kLow: {
      // Linux has nice values of threads: 0 is the calling one.
      constexpr int kNicest = 19;
      return ::setpriority(PRIO_PROCESS, 0, kNicest) == 0;
    }
    case CpuPriority::kNormal:
    case CpuPriority::kHigh:
      break;
  }
  return true;
}

bool LowerIoPriority() {
  // The C library has no function for this call.
  return ::syscall(SYS_ioprio_set, IOPRIO_WHO_PROCESS, 0,
                   IOPRIO_PRIO_VALUE(IOPRIO_CLASS_IDLE, 0)) == 0;
}

}  // namespace varve
