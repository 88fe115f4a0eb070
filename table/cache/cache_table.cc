// SPDX-License-Identifier: Apache-2.0

// Finding and adding need no lock, for these reasons:
//
// 1. A chain changes in three ways only: a compare-and-swap puts an entry before the head (Push),
//    the owner links past an entry (Unlink), or the owner cuts the chain in two (Split, while the
//    table grows). Of these only the first is done by several threads.
// 2. Unlinked entries and old arrays of buckets stay readable until every thread that may have seen
//    them has left its epoch. So a thread that walks a chain within an epoch never follows a
//    pointer to freed memory.
// 3. An entry is newer than all behind it in its chain. The first one of a key is the current one;
//    an older one behind it is hidden, and its adder tells the owner.
// 4. While the table grows, each old bucket is closed by exchanging its head for &closed_. A thread
//    that meets that mark, or ends a chain of the old array without a find after growing has begun,
//    has seen only a part, and gets kTableGrows. A find is right in any case.

#include "table/cache/cache_table.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "util/base/assert.h"
#include "util/sync/epoch.h"

namespace varve {

namespace {

constexpr size_t kBucketsMin = 64;
constexpr size_t kFirstBucketsMax = size_t{1} << 20;

}  // namespace

constinit CacheEntry CacheTable::closed_;

void CacheTable::Init(size_t entries, const Mutex* owner) {
  VARVE_ASSERT(owner_ == nullptr && owner != nullptr);
  owner_ = owner;
  const size_t wanted = std::clamp(entries * 2, kBucketsMin, kFirstBucketsMax);
  auto* const buckets = new Buckets(std::bit_ceil(wanted));
  if (buckets->heads == nullptr) {
    delete buckets;
    throw std::bad_alloc();
  }
  buckets_.store(buckets, std::memory_order_release);
  bucket_count_.store(buckets->mask + 1, std::memory_order_relaxed);
}

CacheTable::~CacheTable() {
  while (old_ != nullptr) delete std::exchange(old_, old_->older);
  delete buckets_.load(std::memory_order_relaxed);
}

// A find is right whatever the table does meanwhile. A miss counts only if no growing has begun:
// otherwise the chain may have led elsewhere.
CacheTable::Outcome CacheTable::Find(const Slice& key, uint64_t hash, CacheEntry** found) const {
  *found = nullptr;
  const Buckets* const buckets = buckets_.load(std::memory_order_acquire);
  CacheEntry* entry = buckets->heads[hash & buckets->mask].load(std::memory_order_acquire);
  if (entry == &closed_) return Outcome::kTableGrows;
  for (; entry != nullptr; entry = entry->next.load(std::memory_order_acquire)) {
    if (entry->hash == hash && entry->key() == key) {
      *found = entry;
      return Outcome::kDone;
    }
  }
  return buckets->closing.load(std::memory_order_acquire) ? Outcome::kTableGrows : Outcome::kDone;
}

// The search for an older entry comes after the exchange, so that of two threads that add the same
// key at least the later one sees the other's entry.
CacheTable::Outcome CacheTable::Push(CacheEntry* entry, bool* hides) {
  VARVE_ASSERT(Epoch::Inside());
  Buckets* const buckets = buckets_.load(std::memory_order_acquire);
  std::atomic<CacheEntry*>& head = buckets->heads[entry->hash & buckets->mask];
  CacheEntry* first = head.load(std::memory_order_acquire);
  // Counted first, as the entry may be removed as soon as it is in the table.
  size_.fetch_add(1, std::memory_order_relaxed);
  do {
    if (first == &closed_) {
      size_.fetch_sub(1, std::memory_order_relaxed);
      return Outcome::kTableGrows;
    }
    entry->next.store(first, std::memory_order_relaxed);
  } while (!head.compare_exchange_weak(first, entry, std::memory_order_acq_rel,
                                       std::memory_order_acquire));
  const Slice key = entry->key();
  CacheEntry* older = first;
  while (older != nullptr && (older->hash != entry->hash || older->key() != key)) {
    older = older->next.load(std::memory_order_acquire);
  }
  *hides = older != nullptr || buckets->closing.load(std::memory_order_acquire);
  return Outcome::kDone;
}

// Where the entry is not the head, the one before it is found from the head, as entries have no
// links back. The entry's own link stays, for readers that are on it.
void CacheTable::Unlink(CacheEntry* entry) {
  owner_->AssertHeld();
  const Buckets* const buckets = buckets_.load(std::memory_order_relaxed);
  std::atomic<CacheEntry*>& head = buckets->heads[entry->hash & buckets->mask];
  CacheEntry* const next = entry->next.load(std::memory_order_relaxed);
  CacheEntry* first = entry;
  // Both ways to unlink are sequentially consistent, as Epoch::Stamp requires.
  if (!head.compare_exchange_strong(first, next, std::memory_order_seq_cst,
                                    std::memory_order_acquire)) {
    // Other threads push only at the head, so the predecessor of the entry does not change.
    CacheEntry* before = first;
    for (CacheEntry* e = first; e != entry; e = e->next.load(std::memory_order_acquire)) {
      VARVE_ASSERT(e != nullptr && e != &closed_);
      before = e;
    }
    before->next.store(next, std::memory_order_seq_cst);
  }
  VARVE_ASSERT(size() != 0);
  size_.fetch_sub(1, std::memory_order_relaxed);
}

// Looks at what is behind the entry in its chain, as all of that is older.
CacheEntry* CacheTable::HiddenBy(const CacheEntry* entry) const {
  owner_->AssertHeld();
  const Buckets* const buckets = buckets_.load(std::memory_order_relaxed);
  bool passed = false;
  CacheEntry* e = buckets->heads[entry->hash & buckets->mask].load(std::memory_order_acquire);
  for (; e != nullptr; e = e->next.load(std::memory_order_acquire)) {
    if (passed && e->hash == entry->hash && e->key() == entry->key()) return e;
    passed = passed || e == entry;
  }
  return nullptr;
}

void CacheTable::Split(CacheEntry* chain, size_t bit, std::atomic<CacheEntry*>* low,
                       std::atomic<CacheEntry*>* high) {
  // Keeps the order, so that a reader in the middle of the chain finds an end, and the newest entry
  // of a key stays first. `low` and `high` move along: each is where the next entry is linked.
  while (chain != nullptr) {
    CacheEntry* const next = chain->next.load(std::memory_order_acquire);
    std::atomic<CacheEntry*>*& end = (chain->hash & bit) != 0 ? high : low;
    end->store(chain, std::memory_order_release);
    end = &chain->next;
    chain = next;
  }
  low->store(nullptr, std::memory_order_release);
  high->store(nullptr, std::memory_order_release);
}

// From the moment when `closing` is set until the larger array is published, Find and Push of other
// threads may return kTableGrows. If memory is out, nothing has changed.
void CacheTable::Grow() {
  owner_->AssertHeld();
  Buckets* const from = buckets_.load(std::memory_order_relaxed);
  const size_t count = from->mask + 1;
  auto* const to = new (std::nothrow) Buckets(count * 2);
  if (to == nullptr || to->heads == nullptr) {
    delete to;
    return;
  }
  from->closing.store(true, std::memory_order_release);
  for (size_t i = 0; i < count; i++) {
    CacheEntry* const chain = from->heads[i].exchange(&closed_, std::memory_order_acq_rel);
    Split(chain, count, &to->heads[i], &to->heads[i + count]);
  }
  buckets_.store(to, std::memory_order_seq_cst);
  bucket_count_.store(count * 2, std::memory_order_relaxed);
  from->retired = Epoch::Stamp();
  from->older = old_;
  old_ = from;
}

void CacheTable::FreeOld(uint64_t below) {
  owner_->AssertHeld();
  Buckets** link = &old_;
  while (Buckets* const buckets = *link) {
    if (buckets->retired >= below) {
      link = &buckets->older;
      continue;
    }
    *link = buckets->older;
    delete buckets;
  }
}

}  // namespace varve
