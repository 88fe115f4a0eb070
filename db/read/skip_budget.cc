// SPDX-License-Identifier: Apache-2.0
#include "db/read/skip_budget.h"

namespace varve {

namespace {

// Half of the range leaves room for the entries that are not counted.
constexpr uint64_t kEntriesMax = UINT64_MAX / 2;

// Number of entries before the first look, where known shorter ways may save the walk from
// skipping at all, and between later looks.
constexpr uint64_t kEntriesBeforeLook = 64;
constexpr uint64_t kEntriesPerLook = 1024;

}  // namespace

void SkipBudget::Init(uint64_t entries_max, SystemClock* clock, uint64_t deadline_micros) {
  VARVE_ASSERT(clock != nullptr || deadline_micros == 0);
  entries_max_ = entries_max == 0 ? kEntriesMax : std::min(entries_max, kEntriesMax);
  clock_ = clock;
  deadline_micros_ = deadline_micros;
  first_slice_ = deadline_micros != 0 ? kEntriesPerLook : UINT64_MAX;
}

void SkipBudget::LookBetweenSlices(bool looks) {
  looks_ = looks;
  if (looks) first_slice_ = kEntriesBeforeLook;
}

bool SkipBudget::SpendNextSlice() {
  VARVE_ASSERT(left_ == 0);
  if (rest_ == 0 || TooLate()) return false;
  // One entry of the new slice is spent by this call.
  left_ = std::min(rest_, kEntriesPerLook) - 1;
  rest_ -= left_ + 1;
  slice_ended_ = looks_;
  return true;
}

Status SkipBudget::Refusal() const {
  VARVE_ASSERT(left_ == 0);
  if (rest_ != 0) return RefusalOfTime();
  return Status::Incomplete(
      "iterator: passed over more entries than max_skippable_internal_keys allows");
}

Status SkipBudget::RefusalOfTime() {
  return Status::TimedOut("iterator: the deadline has passed");
}

}  // namespace varve
