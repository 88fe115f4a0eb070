// SPDX-License-Identifier: Apache-2.0
#pragma once

// Who may end a compaction before its time, and what it is then told.

#include <atomic>

#include "varve/status.h"

namespace varve {

// Borrowed; null where nobody can.
//
// Thread safety: they may be set at any time. Only when that is seen matters: nothing else is
// published by them.
struct CancelFlags {
  const std::atomic<bool>* closing = nullptr;  // the database is being closed
  const std::atomic<bool>* manual = nullptr;   // all manual compactions are to stop
  const std::atomic<bool>* user = nullptr;     // CompactRangeOptions::canceled and its like

  // OK, or why to stop.
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
