// SPDX-License-Identifier: Apache-2.0

// The lock table of a database with pessimistic transactions knows which transaction holds which
// key or range, and which waits for which.
//
//    key --hash--> part (one latch) --> LockQueue of the key: holders, waiters in order
//                                         |
//    ranges_: LockRanges (one mutex)      +-- HeldLock, in the memory of its owner
//    waits_: which wait each transaction is in, for deadlock searches and GetWaitingTxns
//
// A lock that is free costs one latch and one look-up. What costs more happens only when it is
// needed: a waiter borrows a sleeper; ranges are considered only if any exist; a deadlock search
// begins only after a wait has lasted for a while.
//
// A key lock is acquired in two steps. LockKeyAlone resolves conflicts with holders of the key. If
// ranges exist, EnterAmongRanges resolves conflicts with them: if there is one, the key is
// released, the thread waits, and begins anew. A range, in turn, registers first (ranges_.Add), so
// that new keys within it wait, and then acquires and releases every locked key in it once
// (LockKeysWithin): after that only its owner can hold keys there. So neither side can overtake the
// other unseen.
//
// Invariants, beside those of README.md:
//
// 1. A latch is held for a few instructions, never while sleeping, calling a user's mutex, or
//    allocating for others. Sleepers are woken after it is released (WakeList, declared before the
//    latch).
// 2. A waiter is in one queue at a time, lies on the stack of its thread, and leaves the queue
//    before its frame is left, granted or not.
// 3. Everything that may throw comes before a waiter is enqueued or a lock is granted. After any
//    error the owner holds what it held before.
// 4. A wait is in waits_ before its thread looks at the queue for the last time, and until it has
//    stopped waiting. So a deadlock search sees every edge of a cycle whose transactions are all
//    asleep.
// 5. One deadlock search runs at a time, and the wait that it breaks is removed before the next one
//    begins, so that exactly one transaction of a cycle fails.
// 6. An expired owner's locks may be taken only before it has begun to prepare or commit
//    (LockOwner::LosesLocksAt); Unlock of a lock that was taken does nothing.
// 7. Recovered transactions (patience.adopts) share locks: they did not conflict when they were
//    prepared, and exceed the limit of locks if need be.

#include "db/transaction/lock_table.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "db/transaction/lock_clock.h"
#include "util/base/assert.h"
#include "util/base/canary.h"
#include "util/base/status_macros.h"
#include "util/coding/hash.h"

namespace varve {

namespace {

// Bounds of the number of parts, whatever num_stripes says: with fewer, threads would contend for
// latches; more would only take memory.
constexpr size_t kPartsMin = 64;
constexpr size_t kPartsMax = 64 << 10;

}  // namespace

LockTable::LockTable(const Limits& limits)
    : part_count_(std::bit_ceil(std::clamp(limits.parts, kPartsMin, kPartsMax))),
      parts_(std::make_unique<LockPart[]>(part_count_)),
      locks_per_family_max_(limits.locks_per_family_max),
      sleepers_(limits.mutexes),
      deadlocks_(limits.deadlocks_remembered) {}

LockTable::~LockTable() = default;

LockKey LockTable::KeyOf(uint32_t family, const Slice& key) {
  return {family, key, XXH3Hash64(key.data(), key.size(), family)};
}

// ---- Keys ----

// Only a new lock has to be checked against ranges: one that the owner had before was checked then,
// and ranges that came later wait for it. One clock measures all rounds, so that together they do
// not wait longer than was asked for.
Status LockTable::Lock(LockOwner* owner, const LockKey& key, const Comparator* comparator,
                       bool exclusive, const LockPatience& patience, Had* had) {
  LockClock clock(patience);
  for (;;) {
    *had = Had();
    Status s = LockKeyAlone(owner, key, comparator, exclusive, patience, &clock, had);
    if (!s.ok()) {
      if (had->added) owner->Reuse(had->held);
      return s;
    }
    if (!had->added || ranges_.empty() || patience.adopts) [[likely]]
      return Status::OK();
    if (EnterAmongRanges(had->held, comparator)) return Status::OK();
    // If a key and a range conflict, the key yields.
    GiveBack(had->held);
    Wait wanted;
    wanted.exclusive = exclusive;
    wanted.on_ranges = true;
    wanted.range = FamilyRange::OfKey(key.family, comparator, key.key);
    VARVE_RETURN_IF_ERROR(WaitForRanges(owner, std::move(wanted), nullptr, patience, &clock));
  }
}

bool LockTable::EnterAmongRanges(HeldLock* held, const Comparator* comparator) try {
  return ranges_.Enter(held, comparator);
} catch (...) {
  GiveBack(held);
  throw;
}

void LockTable::GiveBack(HeldLock* held) {
  Unlock(held);
  held->owner->Reuse(held);
}

// A lock that the owner has already is used again. *had says what has changed, so that the caller
// can undo it.
Status LockTable::LockKeyAlone(LockOwner* owner, const LockKey& key, const Comparator* comparator,
                               bool exclusive, const LockPatience& patience, LockClock* clock,
                               Had* had) {
  LockPart& part = PartOf(key);
  {
    LatchGuard latch(&part.latch);
    LockQueue* queue = part.Find(key);
    HeldLock* const mine = queue == nullptr ? nullptr : queue->HolderOf(owner);
    if (mine != nullptr && (mine->exclusive || !exclusive)) {
      had->held = mine;
      return Status::OK();
    }
    // The record comes before the queue, as the bytes of a new queue's key are the record's.
    had->held = mine != nullptr ? mine : owner->NewLock(key);
    had->added = mine == nullptr;
    had->upgraded = mine != nullptr;
    if (queue == nullptr) {
      VARVE_RETURN_IF_ERROR(FindOrAdd(&part, had->held->key, patience.adopts, &queue));
    }
    if (patience.adopts) [[unlikely]] {
      queue->Join(had->held);
      return Status::OK();
    }
    if (queue->TryTake(had->held, exclusive)) return Status::OK();
  }
  // A caller that does not wait needs no sleeper and no edge in the graph.
  if (patience.timeout_micros == 0) return Status::TimedOut(Status::kLockTimeout);
  return WaitForKey(had->held, exclusive, comparator, patience, clock);
}

// Finds the queue of a key, or adds one, which counts as a lock of its family.
Status LockTable::FindOrAdd(LockPart* part, const LockKey& key, bool adopts, LockQueue** queue) {
  *queue = part->Find(key);
  if (*queue != nullptr) return Status::OK();
  VARVE_RETURN_IF_ERROR(CountLock(key.family, adopts));
  try {
    *queue = part->Add(key);
  } catch (...) {
    UncountLock(key.family);
    throw;
  }
  return Status::OK();
}

void LockTable::RemoveIfUnused(LockPart* part, LockQueue* queue) {
  if (!queue->unused()) return;
  UncountLock(queue->key().family);
  part->Remove(queue);
}

// The limit counts queues: a wait for a key that another transaction holds adds nothing, and two
// shared holders count once.
Status LockTable::CountLock(uint32_t family, bool adopts) {
  if (locks_per_family_max_ <= 0) [[likely]]
    return Status::OK();
  MutexLock lock(&limit_mu_);
  int64_t& locked = locked_[family];
  if (locked >= locks_per_family_max_ && (!adopts || VARVE_CANARY(kLimitAdopted))) {
    return Status::LockLimit("max_num_locks keys and ranges of a column family are locked");
  }
  locked++;
  return Status::OK();
}

void LockTable::UncountLock(uint32_t family) {
  if (locks_per_family_max_ <= 0) [[likely]]
    return;
  MutexLock lock(&limit_mu_);
  const auto found = locked_.find(family);
  VARVE_ASSERT(found != locked_.end() && found->second > 0);
  if (--found->second == 0) locked_.erase(found);
}

HeldLock* LockTable::Find(const LockOwner* owner, const LockKey& key, bool* exclusive) {
  LockPart& part = PartOf(key);
  LatchGuard latch(&part.latch);
  LockQueue* const queue = part.Find(key);
  HeldLock* const held = queue == nullptr ? nullptr : queue->HolderOf(owner);
  if (held != nullptr && exclusive != nullptr) *exclusive = held->exclusive;
  return held;
}

// held->held is false already if a waiter took the key from an expired owner; then only the
// record's place in the order of keys is left to clear.
void LockTable::Unlock(HeldLock* held) {
  LockPart& part = PartOf(held->key);
  {
    WakeList wakes;
    LatchGuard latch(&part.latch);
    if (held->held) {
      LockQueue* const queue = held->queue;
      VARVE_ASSERT(queue == part.Find(held->key));
      queue->Release(held, &wakes);
      RemoveIfUnused(&part, queue);
    }
  }
  // No thread puts the key in order any more, as it is not held; and a thread that has removed the
  // key from the order does not access the record after it has set place_in_order to 0.
  if (held->place_in_order.load(std::memory_order_acquire) != 0) [[unlikely]]
    ranges_.Leave(held);
}

void LockTable::Downgrade(HeldLock* held) {
  LockPart& part = PartOf(held->key);
  WakeList wakes;
  LatchGuard latch(&part.latch);
  if (!held->held) return;
  held->queue->Downgrade(held, &wakes);
}

// ---- Waiting ----

// A wait that other threads see while this object lives. It is registered under the transaction's
// id, with a number that distinguishes it from earlier waits of the same transaction: a search
// that finds another number than before knows that the graph has changed.
class LockTable::WaitScope {
 public:
  WaitScope(LockTable* table, TransactionID id, Wait wait) : table_(table), id_(id) {
    VARVE_ASSERT(id != 0);
    MutexLock lock(&table_->waits_mu_);
    wait.number = ++table_->wait_numbers_;
    table_->waits_.insert_or_assign(id, std::move(wait));
  }
  ~WaitScope() {
    MutexLock lock(&table_->waits_mu_);
    table_->waits_.erase(id_);
  }
  WaitScope(const WaitScope&) = delete;
  WaitScope& operator=(const WaitScope&) = delete;

 private:
  LockTable* const table_;
  const TransactionID id_;
};

// The loop checks the queue after every wake-up, as a sleeper may be woken for an earlier wait.
Status LockTable::WaitForKey(HeldLock* record, bool exclusive, const Comparator* comparator,
                             const LockPatience& patience, LockClock* clock) {
  const LockKey& key = record->key;
  LockOwner* const owner = record->owner;
  // Everything that may throw comes before the waiter is in the queue.
  const BorrowedSleeper sleeper(&sleepers_);
  Wait wait;
  wait.exclusive = exclusive;
  wait.range = FamilyRange::OfKey(key.family, comparator, key.key);
  wait.hash = key.hash;
  const WaitScope seen(this, owner->id(), std::move(wait));
  LockWaiter waiter;
  waiter.record = record;
  waiter.exclusive = exclusive;
  waiter.sleeper = sleeper.get();
  LockPart& part = PartOf(key);
  {
    LatchGuard latch(&part.latch);
    LockQueue* queue = nullptr;
    VARVE_RETURN_IF_ERROR(FindOrAdd(&part, key, /*adopts=*/false, &queue));
    if (queue->TryTake(record, exclusive)) return Status::OK();
    waiter.upgrade = record->held;
    queue->Enqueue(&waiter);
  }
  clock->BeginWait();
  Status s;
  for (uint64_t next_expiry = 0;;) {
    // The queue is checked once more after the decision to give up: a key that was granted
    // meanwhile is kept, though the time is over.
    if (TryInQueue(&part, &waiter, !s.ok(), &next_expiry)) return Status::OK();
    if (!s.ok()) return s;
    s = sleeper.get()->Sleep(waiter.state, clock->MicrosToSleep(next_expiry));
    if (s.ok()) s = ReasonToGiveUp(owner, patience, clock);
  }
}

bool LockTable::TryInQueue(LockPart* part, LockWaiter* waiter, bool give_up,
                           uint64_t* next_expiry) {
  WakeList wakes;
  LatchGuard latch(&part->latch);
  if (waiter->state.load(std::memory_order_relaxed) == WaitState::kGranted) return true;
  LockQueue* const queue = part->Find(waiter->record->key);
  VARVE_ASSERT(queue != nullptr);
  if (queue->TryTake(waiter, &wakes)) return true;
  if (give_up) {
    queue->Leave(waiter, &wakes);
    RemoveIfUnused(part, queue);
  } else {
    *next_expiry = queue->NextExpiry(*waiter);
  }
  return false;
}

Status LockTable::ReasonToGiveUp(LockOwner* owner, const LockPatience& patience,
                                 LockClock* clock) try {
  const uint64_t now = LockClockMicros();
  if (clock->OverAt(now)) {
    LockOwner::LastWait wait;
    if (WaitingFor(owner->id(), &wait)) owner->SetLastWait(std::move(wait));
    return Status::TimedOut(Status::kLockTimeout);
  }
  return clock->SearchIsDue(now) ? LookForDeadlock(owner, patience) : Status::OK();
} catch (...) {
  return Status::MemoryLimit("waiting for a lock: no memory to look for a deadlock");
}

// ---- Ranges ----

Status LockTable::WaitForRanges(LockOwner* owner, Wait wanted, const HeldRange* range,
                                const LockPatience& patience, LockClock* clock) {
  const auto blocked = [&] {
    return range != nullptr ? ranges_.HasConflict(*range)
                            : ranges_.HasConflict(owner, wanted.range);
  };
  if (!blocked()) return Status::OK();
  if (patience.timeout_micros == 0) return Status::TimedOut(Status::kLockTimeout);
  const BorrowedSleeper sleeper(&sleepers_);
  const WaitScope seen(this, owner->id(), wanted);
  clock->BeginWait();
  Status s;
  // The thread registers before it checks, so a range that is removed in between wakes it.
  while (s.ok()) {
    LockRanges::Waiting waiting(&ranges_, sleeper.get(), &wanted.range);
    if (!blocked()) return Status::OK();
    s = sleeper.get()->Sleep(waiting.state(),
                             clock->MicrosToSleep(ranges_.NextExpiry(owner, wanted.range)));
    if (s.ok()) s = ReasonToGiveUp(owner, patience, clock);
  }
  // The conflict may have ended while the reason to give up was found.
  return blocked() ? s : Status::OK();
}

Status LockTable::LockRange(HeldRange* range, const LockPatience& patience) {
  VARVE_ASSERT(range->range.comparator != nullptr);
  if (!range->range.IsOrdered()) {
    return Status::InvalidArgument("range lock: the end is before the beginning");
  }
  VARVE_RETURN_IF_ERROR(CountLock(range->range.family, patience.adopts));
  range->counted = true;
  if (patience.adopts) {
    // A recovered range was held before the crash, so it conflicts with no other recovered lock.
    ranges_.AddHeld(range);
    return Status::OK();
  }
  ranges_.Add(range);
  const Status s = HoldRange(range, patience);
  if (!s.ok()) UnlockRange(range);
  return s;
}

Status LockTable::HoldRange(HeldRange* range, const LockPatience& patience) {
  LockClock clock(patience);
  for (;;) {
    if (ranges_.HasConflict(*range)) {
      YieldToHoldersWithin(range);
      Wait wanted;
      wanted.exclusive = wanted.on_ranges = true;
      wanted.for_key = false;
      wanted.ticket = range->ticket;
      wanted.range = range->range;
      VARVE_RETURN_IF_ERROR(
          WaitForRanges(range->owner, std::move(wanted), range, patience, &clock));
    }
    VARVE_RETURN_IF_ERROR(LockKeysWithin(range, patience, &clock));
    const LockRanges::Held held = ranges_.TryHold(range);
    if (held == LockRanges::Held::kYes) return Status::OK();
    if (held == LockRanges::Held::kGone) return Status::Expired();
  }
}

void LockTable::UnlockRange(HeldRange* range) {
  ranges_.Remove(range);
  if (range->counted) UncountLock(range->range.family);
  range->counted = false;
}

void LockTable::YieldToHoldersWithin(HeldRange* range) {
  std::string key;
  std::vector<TransactionID> holders;
  FindKeyWithin(range, &key, &holders);
  (void)ranges_.SetYieldsTo(range, std::move(holders));
}

// Locks every locked key in the range for a moment, which waits until its holders have released it.
// Meanwhile only owners that this thread waits for can lock a new key in the range. After the last
// check only holders of an overlapping range can, which TryHold detects.
Status LockTable::LockKeysWithin(HeldRange* range, const LockPatience& patience, LockClock* clock) {
  std::string key;
  std::vector<TransactionID> holders;
  for (;;) {
    // No owner may lock a new key in the range while the keys are searched. The owners that are
    // found may do so again below, as this thread then waits for them.
    if (!ranges_.SetYieldsTo(range, {})) return Status::Expired();
    if (!FindKeyWithin(range, &key, &holders)) return Status::OK();
    if (!ranges_.SetYieldsTo(range, holders)) return Status::Expired();
    Had had;
    Status s = LockKeyAlone(range->owner, KeyOf(range->range.family, key), range->range.comparator,
                            /*exclusive=*/true, patience, clock, &had);
    // The key is released at once: the range excludes others from it.
    if (had.added) GiveBack(had.held);
    // A key that has to be added to the table, beyond the limit, was released meanwhile.
    if (s.IsLockLimit()) continue;
    if (!s.ok()) return s;
    if (had.upgraded) Downgrade(had.held);
  }
}

// If LockRanges keeps the family's keys in order, the range is looked up there; otherwise all parts
// are walked.
bool LockTable::FindKeyWithin(HeldRange* range, std::string* key,
                              std::vector<TransactionID>* holders) {
  holders->clear();
  const LockRanges::KeyOrder order = ranges_.OrderOf(range);
  if (order == LockRanges::KeyOrder::kWanted) PutKeysInOrder(range);
  if (order == LockRanges::KeyOrder::kNone) {
    WalkKeysWithin(*range, key, holders);
  } else {
    const auto is_held = [this](HeldLock* lock) {
      LatchGuard latch(&PartOf(lock->key).latch);
      return lock->held;
    };
    ranges_.FindKeys(*range, is_held, key, holders);
  }
  // A transaction with many keys in the range is found once for each of them.
  std::sort(holders->begin(), holders->end());
  holders->erase(std::unique(holders->begin(), holders->end()), holders->end());
  return !holders->empty();
}

void LockTable::WalkKeysWithin(const HeldRange& range, std::string* key,
                               std::vector<TransactionID>* holders) {
  const auto visit = [&](LockQueue& queue) {
    if (!range.range.Covers(queue.key().family, queue.key().key)) return;
    for (const HeldLock* h = queue.holders(); h != nullptr; h = h->next_holder) {
      if (h->owner == range.owner) continue;
      if (holders->empty()) key->assign(queue.key().key.data(), queue.key().key.size());
      holders->push_back(h->owner->id());
    }
  };
  for (size_t i = 0; i < part_count_; i++) {
    LockPart& part = parts_[i];
    bool more = true;
    for (size_t chain = 0; more;) {
      LatchGuard latch(&part.latch);
      // The latch is released between two steps, so that a walk over a large table does not hold up
      // transactions that lock single keys.
      more = part.VisitSome(&chain, visit);
    }
  }
}

// Goes through the parts in small steps, each under the mutex of the ranges and one latch. Keys
// that are locked meanwhile enter by themselves (Enter), so none is missed.
void LockTable::PutKeysInOrder(HeldRange* range) try {
  for (size_t i = 0; i < part_count_; i++) {
    for (size_t chain = 0; ranges_.PutInOrder(&parts_[i], &chain, range->range);) {
    }
  }
  ranges_.EndOrdering(range, /*ok=*/true);
} catch (...) {
  ranges_.EndOrdering(range, /*ok=*/false);
  throw;
}

// ---- The wait-for graph ----

void LockTable::BlockersOf(TransactionID id, const Wait& wait, std::vector<TransactionID>* ids) {
  if (wait.on_ranges) {
    ranges_.BlockersOf(id, wait.range, wait.ticket, wait.for_key, ids);
    return;
  }
  const LockKey key = {wait.range.family, wait.range.begin.key, wait.hash};
  LockPart& part = PartOf(key);
  LatchGuard latch(&part.latch);
  const LockQueue* const queue = part.Find(key);
  const LockWaiter* const waiter = queue == nullptr ? nullptr : queue->WaiterOf(id);
  if (waiter != nullptr) queue->BlockersOf(*waiter, ids);
}

// Reads the wait, and then its blockers, which may be those of a later moment. By the number of the
// wait the search finds out whether they belong together (StillThere).
bool LockTable::EdgesOf(TransactionID waiter, WaitEdges* edges) {
  Wait wait;
  {
    MutexLock lock(&waits_mu_);
    const auto found = waits_.find(waiter);
    if (found == waits_.end()) return false;
    // The wait is copied: the queue's latch is not taken under the mutex of the waits.
    wait = found->second;
  }
  edges->number = wait.number;
  edges->wait = {waiter, wait.range.family, wait.exclusive, wait.range.begin.key};
  BlockersOf(waiter, wait, &edges->blockers);
  return true;
}

bool LockTable::WaitingFor(TransactionID id, LockOwner::LastWait* wait) {
  WaitEdges edges;
  if (!EdgesOf(id, &edges) || edges.blockers.empty()) return false;
  *wait = {edges.wait.m_cf_id, std::move(edges.wait.m_waiting_key), std::move(edges.blockers)};
  return true;
}

Status LockTable::LookForDeadlock(LockOwner* owner, const LockPatience& patience) {
  MutexLock lock(&search_mu_);
  std::vector<DeadlockInfo> cycle;
  const DeadlockAnswer answer = SearchDeadlock(this, owner->id(), patience.detect_depth, &cycle);
  if (answer == DeadlockAnswer::kNone) return Status::OK();
  const int64_t now = WallClockSeconds();
  deadlocks_.Add(answer == DeadlockAnswer::kCycle ? DeadlockPath(std::move(cycle), now)
                                                  : DeadlockPath(now, /*limit=*/true));
  // This owner gives up its wait. Without it the next search finds the cycle broken.
  MutexLock waits_lock(&waits_mu_);
  waits_.erase(owner->id());
  return Status::Busy(Status::kDeadlock);
}

std::unordered_multimap<uint32_t, KeyLockInfo> LockTable::KeysLocked() {
  std::unordered_multimap<uint32_t, KeyLockInfo> all;
  for (size_t i = 0; i < part_count_; i++) {
    LockPart& part = parts_[i];
    LatchGuard latch(&part.latch);
    part.VisitAll([&](const LockQueue& queue) {
      // A queue without holders has waiters that were woken and have not taken the key yet.
      if (queue.holders() == nullptr) return;
      KeyLockInfo info;
      info.key = queue.key().key.ToString();
      info.exclusive = queue.holders()->exclusive;
      for (const HeldLock* h = queue.holders(); h != nullptr; h = h->next_holder) {
        info.ids.push_back(h->owner->id());
      }
      all.emplace(queue.key().family, std::move(info));
    });
  }
  return all;
}

}  // namespace varve
