// SPDX-License-Identifier: Apache-2.0
#pragma once

// Tells listeners, the LOG and the list of threads of compactions.

#include <cstdint>
#include <vector>

#include "varve/listener.h"

#include "db/column_family/column_family.h"
#include "db/compaction/compaction_job.h"
#include "db/compaction/plan.h"
#include "db/engine/context.h"
#include "util/env/thread_registry.h"

namespace varve {

// Thread safety: all methods may be called from any thread. Lifetime: the context must outlive it.
// Listeners may call the database, so no caller may have the mutex, except for Describe,
// AddInputProperties and List, which call no listener.
class CompactionReports {
 public:
  explicit CompactionReports(const DbContext& context) : context_(context) {}

  // Reports that a plan is executed now.
  void Begin(const ColumnFamily& family, const CompactionPlan& plan, int job_id) const
      VARVE_EXCLUDES(kDbMutex);
  // Reports the beginning or the end of one part of a compaction. Does not throw.
  void OfSubcompaction(const ColumnFamily& family, const CompactionPlan& plan, int job_id,
                       const Subcompaction& sub) const VARVE_EXCLUDES(kDbMutex);
  // Reports new tables. Must precede their installation: after that, other compactions may use and
  // delete them.
  void Written(const ColumnFamily& family, int job_id, const CompactionResult& result) const
      VARVE_EXCLUDES(kDbMutex);
  // Reports the end of a compaction, which `info` describes; `files` has the number of tables at
  // each level.
  void End(const ColumnFamily& family, const CompactionPlan& plan, const CompactionResult& result,
           const CompactionJobInfo& info, const std::vector<uint64_t>& files) const
      VARVE_EXCLUDES(kDbMutex);

  // Returns what is known of a compaction, without its status.
  [[nodiscard]] CompactionJobInfo Describe(const ColumnFamily& family, const CompactionPlan& plan,
                                           const CompactionResult& result, int job_id) const;
  // Adds the properties of the input tables, except of those that cannot be opened.
  static void AddInputProperties(const ColumnFamily& family, const CompactionPlan& plan,
                                 CompactionJobInfo* info);
  // Fills in the entry of the thread that executes the plan.
  static void List(const CompactionPlan& plan, int job_id, ListedOperation* listed);

 private:
  const DbContext& context_;
};

}  // namespace varve
