// SPDX-License-Identifier: Apache-2.0
#pragma once

// Runs one flush job: picks immutable memtables, writes them as tables, and puts these into
// versions.

#include <memory>
#include <vector>

#include "varve/listener.h"

#include "db/background/family_flush.h"
#include "db/background/flush_reports.h"
#include "db/background/work_paces.h"
#include "db/engine/context.h"
#include "db/engine/db_state.h"
#include "db/engine/dynamic_options.h"
#include "db/engine/error_handler.h"
#include "db/engine/job_interfaces.h"
#include "db/engine/stall_control.h"
#include "db/engine/work_statistics.h"

namespace varve {

// Families whose immutable memtables are flushed in one step of the MANIFEST.
struct FlushJob {
  std::vector<std::shared_ptr<ColumnFamily>> families;
  FlushReason reason = FlushReason::kOthers;

  // True if the only reason is a full memtable.
  [[nodiscard]] bool IsOfFullMemTable() const {
    return reason == FlushReason::kWriteBufferFull ||
           reason == FlushReason::kMemtableMaxRangeDeletions;
  }
  // True if a caller may wait for the end of the job: a call asked for it, or memory is short. Jobs
  // for full memtables and large logs are done for nobody in particular.
  [[nodiscard]] bool IsWaitedFor() const {
    return !IsOfFullMemTable() && reason != FlushReason::kWalFull;
  }
};

// Is implemented by the queue of flush jobs.
class FlushRequester {
 public:
  // Requests a job for the immutable memtables of a family that a job has not picked, if they are
  // enough for the reason.
  virtual void RequestRest(ColumnFamily* family, FlushReason reason) VARVE_REQUIRES(kDbMutex) = 0;

 protected:
  ~FlushRequester() = default;
};

// Invariants:
// 1. A memtable is picked by one job at a time; a job that ends, also by an exception, unpicks
//    what it did not install.
// 2. Tables of a family are installed in the order of its memtables: readers search memtables
//    first, so a newer table must not be in force while an older memtable is.
// 3. A failure is reported before other jobs may pick the memtables: otherwise a recovery that
//    waits for the job would repair an error that the database hears of only afterwards.
//
// Thread safety: several threads may run jobs at once. Lifetime: the parts must outlive it.
class FlushRunner {
 public:
  struct Parts {
    const DbContext& context;
    const DynamicOptions& dynamic;
    DbState& state;
    const Lifecycle& lifecycle;
    ErrorHandler& errors;
    StallControl& stalls;
    WorkStatistics& statistics;
    FilePurger& purger;
    FlushRequester& requester;
  };
  // Says what one job takes of each of its families.
  enum class Extent : uint8_t {
    kPiece,  // the oldest unpicked ones, as many as make one table
    kAll,
  };

  explicit FlushRunner(const Parts& parts);
  FlushRunner(const FlushRunner&) = delete;
  FlushRunner& operator=(const FlushRunner&) = delete;

  // Sets the object that is notified of new tables in L0. Must be called first.
  void set_compaction(CompactionScheduler* compaction) { compaction_ = compaction; }

  // Runs the job in this thread; releases the mutex while tables are written. Returns when readers
  // have the tables and listeners were told. After a failure, or if an older flush of a family has
  // failed (then it returns OK), the memtables stay, and any job may pick them again.
  Status Run(const FlushJob& job, Extent extent) VARVE_REQUIRES(kDbMutex);
  // Adds edits by which families with nothing in memory leave the logs before the current one.
  void AddEmptyFamilies(std::vector<VersionEdit>* edits, std::vector<FamilyEdit>* changes) const
      VARVE_REQUIRES(kDbMutex);

 private:
  // Picks memtables of each family that has unpicked ones, and prepares their flushes. Even if it
  // fails, everything picked is in `flushes`.
  Status PickAll(const FlushJob& job, Extent extent, std::vector<FamilyFlush>* flushes)
      VARVE_REQUIRES(kDbMutex);
  // Picks memtables of one family, oldest first. Returns false if there are none that no job has
  // picked.
  bool Pick(ColumnFamily* family, Extent extent, FlushInput* input) VARVE_REQUIRES(kDbMutex);
  // Lets other jobs pick the memtables of a job that failed.
  void Unpick(const FamilyFlush& flush) VARVE_REQUIRES(kDbMutex);
  // Returns the pace of the job, by the memtables that fill while it runs.
  FlushPace PaceOf(std::vector<FamilyFlush>* flushes) const;
  // Writes what was picked as tables, and installs these unless *in_order is false.
  Status RunPicked(const FlushJob& job, std::vector<FamilyFlush>* flushes, bool* in_order)
      VARVE_REQUIRES(kDbMutex);
  // Waits until the older memtables of each family are installed (invariant 2). Returns false if
  // one of them cannot be, because its job has failed.
  bool WaitForOlder(const std::vector<FamilyFlush>& flushes) VARVE_REQUIRES(kDbMutex);
  // Writes the edits of all families into the MANIFEST in one step, and shows readers the tables
  // instead of the memtables.
  Status Install(std::vector<FamilyFlush>* flushes, FlushReason reason) VARVE_REQUIRES(kDbMutex);
  // Returns the epoch number of the flush's table.
  static uint64_t EpochOf(const FamilyFlush& flush) VARVE_REQUIRES(kDbMutex);
  // Cleans up after a failed job.
  void CleanUp(const std::vector<FamilyFlush>& flushes, const Status& s) VARVE_REQUIRES(kDbMutex);
  // Deletes the files of a job that failed, which no version names.
  void RemoveOutputs(const std::vector<FamilyFlush>& flushes) VARVE_REQUIRES(kDbMutex);

  const DbContext& context_;
  const DynamicOptions& dynamic_;
  DbState& state_;
  const Lifecycle& lifecycle_;
  ErrorHandler& errors_;
  StallControl& stalls_;
  WorkStatistics& statistics_;
  FilePurger& purger_;
  FlushRequester& requester_;
  CompactionScheduler* compaction_ = nullptr;
  const FlushReports reports_;

  // WaitForOlder waits for this. Others wait for the end of a job, after listeners were notified.
  CondVar order_changed_;
};

}  // namespace varve
