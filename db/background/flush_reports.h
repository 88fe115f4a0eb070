// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reports flushes to listeners, statistics and the LOG.

#include <vector>

#include "varve/listener.h"

#include "db/background/family_flush.h"
#include "db/db_mutex.h"
#include "db/engine/context.h"

namespace varve {

// Thread-safe. The context and the mutex must outlive it. Listeners may call the database, so the
// DB mutex must not be held.
class FlushReports {
 public:
  FlushReports(const DbContext& context, DbMutex* mu) : context_(context), mu_(mu) {}

  // Counts a job that flushes families atomically.
  void CountAtomicJob(FlushReason reason) const;
  // Reports flushes that a user has requested.
  void ManualScheduled(const std::vector<ColumnFamily*>& families) const VARVE_EXCLUDES(kDbMutex);
  // Reports that the writing of a table begins.
  void Begin(const FamilyFlush& flush, FlushReason reason) const VARVE_EXCLUDES(kDbMutex);
  // Reports a written table. Must be called before its installation, after which compactions may
  // delete the table.
  void Written(const FamilyFlush& flush, FlushReason reason) const VARVE_EXCLUDES(kDbMutex);
  // Reports an installed table.
  void End(const FamilyFlush& flush, FlushReason reason) const VARVE_EXCLUDES(kDbMutex);
  // Reports a job whose tables were not installed. `s` is its error, or OK if the table could not
  // be installed because the flush of an older memtable has failed.
  void Failed(const Status& s) const VARVE_EXCLUDES(kDbMutex);

 private:
  // Adds an installed table to the statistics of the options, if there are any.
  void Count(const FamilyFlush& flush, FlushReason reason) const;
  // Returns the description of a flush for listeners. Takes the DB mutex to read the state of L0.
  [[nodiscard]] FlushJobInfo Describe(const FamilyFlush& flush, FlushReason reason) const
      VARVE_EXCLUDES(kDbMutex);

  const DbContext& context_;
  DbMutex* const mu_;
};

}  // namespace varve
