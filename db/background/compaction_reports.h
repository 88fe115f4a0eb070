// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reports compactions to listeners, the LOG and the list of threads.

#include <cstdint>
#include <vector>

#include "varve/listener.h"

#include "db/column_family/column_family.h"
#include "db/compaction/compaction_job.h"
#include "db/compaction/plan.h"
#include "db/engine/context.h"
#include "util/env/thread_registry.h"

namespace varve {

// Thread-safe. The context must outlive it. Listeners may call the database, so no caller may hold
// the DB mutex, except for Describe, AddInputProperties and List, which call no listener.
class CompactionReports {
 public:
  explicit CompactionReports(const DbContext& context) : context_(context) {}

  // Reports the beginning of a plan's execution.
  void Begin(const ColumnFamily& family, const CompactionPlan& plan, int job_id) const
      VARVE_EXCLUDES(kDbMutex);
  // Reports the beginning or the end of one part of a compaction. Does not throw.
  void OfSubcompaction(const ColumnFamily& family, const CompactionPlan& plan, int job_id,
                       const Subcompaction& sub) const VARVE_EXCLUDES(kDbMutex);
  // Reports new tables. Must be called before their installation, after which other compactions may
  // delete them.
  void Written(const ColumnFamily& family, int job_id, const CompactionResult& result) const
      VARVE_EXCLUDES(kDbMutex);
  // Reports the end of a compaction, which `info` describes; `files` has the number of tables of
  // each level after it.
  void End(const ColumnFamily& family, const CompactionPlan& plan, const CompactionResult& result,
           const CompactionJobInfo& info, const std::vector<uint64_t>& files) const
      VARVE_EXCLUDES(kDbMutex);

  // Returns the description of a compaction, without its status. At its beginning `result` is
  // empty.
  [[nodiscard]] CompactionJobInfo Describe(const ColumnFamily& family, const CompactionPlan& plan,
                                           const CompactionResult& result, int job_id) const;
  // Adds the properties of the input tables, except of those that cannot be opened.
  static void AddInputProperties(const ColumnFamily& family, const CompactionPlan& plan,
                                 CompactionJobInfo* info);
  // Describes the plan in the list of threads.
  static void List(const CompactionPlan& plan, int job_id, ListedOperation* listed);

 private:
  const DbContext& context_;
};

}  // namespace varve
