// SPDX-License-Identifier: Apache-2.0
#pragma once

// LockTable holds the locks of all transactions of a database, on keys and on ranges of keys.
// lock_table.cc describes how the parts work together, README.md the invariants of locks.
//
//      LockTable ---- parts_[n] ---- LockQueue per locked key (lock_part.h, lock_queue.h)
//           |-------- ranges_     -- held and pending ranges (lock_ranges.h)
//           |-------- waits_      -- the edges of the wait-for graph (deadlock_search.h)
//           '-------- sleepers_   -- what waiting threads sleep on (lock_sleeper.h)

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "varve/utilities/transaction_db.h"

#include "db/transaction/deadlock_search.h"
#include "db/transaction/lock_clock.h"
#include "db/transaction/lock_owner.h"
#include "db/transaction/lock_part.h"
#include "db/transaction/lock_ranges.h"
#include "db/transaction/lock_sleeper.h"

namespace varve {

// Ranks, outermost first: the mutex of a deadlock search, that of the ranges, that of the waits. A
// latch may be taken under the mutex of the ranges, and the mutex of the limit under a latch. No
// latch is held while a user's mutex is locked.
//
// Thread safety: any thread; each owner is used by one thread at a time.
class LockTable final : private WaitGraph {
 public:
  struct Limits {
    // Number of latches; it is rounded up to a power of two.
    size_t parts = 64;
    int64_t locks_per_family_max = -1;  // Keys and ranges; no limit unless positive.
    // Number of deadlocks for GetDeadlockInfoBuffer.
    uint32_t deadlocks_remembered = kInitialMaxDeadlocks;
    // The program's mutexes; null: the C++ library's.
    std::shared_ptr<TransactionDBMutexFactory> mutexes;
  };
  explicit LockTable(const Limits& limits);
  ~LockTable() override;

  // Returns the key with its hash, which selects its part and its chain.
  static LockKey KeyOf(uint32_t family, const Slice& key);

  // The result of a successful Lock.
  struct Had {
    HeldLock* held = nullptr;  // The owner's lock of the key.
    bool added = false;        // True if the lock is new.
    bool upgraded = false;     // True if the lock was shared before, and is exclusive now.
  };
  // Locks a key for the owner, or finds the lock that it has, and makes that exclusive if
  // requested. Sets *had after OK. Otherwise returns TimedOut, Busy or Aborted as described in
  // varve/utilities/transaction.h, and the owner's locks are unchanged.
  Status Lock(LockOwner* owner, const LockKey& key, const Comparator* comparator, bool exclusive,
              const LockPatience& patience, Had* had);
  // Returns the owner's lock of the key, and sets *exclusive, unless `exclusive` is null, to
  // whether it is exclusive. Returns nullptr, and leaves *exclusive, if the owner has none.
  HeldLock* Find(const LockOwner* owner, const LockKey& key, bool* exclusive);
  // Releases a lock, and hands the key on to a waiter. The record stays in its owner's memory. Does
  // nothing if another owner took the lock meanwhile.
  void Unlock(HeldLock* held);
  // Makes an exclusive lock shared.
  void Downgrade(HeldLock* held);

  // Locks all keys in the range exclusively. `range` is new; it belongs to the caller, must not
  // move before UnlockRange, and UnlockRange must be called after a failure, too. Errors are those
  // of Lock, and Expired if the range was taken away because its owner had expired.
  Status LockRange(HeldRange* range, const LockPatience& patience);
  // Removes the range, held or pending, and wakes those who wait for it.
  void UnlockRange(HeldRange* range);

  // Lists all locked keys by family. Parts are read one after the other, so the list is not that of
  // one moment.
  std::unordered_multimap<uint32_t, KeyLockInfo> KeysLocked();
  // Sets *wait to the key and the transactions that transaction `id` waits for now. Returns false,
  // and leaves *wait, if it does not wait.
  bool WaitingFor(TransactionID id, LockOwner::LastWait* wait);
  // Returns the history of the deadlocks that were found.
  DeadlockHistory& deadlocks() { return deadlocks_; }

 private:
  // A wait as other threads see it.
  struct Wait {
    // Distinguishes this wait from earlier ones of the transaction.
    uint64_t number = 0;
    bool exclusive = false;
    bool on_ranges = false;  // Waits until ranges are removed, and not for the queue of a key.
    bool for_key = true;     // A key is wanted; false: the range with that `ticket`.
    uint64_t ticket = 0;
    FamilyRange range;  // The wanted key or range.
    // Hash of the key, if a key is wanted.
    uint64_t hash = 0;
  };
  class WaitScope;

  // Returns the part that has the key's queue.
  LockPart& PartOf(const LockKey& key) { return parts_[key.hash & (part_count_ - 1)]; }
  // Returns false if a range of another owner conflicts with this key, which was locked.
  bool EnterAmongRanges(HeldLock* held, const Comparator* comparator);
  // Releases a new lock, which no other structure refers to yet.
  void GiveBack(HeldLock* held);
  // Locks the key without regard to ranges.
  Status LockKeyAlone(LockOwner* owner, const LockKey& key, const Comparator* comparator,
                      bool exclusive, const LockPatience& patience, LockClock* clock, Had* had);
  // Waits for a key that others hold, in its queue, until it is granted or there is a reason to
  // give up.
  Status WaitForKey(HeldLock* record, bool exclusive, const Comparator* comparator,
                    const LockPatience& patience, LockClock* clock);
  // Takes the key for a waiter if it is free now; returns true if the waiter has it. Otherwise the
  // waiter leaves the queue if `give_up`; else *next_expiry becomes the time at which it should try
  // again, because a holder expires then.
  bool TryInQueue(LockPart* part, LockWaiter* waiter, bool give_up, uint64_t* next_expiry);
  // Returns the error with which a wait ends now, because the time is over or there is a deadlock;
  // OK if the wait goes on. Does not throw.
  Status ReasonToGiveUp(LockOwner* owner, const LockPatience& patience, LockClock* clock);
  // Waits until nothing conflicts with the key (`range` is null) or with the range, which was
  // added.
  Status WaitForRanges(LockOwner* owner, Wait wanted, const HeldRange* range,
                       const LockPatience& patience, LockClock* clock);
  // Turns a pending range into a held one. Waits for conflicting ranges, then for the keys in the
  // range that others hold, and begins anew if a range that it yielded to has become held
  // meanwhile. Returns TimedOut, Busy (a deadlock), or Expired if the owner's locks were taken
  // away.
  Status HoldRange(HeldRange* range, const LockPatience& patience);
  // Sets *key to a key in the range that another owner has locked, and *holders to all owners of
  // such keys; returns false if there is none.
  bool FindKeyWithin(HeldRange* range, std::string* key, std::vector<TransactionID>* holders);
  // Does FindKeyWithin by a walk over all parts, a few keys at a time.
  void WalkKeysWithin(const HeldRange& range, std::string* key,
                      std::vector<TransactionID>* holders);
  // Puts the locked keys of the range's family in order, for LockRanges::FindKeys.
  void PutKeysInOrder(HeldRange* range);
  // Lets the owners of keys in a pending range lock more keys in it, as it waits for them anyway.
  void YieldToHoldersWithin(HeldRange* range);
  // Waits until no other owner holds a key in a pending range.
  Status LockKeysWithin(HeldRange* range, const LockPatience& patience, LockClock* clock);

  // Finds the queue of a key, or adds an unused one, which the caller must fill or remove. Returns
  // LockLimit if the family has too many locks.
  Status FindOrAdd(LockPart* part, const LockKey& key, bool adopts, LockQueue** queue)
      VARVE_REQUIRES(part->latch);
  // Removes a queue without holders and waiters.
  void RemoveIfUnused(LockPart* part, LockQueue* queue) VARVE_REQUIRES(part->latch);
  // Counts a lock of the family. Returns LockLimit, without counting, if there are too many, unless
  // it `adopts`: locks of recovered transactions are never refused.
  Status CountLock(uint32_t family, bool adopts);
  // Undoes CountLock.
  void UncountLock(uint32_t family);

  // Copies a wait as it is now, for a search that holds no latch between two calls.
  bool EdgesOf(TransactionID waiter, WaitEdges* edges) override;
  // Adds the transactions that block this wait of transaction `id` now.
  void BlockersOf(TransactionID id, const Wait& wait, std::vector<TransactionID>* ids);
  // Searches for a deadlock of the owner. If there is one, records it, removes the owner's wait
  // from the graph, and returns Busy.
  Status LookForDeadlock(LockOwner* owner, const LockPatience& patience);

  // A power of two, so that a hash selects a part by its low bits.
  const size_t part_count_;
  const std::unique_ptr<LockPart[]> parts_;
  const int64_t locks_per_family_max_;
  LockRanges ranges_;
  LockSleepers sleepers_;
  DeadlockHistory deadlocks_;

  // Serializes searches: of two that wait for each other one gives up, and the other continues.
  Mutex search_mu_{kDeadlockSearchRank};
  // Guards the waits that searches see.
  Mutex waits_mu_{kLockWaitsRank};
  std::unordered_map<TransactionID, Wait> waits_ VARVE_GUARDED_BY(waits_mu_);
  uint64_t wait_numbers_ VARVE_GUARDED_BY(waits_mu_) = 0;  // The last Wait::number.
  Mutex limit_mu_{kLockLimitRank};
  // Number of locked keys and ranges by family; used only if there is a limit.
  std::unordered_map<uint32_t, int64_t> locked_ VARVE_GUARDED_BY(limit_mu_);
};

}  // namespace varve
