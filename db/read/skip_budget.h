// SPDX-License-Identifier: Apache-2.0
#pragma once

// Limits how many entries one move of an iterator may skip, and for how long.

#include <algorithm>
#include <cstdint>

#include "varve/status.h"
#include "varve/system_clock.h"

#include "util/base/assert.h"

namespace varve {

// The budget is used in slices, so that skipping an entry costs one decrement. Between two slices
// the clock is asked, and the walk may look for a shorter way. If neither is needed, the slice is
// the whole budget.
//
// Thread safety: none. Lifetime: the clock must outlive it.
class SkipBudget {
 public:
  // Sets the limits: `entries_max` as ReadOptions::max_skippable_internal_keys, the deadline in
  // microseconds of the clock. Zero means no limit; without a deadline the clock may be null.
  void Init(uint64_t entries_max, SystemClock* clock, uint64_t deadline_micros);
  // With `looks` true, slices are short, and slice_ended() tells the walk when it should look for a
  // shorter way. Requires Init; takes effect with the next StartMove.
  void LookBetweenSlices(bool looks);

  // Must be called at the start of each move.
  void StartMove() {
    left_ = std::min(entries_max_, first_slice_);
    rest_ = entries_max_ - left_;
    slice_ended_ = false;
  }
  // Returns true if another entry may be skipped. Otherwise the move has failed, with Refusal().
  [[nodiscard]] bool Spend() {
    if (left_ != 0) [[likely]] {
      left_--;
      return true;
    }
    return SpendNextSlice();
  }
  // Returns the same for an entry that does not count against the limit: only time may run out.
  [[nodiscard]] bool SpendTimeOnly() {
    rest_++;  // what Spend takes
    return Spend();
  }
  // True if a slice of this move was used up since the last call of TakeSliceEnd.
  [[nodiscard]] bool slice_ended() const { return slice_ended_; }
  void TakeSliceEnd() {
    VARVE_ASSERT(slice_ended_);
    slice_ended_ = false;
  }
  // True once the deadline has passed.
  [[nodiscard]] bool TooLate() const {
    return deadline_micros_ != 0 && clock_->NowMicros() >= deadline_micros_;
  }
  // Returns the error of a move for which Spend returned false.
  [[nodiscard]] Status Refusal() const;
  // Returns the error of a move for which TooLate returned true.
  [[nodiscard]] static Status RefusalOfTime();

 private:
  // Does what Spend does at the end of a slice: asks the clock, begins the next slice.
  [[nodiscard]] bool SpendNextSlice();

  // The budget of a move. Half of the range leaves room for SpendTimeOnly, which adds to rest_.
  uint64_t entries_max_ = UINT64_MAX / 2;
  // Entries in a slice; the whole budget if neither the clock nor a shorter way is wanted.
  uint64_t first_slice_ = UINT64_MAX;
  uint64_t left_ = 0;  // rest of the slice
  uint64_t rest_ = 0;  // rest of the budget after the slice
  SystemClock* clock_ = nullptr;
  // By clock_; 0: there is no deadline.
  uint64_t deadline_micros_ = 0;
  // True if slice_ended_ is wanted.
  bool looks_ = false;
  bool slice_ended_ = false;
};

}  // namespace varve
