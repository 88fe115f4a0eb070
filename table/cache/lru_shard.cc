// SPDX-License-Identifier: Apache-2.0
#include "table/cache/lru_shard.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <string>
#include <utility>

#include "util/sync/epoch.h"

namespace varve {

namespace {

constexpr size_t kBucketsMin = 64;

// Eviction makes room for so much in limbo, a share of the capacity within bounds, so that readers
// are asked once for many entries.
constexpr size_t kLimboShare = 32;
constexpr size_t kLimboBytesMax = 256 * 1024;

}  // namespace

LruTable::LruTable() : buckets_(kBucketsMin, nullptr) {}

LruEntry** LruTable::Find(const Slice& key, uint64_t hash) {
  LruEntry** link = &buckets_[hash & (buckets_.size() - 1)];
  while (*link != nullptr && ((*link)->hash != hash || (*link)->key() != key)) {
    link = &(*link)->chain;
  }
  return link;
}

LruEntry* LruTable::Insert(LruEntry* entry) {
  LruEntry** link = Find(entry->key(), entry->hash);
  LruEntry* const old = *link;
  entry->chain = old != nullptr ? old->chain : nullptr;
  *link = entry;
  // Half full: a bucket rarely holds two, and each further entry is a further cache miss.
  if (old == nullptr && ++size_ > buckets_.size() / 2) Grow();
  return old;
}

void LruTable::Remove(LruEntry* entry) {
  LruEntry** link = &buckets_[entry->hash & (buckets_.size() - 1)];
  while (*link != entry) link = &(*link)->chain;
  *link = entry->chain;
  size_--;
}

void LruTable::Grow() {
  std::vector<LruEntry*> larger(buckets_.size() * 2, nullptr);
  ForEach([&larger](LruEntry* entry) {
    LruEntry** bucket = &larger[entry->hash & (larger.size() - 1)];
    entry->chain = *bucket;
    *bucket = entry;
  });
  buckets_.swap(larger);
}

LruShard::LruShard() {
  for (LruEntry& head : heads_) {
    head.newer = &head;
    head.older = &head;
  }
}

LruShard::~LruShard() {
  MutexLock lock(&mu_);
  if (disowned_) return;
  if (limbo_ != nullptr) Epoch::WaitForReaders();
  LruEntry* doomed = limbo_;
  table_.ForEach([&doomed](LruEntry* entry) {
    // A reference still out is a bug of its holder; the object is left to it.
    if (entry->refs != 0) return;
    entry->chain = doomed;
    doomed = entry;
  });
  lock.Unlock();
  FreeAll(doomed);
  lock.Lock();
}

void LruShard::Init(size_t capacity, bool strict, double high_ratio, double low_ratio,
                    bool charge_metadata, MemoryAllocator* allocator) {
  MutexLock lock(&mu_);
  capacity_ = capacity;
  strict_ = strict;
  high_ratio_ = high_ratio;
  low_ratio_ = low_ratio;
  charge_metadata_ = charge_metadata;
  allocator_ = allocator;
  SetPoolLimits();
}

LruEntry* LruShard::NewEntry(const Slice& key) {
  auto* const entry = new LruEntry;
  SetKey(entry, key);
  return entry;
}

void LruShard::SetKey(LruEntry* entry, const Slice& key) {
  entry->key_size = static_cast<uint32_t>(key.size());
  char* bytes = entry->inline_key;
  if (key.size() > LruEntry::kInlineKeyBytes) bytes = entry->long_key = new char[key.size()];
  memcpy(bytes, key.data(), key.size());
}

void LruShard::FreeEntryOnly(LruEntry* entry) {
  if (entry->key_size > LruEntry::kInlineKeyBytes) delete[] entry->long_key;
  if (!entry->embedded) delete entry;
}

void LruShard::FreeAll(LruEntry* doomed) {
  while (doomed != nullptr) {
    LruEntry* const entry = doomed;
    doomed = entry->chain;
    const Cache::CacheItemHelper* const helper = entry->helper;
    const Cache::ObjectPtr value = entry->value;
    FreeEntryOnly(entry);
    if (helper != nullptr && helper->del_cb != nullptr) helper->del_cb(value, allocator_);
  }
}

void LruShard::SetPoolLimits() {
  high_limit_ = static_cast<size_t>(static_cast<double>(capacity_) * high_ratio_);
  low_limit_ = static_cast<size_t>(static_cast<double>(capacity_) * low_ratio_);
}

void LruShard::Link(LruEntry* entry, Pool pool) {
  LruEntry* const head = &heads_[pool];
  entry->pool = pool;
  entry->on_list = true;
  entry->newer = head;
  entry->older = head->older;
  head->older->newer = entry;
  head->older = entry;
  pool_usage_[pool] += ChargeOf(*entry);
}

void LruShard::ListRemove(LruEntry* entry) {
  entry->newer->older = entry->older;
  entry->older->newer = entry->newer;
  entry->on_list = false;
  pool_usage_[entry->pool] -= ChargeOf(*entry);
}

void LruShard::Demote(Pool from, size_t limit) {
  while (pool_usage_[from] > limit) {
    LruEntry* const oldest = heads_[from].newer;
    ListRemove(oldest);
    Link(oldest, static_cast<Pool>(from - 1));
  }
}

void LruShard::ListAppend(LruEntry* entry) {
  if (entry->used.exchange(false, std::memory_order_relaxed)) entry->ever_used = true;
  Pool pool = kBottom;
  // A hit raises an entry of low priority: it has shown that it is wanted.
  if (high_limit_ > 0 && (entry->Has(Cache::Priority::HIGH) || entry->ever_used)) {
    pool = kHigh;
  } else if (low_limit_ > 0 && !entry->Has(Cache::Priority::BOTTOM)) {
    pool = kLow;
  }
  Link(entry, pool);
  if (pool == kHigh) Demote(kHigh, high_limit_);
  Demote(kLow, low_limit_);
}

LruEntry* LruShard::Oldest() {
  for (LruEntry& head : heads_) {
    if (head.newer != &head) return head.newer;
  }
  return nullptr;
}

void LruShard::LeaveTable(LruEntry* entry) {
  entry->in_table = false;
  if (entry->on_list) ListRemove(entry);
  // Before the stamp that Drop takes.
  TakeSlotBack(entry);
}

void LruShard::TakeSlotBack(LruEntry* entry) {
  if (entry->slot == nullptr) return;
  entry->slot->store(nullptr, std::memory_order_seq_cst);
  entry->slot = nullptr;
}

void LruShard::TakeSlotsBack() {
  MutexLock lock(&mu_);
  if (disowned_) return;
  table_.ForEach([](LruEntry* entry) { TakeSlotBack(entry); });
}

void LruShard::Drop(LruEntry* entry, LruEntry** doomed) {
  if (entry->had_slot) {
    entry->retired = Epoch::Stamp();
    entry->chain = limbo_;
    limbo_ = entry;
    limbo_usage_ += ChargeOf(*entry);
    return;
  }
  usage_ -= ChargeOf(*entry);
  entry->chain = *doomed;
  *doomed = entry;
}

void LruShard::EmptyLimbo(LruEntry** doomed) {
  const uint64_t below = Epoch::FreeBelow();
  LruEntry** link = &limbo_;
  while (LruEntry* const entry = *link) {
    if (entry->retired >= below) {
      link = &entry->chain;
      continue;
    }
    *link = entry->chain;
    limbo_usage_ -= ChargeOf(*entry);
    usage_ -= ChargeOf(*entry);
    entry->chain = *doomed;
    *doomed = entry;
  }
}

void LruShard::Remove(LruEntry* entry, LruEntry** doomed) {
  table_.Remove(entry);
  LeaveTable(entry);
  Drop(entry, doomed);
}

void LruShard::EvictFor(size_t bytes, LruEntry** doomed) {
  const size_t limbo_room = std::min(capacity_ / kLimboShare, kLimboBytesMax);
  // Readers may use entries again as fast as this passes them over, so that no end would come.
  size_t second_chances = table_.size();
  while (usage_ - limbo_usage_ + bytes > capacity_ - (limbo_ != nullptr ? limbo_room : 0)) {
    LruEntry* const oldest = Oldest();
    if (oldest == nullptr) break;
    if (oldest->refs != 0) {
      ListRemove(oldest);
    } else if (second_chances != 0 && oldest->used.load(std::memory_order_relaxed)) {
      second_chances--;
      ListRemove(oldest);
      ListAppend(oldest);
    } else {
      Remove(oldest, doomed);
    }
  }
  if (limbo_ != nullptr && usage_ + bytes > capacity_) EmptyLimbo(doomed);
}

Status LruShard::Insert(LruEntry* entry, bool want_handle) {
  LruEntry* doomed = nullptr;
  Status status;
  {
    MutexLock lock(&mu_);
    const size_t charge = ChargeOf(*entry);
    EvictFor(charge, &doomed);
    if (strict_ && want_handle && usage_ + charge > capacity_ && limbo_ != nullptr) {
      // Not under the lock, which readers may want before they leave.
      lock.Unlock();
      Epoch::WaitForReaders();
      lock.Lock();
      EvictFor(charge, &doomed);
    }
    const bool fits = usage_ + charge <= capacity_;
    if (!fits && want_handle && strict_) {
      status = Status::MemoryLimit("block cache is full and its limit is strict");
    } else if (!fits && !want_handle) {
      // As if it had been inserted and evicted at once.
      usage_ += charge;
      Drop(entry, &doomed);
    } else {
      AddToTable(entry, want_handle, &doomed);
    }
  }
  FreeAll(doomed);
  return status;
}

void LruShard::AddToTable(LruEntry* entry, bool referenced, LruEntry** doomed) {
  usage_ += ChargeOf(*entry);
  LruEntry* const old = table_.Insert(entry);
  entry->in_table = true;
  if (old != nullptr) {
    LeaveTable(old);
    if (old->refs == 0) Drop(old, doomed);
  }
  if (referenced) {
    entry->refs = 1;
    pinned_ += ChargeOf(*entry);
  }
  ListAppend(entry);
}

LruEntry* LruShard::Lookup(const Slice& key, uint64_t hash) {
  MutexLock lock(&mu_);
  LruEntry* const entry = *table_.Find(key, hash);
  if (entry == nullptr) return nullptr;
  if (entry->refs++ == 0) pinned_ += ChargeOf(*entry);
  entry->used.store(true, std::memory_order_relaxed);
  return entry;
}

void LruShard::Ref(LruEntry* entry) {
  MutexLock lock(&mu_);
  entry->refs++;
}

bool LruShard::TryRef(LruEntry* entry) {
  MutexLock lock(&mu_);
  if (!entry->in_table) return false;
  if (entry->refs++ == 0) pinned_ += ChargeOf(*entry);
  entry->Touch();
  return true;
}

void LruShard::Attach(LruEntry* entry, BlockSlot* slot) {
  MutexLock lock(&mu_);
  // What lies behind an entry that is not embedded is no block.
  if (!entry->in_table || !entry->embedded || entry->slot != nullptr) return;
  LruEntry* none = nullptr;
  if (!slot->compare_exchange_strong(none, entry, std::memory_order_acq_rel)) return;
  entry->slot = slot;
  entry->had_slot = true;
}

void LruShard::Detach(LruEntry* entry, BlockSlot* slot) {
  MutexLock lock(&mu_);
  if (entry->slot != slot) return;
  entry->slot = nullptr;
  slot->store(nullptr, std::memory_order_relaxed);
}

bool LruShard::Release(LruEntry* entry, bool erase_if_last_ref) {
  LruEntry* doomed = nullptr;
  {
    MutexLock lock(&mu_);
    if (--entry->refs != 0) return false;
    pinned_ -= ChargeOf(*entry);
    if (!entry->in_table) {
      Drop(entry, &doomed);
    } else if (usage_ > capacity_ || erase_if_last_ref) {
      Remove(entry, &doomed);
    } else {
      if (!entry->on_list) ListAppend(entry);
      return false;
    }
  }
  FreeAll(doomed);
  return true;
}

void LruShard::Erase(const Slice& key, uint64_t hash) {
  LruEntry* doomed = nullptr;
  {
    MutexLock lock(&mu_);
    LruEntry* const entry = *table_.Find(key, hash);
    if (entry == nullptr) return;
    table_.Remove(entry);
    LeaveTable(entry);
    if (entry->refs == 0) Drop(entry, &doomed);
  }
  FreeAll(doomed);
}

void LruShard::SetCapacity(size_t capacity) {
  LruEntry* doomed = nullptr;
  {
    MutexLock lock(&mu_);
    capacity_ = capacity;
    SetPoolLimits();
    Demote(kHigh, high_limit_);
    Demote(kLow, low_limit_);
    EvictFor(0, &doomed);
  }
  FreeAll(doomed);
}

void LruShard::SetStrict(bool strict) {
  MutexLock lock(&mu_);
  strict_ = strict;
}

void LruShard::EraseUnreferenced() {
  LruEntry* doomed = nullptr;
  {
    MutexLock lock(&mu_);
    while (LruEntry* const oldest = Oldest()) {
      if (oldest->refs != 0) {
        ListRemove(oldest);
      } else {
        Remove(oldest, &doomed);
      }
    }
    if (limbo_ != nullptr) EmptyLimbo(&doomed);
  }
  FreeAll(doomed);
}

void LruShard::Disown() {
  MutexLock lock(&mu_);
  disowned_ = true;
}

size_t LruShard::usage() const {
  MutexLock lock(&mu_);
  return usage_;
}

size_t LruShard::pinned_usage() const {
  MutexLock lock(&mu_);
  return pinned_;
}

size_t LruShard::entry_count() const {
  MutexLock lock(&mu_);
  return table_.size();
}

size_t LruShard::bucket_count() const {
  MutexLock lock(&mu_);
  return table_.bucket_count();
}

}  // namespace varve
