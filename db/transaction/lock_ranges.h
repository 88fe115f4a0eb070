// SPDX-License-Identifier: Apache-2.0
#pragma once

// LockRanges: ranges of keys that are locked, or are about to be.

#include <atomic>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "varve/comparator.h"

#include "db/transaction/balanced_tree.h"
#include "db/transaction/key_span.h"
#include "db/transaction/lock_owner.h"
#include "db/transaction/lock_part.h"
#include "db/transaction/lock_sleeper.h"
#include "db/transaction/locked_keys.h"

namespace varve {

// A range lock. Its owner keeps it; the list links it while it is held.
struct HeldRange : public BalancedTree<HeldRange>::Links {
  FamilyRange range;
  LockOwner* owner = nullptr;
  bool counted = false;  // the table's: among the locks that are limited

  // Under the list's mutex.
  uint64_t ticket = 0;  // the order in which they came
  bool linked = false;
  bool pending = true;                   // it still waits for keys, or for ranges before it
  std::vector<TransactionID> yields_to;  // while pending: who has keys in it; these may go on

  // Those that are held are a tree, by where they begin. Of a range and all below it: the one that
  // ends last, and the one that does so of all that have another owner than that (null: none).
  const HeldRange* last = nullptr;
  const HeldRange* last_of_others = nullptr;
  bool IsBefore(const HeldRange& other) const;
  bool Sum();
};

// Ranges exclude each other, and keys of others. What is pending keeps new keys and later ranges
// out already, so that it is not overtaken for ever; but not those that it waits for, or will: who
// has a key in it, or holds a range that overlaps it. These would wait for themselves.
//
// Ranges that are held are looked for in O(log n) comparisons, whosever they are and however they
// overlap. Each one that is pending is looked at; there is not more than one a thread.
//
// A range has to know who has keys in it. While a family has few ranges, the table is asked, all of
// it; from kRangesUnordered on, the family's keys are kept in order here as well, and looked for in
// O(log n) comparisons and one for each that somebody else has in it.
//
// Thread safety: any thread. The latch of a part of the table may be taken under the mutex.
class LockRanges {
 public:
  static constexpr size_t kRangesUnordered = 8;

  // Zero, and no range is in the way: one load. Whoever has locked a key looks after it has left
  // the latch; a thread that adds a range looks at keys, under their latches, after it has raised
  // this. So of a key and a range that meet, one sees the other.
  bool empty() const { return count_.load(std::memory_order_acquire) == 0; }

  // A pending one. Throws std::bad_alloc, and has done nothing then.
  void Add(HeldRange* range) VARVE_EXCLUDES(mu_);
  // The same of one that is held whoever else has anything in it.
  void AddHeld(HeldRange* range) VARVE_EXCLUDES(mu_);
  // If it is still there.
  void Remove(HeldRange* range) VARVE_EXCLUDES(mu_);
  // Of a pending one: who has keys in it. False: it is gone.
  bool SetYieldsTo(HeldRange* range, std::vector<TransactionID> ids) VARVE_EXCLUDES(mu_);
  // It waits for nothing any more. kBarred, and it is as before, if another that overlaps has come
  // to be held meanwhile: one whose owner this had yielded to. kGone: its owner's time is over, and
  // somebody took it.
  enum class Held { kYes, kBarred, kGone };
  Held TryHold(HeldRange* range) VARVE_EXCLUDES(mu_);

  // A key that has been locked, after the latch: false, somebody else's range is in its way.
  // Otherwise ranges that come later will find it. Throws std::bad_alloc.
  bool Enter(HeldLock* key, const Comparator* comparator) VARVE_EXCLUDES(mu_);
  // A key that is not locked any more, and was in order here.
  void Leave(HeldLock* key) VARVE_EXCLUDES(mu_);
  // A key that is wanted: whether somebody else's range is in its way.
  bool Bars(const LockOwner* owner, const FamilyRange& key) VARVE_EXCLUDES(mu_);
  // The same for a range that was added.
  bool Bars(const HeldRange& range) VARVE_EXCLUDES(mu_);

  // How keys in a range are to be looked for, and by whom they are put in order.
  enum class KeyOrder {
    kNone,    // in the table
    kWanted,  // in order, after the caller has done PutInOrder for all of the table's parts
    kHere,    // in order
  };
  KeyOrder OrderOf(HeldRange* range) VARVE_EXCLUDES(mu_);
  // Some of the family's keys in that part, from *chain on; false: these were the last. Throws
  // std::bad_alloc.
  bool PutInOrder(LockPart* part, size_t* chain, const FamilyRange& family) VARVE_EXCLUDES(mu_);
  // All have been put in order, or that failed. Nothing if the range is gone.
  void EndOrdering(const HeldRange* range, bool ok) VARVE_EXCLUDES(mu_);
  // In order: a key in the range that somebody else has, if it is asked for, and adds all who have
  // one. `is_held` is asked under the mutex whether a key is; what is not is forgotten.
  template <typename IsHeld>  // bool(HeldLock*)
  void FindKeys(const HeldRange& range, IsHeld is_held, std::string* key,
                std::vector<TransactionID>* holders) VARVE_EXCLUDES(mu_) {
    MutexLock lock(&mu_);
    const auto family = families_.find(range.range.family);
    if (family == families_.end()) return;
    family->second.keys.FindOthers(range.range, range.owner, is_held, key, holders);
  }

  // One who waits for ranges in `wanted` to go, while this lives. It is made before looking for
  // what bars.
  class Waiting {
   public:
    Waiting(LockRanges* ranges, LockSleeper* sleeper, const FamilyRange* wanted);
    ~Waiting();
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;

    const std::atomic<WaitState>& state() const { return state_; }

   private:
    friend class LockRanges;
    LockRanges* const ranges_;
    LockSleeper* const sleeper_;
    const FamilyRange* const wanted_;
    std::atomic<WaitState> state_{WaitState::kWaiting};
  };

  // Owners of the ranges that are in the way of this one, which came with `ticket`.
  void BlockersOf(TransactionID id, const FamilyRange& range, uint64_t ticket, bool is_key,
                  std::vector<TransactionID>* ids) VARVE_EXCLUDES(mu_);
  // When the first of them may be robbed.
  uint64_t NextExpiry(const LockOwner* owner, const FamilyRange& range) VARVE_EXCLUDES(mu_);

 private:
  struct Family {
    size_t ranges = 0;
    KeyOrder order = KeyOrder::kNone;    // kWanted: somebody is about it,
    const HeldRange* orderer = nullptr;  // for this range
    LockedKeys keys;
  };

  bool BarsKey(const LockOwner* owner, const KeySpan& key) VARVE_REQUIRES(mu_);
  // Whether any that is held by others than this owner overlaps.
  bool AnyHeld(const KeySpan& wanted, const LockOwner* owner) VARVE_REQUIRES(mu_);
  HeldRange* FindHeld(const KeySpan& wanted, const LockOwner* owner) VARVE_REQUIRES(mu_);
  // The first pending one that stands in the way of this owner's and is such a one.
  template <typename Matches>
  bool AnyPending(const LockOwner* owner, Matches matches) VARVE_REQUIRES(mu_);
  // Whether a pending one waits for that owner, or will. An owner gives its keys back before its
  // ranges: so of an owner that got a key in there by a range, one or the other is seen.
  bool Yields(const HeldRange& range, TransactionID id) VARVE_REQUIRES(mu_);
  // Those who wait for ranges in it.
  void Wake(const FamilyRange& range) VARVE_REQUIRES(mu_);
  void Link(HeldRange* range) VARVE_REQUIRES(mu_);
  void Unlink(HeldRange* range) VARVE_REQUIRES(mu_);
  void StopOrdering(Family* family, bool ok) VARVE_REQUIRES(mu_);
  // Of one without ranges.
  void Forget(uint32_t id, Family* family) VARVE_REQUIRES(mu_);
  // Its owner's time is over: it is gone now.
  bool Rob(HeldRange* range) VARVE_REQUIRES(mu_);

  mutable Mutex mu_{kLockRangesRank};
  BalancedTree<HeldRange> held_ VARVE_GUARDED_BY(mu_);
  std::vector<HeldRange*> pending_ VARVE_GUARDED_BY(mu_);
  std::map<uint32_t, Family> families_ VARVE_GUARDED_BY(mu_);
  std::vector<Waiting*> waiting_ VARVE_GUARDED_BY(mu_);
  uint64_t tickets_ VARVE_GUARDED_BY(mu_) = 0;
  std::atomic<size_t> count_{0};
};

}  // namespace varve
