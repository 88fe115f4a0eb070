// SPDX-License-Identifier: Apache-2.0
#pragma once

// Limits the number of compactions that run at a time in column families and databases that share
// it.

#include <cstdint>
#include <string>

#include "varve/export.h"

namespace varve {

// Made by NewConcurrentTaskLimiter; column families refuse other implementations. Set it in
// ColumnFamilyOptions::compaction_thread_limiter. Automatic compactions wait while the limit is
// reached; requested ones count, but do not wait. Parts of one compaction that run in several
// threads count as one.
//
// Thread safety: all methods may be called from any thread; none blocks.
class VARVE_EXPORT ConcurrentTaskLimiter {
 public:
  virtual ~ConcurrentTaskLimiter() = default;

  virtual const std::string& GetName() const = 0;
  // Sets the limit. 0: no compaction starts; negative: no limit. Running ones are not stopped.
  virtual void SetMaxOutstandingTask(int32_t limit) = 0;
  // Removes the limit.
  virtual void ResetMaxOutstandingTask() = 0;
  // Returns the number of running compactions.
  virtual int32_t GetOutstandingTask() const = 0;
};

// The caller owns the result and shares it with column families. `limit`: see
// SetMaxOutstandingTask.
VARVE_EXPORT ConcurrentTaskLimiter* NewConcurrentTaskLimiter(const std::string& name,
                                                             int32_t limit);

}  // namespace varve
