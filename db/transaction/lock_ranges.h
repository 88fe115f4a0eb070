// SPDX-License-Identifier: Apache-2.0
#pragma once

// LockRanges stores the ranges of keys that are locked, or whose owners wait to lock them.
//
//      keys       a    c    f    k    p    t
//      T1 held    [---------)                   others may lock neither keys nor ranges in it
//      T2 pending      [--------------)         waits for T1; ranges that come later wait for it
//      T3 key                    x              T2 excludes it, unless T2 waits for T3, too
//
// A range is pending from Add on and held after TryHold. It is removed by Remove, or by a waiter
// after its owner's expiration. While it is pending it already keeps others out, so that a stream
// of single-key transactions cannot keep it waiting for ever.

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

// A range lock. Its owner stores it; the list links it while it is held.
struct HeldRange : public BalancedTree<HeldRange>::Links {
  FamilyRange range;
  LockOwner* owner = nullptr;
  bool counted = false;  // True if counted towards the limit of locks.

  // These are guarded by the list's mutex.
  uint64_t ticket = 0;  // Order of arrival.
  // True while the range is in held_ or pending_.
  bool linked = false;
  bool pending = true;                   // It still waits for keys or earlier ranges.
  std::vector<TransactionID> yields_to;  // While pending: owners of keys in it, which may continue.

  // The held ranges form a tree ordered by their beginnings. `last` is the range of this subtree
  // that ends last, and `last_of_others` the one that ends last among those with another owner than
  // the owner of `last` (null: there is none).
  const HeldRange* last = nullptr;
  const HeldRange* last_of_others = nullptr;
  // Implement what BalancedTree asks of its nodes.
  bool IsBefore(const HeldRange& other) const;
  bool Sum();
};

// A range excludes ranges and keys of other owners. A pending range already excludes new keys and
// later ranges, so that it is not overtaken for ever. It does not exclude owners that it waits for
// or will wait for, namely those that have a key in it or hold an overlapping range: these would
// wait for themselves.
//
// Held ranges are searched in O(log n) comparisons, whatever their owners and however they overlap.
// Each pending range is checked; there is at most one per thread.
//
// A range must find out who has keys in it. While a family has few ranges, this takes a walk over
// the whole table. From kRangesUnordered ranges on, the family's keys are also stored here in
// order, and are found in O(log n) comparisons plus one for each key that another owner has in the
// range.
//
// Thread safety: any thread. The latch of a part of the table may be taken under the mutex.
class LockRanges {
 public:
  static constexpr size_t kRangesUnordered = 8;

  // True if there are no ranges, so none can conflict; one atomic load. A thread that has locked a
  // key calls it after leaving the latch; a thread that adds a range checks keys, under their
  // latches, after it has raised the count. So of a key and a range that conflict, one sees the
  // other.
  bool empty() const { return count_.load(std::memory_order_acquire) == 0; }

  // Adds a pending range. Throws std::bad_alloc, with nothing changed.
  void Add(HeldRange* range) VARVE_EXCLUDES(mu_);
  // Adds a range that is held at once, even if others hold keys or ranges in it. Throws
  // std::bad_alloc, with nothing changed.
  void AddHeld(HeldRange* range) VARVE_EXCLUDES(mu_);
  // Removes the range if it is still there.
  void Remove(HeldRange* range) VARVE_EXCLUDES(mu_);
  // Sets the owners of keys in a pending range, which may lock more keys in it. Returns false if
  // the range was taken from its expired owner.
  bool SetYieldsTo(HeldRange* range, std::vector<TransactionID> ids) VARVE_EXCLUDES(mu_);
  // Makes a pending range held. Returns kBlocked, with nothing changed, if an overlapping range of
  // an owner to which this one had yielded has become held meanwhile. Returns kGone if the range
  // was taken from its expired owner.
  enum class Held { kYes, kBlocked, kGone };
  Held TryHold(HeldRange* range) VARVE_EXCLUDES(mu_);

  // Must be called after a key was locked, without the latch. Returns false if a range of another
  // owner conflicts. Otherwise later ranges will find the key. Throws std::bad_alloc.
  bool Enter(HeldLock* key, const Comparator* comparator) VARVE_EXCLUDES(mu_);
  // Removes a key that was in order here and is no longer locked.
  void Leave(HeldLock* key) VARVE_EXCLUDES(mu_);
  // True if a range of another owner conflicts with a key that `owner` wants, given as a range.
  bool HasConflict(const LockOwner* owner, const FamilyRange& key) VARVE_EXCLUDES(mu_);
  // True if a range of another owner conflicts with this range, which was added.
  bool HasConflict(const HeldRange& range) VARVE_EXCLUDES(mu_);

  // Says how keys in a range are found, and who must put them in order.
  enum class KeyOrder {
    kNone,    // Keys are found by a walk over the table.
    kWanted,  // Keys are here once the caller has done PutInOrder for all parts.
    kHere,    // Keys are here in order.
  };
  // Says how the keys of the range's family are found now. With kWanted the range becomes the
  // family's orderer.
  KeyOrder OrderOf(HeldRange* range) VARVE_EXCLUDES(mu_);
  // Puts some of the family's keys in that part in order, beginning at *chain; returns false if
  // these were the last. Throws std::bad_alloc.
  bool PutInOrder(LockPart* part, size_t* chain, const FamilyRange& family) VARVE_EXCLUDES(mu_);
  // Must be called when all keys have been put in order (`ok`), or that has failed. Does nothing if
  // the range was removed meanwhile.
  void EndOrdering(const HeldRange* range, bool ok) VARVE_EXCLUDES(mu_);
  // Requires that keys are in order (KeyOrder::kHere). Adds to *holders the other owners of keys in
  // the range, and sets *key to one of these keys if *holders was empty. `is_held` is called under
  // the mutex and returns whether a key is held; keys that are not are removed.
  template <typename IsHeld>  // bool(HeldLock*)
  void FindKeys(const HeldRange& range, IsHeld is_held, std::string* key,
                std::vector<TransactionID>* holders) VARVE_EXCLUDES(mu_) {
    MutexLock lock(&mu_);
    const auto family = families_.find(range.range.family);
    if (family == families_.end()) return;
    family->second.keys.FindOthers(range.range, range.owner, is_held, key, holders);
  }

  // Registers a thread that waits until a range that overlaps with `wanted` is removed, while this
  // object lives. It must be made before the conflicting ranges are searched for.
  class Waiting {
   public:
    Waiting(LockRanges* ranges, LockSleeper* sleeper, const FamilyRange* wanted);
    ~Waiting();
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;

    // Returns the word that the thread sleeps on; it becomes kWoken when a range in `wanted` is
    // removed.
    const std::atomic<WaitState>& state() const { return state_; }

   private:
    friend class LockRanges;
    LockRanges* const ranges_;
    LockSleeper* const sleeper_;
    const FamilyRange* const wanted_;
    std::atomic<WaitState> state_{WaitState::kWaiting};
  };

  // Adds the owners of the ranges for which transaction `id` waits: it wants `range`, which is a
  // key if `is_key`, otherwise the pending range with this `ticket`.
  void BlockersOf(TransactionID id, const FamilyRange& range, uint64_t ticket, bool is_key,
                  std::vector<TransactionID>* ids) VARVE_EXCLUDES(mu_);
  // Returns the earliest time, by LockClockMicros, at which a conflicting range may be taken from
  // an expired owner; UINT64_MAX: never.
  uint64_t NextExpiry(const LockOwner* owner, const FamilyRange& range) VARVE_EXCLUDES(mu_);

 private:
  // The state that ranges of one family share.
  struct Family {
    // Number of the family's ranges, held and pending.
    size_t ranges = 0;
    KeyOrder order = KeyOrder::kNone;    // kWanted: the keys are being put in order.
    const HeldRange* orderer = nullptr;  // The range whose owner puts the keys in order.
    // The family's locked keys, while order is not kNone.
    LockedKeys keys;
  };

  // True if a range of another owner, held or pending, excludes the key.
  bool HasConflictAt(const LockOwner* owner, const KeySpan& key) VARVE_REQUIRES(mu_);
  // True if a held range of another owner than `owner` overlaps.
  bool AnyHeld(const KeySpan& wanted, const LockOwner* owner) VARVE_REQUIRES(mu_);
  // Returns a held range of another owner that overlaps, or null.
  HeldRange* FindHeld(const KeySpan& wanted, const LockOwner* owner) VARVE_REQUIRES(mu_);
  // True if a pending range that excludes this owner satisfies `matches`.
  template <typename Matches>
  bool AnyPending(const LockOwner* owner, Matches matches) VARVE_REQUIRES(mu_);
  // True if a pending range waits, or will wait, for that owner. An owner releases its keys before
  // its ranges: so if an owner acquired a key in there through a range, one or the other is seen.
  bool Yields(const HeldRange& range, TransactionID id) VARVE_REQUIRES(mu_);
  // Wakes those who wait for ranges in `range`.
  void Wake(const FamilyRange& range) VARVE_REQUIRES(mu_);
  // Registers a range and gives it a ticket; the caller adds it to held_ or pending_. Throws
  // std::bad_alloc, with nothing changed.
  void Link(HeldRange* range) VARVE_REQUIRES(mu_);
  // Removes a range from the held or pending ones, and wakes those who wait for it.
  void Unlink(HeldRange* range) VARVE_REQUIRES(mu_);
  // Ends the ordering of keys: they are here if `ok`, else they are found by walks as before.
  void StopOrdering(Family* family, bool ok) VARVE_REQUIRES(mu_);
  // Forgets the order of the family's keys, and the family, if it has no ranges.
  void Forget(uint32_t id, Family* family) VARVE_REQUIRES(mu_);
  // Removes the range if its owner has expired (LockOwner::LosesLocksAt). Returns true if it did.
  bool TakeFromExpired(HeldRange* range) VARVE_REQUIRES(mu_);

  mutable Mutex mu_{kLockRangesRank};
  // Ranges that exclude others (held_), and ranges that wait to do so (pending_).
  BalancedTree<HeldRange> held_ VARVE_GUARDED_BY(mu_);
  std::vector<HeldRange*> pending_ VARVE_GUARDED_BY(mu_);
  std::map<uint32_t, Family> families_ VARVE_GUARDED_BY(mu_);
  // Threads that sleep until a range is gone.
  std::vector<Waiting*> waiting_ VARVE_GUARDED_BY(mu_);
  // Ticket of the newest range: of two pending ones that conflict the older goes first.
  uint64_t tickets_ VARVE_GUARDED_BY(mu_) = 0;
  // Number of all ranges; 0 lets keys pass without the mutex.
  std::atomic<size_t> count_{0};
};

}  // namespace varve
