// SPDX-License-Identifier: Apache-2.0
#pragma once

// Tells listeners, statistics and the LOG of flushes.

#include <vector>

#include "varve/listener.h"

#include "db/background/family_flush.h"
#include "db/db_mutex.h"
#include "db/engine/context.h"

namespace varve {

// Thread safety: all methods may be called from any thread. Lifetime: context and mutex must
// outlive it. Listeners may call the database, so the mutex must not be held.
class FlushReports {
 public:
  FlushReports(const DbContext& context, DbMutex* mu) : context_(context), mu_(mu) {}

  // Reports a job that flushes families together.
  void CountAtomicJob(FlushReason reason) const;
  // Reports requests of a user.
  void ManualScheduled(const std::vector<ColumnFamily*>& families) const VARVE_EXCLUDES(kDbMutex);
  // Reports that the writing of a table begins.
  void Begin(const FamilyFlush& flush, FlushReason reason) const VARVE_EXCLUDES(kDbMutex);
  // Reports a written table. Must precede its installation: after that, compactions may use and
  // delete the table.
  void Written(const FamilyFlush& flush, FlushReason reason) const VARVE_EXCLUDES(kDbMutex);
  // Reports an installed table.
  void End(const FamilyFlush& flush, FlushReason reason) const VARVE_EXCLUDES(kDbMutex);
  // Reports a job whose tables were not installed. `s` is its error; OK if the job itself succeeded
  // but the flush of an older memtable failed, before which its table must not be installed.
  void Failed(const Status& s) const VARVE_EXCLUDES(kDbMutex);

 private:
  // Adds an installed table to the statistics of the options, if there are any.
  void Count(const FamilyFlush& flush, FlushReason reason) const;
  // Returns what listeners are told about the flush. Takes the DB mutex for the state of the tree.
  [[nodiscard]] FlushJobInfo Describe(const FamilyFlush& flush, FlushReason reason) const
      VARVE_EXCLUDES(kDbMutex);

  const DbContext& context_;
  DbMutex* const mu_;
};

}  // namespace varve
