// SPDX-License-Identifier: Apache-2.0
#pragma once

// The block cache: shards, each a hash table with a hand that goes round and evicts what was not
// used since it came by last (the CLOCK algorithm).

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "varve/cache.h"
#include "varve/cleanable.h"

#include "table/cache/cache_entry.h"
#include "table/cache/cache_shard.h"
#include "table/cache/cache_shards.h"

namespace varve {

// Thread safety: all methods may be called from any thread. Look-ups and insertions take no lock
// except for eviction, which one thread at a time does in each of the 2^shard_bits shards. Deleters
// run with no lock held.
class ClockCache final : public Cache {
 public:
  // Requires valid `options` (see LRUCacheOptions::MakeSharedCache). `entry_charge` is the charge
  // of a typical entry, 0 if unknown; it determines the initial size of the tables. `name` is a
  // literal.
  ClockCache(const LRUCacheOptions& options, int shard_bits, size_t entry_charge = 0,
             const char* name = "LRUCache");
  ~ClockCache() override;

  const char* Name() const override { return name_; }

  // Returns `cache` if it is a ClockCache, else null.
  static ClockCache* From(Cache* cache);

  // Methods for tables, which keep references of their own to cached blocks (BlockSlot).

  // Like Insert, for an object that lies after `entry`. Requires that helper, charge and priority
  // of `entry` are set, and that its other members are as constructed. `handle` must not be null.
  // If `slot` is not null and is empty, it refers to the entry afterwards. Returns OK with *handle
  // null if the insertion would have to wait for readers or another thread. Then, and after
  // MemoryLimit, entry and object still belong to the caller.
  Status InsertEmbedded(CacheEntry* entry, const Slice& key, BlockSlot* slot, Handle** handle);
  // Returns true if a block of that key, which was just missed, should be inserted after it was
  // read (CacheShard::Admits), and then prefetches what the insertion needs.
  bool Admits(const Slice& key, size_t charge);
  // Prefetches what an insertion needs; called before a block of that key is read.
  void PrefetchInsertion(const Slice& key) const { ShardOf(HashOf(key)).PrefetchVictim(); }
  // Adds a reference to an entry that was loaded from a slot within the current epoch, and sets
  // *handle. Returns false, with *handle unchanged, if the entry has been dropped since.
  static bool TryRef(CacheEntry* entry, Handle** handle);
  // Makes an empty slot refer to an entry that the caller references, unless another slot does: at
  // most one refers to an entry, and it is cleared when the entry is dropped.
  void Attach(Handle* handle, BlockSlot* slot);
  // Registers the release of a reference with `pin`, which may outlive the cache.
  void MoveTo(Handle* handle, Cleanable* pin);
  // Empties the slot for good. Must be called before a slot is destroyed.
  void Detach(BlockSlot* slot);
  // Drops the entries that the slots refer to, as they are not needed any more. Their memory is
  // freed when no reader can have them.
  void Drop(std::span<BlockSlot> slots);

  // Returns the part of the usage that has left the table and waits for readers to leave. Blocks of
  // tables take at most about a fiftieth of the capacity, or 1 MiB. Other entries, whose insertion
  // cannot be refused, may take up to half of the capacity while a reader stays.
  [[nodiscard]] size_t GetWaitingUsage() const;

  Status Insert(const Slice& key, ObjectPtr value, const CacheItemHelper* helper, size_t charge,
                Handle** handle, Priority priority) override;
  Handle* Lookup(const Slice& key) override;
  bool Ref(Handle* handle) override;
  bool Release(Handle* handle, bool erase_if_last_ref) override;
  ObjectPtr Value(Handle* handle) override;
  size_t GetCharge(Handle* handle) const override;
  void Erase(const Slice& key) override;
  uint64_t NewId() override;

  void SetCapacity(size_t capacity) override;
  void SetStrictCapacityLimit(bool strict_capacity_limit) override;
  bool HasStrictCapacityLimit() const override;
  size_t GetCapacity() const override;
  size_t GetUsage() const override;
  size_t GetUsage(Handle* handle) const override;
  size_t GetPinnedUsage() const override;
  size_t GetOccupancyCount() const override;
  void ApplyToAllEntries(const std::function<void(const Slice& key, ObjectPtr value, size_t charge,
                                                  const CacheItemHelper* helper)>& callback,
                         const ApplyToAllEntriesOptions& opts) override;
  size_t GetTableAddressCount() const override;
  void EraseUnRefEntries() override;
  void DisownData() override;
  std::string GetPrintableOptions() const override;

 private:
  // Adds the entry for Insert and InsertEmbedded. Requires that `entry` has its hash, and not yet
  // its key. After an error *handle is null, the object is the caller's, and the entry is freed
  // unless it is embedded in the object.
  Status InsertEntry(CacheEntry* entry, const Slice& key, BlockSlot* slot, Handle** handle);
  [[nodiscard]] uint64_t HashOf(const Slice& key) const;
  [[nodiscard]] CacheShard& ShardOf(uint64_t hash) const {
    // The table inside a shard uses the low bits.
    return first_shard_[shard_bits_ == 0 ? 0 : hash >> (64 - shard_bits_)];
  }
  [[nodiscard]] CacheShardOptions ShardOptions(const LRUCacheOptions& options,
                                               size_t entry_charge) const;
  // Returns one shard's share of the capacity, rounded up.
  [[nodiscard]] size_t ShareOf(size_t capacity) const;

  // The high bits of a hash select the shard.
  const int shard_bits_;
  const size_t shard_count_;
  // Mixed into every hash, so that two caches place keys differently.
  const uint64_t seed_;
  const char* const name_;
  // Shares of the capacity that protect entries of high and of low priority.
  const double high_ratio_;
  const double low_ratio_;
  CacheShards* const shards_;  // has one share
  CacheShard* const first_shard_;
  // Relaxed, as these are plain settings; each shard has its own copy.
  std::atomic<size_t> capacity_;
  std::atomic<bool> strict_;
  std::atomic<bool> disowned_{false};  // DisownData was called: the destructor frees nothing
  // Relaxed, as the ids must only be distinct.
  std::atomic<uint64_t> next_id_{1};
};

}  // namespace varve
