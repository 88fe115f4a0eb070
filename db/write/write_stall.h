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
  int l0_files = 0;
  uint64_t pending_compaction_bytes = 0;
  double worst_score = 0;  // Maximum below L0; used only by CompactionUrgency.
};

struct StallVerdict {
  WriteStallCondition condition = WriteStallCondition::kNormal;
  WriteStallCause cause = WriteStallCause::kNone;
  // True if delayed, and two L0 files, or a quarter of the way in bytes, from a stop.
  bool near_stop = false;

  // Returns one line for people: the rule, the current value, the limit, and what would end it.
  std::string Reason(const StallInput& input, const ColumnFamilyOptions& options) const;
};

// The first matching rule decides: stop on memtables, L0 files, pending bytes; then delay on the
// same.
StallVerdict JudgeStall(const StallInput& input, const ColumnFamilyOptions& options);

// Returns the largest measure in percent of its value at which writes are delayed, or stopped if
// there is no delay.
int StallProximity(const StallInput& input, const ColumnFamilyOptions& options);

// Return how urgent flushes or compactions are, because a stall that they would prevent is near.
// Compactions are calm in the first quarter between the L0 trigger and the delay of writes or, if
// that is fewer files, two and a half times the trigger, because readers search every L0 file; they
// are hurried in the last quarter. Pending bytes count likewise, from none to the delay of writes.
// A full level needs compactions soon, although it causes no stall yet, and a level of twice its
// size at once.
Urgency FlushUrgency(const StallInput& input, const ColumnFamilyOptions& options);
Urgency CompactionUrgency(const StallInput& input, const ColumnFamilyOptions& options);

// Determines the rate of delayed writes, and how long a write of n bytes has to wait.
//
// Written bytes are a debt that is paid off at the rate; a write waits for the remaining debt of
// earlier ones. So a burst is spread evenly, and a new rate applies at once to the debt.
//
// Thread safety: none; guarded by the DB mutex.
class DelayPacer {
 public:
  // 0 means 16 MiB/s. The rate never rises above this and never falls below 16 KiB/s.
  explicit DelayPacer(uint64_t initial_bytes_per_second);
  // Must be called whenever a delayed family was judged again: the rate falls while its pending
  // bytes grow (faster near a stop) and recovers while they shrink.
  void Adjust(uint64_t pending_bytes_before, uint64_t pending_bytes_now, bool near_stop,
              bool left_stop);
  // Must be called when no family is delayed any more. Has an effect once after each Adjust.
  void Release();
  uint64_t bytes_per_second() const { return rate_; }
  // Returns the microseconds that a write of n bytes arriving now must wait.
  uint64_t DelayMicros(uint64_t n, uint64_t now_micros);
  // Returns the microseconds until all writes so far are paid off, counted from the last
  // DelayMicros.
  uint64_t DebtMicros() const;

 private:
  void Scale(double factor);

  const uint64_t max_rate_;
  uint64_t rate_;
  bool delaying_ = false;
  double debt_bytes_ = 0;
  uint64_t settled_micros_ = 0;  // Time at which debt_bytes_ was current.
};

}  // namespace varve
