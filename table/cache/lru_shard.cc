// SPDX-License-Identifier: Apache-2.0
#include "table/cache/lru_shard.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <string>
#include <utility>

namespace varve {

namespace {

constexpr size_t kBucketsMin = 64;

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
  LruEntry* doomed = nullptr;
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
                    MemoryAllocator* allocator) {
  MutexLock lock(&mu_);
  capacity_ = capacity;
  strict_ = strict;
  high_ratio_ = high_ratio;
  low_ratio_ = low_ratio;
  allocator_ = allocator;
  SetPoolLimits();
}

LruEntry* LruShard::NewEntry(const Slice& key) {
  auto* const entry = new LruEntry;
  entry->key_size = static_cast<uint32_t>(key.size());
  char* bytes = entry->inline_key;
  if (key.size() > LruEntry::kInlineKeyBytes) bytes = entry->long_key = new char[key.size()];
  memcpy(bytes, key.data(), key.size());
  return entry;
}

void LruShard::FreeEntryOnly(LruEntry* entry) {
  if (entry->key_size > LruEntry::kInlineKeyBytes) delete[] entry->long_key;
  delete entry;
}

void LruShard::FreeAll(LruEntry* doomed) {
  while (doomed != nullptr) {
    LruEntry* const entry = doomed;
    doomed = entry->chain;
    if (entry->helper != nullptr && entry->helper->del_cb != nullptr) {
      entry->helper->del_cb(entry->value, allocator_);
    }
    FreeEntryOnly(entry);
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
  pool_usage_[pool] += entry->total_charge;
}

void LruShard::ListRemove(LruEntry* entry) {
  entry->newer->older = entry->older;
  entry->older->newer = entry->newer;
  entry->on_list = false;
  pool_usage_[entry->pool] -= entry->total_charge;
}

void LruShard::Demote(Pool from, size_t limit) {
  while (pool_usage_[from] > limit) {
    LruEntry* const oldest = heads_[from].newer;
    ListRemove(oldest);
    Link(oldest, static_cast<Pool>(from - 1));
  }
}

void LruShard::ListAppend(LruEntry* entry) {
  entry->used = false;
  Pool pool = kBottom;
  // A hit raises an entry of low priority: it has shown that it is wanted.
  if (high_limit_ > 0 && (entry->priority == Cache::Priority::HIGH || entry->ever_used)) {
    pool = kHigh;
  } else if (low_limit_ > 0 && entry->priority != Cache::Priority::BOTTOM) {
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

void LruShard::Drop(LruEntry* entry, LruEntry** doomed) {
  usage_ -= entry->total_charge;
  entry->chain = *doomed;
  *doomed = entry;
}

void LruShard::Remove(LruEntry* entry, LruEntry** doomed) {
  table_.Remove(entry);
  entry->in_table = false;
  if (entry->on_list) ListRemove(entry);
  Drop(entry, doomed);
}

void LruShard::EvictFor(size_t bytes, LruEntry** doomed) {
  while (usage_ + bytes > capacity_) {
    LruEntry* const oldest = Oldest();
    if (oldest == nullptr) return;
    if (oldest->refs != 0) {
      ListRemove(oldest);
    } else if (oldest->used) {
      ListRemove(oldest);
      ListAppend(oldest);
    } else {
      Remove(oldest, doomed);
    }
  }
}

Status LruShard::Insert(LruEntry* entry, bool want_handle) {
  LruEntry* doomed = nullptr;
  Status status;
  {
    MutexLock lock(&mu_);
    EvictFor(entry->total_charge, &doomed);
    const bool fits = usage_ + entry->total_charge <= capacity_;
    if (!fits && want_handle && strict_) {
      status = Status::MemoryLimit("block cache is full and its limit is strict");
    } else if (!fits && !want_handle) {
      // As if it had been inserted and evicted at once.
      usage_ += entry->total_charge;
      Drop(entry, &doomed);
    } else {
      usage_ += entry->total_charge;
      LruEntry* const old = table_.Insert(entry);
      entry->in_table = true;
      if (old != nullptr) {
        old->in_table = false;
        if (old->on_list) ListRemove(old);
        if (old->refs == 0) Drop(old, &doomed);
      }
      if (want_handle) {
        entry->refs = 1;
        pinned_ += entry->total_charge;
      }
      ListAppend(entry);
    }
  }
  FreeAll(doomed);
  return status;
}

LruEntry* LruShard::Lookup(const Slice& key, uint64_t hash) {
  MutexLock lock(&mu_);
  LruEntry* const entry = *table_.Find(key, hash);
  if (entry == nullptr) return nullptr;
  if (entry->refs++ == 0) pinned_ += entry->total_charge;
  entry->used = true;
  entry->ever_used = true;
  return entry;
}

void LruShard::Ref(LruEntry* entry) {
  MutexLock lock(&mu_);
  entry->refs++;
}

bool LruShard::Release(LruEntry* entry, bool erase_if_last_ref) {
  LruEntry* doomed = nullptr;
  {
    MutexLock lock(&mu_);
    if (--entry->refs != 0) return false;
    pinned_ -= entry->total_charge;
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
    entry->in_table = false;
    if (entry->on_list) ListRemove(entry);
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
