// SPDX-License-Identifier: Apache-2.0
#include "db/transaction/lock_ranges.h"

#include <algorithm>

#include "util/base/assert.h"
#include "util/base/canary.h"

namespace varve {

namespace {

// Where an end lies against a place exactly at `key`: negative before it, positive after it.
int CompareEndToKey(const Comparator& comparator, const RangeEnd& end, const Slice& key) {
  if (end.place == RangeEnd::Place::kAboveAllWithPrefix && key.starts_with(end.key)) return 1;
  const int order = comparator.CompareWithoutTimestamp(end.key, false, key, false);
  return order != 0 || end.place == RangeEnd::Place::kAt
             ? order
             : (end.place == RangeEnd::Place::kBefore && !VARVE_CANARY(kLockRangeEnd) ? -1 : 1);
}

int CompareEnds(const Comparator& comparator, const RangeEnd& a, const RangeEnd& b) {
  if (b.place == RangeEnd::Place::kAt) return CompareEndToKey(comparator, a, b.key);
  if (a.place == RangeEnd::Place::kAt) return -CompareEndToKey(comparator, b, a.key);
  if (a.place == b.place && a.key == b.key) return 0;
  const bool a_above = a.place == RangeEnd::Place::kAboveAllWithPrefix;
  const bool b_above = b.place == RangeEnd::Place::kAboveAllWithPrefix;
  // Of two prefixes one of which begins with the other, the shorter ends later.
  if (a_above && b_above && Slice(a.key).starts_with(b.key)) return -1;
  return a_above ? CompareEndToKey(comparator, a, b.key) : -CompareEndToKey(comparator, b, a.key);
}

}  // namespace

bool FamilyRange::Covers(uint32_t key_family, const Slice& key) const {
  return family == key_family && CompareEndToKey(*comparator, begin, key) <= 0 &&
         CompareEndToKey(*comparator, end, key) >= 0;
}

bool FamilyRange::Overlaps(const FamilyRange& other) const {
  if (family != other.family) return false;
  // [a, b) and [b, c) meet in a place where no key is.
  const auto apart = [this](const RangeEnd& upper, const RangeEnd& lower) {
    const int order = CompareEnds(*comparator, upper, lower);
    return order < 0 || (order == 0 && upper.place != RangeEnd::Place::kAt);
  };
  return !apart(end, other.begin) && !apart(other.end, begin);
}

bool FamilyRange::IsOrdered() const {
  return CompareEnds(*comparator, begin, end) <= 0;
}

bool LockRanges::Yields(const HeldRange& range, TransactionID id) {
  if (!range.pending) return false;
  if (std::ranges::find(range.yields_to, id) != range.yields_to.end()) return true;
  return std::ranges::any_of(ranges_, [&](const HeldRange* other) {
    return !other->pending && other->owner->id() == id && other->range.Overlaps(range.range);
  });
}

bool LockRanges::Stands(HeldRange* range, const LockOwner* owner) {
  if (range->owner == owner) return false;
  if (range->owner->expires_at() == 0 || !range->owner->LosesLocksAt(LockClockMicros()))
    return true;
  Unlink(range);
  return false;
}

void LockRanges::Unlink(HeldRange* range) {
  VARVE_ASSERT(range->linked);
  range->linked = false;
  std::erase(ranges_, range);
  count_.fetch_sub(1, std::memory_order_acq_rel);
  VARVE_ASSERT(count_.load(std::memory_order_relaxed) == ranges_.size());
  WakeAll();
}

void LockRanges::WakeAll() {
  for (Waiting* waiting : waiting_) {
    waiting->state_.store(WaitState::kWoken, std::memory_order_release);
    waiting->sleeper_->Wake();
  }
}

void LockRanges::Add(HeldRange* range) {
  MutexLock lock(&mu_);
  VARVE_ASSERT(!range->linked);
  VARVE_ASSERT(range->owner != nullptr);
  ranges_.push_back(range);
  range->ticket = ++tickets_;
  range->linked = range->pending = true;
  count_.fetch_add(1, std::memory_order_acq_rel);
}

void LockRanges::Remove(HeldRange* range) {
  MutexLock lock(&mu_);
  if (range->linked) Unlink(range);
}

void LockRanges::SetYieldsTo(HeldRange* range, std::vector<TransactionID> ids) {
  MutexLock lock(&mu_);
  if (range->yields_to == ids) return;
  range->yields_to = std::move(ids);
  WakeAll();
}

template <typename Matches>
bool LockRanges::AnyStands(const LockOwner* owner, Matches matches) {
  for (size_t i = 0; i < ranges_.size();) {
    HeldRange* const range = ranges_[i];
    if (matches(*range) && Stands(range, owner)) return true;
    if (i < ranges_.size() && ranges_[i] == range) i++;  // one that was robbed has gone
  }
  return false;
}

bool LockRanges::TryHold(HeldRange* mine) {
  MutexLock lock(&mu_);
  if (AnyStands(mine->owner, [mine](const HeldRange& range) {
        return &range != mine && !range.pending && range.range.Overlaps(mine->range);
      })) {
    return false;
  }
  mine->pending = false;
  mine->yields_to.clear();
  return true;
}

bool LockRanges::Bars(const LockOwner* owner, uint32_t family, const Slice& key) {
  MutexLock lock(&mu_);
  return AnyStands(owner, [&](const HeldRange& range) {
    mu_.AssertHeld();
    return range.range.Covers(family, key) && !Yields(range, owner->id());
  });
}

bool LockRanges::Bars(const HeldRange& mine) {
  MutexLock lock(&mu_);
  return AnyStands(mine.owner, [&](const HeldRange& range) {
    mu_.AssertHeld();
    const bool before = !range.pending || range.ticket < mine.ticket;
    return &range != &mine && before && range.range.Overlaps(mine.range) &&
           !Yields(range, mine.owner->id());
  });
}

LockRanges::Waiting::Waiting(LockRanges* ranges, LockSleeper* sleeper)
    : ranges_(ranges), sleeper_(sleeper) {
  MutexLock lock(&ranges_->mu_);
  ranges_->waiting_.push_back(this);
}

LockRanges::Waiting::~Waiting() {
  MutexLock lock(&ranges_->mu_);
  std::erase(ranges_->waiting_, this);
}

void LockRanges::BlockersOf(TransactionID id, const FamilyRange& wanted, uint64_t ticket,
                            bool is_key, std::vector<TransactionID>* ids) {
  MutexLock lock(&mu_);
  for (const HeldRange* range : ranges_) {
    const bool before = is_key || !range->pending || range->ticket < ticket;
    if (before && range->owner->id() != id && !Yields(*range, id) &&
        range->range.Overlaps(wanted)) {
      ids->push_back(range->owner->id());
    }
  }
}

uint64_t LockRanges::NextExpiry(const LockOwner* owner, const FamilyRange& wanted) {
  MutexLock lock(&mu_);
  uint64_t soonest = UINT64_MAX;
  for (const HeldRange* range : ranges_) {
    if (range->owner != owner && range->range.Overlaps(wanted)) {
      soonest = std::min(soonest, range->owner->NextRobbery());
    }
  }
  return soonest;
}

}  // namespace varve
