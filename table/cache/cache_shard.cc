// SPDX-License-Identifier: Apache-2.0

// A shard of the block cache is a hash table (cache_table.h), the sum of its entries' charges, and
// a hand that chooses what to evict (CLOCK). Finding, referencing and adding an entry take no lock.
// Removing one takes the shard's lock, and its memory is freed only when no reader can be looking
// at it: readers run inside an epoch (util/sync/epoch.h), and retired entries wait in a list
// (RetiredList).
//
//      Lookup, Insert: no lock            hand_, under mu_
//                  |                         |
//                  v                         v
//    buckets   [ 0 ] [ 1 ] [ 2 ] [ 3 ] [ 4 ] [ 5 ] ...
//                |           |                 |
//                e           e -> e            e <==== BlockSlot of a table's index (at most one)
//
//    states of an entry:
//      in the table --- evicted while unreferenced ----------------------> retired --> freed
//          |                                                                 ^    (readers left)
//          +--- taken out while referenced --> removed --- last Release -----+
//
// The hand visits bucket after bucket. It passes over referenced entries, gives entries that were
// used since its last visit two more rounds, counts down the rounds of others, and evicts those
// that have none left. Its search is bounded: after kPatience buckets without success it takes
// entries before their time. It evicts a few entries more than needed, and a part of the capacity
// (Slack) stays free for waiting entries, so that readers are asked once for many of them: asking
// is a system call.
//
// Invariants; 1 to 6 are those of table/README.md.
// 1. An entry is in the table; or removed, but referenced; or retired, and about to be freed. It
//    never goes back to an earlier state.
// 2. An entry leaves the table only under the lock.
// 3. A reference is released once, by its holder.
// 4. At most one slot refers to an entry, and is cleared before the entry is in a retired list.
//    Slots are followed only inside an epoch.
// 5. Every charge is given back. The usage counts entries until they are freed, so retired ones
//    count, too.
// 6. The shards live until the cache is gone and the last entry that was removed while referenced
//    has been released. Such an entry has a share in all shards (CacheShards); entries in the table
//    have none.
// 7. A retired entry is freed only if the stamp of its list is below what the epochs allow.
//    Stamps of a list never decrease: the newest one counts for all of its entries.
// 8. Deleters, which are the user's code, run without the lock.

#include "table/cache/cache_shard.h"

#include <algorithm>
#include <utility>

#include "table/cache/cache_shards.h"
#include "util/base/assert.h"
#include "util/base/canary.h"
#include "util/sync/epoch.h"

namespace varve {

namespace {

// Number of rounds of the hand that an entry survives: when new, by priority, and after a use.
constexpr uint8_t kRoundsOfHigh = 2;
constexpr uint8_t kRoundsOfLow = 1;
constexpr uint8_t kRoundsAfterUse = 2;

// Number of buckets without success after which entries that are new are evicted before their time;
// after as many again, also entries that were used. So a look-up that misses need not pass over all
// used entries.
constexpr size_t kPatience = 256;
// Number of buckets without success after which the cache may exceed its capacity, unless it must
// not.
constexpr size_t kSomeEffort = 8192;

// Limits of what may wait for readers: a fiftieth of the capacity, or the shard's part of what is
// allowed to any cache, but no more than a sixteenth of the capacity.
constexpr size_t kSlackShare = 50;
constexpr size_t kSlackShareMin = 16;

// Memory of the table for one entry when it is half full.
constexpr size_t kBucketBytesPerEntry = 2 * sizeof(void*);

CacheEntry* NextDoomed(const CacheEntry* entry) {
  return static_cast<CacheEntry*>(entry->link);
}

}  // namespace

void CacheShard::Init(const CacheShardOptions& options, CacheShards* all, CacheWaiting* waiting,
                      size_t sharers) {
  VARVE_ASSERT(all_ == nullptr && all != nullptr && waiting != nullptr && sharers > 0);
  all_ = all;
  waiting_ = waiting;
  sharers_ = sharers;
  capacity_.store(options.capacity, std::memory_order_relaxed);
  strict_.store(options.strict, std::memory_order_relaxed);
  high_ratio_ = options.high_ratio;
  low_ratio_ = options.low_ratio;
  charge_metadata_ = options.charge_metadata;
  waiting_bytes_ = options.waiting_bytes;
  allocator_ = options.allocator;
  table_.Init(options.expected_entries, &mu_);
  Watch(&mu_);  // held over fork(), so that a child finds the shard consistent
}

CacheShard::~CacheShard() {
  Forget();
  CacheEntry* doomed = nullptr;
  {
    MutexLock lock(&mu_);
    // Readers had left when the cache was destroyed, and found nothing since.
    for (RetiredList& retired : retired_lists_) TakeFreeable(&retired, UINT64_MAX, &doomed);
  }
  // Invariant 5: every charge was given back.
  VARVE_ASSERT(table_.size() == 0 && usage() == 0 && retired_usage() == 0);
  FreeAll(doomed);
}

size_t CacheShard::ChargeOf(const CacheEntry& entry) const {
  if (!charge_metadata_) return entry.charge;
  const size_t own = entry.embedded != 0 ? sizeof(CacheEntry) : sizeof(StandaloneEntry);
  const size_t key = entry.key_size == CacheEntry::kLongKey ? entry.key().size() : 0;
  return entry.charge + own + key + kBucketBytesPerEntry;
}

void CacheShard::FreeEntryOnly(CacheEntry* entry) {
  if (entry->key_size == CacheEntry::kLongKey) delete entry->long_key;
  if (entry->embedded == 0) delete static_cast<StandaloneEntry*>(entry);
}

// An entry that lies apart is freed before its object's deleter runs; an embedded one is freed by
// that deleter.
void CacheShard::FreeAll(CacheEntry* doomed) {
  while (doomed != nullptr) {
    CacheEntry* const entry = std::exchange(doomed, NextDoomed(doomed));
    VARVE_ASSERT((entry->state.load(std::memory_order_relaxed) & CacheEntry::kRefs) == 0);
    const Cache::CacheItemHelper* const helper = entry->helper;
    const Cache::ObjectPtr value = entry->value();
    FreeEntryOnly(entry);
    if (helper != nullptr && helper->del_cb != nullptr) helper->del_cb(value, allocator_);
  }
}

size_t CacheShard::Slack(size_t capacity) const {
  return std::min(std::max(capacity / kSlackShare, waiting_bytes_), capacity / kSlackShareMin);
}

bool CacheShard::FarOverCapacity() const {
  const size_t capacity = this->capacity();
  const size_t live = LiveUsage();
  return live > capacity && live - capacity > Slack(capacity);
}

void CacheShard::CountShare(const CacheEntry& entry, bool comes) {
  std::atomic<size_t>* usage = nullptr;
  if (entry.Has(Cache::Priority::HIGH)) {
    usage = &high_usage_;
  } else if (low_ratio_ > 0 && entry.Has(Cache::Priority::LOW)) {
    usage = &low_usage_;
  } else {
    return;
  }
  const size_t charge = ChargeOf(entry);
  VARVE_ASSERT(comes || usage->load(std::memory_order_relaxed) >= charge);
  // Unsigned arithmetic: adding 0 - charge subtracts it.
  usage->fetch_add(comes ? charge : 0 - charge, std::memory_order_relaxed);
}

bool CacheShard::IsProtected(const CacheEntry& entry) const {
  const bool high = entry.Has(Cache::Priority::HIGH);
  if (!high && (low_ratio_ == 0 || entry.Has(Cache::Priority::BOTTOM))) return false;
  const double share = static_cast<double>(capacity()) * (high ? high_ratio_ : low_ratio_);
  const std::atomic<size_t>& usage = high ? high_usage_ : low_usage_;
  return static_cast<double>(usage.load(std::memory_order_relaxed)) <= share;
}

void CacheShard::TakeSlotBack(CacheEntry* entry) {
  auto* const slot = static_cast<BlockSlot*>(std::exchange(entry->link, nullptr));
  if (slot == nullptr) return;
  // Invariant 4: an entry has at most one slot, and that refers to it.
  VARVE_ASSERT(slot->load(std::memory_order_relaxed) == entry);
  slot->store(nullptr, std::memory_order_seq_cst);
}

void CacheShard::TakeSlotsBack() {
  MutexLock lock(&mu_);
  table_.ForEach([](CacheEntry* entry) { TakeSlotBack(entry); });
}

void CacheShard::Clear() {
  MutexLock lock(&mu_);
  table_.ForEach([this](CacheEntry* entry) {
    mu_.AssertHeld();
    Remove(entry);
  });
}

void CacheShard::LeaveTable(CacheEntry* entry) {
  table_.Unlink(entry);
  CountShare(*entry, /*comes=*/false);
  TakeSlotBack(entry);
}

// Stamps the entry with the present epoch, and adds it to the second list of what waits for
// readers. A list is freed by its newest stamp: if the second list has an older one, it becomes the
// first list, provided that this is empty, so that its entries need not wait for the new one's
// readers.
void CacheShard::Retire(CacheEntry* entry) {
  VARVE_ASSERT(entry->state.load(std::memory_order_relaxed) ==
               (CacheEntry::kRemoved | CacheEntry::kRetired));  // Invariant 1.
  VARVE_ASSERT(entry->link == nullptr);                         // Invariant 4.
  RetiredList& retired = retired_lists_[1];
  const uint64_t stamp = Epoch::Stamp();
  VARVE_ASSERT(retired.stamp <= stamp);  // Invariant 7.
  if (retired.stamp != stamp && retired_lists_[0].first == nullptr)
    std::swap(retired_lists_[0], retired);
  retired.stamp = stamp;
  const size_t charge = ChargeOf(*entry);
  retired.usage += charge;
  retired_usage_.fetch_add(charge, std::memory_order_relaxed);
  waiting_->bytes.fetch_add(charge, std::memory_order_relaxed);
  entry->link = retired.first;
  retired.first = entry;
}

void CacheShard::TakeFreeable(RetiredList* retired, uint64_t below, CacheEntry** doomed) {
  if (retired->first == nullptr || retired->stamp >= below) return;
  VARVE_ASSERT(usage() >= retired->usage && retired_usage() >= retired->usage);  // Invariant 5.
  usage_.fetch_sub(retired->usage, std::memory_order_relaxed);
  retired_usage_.fetch_sub(retired->usage, std::memory_order_relaxed);
  waiting_->bytes.fetch_sub(retired->usage, std::memory_order_relaxed);
  CacheEntry* last = retired->first;
  while (last->link != nullptr) last = NextDoomed(last);
  last->link = *doomed;
  *doomed = retired->first;
  *retired = RetiredList();
}

void CacheShard::TakeFreeable(CacheEntry** doomed) {
  TakeFreeable(Epoch::FreeBelow(), doomed);
}

void CacheShard::TakeFreeable(uint64_t below, CacheEntry** doomed) {
  for (RetiredList& retired : retired_lists_) TakeFreeable(&retired, below, doomed);
  table_.FreeOld(below);
}

void CacheShard::TakeDropped(uint64_t below, CacheEntry** doomed) {
  if (retired_usage() == 0 || !mu_.TryLock()) return;
  TakeFreeable(below, doomed);
  mu_.Unlock();
}

// Asks at three quarters of the limit at which Welcomes would begin to refuse insertions.
void CacheShard::FreeWaitingIfMany() {
  const size_t many = WaitingMost(Slack(capacity())) / 4 * 3;
  if (waiting_->bytes.load(std::memory_order_relaxed) > many) all_->FreeWaiting(*waiting_, many);
}

// An entry without references is retired at once. Any other is marked removed, takes a share in all
// shards, and is retired by its last Release.
void CacheShard::Remove(CacheEntry* entry) {
  VARVE_ASSERT(!entry->removed());  // Invariant 1.
  LeaveTable(entry);
  // This must come last: the last Release may follow at once, and an entry that it retires must be
  // unreachable.
  uint32_t now = entry->state.load(std::memory_order_relaxed);
  uint32_t then = 0;
  do {
    then = now == 0 ? CacheEntry::kRemoved | CacheEntry::kRetired : now | CacheEntry::kRemoved;
  } while (!entry->state.compare_exchange_weak(now, then, std::memory_order_acq_rel,
                                               std::memory_order_relaxed));
  if (now == 0) {
    Retire(entry);
  } else {
    all_->Ref();
    removed_usage_ += ChargeOf(*entry);
  }
}

// Judges each entry of the bucket as the head of this file says. An entry may be referenced between
// the look at its state and the exchange, which then fails: it stays.
bool CacheShard::SweepBucket(size_t bucket, Search search) {
  bool evicted = false;
  table_.ForBucket(bucket, [&](CacheEntry* entry) {
    mu_.AssertHeld();
    uint32_t unreferenced = 0;
    if (entry->state.load(std::memory_order_relaxed) != unreferenced) return;
    if (search.priorities && IsProtected(*entry)) return;
    if (search.recency && entry->used.load(std::memory_order_relaxed)) {
      entry->used.store(false, std::memory_order_relaxed);
      entry->rounds = kRoundsAfterUse;
      return;
    }
    if (search.recency && entry->rounds > search.rounds) {
      entry->rounds--;
      return;
    }
    if (!entry->state.compare_exchange_strong(
            unreferenced, CacheEntry::kRemoved | CacheEntry::kRetired, std::memory_order_acq_rel)) {
      return;
    }
    LeaveTable(entry);
    Retire(entry);
    evicted = true;
  });
  return evicted;
}

// Moves the hand until enough is evicted, and becomes less choosy the longer it finds nothing:
// first entries with rounds left are taken, then used ones, then those of protected priorities.
// Gives up after one or two rounds over the table. *doomed gets what can be freed; the caller frees
// it after it has released the lock.
bool CacheShard::Evict(Effort effort, CacheEntry** doomed) {
  const size_t capacity = this->capacity();
  const size_t slack = Slack(capacity);
  VARVE_ASSERT(slack + EvictedAtOnce(slack) <= capacity);
  const size_t goal = capacity - slack - EvictedAtOnce(slack);
  const size_t buckets = table_.bucket_count();
  size_t in_vain = 0;  // number of buckets since the last success
  Search search;
  while (LiveUsage() > goal) {
    search.rounds = in_vain < kPatience ? 0 : kRoundsOfLow;
    search.recency = in_vain < 2 * kPatience;
    search.priorities = in_vain < 2 * kPatience + buckets;
    if (in_vain >= 2 * (kPatience + buckets)) break;
    if (effort == Effort::kSome && in_vain >= kSomeEffort) break;
    const size_t bucket = (hand_.load(std::memory_order_relaxed) + 1) & (buckets - 1);
    hand_.store(bucket, std::memory_order_relaxed);
    table_.PrefetchBucket(bucket + 1);
    in_vain = SweepBucket(bucket, search) ? 0 : in_vain + 1;
  }
  if (retired_usage() != 0) TakeFreeable(Epoch::KnownFree(), doomed);
  if (effort == Effort::kAll && retired_usage() != 0 && usage() > capacity) TakeFreeable(doomed);
  return usage() <= capacity;
}

// Evicts, and asks whether readers have left if what waits for them is in the way. Repeats this as
// long as it was within the capacity when it evicted and other threads have exceeded it since.
bool CacheShard::MakeRoom(Effort effort, bool must) {
  for (;;) {
    CacheEntry* doomed = nullptr;
    if (!mu_.TryLock()) {
      // The lock's holder mostly is a thread that evicts, and looks at the usage again before it
      // returns (below). A small excess may also wait for the next insertion.
      if (!must && !FarOverCapacity()) return true;
      mu_.Lock();
    }
    bool fits = Evict(effort, &doomed);
    mu_.Unlock();
    FreeAll(doomed);
    // If entries that cannot be evicted leave less than Slack, those that wait are freed however
    // few they are.
    const size_t capacity = this->capacity();
    if (!fits && LiveUsage() > capacity - Slack(capacity)) all_->FreeWaiting(*waiting_, 0);
    FreeWaitingIfMany();
    fits = fits || usage() <= capacity;
    // Other threads may have added entries and left the eviction to this one.
    if (!fits || usage() <= capacity) return fits;
  }
}

// Counts the charge first, so that other threads see it, and gives it back on failure. Tries in
// this order: the free room, eviction, and waiting for readers, if this thread is not a reader
// itself.
bool CacheShard::Reserve(size_t charge, bool strict, bool must) {
  const size_t capacity = this->capacity();
  usage_.fetch_add(charge, std::memory_order_relaxed);
  // There is room if the live entries leave Slack free. With a strict limit the entries that wait
  // must fit in as well.
  if (LiveUsage() <= capacity - Slack(capacity) &&
      (usage() <= capacity || !strict_.load(std::memory_order_relaxed))) {
    return true;
  }
  const Effort effort = strict ? Effort::kAll : Effort::kSome;
  bool fits = (!strict || charge <= capacity) && MakeRoom(effort, must);
  // Waiting for readers is slow: without a strict limit this thread waits only if a reader that
  // does not leave has made evicted entries pile up to half of the capacity.
  const bool waits = strict ? charge <= capacity : retired_usage() > capacity / 2;
  if (!fits && waits && !Epoch::Inside()) {
    Epoch::WaitForReaders();
    FreeDropped(Epoch::KnownFree());
    fits = MakeRoom(effort, must);
  }
  if (fits || !must || (!strict && LiveUsage() <= capacity)) return true;
  size_t now = usage_.fetch_sub(charge, std::memory_order_relaxed) - charge;
  // Reservations of other threads, which were refused as well, may have been in the way.
  while (charge <= capacity && now <= capacity - charge) {
    if (usage_.compare_exchange_weak(now, now + charge, std::memory_order_relaxed)) return true;
  }
  return false;
}

// Where the charge needs an eviction, the evicted bytes must be able to wait for readers: if too
// many wait already, readers are asked once.
bool CacheShard::Welcomes(size_t charge) {
  const size_t capacity = this->capacity();
  // Under a strict limit Insert decides, as it fails if there is no room.
  const bool is_strict = strict_.load(std::memory_order_relaxed);
  if (is_strict || LiveUsage() + charge <= capacity - Slack(capacity)) {
    return true;
  }
  if (FarOverCapacity()) return false;
  // VARVE_CANARY: a bug that only test builds plant (util/base/canary.h).
  if (WaitingHasRoom(charge) || VARVE_CANARY(kRetireWithoutEnd)) return true;
  all_->FreeWaiting(*waiting_, 0);
  return WaitingHasRoom(charge);
}

bool CacheShard::Admits(uint64_t hash, size_t charge) {
  const size_t capacity = this->capacity();
  // Evict stops at a higher usage, so a full shard does not look unfilled after an eviction.
  const size_t filled = capacity - 2 * Slack(capacity);
  if (LiveUsage() + charge <= filled || strict_.load(std::memory_order_relaxed)) return true;
  if (!misses_.Holds(entry_count())) [[unlikely]] {
    const MutexLock lock(&mu_);
    if (!misses_.Reserve(entry_count())) return true;
  }
  return misses_.Repeats(hash);
}

// The slot is set before the entry is in the table, while the thread's own reference keeps it from
// being evicted. If there is no room and no handle is wanted, the object is deleted as if it had
// been evicted, and the call succeeds.
Status CacheShard::Insert(CacheEntry* entry, BlockSlot* slot, bool want_handle) {
  VARVE_ASSERT(entry->state.load(std::memory_order_relaxed) == 0);
  VARVE_ASSERT(slot == nullptr || entry->embedded != 0);
  const bool strict = want_handle && strict_.load(std::memory_order_relaxed);
  // Without a handle, an entry for which there is no room is given up; with one, it is inserted in
  // any case, unless the limit is strict.
  if (!Reserve(ChargeOf(*entry), strict, /*must=*/strict || !want_handle)) {
    if (strict) return Status::MemoryLimit("block cache is full and its limit is strict");
    // Behave as if the entry had been inserted and evicted at once.
    entry->link = nullptr;
    FreeAll(entry);
    return Status::OK();
  }
  entry->rounds = entry->Has(Cache::Priority::HIGH)     ? kRoundsOfHigh
                  : entry->Has(Cache::Priority::BOTTOM) ? uint8_t{0}
                                                        : kRoundsOfLow;
  // The entry is referenced until it is complete, even if no handle is wanted.
  entry->state.store(1, std::memory_order_relaxed);
  // The link comes before the slot's value: a thread that the slot leads here (Detach, Drop)
  // compares the two.
  entry->link = slot;
  CacheEntry* none = nullptr;
  if (slot != nullptr && !slot->compare_exchange_strong(none, entry, std::memory_order_acq_rel)) {
    entry->link = nullptr;
  }
  CountShare(*entry, /*comes=*/true);
  AddToTable(entry);
  if (!want_handle) Release(entry, /*erase_if_last_ref=*/false);
  return Status::OK();
}

// While another thread enlarges the table, nothing can be added: the lock is taken only to wait for
// that thread.
void CacheShard::AddToTable(CacheEntry* entry) {
  bool hides = false;
  for (;;) {
    {
      const Epoch::Guard guard;
      if (table_.Push(entry, &hides) == CacheTable::Outcome::kDone) break;
    }
    const MutexLock until_the_larger_table_stands(&mu_);
  }
  if (hides) DropHidden(entry);
  if (table_.crowded()) GrowTable();
}

void CacheShard::DropHidden(const CacheEntry* entry) {
  CacheEntry* doomed = nullptr;
  {
    MutexLock lock(&mu_);
    while (CacheEntry* const hidden = table_.HiddenBy(entry)) Remove(hidden);
    TakeFreeable(Epoch::KnownFree(), &doomed);
  }
  FreeAll(doomed);
  FreeWaitingIfMany();
}

void CacheShard::GrowTable() {
  // The lock's holder may be growing the table already; otherwise the next caller tries again.
  if (!mu_.TryLock()) return;
  CacheEntry* doomed = nullptr;
  if (table_.crowded()) {
    // Also frees the bucket arrays that earlier growth has left.
    TakeFreeable(&doomed);
    table_.Grow();
  }
  mu_.Unlock();
  FreeAll(doomed);
}

// Looks a second time if the entry that was found has just been removed. While the table is being
// enlarged, it waits for the lock.
CacheEntry* CacheShard::Lookup(const Slice& key, uint64_t hash) {
  for (int removed = 0; removed < 2;) {
    {
      const Epoch::Guard guard;
      CacheEntry* entry = nullptr;
      if (table_.Find(key, hash, &entry) == CacheTable::Outcome::kDone) {
        if (entry == nullptr || entry->TryRef()) return entry;
        // The entry was evicted, or another took its place, which the next attempt will find.
        removed++;
        continue;
      }
    }
    const MutexLock until_the_larger_table_stands(&mu_);
  }
  return nullptr;
}

void CacheShard::Attach(CacheEntry* entry, BlockSlot* slot) {
  MutexLock lock(&mu_);
  VARVE_ASSERT((entry->state.load(std::memory_order_relaxed) & CacheEntry::kRefs) != 0);
  // An entry that is not embedded is not followed by a block.
  if (entry->removed() || entry->embedded == 0 || entry->link != nullptr) return;
  CacheEntry* none = nullptr;
  if (!slot->compare_exchange_strong(none, entry, std::memory_order_acq_rel)) return;
  entry->link = slot;
}

void CacheShard::Detach(CacheEntry* entry, BlockSlot* slot) {
  MutexLock lock(&mu_);
  if (entry->link != slot) return;
  entry->link = nullptr;
  slot->store(nullptr, std::memory_order_relaxed);
}

void CacheShard::Drop(CacheEntry* entry, BlockSlot* slot) {
  MutexLock lock(&mu_);
  if (entry->link == slot) Remove(entry);
}

void CacheShard::FreeDropped(uint64_t below) {
  if (retired_usage() == 0) return;
  CacheEntry* doomed = nullptr;
  {
    MutexLock lock(&mu_);
    TakeFreeable(below, &doomed);
  }
  FreeAll(doomed);
}

bool CacheShard::FreeRetired() {
  CacheEntry* doomed = nullptr;
  bool all = false;
  {
    MutexLock lock(&mu_);
    TakeFreeable(&doomed);
    all = retired_lists_[0].first == nullptr && retired_lists_[1].first == nullptr;
  }
  FreeAll(doomed);
  return all;
}

// One exchange drops the reference and, if it was the last one of a removed entry, marks the entry
// retired, so that exactly one thread frees it.
bool CacheShard::DropReference(CacheEntry* entry, bool* last) {
  uint32_t now = entry->state.load(std::memory_order_relaxed);
  uint32_t then = 0;
  do {
    VARVE_ASSERT((now & CacheEntry::kRefs) != 0);  // Invariant 3.
    then =
        now == (CacheEntry::kRemoved | 1) ? CacheEntry::kRemoved | CacheEntry::kRetired : now - 1;
  } while (!entry->state.compare_exchange_weak(now, then, std::memory_order_acq_rel,
                                               std::memory_order_relaxed));
  *last = then == 0;
  return (then & CacheEntry::kRetired) != 0;
}

bool CacheShard::Release(CacheEntry* entry, bool erase_if_last_ref) {
  if (erase_if_last_ref || LiveUsage() > capacity()) [[unlikely]] {
    return ReleaseSlow(entry, erase_if_last_ref);
  }
  bool last = false;
  if (!DropReference(entry, &last)) return false;
  FreeRemoved(entry);
  return true;
}

// The share keeps this shard alive while the function goes on, as the reference may have been the
// last thing to do so.
bool CacheShard::ReleaseSlow(CacheEntry* entry, bool erase_if_last_ref) {
  const CacheShardsShare share(all_);
  if (erase_if_last_ref || FarOverCapacity()) return ReleaseUnwanted(entry, erase_if_last_ref);
  bool last = false;
  if (DropReference(entry, &last)) {
    FreeRemoved(entry);
    return true;
  }
  if (last) MakeRoom(Effort::kSome, /*must=*/false);
  return false;
}

// An embedded object is a block, whose memory may wait for readers; another object may stand for
// more than memory, and is freed at once if possible.
void CacheShard::FreeRemoved(CacheEntry* entry) {
  const bool only_memory = entry->embedded != 0;
  CacheEntry* doomed = nullptr;
  {
    MutexLock lock(&mu_);
    VARVE_ASSERT(removed_usage_ >= ChargeOf(*entry));  // Invariant 5.
    removed_usage_ -= ChargeOf(*entry);
    Retire(entry);
    if (only_memory) TakeFreeable(Epoch::KnownFree(), &doomed);
  }
  FreeAll(doomed);
  if (only_memory) {
    FreeWaitingIfMany();
  } else {
    FreeNow();
  }
  all_->Unref();
}

void CacheShard::FreeNow() {
  if (FreeRetired() || Epoch::Inside()) return;
  Epoch::WaitForReaders();
  FreeRetired();
}

// Does under the lock what DropReference does without it, and with the last reference also takes
// the entry out of the table. `at_once`: what readers allow is freed now, and not when more waits.
bool CacheShard::ReleaseUnwanted(CacheEntry* entry, bool at_once) {
  CacheEntry* doomed = nullptr;
  {
    // Entries leave the table only under the lock.
    MutexLock lock(&mu_);
    uint32_t now = entry->state.load(std::memory_order_relaxed);
    bool last = false;
    do {
      VARVE_ASSERT((now & CacheEntry::kRefs) != 0);  // Invariant 3.
      last = (now & CacheEntry::kRefs) == 1;
    } while (!entry->state.compare_exchange_weak(
        now, last ? CacheEntry::kRemoved | CacheEntry::kRetired : now - 1,
        std::memory_order_acq_rel, std::memory_order_relaxed));
    if (!last) return false;
    if ((now & CacheEntry::kRemoved) != 0) {
      removed_usage_ -= ChargeOf(*entry);
      all_->Unref();  // not the last share
    } else {
      LeaveTable(entry);
    }
    Retire(entry);
    if (at_once) TakeFreeable(&doomed);
  }
  FreeAll(doomed);
  if (!at_once) FreeWaitingIfMany();
  return true;
}

// Several entries may have the key for a moment, while a newer one hides an older one; all go.
void CacheShard::Erase(const Slice& key, uint64_t hash) {
  bool found = false;
  {
    MutexLock lock(&mu_);
    CacheEntry* entry = nullptr;
    while (table_.Find(key, hash, &entry) == CacheTable::Outcome::kDone && entry != nullptr) {
      Remove(entry);
      found = true;
    }
  }
  // The entry may also have been evicted before, and may wait for a reader that has left since.
  if (found || retired_usage() != 0) FreeNow();
}

void CacheShard::SetCapacity(size_t capacity) {
  capacity_.store(capacity, std::memory_order_relaxed);
  MakeRoom(Effort::kAll, /*must=*/true);
}

// Takes all idle entries, whatever their age and priority. What readers may still look at waits, as
// after any eviction.
void CacheShard::EraseUnreferenced() {
  CacheEntry* doomed = nullptr;
  {
    MutexLock lock(&mu_);
    const Search anything{.recency = false, .priorities = false};
    for (size_t i = 0; i < table_.bucket_count(); i++) SweepBucket(i, anything);
    TakeFreeable(&doomed);
  }
  FreeAll(doomed);
}

size_t CacheShard::PinnedUsage() {
  MutexLock lock(&mu_);
  size_t sum = removed_usage_;
  table_.ForEach([&](const CacheEntry* entry) {
    const uint32_t state = entry->state.load(std::memory_order_relaxed);
    if ((state & CacheEntry::kRefs) != 0) sum += ChargeOf(*entry);
  });
  return sum;
}

}  // namespace varve
