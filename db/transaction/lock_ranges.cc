// SPDX-License-Identifier: Apache-2.0

// Range locks are kept in two structures. Held ranges form a tree ordered by their beginnings. Each
// node knows the range of its subtree that ends last, and, of the ranges with another owner than
// that, the one that ends last. So a search for an overlapping range of another owner goes down one
// path. Pending ranges, at most one per thread, are a list that is walked.
//
//      held_     [a, f) T1    [c, t) T2    [k, m) T1       tree by beginning; "last" = T2's
//      pending_  ticket 7: T3 [e, p)                       yields to T1, for whose key it waits
//
// The order of events is what keeps a key and a range from overtaking each other. A range raises
// count_, then looks for locked keys. A key is locked first, and then its thread reads count_. The
// later of the two sees the other, and the key yields.

#include "db/transaction/lock_ranges.h"

#include <algorithm>
#include <utility>

#include "util/base/assert.h"
#include "util/base/canary.h"

namespace varve {

// ---- Ends of ranges ----

namespace {

using Place = RangeEnd::Place;

// Compares an end with a place exactly at `key`: negative if the end is before it, positive if
// after.
int CompareEndToKey(const Comparator& comparator, const KeySpan::End& end, const Slice& key) {
  if (end.place == Place::kAboveAllWithPrefix && key.starts_with(end.key)) return 1;
  const int order = comparator.CompareWithoutTimestamp(end.key, false, key, false);
  return order != 0 || end.place == Place::kAt
             ? order
             : (end.place == Place::kBefore && !VARVE_CANARY(kLockRangeEnd) ? -1 : 1);
}

// Compares two ends of ranges: negative if `a` is before `b`, 0 if they are the same place.
int CompareEndToEnd(const Comparator& comparator, const KeySpan::End& a, const KeySpan::End& b) {
  if (b.place == Place::kAt) return CompareEndToKey(comparator, a, b.key);
  if (a.place == Place::kAt) return -CompareEndToKey(comparator, b, a.key);
  if (a.place == b.place && a.key == b.key) return 0;
  const bool a_above = a.place == Place::kAboveAllWithPrefix;
  const bool b_above = b.place == Place::kAboveAllWithPrefix;
  // If one prefix begins with the other, the shorter one ends later.
  if (a_above && b_above && a.key.starts_with(b.key)) return -1;
  // Neither end is at its key, and they differ, so the one that reaches above a prefix is compared
  // with the key of the other; of two that are before their keys, the keys decide.
  return a_above ? CompareEndToKey(comparator, a, b.key) : -CompareEndToKey(comparator, b, a.key);
}

int CompareFamilies(uint32_t a, uint32_t b) {
  return a == b ? 0 : (a < b ? -1 : 1);
}

}  // namespace

int KeySpan::SideOf(const Slice& key) const {
  if (CompareEndToKey(*comparator, begin, key) > 0) return -1;
  return CompareEndToKey(*comparator, end, key) >= 0 ? 0 : 1;
}

int KeySpan::CompareBegins(const KeySpan& a, const KeySpan& b) {
  const int order = CompareFamilies(a.family, b.family);
  return order != 0 ? order : CompareEndToEnd(*a.comparator, a.begin, b.begin);
}

int KeySpan::CompareEnds(const KeySpan& a, const KeySpan& b) {
  const int order = CompareFamilies(a.family, b.family);
  return order != 0 ? order : CompareEndToEnd(*a.comparator, a.end, b.end);
}

bool KeySpan::EndsBefore(const KeySpan& other) const {
  if (family != other.family) return family < other.family;
  const int order = CompareEndToEnd(*comparator, end, other.begin);
  return order < 0 || (order == 0 && end.place != Place::kAt);
}

bool FamilyRange::IsOrdered() const {
  const KeySpan all = span();
  return CompareEndToEnd(*comparator, all.begin, all.end) <= 0;
}

// ---- The tree of held ranges ----
//
// Each node of the tree knows two ends of its subtree: the last one, and the last one of another
// owner than that. From these two the last end among the ranges of "all owners but T1" follows for
// every T1, which is what a search asks for.

namespace {

// True if `a` ends after `b`.
bool EndsLater(const HeldRange& a, const HeldRange& b) {
  return KeySpan::CompareEnds(a.range.span(), b.range.span()) > 0;
}

// Returns the range that ends last among those of the subtree with another owner than `owner`;
// null: there is none.
const HeldRange* LastOfOthers(const HeldRange* node, const LockOwner* owner) {
  if (node == nullptr) return nullptr;
  return node->last->owner != owner ? node->last : node->last_of_others;
}

// Calls act(range), in order, for all ranges of the subtree that overlap with `wanted`, except
// those of owners that are skipped, until it returns false. Returns false in that case.
template <typename Skips, typename Act>
bool VisitHeld(HeldRange* node, const KeySpan& wanted, const Skips& skips, const Act& act) {
  if (node == nullptr || node->last->range.span().EndsBefore(wanted)) return true;
  // All ranges here have one owner, and that one is skipped; so the visit does not depend on how
  // many it has.
  if (node->last_of_others == nullptr && skips(*node->last->owner)) return true;
  if (!VisitHeld(node->left(), wanted, skips, act)) return false;
  const KeySpan span = node->range.span();
  if (wanted.EndsBefore(span)) return true;  // And so do all that follow.
  if (!span.EndsBefore(wanted) && !skips(*node->owner) && !act(node)) return false;
  return VisitHeld(node->right(), wanted, skips, act);
}

// Finds an overlapping range of another owner by a walk over the whole tree. Only a canary uses
// this (util/base/canary.h), to prove that a test notices such a cost.
HeldRange* WalkAll(HeldRange* node, const KeySpan& wanted, const LockOwner* owner) {
  if (node == nullptr) return nullptr;
  HeldRange* const found = WalkAll(node->left(), wanted, owner);
  if (found != nullptr) return found;
  if (node->range.span().Overlaps(wanted) && node->owner != owner) return node;
  return WalkAll(node->right(), wanted, owner);
}

}  // namespace

bool HeldRange::IsBefore(const HeldRange& other) const {
  return KeySpan::CompareBegins(range.span(), other.range.span()) < 0;
}

// Returns true if the sums have changed, so that the tree goes on to the parent.
bool HeldRange::Sum() {
  const HeldRange* const last_before = last;
  const HeldRange* const others_before = last_of_others;
  last = this;
  last_of_others = nullptr;
  const auto meet = [this](const HeldRange* one) {
    if (one == nullptr) return;
    if (EndsLater(*one, *last)) {
      if (one->owner != last->owner) last_of_others = last;
      last = one;
    } else if (one->owner != last->owner &&
               (last_of_others == nullptr || EndsLater(*one, *last_of_others))) {
      last_of_others = one;
    }
  };
  for (const HeldRange* child : {left(), right()}) {
    if (child == nullptr) continue;
    meet(child->last);
    meet(child->last_of_others);
  }
  return last != last_before || last_of_others != others_before;
}

// Goes left if a range of another owner there does not end before `wanted`. Then either that range
// overlaps with it, or it begins after the end of `wanted`, and so do all ranges to the right.
HeldRange* LockRanges::FindHeld(const KeySpan& wanted, const LockOwner* owner) {
  if (VARVE_CANARY(kWalkAllRanges)) return WalkAll(held_.root(), wanted, owner);
  HeldRange* node = held_.root();
  while (node != nullptr) {
    if (node->owner != owner && node->range.span().Overlaps(wanted)) return node;
    const HeldRange* const last = LastOfOthers(node->left(), owner);
    const bool goes_left = last != nullptr && !last->range.span().EndsBefore(wanted);
    node = goes_left ? node->left() : node->right();
  }
  return nullptr;
}

bool LockRanges::AnyHeld(const KeySpan& wanted, const LockOwner* owner) {
  for (;;) {
    HeldRange* const range = FindHeld(wanted, owner);
    if (range == nullptr) return false;
    // The range of an expired owner was removed, so the tree has changed: the search begins again.
    if (!TakeFromExpired(range)) return true;
  }
}

// ---- Adding and removing ----

// Called for held and pending ranges. Tickets are given under the mutex, so of two pending ranges
// that conflict exactly one is older.
void LockRanges::Link(HeldRange* range) {
  VARVE_ASSERT(!range->linked);
  VARVE_ASSERT(range->owner != nullptr);
  // Memory is allocated first. Nothing can fail after that, so the range is registered as a whole
  // or not at all.
  pending_.reserve(pending_.size() + 1);
  families_[range->range.family].ranges++;
  range->ticket = ++tickets_;
  range->linked = true;
  // From here on every thread that locks a key takes the mutex and looks at the ranges.
  count_.fetch_add(1, std::memory_order_acq_rel);
}

void LockRanges::Add(HeldRange* range) {
  MutexLock lock(&mu_);
  Link(range);
  range->pending = true;
  pending_.push_back(range);
}

void LockRanges::AddHeld(HeldRange* range) {
  MutexLock lock(&mu_);
  Link(range);
  range->pending = false;
  range->owner->ranges_held++;
  held_.Insert(range);
}

void LockRanges::Unlink(HeldRange* range) {
  VARVE_ASSERT(range->linked);
  range->linked = false;
  if (range->pending) {
    std::erase(pending_, range);
  } else {
    held_.Erase(range);
    range->owner->ranges_held--;
  }
  const auto family = families_.find(range->range.family);
  family->second.ranges--;
  if (family->second.orderer == range) StopOrdering(&family->second, /*ok=*/false);
  Forget(family->first, &family->second);
  count_.fetch_sub(1, std::memory_order_acq_rel);
  // All waiters for this range check again, whether it was held or pending.
  Wake(range->range);
}

void LockRanges::StopOrdering(Family* family, bool ok) {
  family->orderer = nullptr;
  family->order = ok ? KeyOrder::kHere : KeyOrder::kNone;
}

// Keys are no longer kept in order when the family's last range is removed. The family's entry
// stays while keys are in it, as their records refer to places in it; the last of them removes it
// (Leave).
void LockRanges::Forget(uint32_t id, Family* family) {
  if (family->ranges != 0) return;
  family->order = KeyOrder::kNone;
  if (family->keys.empty()) families_.erase(id);
}

void LockRanges::Remove(HeldRange* range) {
  MutexLock lock(&mu_);
  if (range->linked) Unlink(range);
}

bool LockRanges::TakeFromExpired(HeldRange* range) {
  LockOwner* const owner = range->owner;
  if (owner->expires_at() == 0 || !owner->LosesLocksAt(LockClockMicros())) return false;
  Unlink(range);
  return true;
}

bool LockRanges::SetYieldsTo(HeldRange* range, std::vector<TransactionID> ids) {
  MutexLock lock(&mu_);
  if (!range->linked) return false;
  // An equal list wakes no waiters. Otherwise the loop of LockKeysWithin would wake all of them in
  // each round.
  if (range->yields_to == ids) return true;
  range->yields_to = std::move(ids);
  Wake(range->range);
  return true;
}

LockRanges::Held LockRanges::TryHold(HeldRange* mine) {
  MutexLock lock(&mu_);
  if (!mine->linked) return Held::kGone;
  if (AnyHeld(mine->range.span(), mine->owner)) return Held::kBlocked;
  mine->yields_to.clear();
  mine->pending = false;
  std::erase(pending_, mine);
  mine->owner->ranges_held++;
  held_.Insert(mine);
  return Held::kYes;
}

// ---- Conflicts ----

// yields_to has the owners of keys. Owners of overlapping held ranges, for which the pending range
// waits as well, are found in the tree.
bool LockRanges::Yields(const HeldRange& range, TransactionID id) {
  if (std::ranges::find(range.yields_to, id) != range.yields_to.end()) return true;
  bool any = false;
  const auto skips = [id](const LockOwner& owner) { return owner.id() != id; };
  (void)VisitHeld(held_.root(), range.range.span(), skips, [&any](HeldRange*) {
    any = true;
    return false;
  });
  return any;
}

template <typename Matches>
bool LockRanges::AnyPending(const LockOwner* owner, Matches matches) {
  for (size_t i = 0; i < pending_.size();) {
    HeldRange* const range = pending_[i];
    if (range->owner != owner && matches(*range) && !TakeFromExpired(range)) return true;
    // An expired range was removed, and another one may be in its place.
    if (i < pending_.size() && pending_[i] == range) i++;
  }
  return false;
}

bool LockRanges::HasConflictAt(const LockOwner* owner, const KeySpan& key) {
  return AnyHeld(key, owner) || AnyPending(owner, [&](const HeldRange& range) {
           mu_.AssertHeld();
           return range.range.span().Overlaps(key) && !Yields(range, owner->id());
         });
}

bool LockRanges::HasConflict(const LockOwner* owner, const FamilyRange& key) {
  MutexLock lock(&mu_);
  return HasConflictAt(owner, key.span());
}

bool LockRanges::HasConflict(const HeldRange& mine) {
  MutexLock lock(&mu_);
  const KeySpan wanted = mine.range.span();
  return AnyHeld(wanted, mine.owner) || AnyPending(mine.owner, [&](const HeldRange& range) {
           mu_.AssertHeld();
           return range.ticket < mine.ticket && range.range.span().Overlaps(wanted) &&
                  !Yields(range, mine.owner->id());
         });
}

// ---- Keys in order ----

// Decides and registers under one hold of the mutex: a range that is added afterwards finds the key
// in order, or in its part.
bool LockRanges::Enter(HeldLock* key, const Comparator* comparator) {
  MutexLock lock(&mu_);
  const LockKey& at = key->key;
  if (HasConflictAt(key->owner, KeySpan::OfKey(at.family, comparator, at.key))) return false;
  const auto family = families_.find(at.family);
  if (family == families_.end() || family->second.order == KeyOrder::kNone) return true;
  if (key->place_in_order.load(std::memory_order_relaxed) == 0) {
    family->second.keys.Add(key, comparator);
  }
  return true;
}

void LockRanges::Leave(HeldLock* key) {
  MutexLock lock(&mu_);
  if (key->place_in_order.load(std::memory_order_relaxed) == 0) return;
  const auto family = families_.find(key->key.family);
  VARVE_ASSERT(family != families_.end());
  family->second.keys.Remove(key);
  Forget(family->first, &family->second);
}

LockRanges::KeyOrder LockRanges::OrderOf(HeldRange* range) {
  MutexLock lock(&mu_);
  if (!range->linked) return KeyOrder::kNone;  // It was taken from its expired owner.
  Family& family = families_[range->range.family];
  if (family.order == KeyOrder::kHere) return KeyOrder::kHere;
  if (family.order == KeyOrder::kWanted || family.ranges < kRangesUnordered) return KeyOrder::kNone;
  family.order = KeyOrder::kWanted;
  family.orderer = range;
  return KeyOrder::kWanted;
}

// A thread that locks a key after its part was visited here puts the key in order by itself
// (Enter), because the family has ranges and its keys are being ordered.
bool LockRanges::PutInOrder(LockPart* part, size_t* chain, const FamilyRange& of) {
  MutexLock lock(&mu_);
  const auto family = families_.find(of.family);
  if (family == families_.end()) return false;
  LockedKeys& keys = family->second.keys;
  LatchGuard latch(&part->latch);
  return part->VisitSome(chain, [&](LockQueue& queue) {
    if (queue.key().family != of.family) return;
    for (HeldLock* h = queue.holders(); h != nullptr; h = h->next_holder) {
      if (h->place_in_order.load(std::memory_order_relaxed) == 0) keys.Add(h, of.comparator);
    }
  });
}

void LockRanges::EndOrdering(const HeldRange* range, bool ok) {
  MutexLock lock(&mu_);
  const auto family = families_.find(range->range.family);
  if (family != families_.end() && family->second.orderer == range) {
    StopOrdering(&family->second, ok);
  }
}

// ---- Waiting ----

void LockRanges::Wake(const FamilyRange& range) {
  for (Waiting* waiting : waiting_) {
    if (!waiting->wanted_->Overlaps(range)) continue;
    waiting->state_.store(WaitState::kWoken, std::memory_order_release);
    waiting->sleeper_->Wake();
  }
}

LockRanges::Waiting::Waiting(LockRanges* ranges, LockSleeper* sleeper, const FamilyRange* wanted)
    : ranges_(ranges), sleeper_(sleeper), wanted_(wanted) {
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
  // Reports only the first of successive ranges of one owner: VisitHeld passes over subtrees that
  // have no other owner than the one met last.
  TransactionID last = id;
  const auto skips = [&](const LockOwner& owner) { return owner.id() == id || owner.id() == last; };
  (void)VisitHeld(held_.root(), wanted.span(), skips, [&](const HeldRange* range) {
    last = range->owner->id();
    ids->push_back(last);
    return true;
  });
  for (const HeldRange* range : pending_) {
    const bool before = is_key || range->ticket < ticket;
    if (before && range->owner->id() != id && !Yields(*range, id) &&
        range->range.Overlaps(wanted)) {
      ids->push_back(range->owner->id());
    }
  }
}

uint64_t LockRanges::NextExpiry(const LockOwner* owner, const FamilyRange& wanted) {
  MutexLock lock(&mu_);
  uint64_t soonest = UINT64_MAX;
  const LockOwner* last = owner;  // the owner met last, who is asked once, as in BlockersOf
  const auto skips = [&](const LockOwner& other) { return &other == owner || &other == last; };
  (void)VisitHeld(held_.root(), wanted.span(), skips, [&](const HeldRange* range) {
    last = range->owner;
    soonest = std::min(soonest, last->NextExpiryCheck());
    return true;
  });
  for (const HeldRange* range : pending_) {
    if (range->owner != owner && range->range.Overlaps(wanted)) {
      soonest = std::min(soonest, range->owner->NextExpiryCheck());
    }
  }
  return soonest;
}

}  // namespace varve
