// SPDX-License-Identifier: Apache-2.0
#pragma once

// Limits how many compactions run at the same time in the column families and databases that share
// the limiter.

#include <cstdint>
#include <string>

#include "varve/export.h"

namespace varve {

// Made by NewConcurrentTaskLimiter; other implementations are refused with InvalidArgument. Set it
// in ColumnFamilyOptions::compaction_thread_limiter. Automatic compactions wait while the limit is
// reached; manual ones are counted, but do not wait. Subcompactions of one compaction count as one.
//
// Thread safety: all methods may be called from any thread; none blocks.
class VARVE_EXPORT ConcurrentTaskLimiter {
 public:
  virtual ~ConcurrentTaskLimiter() = default;

  virtual const std::string& GetName() const = 0;
  // Sets the limit: with 0 no automatic compaction starts; negative values mean no limit. Running
  // compactions are not stopped.
  virtual void SetMaxOutstandingTask(int32_t limit) = 0;
  // Removes the limit.
  virtual void ResetMaxOutstandingTask() = 0;
  // Returns the number of running compactions.
  virtual int32_t GetOutstandingTask() const = 0;
};

// Returns a new limiter, which the caller owns. `limit` is as for SetMaxOutstandingTask.
VARVE_EXPORT ConcurrentTaskLimiter* NewConcurrentTaskLimiter(const std::string& name,
                                                             int32_t limit);

}  // namespace varve
