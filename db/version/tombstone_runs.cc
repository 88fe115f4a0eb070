// SPDX-License-Identifier: Apache-2.0

// Ranges in which a reader has found nothing but deletions, for others to skip. A range says
// nothing about later writes; each use checks that the reader's state is not older than that in
// which it was found. The number of ranges is bounded, and victims are taken in turn.

#include "db/version/tombstone_runs.h"

#include <algorithm>
#include <utility>

#include "util/base/assert.h"

namespace varve {

// The ranges stay disjoint and sorted. A merged range has the latest moment of its parts, so it may
// claim less than they did and never more. If there are too many ranges, one is forgotten, each
// time at another place.
void TombstoneRuns::Add(const Slice& begin, const Slice& end, const Moment& moment) {
  if (!Before(begin, end) || std::max(begin.size(), end.size()) > kKeyBytesMax) return;
  Range added{begin.ToString(), end.ToString(), moment};
  const MutexLock lock(&mu_);
  // Ranges that share keys with the new one are merged into it.
  const auto first = std::partition_point(ranges_.begin(), ranges_.end(), [&](const Range& range) {
    return !Before(added.begin, range.end);
  });
  auto last = first;
  for (; last != ranges_.end() && Before(last->begin, added.end); ++last) {
    if (Before(last->begin, added.begin)) added.begin = last->begin;
    if (Before(added.end, last->end)) added.end = last->end;
    added.moment.sequence = std::max(added.moment.sequence, last->moment.sequence);
    added.moment.super_version = std::max(added.moment.super_version, last->moment.super_version);
  }
  ranges_.insert(ranges_.erase(first, last), std::move(added));
  if (ranges_.size() > kRangesMax) {
    next_victim_ = (next_victim_ + 1) % ranges_.size();
    ranges_.erase(ranges_.begin() + static_cast<ptrdiff_t>(next_victim_));
  }
  VARVE_ASSERT(!ranges_.empty() && ranges_.size() <= kRangesMax);
  any_.store(true, std::memory_order_release);
}

// A range is of use to a reader only if that is no older than the range's moment: an older reader
// may see keys that were deleted since.
bool TombstoneRuns::Find(const Slice& user_key, const Moment& moment, std::string* begin,
                         std::string* end) const {
  if (!any_.load(std::memory_order_acquire)) return false;
  const MutexLock lock(&mu_);
  const auto range = std::partition_point(ranges_.begin(), ranges_.end(),
                                          [&](const Range& r) { return !Before(user_key, r.end); });
  if (range == ranges_.end() || !Before(range->begin, user_key) ||
      moment.sequence < range->moment.sequence ||
      moment.super_version < range->moment.super_version) {
    return false;
  }
  *begin = range->begin;
  *end = range->end;
  return true;
}

}  // namespace varve
