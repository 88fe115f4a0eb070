// SPDX-License-Identifier: Apache-2.0
#pragma once

// LockTable: the locks of all transactions of a database, on keys and on ranges of keys.

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

// Thread safety: any thread; one owner is used by one thread at a time.
class LockTable final : private WaitGraph {
 public:
  struct Limits {
    size_t parts = 64;
    int64_t locks_per_family_max = -1;  // keys and ranges; not positive: none
    uint32_t deadlocks_remembered = kInitialMaxDeadlocks;
    std::shared_ptr<TransactionDBMutexFactory> mutexes;
  };
  explicit LockTable(const Limits& limits);
  ~LockTable() override;

  static LockKey KeyOf(uint32_t family, const Slice& key);

  // Locks a key for the owner, or finds its lock, which becomes exclusive if that is wanted. After
  // OK *held is the record; *added: it is new; *upgraded: it was shared. TimedOut, Busy or Aborted
  // as varve/utilities/transaction.h says, with nothing changed.
  struct Had {
    HeldLock* held = nullptr;
    bool added = false;
    bool upgraded = false;
  };
  Status Lock(LockOwner* owner, const LockKey& key, const Comparator* comparator, bool exclusive,
              const LockPatience& patience, Had* had);
  // The owner's lock of the key; nullptr: it has none. *exclusive may be null.
  HeldLock* Find(const LockOwner* owner, const LockKey& key, bool* exclusive);
  // Nothing if somebody else took it meanwhile.
  void Unlock(HeldLock* held);
  // An exclusive lock becomes shared.
  void Downgrade(HeldLock* held);

  // Locks all keys in the range, exclusively. `range` is new, and the caller's until UnlockRange,
  // which comes after failures, too. Expired: it was taken from its owner, whose time is over.
  Status LockRange(HeldRange* range, const LockPatience& patience);
  void UnlockRange(HeldRange* range);

  std::unordered_multimap<uint32_t, KeyLockInfo> KeysLocked();
  // Whom it waits for now; false: it does not wait.
  bool WaitingFor(TransactionID id, LockOwner::LastWait* wait);
  DeadlockHistory& deadlocks() { return deadlocks_; }

 private:
  // A wait as others see it.
  struct Wait {
    uint64_t number = 0;
    bool exclusive = false;
    bool on_ranges = false;  // for ranges to go, not for a key
    bool for_key = true;     // what wants in is a key; false: a range, which came with `ticket`
    uint64_t ticket = 0;
    FamilyRange range;  // of one key mostly
    uint64_t hash = 0;
  };
  class WaitScope;

  LockPart& PartOf(const LockKey& key) { return parts_[key.hash & (part_count_ - 1)]; }
  // A key that was locked: false, somebody else's range is in its way.
  bool EnterAmongRanges(HeldLock* held, const Comparator* comparator);
  // A new lock, which nobody has noted yet.
  void GiveBack(HeldLock* held);
  // The key alone, whatever ranges there are.
  Status LockKeyAlone(LockOwner* owner, const LockKey& key, const Comparator* comparator,
                      bool exclusive, const LockPatience& patience, LockClock* clock, Had* had);
  Status WaitForKey(HeldLock* record, bool exclusive, const Comparator* comparator,
                    const LockPatience& patience, LockClock* clock);
  // True: the lock is had. Otherwise the waiter stays in the queue unless it gives up, and
  // *next_expiry is when to look again.
  bool TryInQueue(LockPart* part, LockWaiter* waiter, bool give_up, uint64_t* next_expiry);
  // The time is over, or there is a deadlock. Does not throw.
  Status ReasonToGiveUp(LockOwner* owner, const LockPatience& patience, LockClock* clock);
  // Until nothing bars a key (`range` is null), or the range, which was added.
  Status WaitForRanges(LockOwner* owner, Wait wanted, const HeldRange* range,
                       const LockPatience& patience, LockClock* clock);
  Status HoldRange(HeldRange* range, const LockPatience& patience);
  // A key in the range that somebody else has locked, and all who have locked one; false: there is
  // none.
  bool FindKeyWithin(HeldRange* range, std::string* key, std::vector<TransactionID>* holders);
  // By a walk over all parts, a few keys at a time.
  void WalkKeysWithin(const HeldRange& range, std::string* key,
                      std::vector<TransactionID>* holders);
  // Of its family.
  void PutKeysInOrder(HeldRange* range);
  void YieldToHoldersWithin(HeldRange* range);
  Status LockKeysWithin(HeldRange* range, const LockPatience& patience, LockClock* clock);

  Status FindOrAdd(LockPart* part, const LockKey& key, bool adopts, LockQueue** queue)
      VARVE_REQUIRES(part->latch);
  void RemoveIfUnused(LockPart* part, LockQueue* queue) VARVE_REQUIRES(part->latch);
  // What is adopted counts, and is never refused.
  Status CountLock(uint32_t family, bool adopts);
  void UncountLock(uint32_t family);

  bool EdgesOf(TransactionID waiter, WaitEdges* edges) override;
  void BlockersOf(TransactionID id, const Wait& wait, std::vector<TransactionID>* ids);
  // Busy if the owner's wait can never end; others do not see it any more then.
  Status LookForDeadlock(LockOwner* owner, const LockPatience& patience);

  const size_t part_count_;
  const std::unique_ptr<LockPart[]> parts_;
  const int64_t locks_per_family_max_;
  LockRanges ranges_;
  LockSleepers sleepers_;
  DeadlockHistory deadlocks_;

  // One search at a time: of two that wait for each other one gives up, and the other goes on.
  Mutex search_mu_{kDeadlockSearchRank};
  Mutex waits_mu_{kLockWaitsRank};
  std::unordered_map<TransactionID, Wait> waits_ VARVE_GUARDED_BY(waits_mu_);
  uint64_t wait_numbers_ VARVE_GUARDED_BY(waits_mu_) = 0;
  Mutex limit_mu_{kLockLimitRank};
  std::unordered_map<uint32_t, int64_t> locked_ VARVE_GUARDED_BY(limit_mu_);
};

}  // namespace varve
