// SPDX-License-Identifier: Apache-2.0
#pragma once

// When writes must slow down or stop: a pure function from the shape of a column family's tree to a
// condition with its reason, and the pacing of delayed writes.

#include <cstddef>
#include <cstdint>
#include <string>

#include "varve/options.h"
#include "varve/types.h"

#include "util/sync/give_way.h"

namespace varve {

// What the rules look at.
struct StallInput {
  int unflushed_memtables = 0;  // immutable, not yet flushed
  int l0_files = 0;
  uint64_t pending_compaction_bytes = 0;
  double worst_score = 0;  // of the levels below L0; of no rule, but of CompactionUrgency
};

struct StallVerdict {
  WriteStallCondition condition = WriteStallCondition::kNormal;
  WriteStallCause cause = WriteStallCause::kNone;
  // Delayed, and two files of L0, or a quarter of the way in bytes, from a stop.
  bool near_stop = false;

  // One line for people: the rule, the current value, the limit, and what would end it.
  std::string Reason(const StallInput& input, const ColumnFamilyOptions& options) const;
};

// First matching rule decides: stop on memtables, L0 files, pending bytes; then delay on the same.
StallVerdict JudgeStall(const StallInput& input, const ColumnFamilyOptions& options);

// In percent of the number from which writes are delayed, or stopped where nothing delays, of the
// measure that has come farthest.
int StallProximity(const StallInput& input, const ColumnFamilyOptions& options);

// How urgent it is that flushes, or compactions, get on, as a stall that they would end is near.
// Compactions are calm on the first quarter of the way from the trigger of L0 to where writes are
// delayed or, if that comes first, to two and a half times the trigger, since readers search every
// file of L0. They hurry on the last quarter. Pending bytes count likewise, from none to where
// writes are delayed. A full level needs compactions soon, though no stall comes of it yet, and one
// of twice its size needs them at once: readers search what it has not taken over.
Urgency FlushUrgency(const StallInput& input, const ColumnFamilyOptions& options);
Urgency CompactionUrgency(const StallInput& input, const ColumnFamilyOptions& options);

// The rate granted to delayed writes and how long a write of n bytes has to wait.
//
// Written bytes are a debt that is paid off at the rate; a write waits for what those before it
// still owe. So a burst is spread evenly, and a new rate counts at once for what is owed.
//
// Thread safety: none; guarded by the DB mutex.
class DelayPacer {
 public:
  // 0: 16 MiB/s. The rate never rises above this and never falls below 16 KiB/s.
  explicit DelayPacer(uint64_t initial_bytes_per_second);
  // Called whenever a delayed family's debt was judged anew: the rate falls while debt grows
  // (faster near a stop) and recovers while it shrinks.
  void Adjust(uint64_t pending_bytes_before, uint64_t pending_bytes_now, bool near_stop,
              bool left_stop);
  // No family is delayed any more. Counts once after each Adjust.
  void Release();
  uint64_t bytes_per_second() const { return rate_; }
  // Micros that a write of n bytes arriving now has to wait before it goes on.
  uint64_t DelayMicros(uint64_t n, uint64_t now_micros);
  // Micros until all writes so far are paid off, counted from the last DelayMicros.
  uint64_t DebtMicros() const;

 private:
  void Scale(double factor);

  const uint64_t max_rate_;
  uint64_t rate_;
  bool delaying_ = false;
  double debt_bytes_ = 0;
  uint64_t settled_micros_ = 0;  // when debt_bytes_ was current
};

}  // namespace varve
