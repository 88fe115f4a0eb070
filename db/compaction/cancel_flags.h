// SPDX-License-Identifier: Apache-2.0
#pragma once

// Flags that cancel a compaction, and the status that it then ends with.

#include <atomic>

#include "varve/status.h"

namespace varve {

// Borrowed pointers; null if that cancellation is impossible.
//
// Thread safety: the flags may be set at any time. They publish no other data.
struct CancelFlags {
  const std::atomic<bool>* closing = nullptr;  // the database is being closed
  const std::atomic<bool>* manual = nullptr;   // all manual compactions must stop
  const std::atomic<bool>* user = nullptr;     // CompactRangeOptions::canceled and similar

  // Returns OK, or the reason to stop.
  [[nodiscard]] Status Check() const {
    const auto set = [](const std::atomic<bool>* flag) {
      return flag != nullptr && flag->load(std::memory_order_relaxed);
    };
    if (set(closing)) return Status::ShutdownInProgress("compaction: the database is being closed");
    if (!set(manual) && !set(user)) return Status::OK();
    return Status(Status::kIncomplete, Status::kManualCompactionPaused, Status::kNoError,
                  "manual compaction was cancelled");
  }
};

}  // namespace varve
