// SPDX-License-Identifier: Apache-2.0
#pragma once

// Runs flush jobs: picks immutable memtables, writes them to tables, and installs these in
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

// Families whose immutable memtables are flushed by one atomic edit of the MANIFEST.
struct FlushJob {
  std::vector<std::shared_ptr<ColumnFamily>> families;
  FlushReason reason = FlushReason::kOthers;

  // Returns true if the only reason is a full memtable.
  [[nodiscard]] bool IsOfFullMemTable() const {
    return reason == FlushReason::kWriteBufferFull ||
           reason == FlushReason::kMemtableMaxRangeDeletions;
  }
  // Returns true if a caller may wait for the end of the job: a call requested it, or memory is
  // short.
  [[nodiscard]] bool IsWaitedFor() const {
    return !IsOfFullMemTable() && reason != FlushReason::kWalFull;
  }
};

// Interface to the queue of flush jobs.
class FlushRequester {
 public:
  // Requests another job for the immutable memtables of the family that a job has not picked, if
  // there are enough of them for the reason.
  virtual void RequestRest(ColumnFamily* family, FlushReason reason) VARVE_REQUIRES(kDbMutex) = 0;

 protected:
  ~FlushRequester() = default;
};

// Invariants:
// 1. A memtable is picked by one job at a time; a job that fails or throws unpicks what it did not
//    install.
// 2. Tables of a family are installed in the order of its memtables: readers search memtables
//    first, so the table of a newer memtable must not be visible while an older memtable exists.
// 3. A failure is reported before other jobs may pick the memtables: otherwise a recovery that
//    waits for the job could end before the error is known.
//
// Thread safety: several threads may run jobs concurrently. The parts must outlive it.
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
  // Selects the memtables that a job picks of each family.
  enum class Extent : uint8_t {
    kPiece,  // the oldest unpicked ones, as many as fill one table
    kAll,
  };

  explicit FlushRunner(const Parts& parts);
  FlushRunner(const FlushRunner&) = delete;
  FlushRunner& operator=(const FlushRunner&) = delete;

  // Sets the object that is notified of new tables in L0. Must be called first.
  void set_compaction(CompactionScheduler* compaction) { compaction_ = compaction; }

  // Runs the job on this thread; releases the mutex while tables are written. Returns when readers
  // see the tables and listeners were notified. After a failure the memtables stay, and any job may
  // pick them again; the same holds, with status OK, if an older flush of a family has failed.
  Status Run(const FlushJob& job, Extent extent) VARVE_REQUIRES(kDbMutex);
  // Adds edits that set the log number of families without data in memory to the current log.
  // Requires that *edits is empty. *changes gets pointers to elements of *edits, which must not
  // move until they are written.
  void AddEmptyFamilies(std::vector<VersionEdit>* edits, std::vector<FamilyEdit>* changes) const
      VARVE_REQUIRES(kDbMutex);

 private:
  // Picks memtables of each family, and prepares their flushes. Requires that *flushes is empty;
  // after an error it has everything that was picked.
  Status PickAll(const FlushJob& job, Extent extent, std::vector<FamilyFlush>* flushes)
      VARVE_REQUIRES(kDbMutex);
  // Appends unpicked memtables of one family, oldest first, to input->memtables, and marks them as
  // picked. Returns false if there are none.
  bool Pick(ColumnFamily* family, Extent extent, FlushInput* input) VARVE_REQUIRES(kDbMutex);
  // Makes the memtables of a failed job available to other jobs.
  void Unpick(const FamilyFlush& flush) VARVE_REQUIRES(kDbMutex);
  // Returns the pace of the job, which depends on the memtables that are written to while it runs.
  FlushPace PaceOf(std::vector<FamilyFlush>* flushes) const;
  // Writes the picked memtables to tables, and installs these. Sets *in_order to true before the
  // installation. If an older flush has failed, sets it to false, installs nothing and returns OK.
  // After another error *in_order is as before, or true.
  Status RunPicked(const FlushJob& job, std::vector<FamilyFlush>* flushes, bool* in_order)
      VARVE_REQUIRES(kDbMutex);
  // Waits until the older memtables of each family are installed (invariant 2). Returns false if
  // one of them cannot be, because its job has failed.
  bool WaitForOlder(const std::vector<FamilyFlush>& flushes) VARVE_REQUIRES(kDbMutex);
  // Writes the edits of all families to the MANIFEST atomically, and replaces the memtables by the
  // tables for readers.
  Status Install(std::vector<FamilyFlush>* flushes, FlushReason reason) VARVE_REQUIRES(kDbMutex);
  // Returns the epoch number for the flush's table.
  static uint64_t EpochOf(const FamilyFlush& flush) VARVE_REQUIRES(kDbMutex);
  // Cleans up after a failed job.
  void CleanUp(const std::vector<FamilyFlush>& flushes, const Status& s) VARVE_REQUIRES(kDbMutex);
  // Deletes files of the job that no version has.
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

  // Signalled when a job has installed its tables or failed, for WaitForOlder.
  CondVar order_changed_;
};

}  // namespace varve
