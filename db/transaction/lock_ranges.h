// SPDX-License-Identifier: Apache-2.0
#pragma once

// LockRanges: ranges of keys that are locked, or are about to be.

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "varve/comparator.h"

#include "db/transaction/lock_owner.h"
#include "db/transaction/lock_sleeper.h"

namespace varve {

// One end of a range: a place between keys, or at one.
struct RangeEnd {
  enum class Place { kBefore, kAt, kAboveAllWithPrefix };

  std::string key;
  Place place = Place::kAt;
};

// All keys of a family from begin to end; a key is one at its ends as well.
struct FamilyRange {
  uint32_t family = 0;
  const Comparator* comparator = nullptr;
  RangeEnd begin;
  RangeEnd end;

  bool Covers(uint32_t key_family, const Slice& key) const;
  bool Overlaps(const FamilyRange& other) const;
  // The end is not before the beginning.
  bool IsOrdered() const;
  static FamilyRange OfKey(uint32_t family, const Comparator* comparator, const Slice& key) {
    return {family,
            comparator,
            {key.ToString(), RangeEnd::Place::kAt},
            {key.ToString(), RangeEnd::Place::kAt}};
  }
};

// A range lock. Its owner keeps it; the list links it while it is held.
struct HeldRange {
  FamilyRange range;
  LockOwner* owner = nullptr;
  uint64_t ticket = 0;  // the order in which they came

  // Under the list's mutex.
  bool linked = false;
  bool pending = true;                   // it still waits for keys, or for ranges before it
  std::vector<TransactionID> yields_to;  // while pending: who has keys in it; these may go on
};

// Ranges exclude each other, and keys of others. What is pending keeps new keys and later ranges
// out already, so that it is not overtaken for ever; but not those that it waits for, or will: who
// has a key in it, or holds a range that overlaps it. These would wait for themselves.
//
// There are few: every look goes through all of them.
//
// Thread safety: any thread.
class LockRanges {
 public:
  // Zero, and no range is in the way: one load. Whoever has locked a key looks after it has left
  // the latch; a thread that adds a range looks at keys, under their latches, after it has raised
  // this. So of a key and a range that meet, one sees the other.
  bool empty() const { return count_.load(std::memory_order_acquire) == 0; }

  void Add(HeldRange* range) VARVE_EXCLUDES(mu_);
  // If it is still there.
  void Remove(HeldRange* range) VARVE_EXCLUDES(mu_);
  // Of a pending one: who has keys in it.
  void SetYieldsTo(HeldRange* range, std::vector<TransactionID> ids) VARVE_EXCLUDES(mu_);
  // It waits for nothing any more. False, and it is as before, if another that overlaps has come to
  // be held meanwhile: one whose owner this had yielded to.
  bool TryHold(HeldRange* range) VARVE_EXCLUDES(mu_);

  // A key that is locked, or is wanted: whether somebody else's range is in its way.
  bool Bars(const LockOwner* owner, uint32_t family, const Slice& key) VARVE_EXCLUDES(mu_);
  // The same for a range that was added.
  bool Bars(const HeldRange& range) VARVE_EXCLUDES(mu_);

  // One who waits for ranges to go, while this lives. It is made before looking for what bars.
  class Waiting {
   public:
    Waiting(LockRanges* ranges, LockSleeper* sleeper);
    ~Waiting();
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;

    const std::atomic<WaitState>& state() const { return state_; }

   private:
    friend class LockRanges;
    LockRanges* const ranges_;
    LockSleeper* const sleeper_;
    std::atomic<WaitState> state_{WaitState::kWaiting};
  };

  // Owners of the ranges that are in the way of this one, which came with `ticket`.
  void BlockersOf(TransactionID id, const FamilyRange& range, uint64_t ticket, bool is_key,
                  std::vector<TransactionID>* ids) VARVE_EXCLUDES(mu_);
  // When the first of them may be robbed.
  uint64_t NextExpiry(const LockOwner* owner, const FamilyRange& range) VARVE_EXCLUDES(mu_);

 private:
  // The first that stands in the way of this owner's and is such a one.
  template <typename Matches>
  bool AnyStands(const LockOwner* owner, Matches matches) VARVE_REQUIRES(mu_);
  // Whether it is pending and waits for that owner, or will. An owner gives its keys back before
  // its ranges: so of an owner that got a key in there by a range, one or the other is seen.
  bool Yields(const HeldRange& range, TransactionID id) VARVE_REQUIRES(mu_);
  void WakeAll() VARVE_REQUIRES(mu_);
  void Unlink(HeldRange* range) VARVE_REQUIRES(mu_);
  // Not the owner's, and its owner's time is not over.
  bool Stands(HeldRange* range, const LockOwner* owner) VARVE_REQUIRES(mu_);

  mutable Mutex mu_{kLockRangesRank};
  std::vector<HeldRange*> ranges_ VARVE_GUARDED_BY(mu_);
  std::vector<Waiting*> waiting_ VARVE_GUARDED_BY(mu_);
  uint64_t tickets_ VARVE_GUARDED_BY(mu_) = 0;
  std::atomic<size_t> count_{0};
};

}  // namespace varve
