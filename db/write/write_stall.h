// SPDX-License-Identifier: Apache-2.0
#pragma once

// Decides when writes must slow down or stop, as a pure function of a column family's tree that
// gives a condition and its reason, and paces delayed writes.

#include <cstddef>
#include <cstdint>
#include <string>

#include "varve/options.h"
#include "varve/types.h"

#include "util/sync/give_way.h"

namespace varve {

// Input of the rules.
struct StallInput {
  int unflushed_memtables = 0;  // Immutable, not yet flushed.
  int l0_files = 0;             // Or other runs that count like them (LevelShape::runs).
  uint64_t pending_compaction_bytes = 0;
  // Largest score of a level below L0, its size as a multiple of its target; only for
  // CompactionUrgency.
  double worst_score = 0;
};

// The verdict of the rules on one family.
struct StallVerdict {
  WriteStallCondition condition = WriteStallCondition::kNormal;
  WriteStallCause cause = WriteStallCause::kNone;
  // True if writes are delayed on L0 files or pending bytes, and a stop is near: at most two L0
  // files are missing to it, or a quarter of the pending bytes between the delay and the stop.
  bool near_stop = false;

  // Returns one line for people: the rule, the current value, the limit, and what would end it.
  std::string Reason(const StallInput& input, const ColumnFamilyOptions& options) const;
};

// The first matching rule decides: stop on memtables, L0 files, pending bytes; then delay on the
// same. A limit of 0 or less is none. Without automatic compactions only memtables count.
StallVerdict JudgeStall(const StallInput& input, const ColumnFamilyOptions& options);

// Returns how near the family is to a stall: each measure as a percentage of the limit at which it
// delays writes (or stops them, if it has no limit for delays), and of these the largest. Counts L0
// files and pending bytes also without automatic compactions.
int StallProximity(const StallInput& input, const ColumnFamilyOptions& options);

// Returns how urgent flushes are: kHurry if one more waiting memtable would stop writes, unless
// that is normal, as when a single one is flushed while another fills; otherwise kCalm.
Urgency FlushUrgency(const StallInput& input, const ColumnFamilyOptions& options);
// Returns how urgent compactions are. The measure that is farthest on decides:
//
//     urgency                                  soon    pressing    hurry
//     L0 files: part of the way                1/4     1/2         3/4
//     pending bytes: part of the way           1/4     1/2         3/4
//     worst level: score                       1       1.5         2
//
// The way of the L0 files begins at the trigger of compactions and ends where writes are delayed,
// or at two and a half times the trigger if that is fewer files, because readers search every L0
// file; if L0 files do not delay writes, where they are stopped counts instead. The way of pending
// bytes leads from none to where writes are delayed. Below the first column compactions are calm,
// and always without automatic compactions.
Urgency CompactionUrgency(const StallInput& input, const ColumnFamilyOptions& options);

// Determines the rate of delayed writes, and how long a write of n bytes has to wait.
//
// Written bytes are a debt that is paid off at the rate; a write waits for the remaining debt of
// earlier ones. So a burst is spread evenly, and a new rate applies at once to the debt.
//
// Thread safety: none; guarded by the DB mutex.
class DelayPacer {
 public:
  // 0 means 16 MiB/s. The rate never rises above the initial one and never falls below 16 KiB/s.
  explicit DelayPacer(uint64_t initial_bytes_per_second);
  // Must be called whenever a delayed family was judged again. Near a stop, or when one has just
  // ended (`left_stop`), the rate falls whatever the pending bytes do, and by more; otherwise it
  // recovers if they have shrunk, and falls if not.
  void Adjust(uint64_t pending_bytes_before, uint64_t pending_bytes_now, bool near_stop,
              bool left_stop);
  // Must be called when no family is delayed any more. The first call after an Adjust raises the
  // rate and forgets the debt; others do nothing.
  void Release();
  // Returns the rate in force, also while no family is delayed.
  uint64_t bytes_per_second() const { return rate_; }
  // Returns the microseconds that a write of n bytes arriving now must wait for the debt of earlier
  // ones, 0 for less than a millisecond, and adds n to the debt. Must be called once for each
  // write; with n = 0 it only asks.
  uint64_t DelayMicros(uint64_t n, uint64_t now_micros);
  // Returns the microseconds until all writes so far are paid off, counted from the last
  // DelayMicros.
  uint64_t DebtMicros() const;

 private:
  // Multiplies the rate, within its bounds.
  void Scale(double factor);

  // Bytes per second: the limit of the rate, and the rate in force.
  const uint64_t max_rate_;
  uint64_t rate_;
  // True from Adjust to Release, so that the rate recovers once for each time of delay.
  bool delaying_ = false;
  // Bytes that writes have taken and that the rate has not paid off yet.
  double debt_bytes_ = 0;
  uint64_t settled_micros_ = 0;  // Time at which debt_bytes_ was current.
};

}  // namespace varve
