// SPDX-License-Identifier: Apache-2.0
#pragma once

// Slows writers down, or stops them, while trees are out of shape: one family's condition, as
// write_stall.h judges it, is that of all writers. Delayed ones share a pace; stopped ones sleep
// until the stop ends, and wake each other one by one. It also says how near a stall is, requests
// that background work hurries, and measures how long writers have waited.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "varve/listener.h"

#include "db/column_family/column_family.h"
#include "db/engine/context.h"
#include "db/engine/error_state.h"
#include "db/engine/slow_path_flag.h"
#include "db/engine/work_signal.h"
#include "db/write/write_stall.h"
#include "util/sync/give_way.h"

namespace varve {

// Totals of all writers since the opening, or the last ResetStats.
struct StallTotals {
  // Numbers of writes that had to wait.
  uint64_t delayed_writes = 0;
  uint64_t stopped_writes = 0;
  uint64_t memory_stalls = 0;  // writes that waited for the write-buffer manager
  uint64_t memory_stall_micros = 0;
};

// Combines the stall conditions of all families into one for the database, measures waits, and
// tells listeners. Thread safety: none; guarded by the DB mutex, which its waits release. What it
// is given must outlive it.
class StallControl {
 public:
  StallControl(DbMutex* mu, const DbContext& context, const ColumnFamilySet& families,
               const ErrorState& errors, WorkSignal* work);
  ~StallControl();
  StallControl(const StallControl&) = delete;
  StallControl& operator=(const StallControl&) = delete;

  // Judges every family's stall rules anew, and how near the nearest stall is. Must be called
  // whenever the shape of a tree or the number of memtables has changed; Tell, as soon as the mutex
  // may be released, then notifies listeners and the LOG. Does not throw.
  void Update() VARVE_REQUIRES(kDbMutex);
  // Reports the changes in order, and releases the mutex for that. Listeners may write, so the
  // caller must not keep writers out. If there are several callers, one reports for all. Does not
  // throw.
  void Tell() VARVE_REQUIRES(kDbMutex);

  bool stopped() const VARVE_REQUIRES(kDbMutex) { return stopped_families_ > 0; }
  // True if the end of compactions ends the stop.
  bool stopped_for_compaction() const VARVE_REQUIRES(kDbMutex) { return stopped_for_compaction_; }
  bool delayed() const VARVE_REQUIRES(kDbMutex) { return delayed_families_ > 0; }
  // Returns the reason of the worst current condition; empty if there is none.
  const std::string& reason() const VARVE_REQUIRES(kDbMutex) { return reason_; }
  // Returns reason() as text for users, with the duration so far, and the error that keeps
  // compactions from ending the stall; empty if there is no stall.
  std::string Describe() const VARVE_REQUIRES(kDbMutex);

  // Returns how near the closest family is to being delayed, or stopped if no rule delays, in
  // percent: at 100 or more it is.
  int proximity() const VARVE_REQUIRES(kDbMutex) { return proximity_; }
  // True if compactions hurry because a stall is near.
  bool compactions_hurry() const VARVE_REQUIRES(kDbMutex) { return compactions_hurry_; }

  // Returns the rate of delayed writes in bytes per second; 0 while none are delayed.
  uint64_t DelayedRate() const VARVE_REQUIRES(kDbMutex) {
    return delayed() ? pacer_->bytes_per_second() : 0;
  }
  DelayPacer& pacer() VARVE_REQUIRES(kDbMutex) { return *pacer_; }
  // Sets the rate at which a delay begins, and its maximum (delayed_write_rate). Delayed writes
  // that come from now on owe nothing for earlier ones.
  void SetRate(uint64_t bytes_per_second) VARVE_REQUIRES(kDbMutex);

  // --- Writers' waits. BeginWait must be called before a wait, and EndWait after it, with the time
  // that BeginWait has returned (DbContext::MonotonicMicros). Simultaneous waits of several threads
  // count once, as wall time.
  uint64_t BeginWait() VARVE_REQUIRES(kDbMutex);
  void EndWait(uint64_t started) VARVE_REQUIRES(kDbMutex);
  bool AnyWaits() const VARVE_REQUIRES(kDbMutex) { return waiting_writers_ > 0; }
  // Sleeps until another thread wakes this writer, which then wakes the next one.
  void SleepWhileStopped() VARVE_REQUIRES(kDbMutex) { stop_ended_.Wait(); }
  void SleepWhileStopped(uint64_t micros) VARVE_REQUIRES(kDbMutex) { stop_ended_.WaitFor(micros); }
  // Called if a stop may have ended, or writes are refused.
  void WakeStopped() { stop_ended_.Signal(); }

  // Returns the wall time that writers have waited, including a current wait.
  uint64_t WaitedMicros() const VARVE_REQUIRES(kDbMutex);
  StallTotals& totals() VARVE_REQUIRES(kDbMutex) { return totals_; }
  const StallTotals& totals() const VARVE_REQUIRES(kDbMutex) { return totals_; }
  // Sets all totals to 0. A current wait still counts from its beginning.
  void ResetTotals() VARVE_REQUIRES(kDbMutex);

  SlowPathFlag& slow_path() { return slow_path_; }
  const SlowPathFlag& slow_path() const { return slow_path_; }

  // Withdraws this database's requests for urgency of background work.
  void Calm() VARVE_REQUIRES(kDbMutex);

 private:
  // The results of one pass over all families, and the changes that listeners are to be told.
  struct Judged;
  struct News;

  // Applies the rules to one family, sets its condition, and adds it to the results.
  void JudgeFamily(ColumnFamily* family, Judged* all) VARVE_REQUIRES(kDbMutex);
  // Begins, adjusts or ends the delay of writes, by the largest debt and by whether the debt
  // grows. `stopped_before`: compactions had writes stopped when families were judged last.
  void AdjustPace(const Judged& all, bool stopped_before) VARVE_REQUIRES(kDbMutex);
  // Adds a family's change of condition, with its cause as text, to those to be told.
  void DescribeVerdict(const ColumnFamily& family, const StallVerdict& verdict,
                       const StallInput& input, std::vector<WriteStallInfo>* changes)
      VARVE_REQUIRES(kDbMutex);
  // Adds the verdict to the family's counts of stalls, if it differs from the one in force.
  static void CountVerdict(ColumnFamily* family, const StallVerdict& verdict)
      VARVE_REQUIRES(kDbMutex);
  // Calls listeners and writes to the LOG.
  void TellNews(const News& news) const VARVE_EXCLUDES(kDbMutex);

  DbMutex* const mu_;
  const DbContext& context_;
  const ColumnFamilySet& families_;
  const ErrorState& errors_;
  WorkSignal& work_;

  // Hands out bytes to delayed writes.
  std::unique_ptr<DelayPacer> pacer_ VARVE_GUARDED_BY(kDbMutex);
  // Number of families that delay, or stop, writes by their own rules.
  int delayed_families_ VARVE_GUARDED_BY(kDbMutex) = 0;
  int stopped_families_ VARVE_GUARDED_BY(kDbMutex) = 0;
  // True if the stop ends with compactions, not with flushes.
  bool stopped_for_compaction_ VARVE_GUARDED_BY(kDbMutex) = false;
  bool stalled_for_compaction_ VARVE_GUARDED_BY(kDbMutex) = false;  // stopped or delayed
  // Results of the last judgement, for readers of the state.
  int proximity_ VARVE_GUARDED_BY(kDbMutex) = 0;
  bool compactions_hurry_ VARVE_GUARDED_BY(kDbMutex) = false;
  std::string reason_ VARVE_GUARDED_BY(kDbMutex);
  uint64_t since_ VARVE_GUARDED_BY(kDbMutex) = 0;  // start of this stall; 0: there is none
  // Pending compaction bytes (LevelShape) of the delayed family with the most, as judged last.
  uint64_t last_debt_bytes_ VARVE_GUARDED_BY(kDbMutex) = 0;

  // Where writers sleep while writes are stopped.
  CondVar stop_ended_;
  int waiting_writers_ VARVE_GUARDED_BY(kDbMutex) = 0;
  uint64_t waiting_since_ VARVE_GUARDED_BY(kDbMutex) = 0;  // start of the first current wait
  uint64_t waited_micros_ VARVE_GUARDED_BY(kDbMutex) = 0;  // excludes the current wait
  StallTotals totals_ VARVE_GUARDED_BY(kDbMutex);

  // Changes in the order in which they happened, until one caller of Tell has reported them.
  std::vector<News> untold_ VARVE_GUARDED_BY(kDbMutex);
  bool telling_ VARVE_GUARDED_BY(kDbMutex) = false;

  // The process-wide requests for urgency that this database has in force.
  SharedUrgency::Wish flush_haste_ VARVE_GUARDED_BY(kDbMutex){&SharedUrgency::OfFlushes()};
  SharedUrgency::Wish compaction_haste_ VARVE_GUARDED_BY(kDbMutex){&SharedUrgency::OfCompactions()};
  SlowPathFlag slow_path_;
};

}  // namespace varve
