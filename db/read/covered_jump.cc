// SPDX-License-Identifier: Apache-2.0
#include "db/read/covered_jump.h"

#include <algorithm>

#include "util/base/assert.h"
#include "util/base/canary.h"
#include "util/metrics/perf_counters.h"

namespace varve {

// Guards against sources whose keys are not in order: each jump must begin beyond the last one, or
// a damaged table could make the walk go round for ever.
CoveredJump::Result CoveredJump::Onward(const Place& place) const {
  if (from_.empty()) return Result::kBeyond;
  const int order = icmp_->Compare(place.internal, from_);
  if (order == 0) return Result::kNone;
  return (order > 0) != place.backward ? Result::kBeyond : Result::kOutOfOrder;
}

// Sets to_ to where the source may jump: before all entries of the key where the covered range ends
// (backward: begins), or of place.bound if that comes first. Forward it passes up to further_
// adjacent ranges whose tombstones are as new as `covering`; backward only one. Requires that
// MaxCoveringSeq(place.key, reader) returned `covering` > 0 just before, as the boundaries belong
// to the key that was asked last.
void CoveredJump::FindEnd(const Place& place, SequenceNumber covering, SequenceNumber reader) {
  VARVE_ASSERT(further_ <= kFurtherMax);
  // `to` points into the tombstones' lists, which do not change meanwhile.
  Slice to = place.backward ? *tombstones_->PrevBoundary() : *tombstones_->NextBoundary();
  const auto is_beyond = [&] {
    if (place.bound == nullptr) return false;
    const int order = icmp_->CompareKey(to, *place.bound);
    return place.backward ? order < 0 : order > 0;
  };
  for (uint32_t i = 0; i < further_ && !place.backward && !is_beyond(); i++) {
    if (tombstones_->MaxCoveringSeq(to, reader) < covering) break;
    to = *tombstones_->NextBoundary();
  }
  if (is_beyond()) to = *place.bound;
  const bool too_far = VARVE_CANARY(kJumpTooFar) && !place.backward;
  const Comparator& order = *icmp_->user_comparator();
  Slice timestamp;
  if (icmp_->timestamp_size() != 0) {
    timestamp = too_far ? order.GetMinTimestamp() : order.GetMaxTimestamp();
  }
  to_.assign(to.data(), to.size());
  AppendInternalKey(&to_, timestamp, too_far ? 0 : kMaxSequenceNumber,
                    too_far ? kValueTypeForSeekForPrev : kValueTypeForSeek);
}

// Only sources whose entries are all older than the tombstone move (SkipOlder); a newer source may
// have live entries on the way. If the jump has helped, the next one looks over more tombstones at
// once (further_).
CoveredJump::Result CoveredJump::Leave(InternalIterator* source, const Place& place,
                                       SequenceNumber reader) {
  VARVE_ASSERT(source->Valid() && place.internal.size() >= kInternalKeyTrailerBytes);
  const SequenceNumber covering = tombstones_->MaxCoveringSeq(place.key, reader);
  VARVE_ASSERT(covering <= reader);
  if (covering == 0) return Result::kNone;
  if (const Result onward = Onward(place); onward != Result::kBeyond) return onward;
  FindEnd(place, covering, reader);
  from_.assign(place.internal.data(), place.internal.size());
  const bool moved =
      place.backward ? source->SkipOlderForPrev(to_, covering) : source->SkipOlder(to_, covering);
  // The memory of `place` may be gone with the source's last batch.
  if (!moved) {
    further_ = 0;
    return Result::kNone;
  }
  if (PerfLevelAtLeast(kEnableCount)) ThreadPerfContext()->internal_range_del_reseek_count++;
  const int order = source->Valid() ? icmp_->Compare(source->key(), from_) : 1;
  if (!source->Valid() || (order != 0 && (order > 0) != place.backward)) {
    further_ = std::min(2 * further_ + 1, kFurtherMax);
    return Result::kBeyond;
  }
  further_ = 0;
  return order == 0 ? Result::kBeside : Result::kOutOfOrder;
}

}  // namespace varve
