// SPDX-License-Identifier: Apache-2.0
#pragma once

// How many compactions may run at a time, over column families and databases that share a limiter.

#include <cstdint>
#include <string>

#include "varve/export.h"

namespace varve {

// Made by NewConcurrentTaskLimiter alone: families refuse others. Give it to each family's
// ColumnFamilyOptions::compaction_thread_limiter. Automatic compactions wait while the limit is
// reached; those that calls ask for count, but do not wait. The parts of one compaction that run in
// several threads count as one.
//
// Thread safety: all methods from any thread; they wait for nothing.
class VARVE_EXPORT ConcurrentTaskLimiter {
 public:
  virtual ~ConcurrentTaskLimiter() = default;

  virtual const std::string& GetName() const = 0;
  // 0: none begins any more; less: any number. What runs already is not stopped.
  virtual void SetMaxOutstandingTask(int32_t limit) = 0;
  // Any number.
  virtual void ResetMaxOutstandingTask() = 0;
  // That run now.
  virtual int32_t GetOutstandingTask() const = 0;
};

// The caller owns it, and shares it with families. `limit` as in SetMaxOutstandingTask.
VARVE_EXPORT ConcurrentTaskLimiter* NewConcurrentTaskLimiter(const std::string& name,
                                                             int32_t limit);

}  // namespace varve
