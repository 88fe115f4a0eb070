// SPDX-License-Identifier: Apache-2.0
#pragma once

// The block cache: shards, each a hash table with a hand that goes round and evicts.

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
// but for eviction, one thread at a time in each of 2^shard_bits shards; deleters run with no lock
// held.
class ClockCache final : public Cache {
 public:
  // `options` are valid (see MakeSharedCache). `entry_charge`: that of a typical entry, 0 if
  // unknown; the table begins with room for as many as the capacity holds. `name` is a literal.
  ClockCache(const LRUCacheOptions& options, int shard_bits, size_t entry_charge = 0,
             const char* name = "LRUCache");
  ~ClockCache() override;

  const char* Name() const override { return name_; }

  // The cache itself if it is one of these, else null.
  static ClockCache* From(Cache* cache);

  // For tables, which keep references of their own to the blocks that are here (BlockSlot).

  // As Insert, of an object that lies after `entry`: helper, charge and priority are set. `slot`,
  // if not null and empty, refers to it from then on. OK with a null handle: to take it in would
  // mean to wait for readers or for another thread, and it is still the caller's.
  Status InsertEmbedded(CacheEntry* entry, const Slice& key, BlockSlot* slot, Handle** handle);
  // Before a block of that key is read and inserted.
  void PrefetchInsertion(const Slice& key) const { ShardOf(HashOf(key)).PrefetchVictim(); }
  // A reference to an entry that was loaded from a slot within the current epoch; false if it has
  // been dropped since.
  static bool TryRef(CacheEntry* entry, Handle** handle);
  // Lets the slot refer to an entry that the caller references. At most one slot has an entry, and
  // it loses it when the entry is dropped.
  void Attach(Handle* handle, BlockSlot* slot);
  // Registers the release of a reference with `pin`, which may outlive the cache.
  void MoveTo(Handle* handle, Cleanable* pin);
  // Before a slot goes.
  void Detach(BlockSlot* slot);
  // What the slots refer to is not wanted any more.
  void Drop(std::span<BlockSlot> slots);

  // Of the usage, what has left the table and waits for readers to leave: of blocks of tables about
  // a fiftieth of the capacity, or 1 MiB, at most. Other entries, which have to come in, may add up
  // to half of the capacity while a reader stays.
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
  // `entry` has its hash.
  Status InsertEntry(CacheEntry* entry, const Slice& key, BlockSlot* slot, Handle** handle);
  [[nodiscard]] uint64_t HashOf(const Slice& key) const;
  [[nodiscard]] CacheShard& ShardOf(uint64_t hash) const {
    // The table inside a shard uses the low bits.
    return first_shard_[shard_bits_ == 0 ? 0 : hash >> (64 - shard_bits_)];
  }
  [[nodiscard]] CacheShardOptions ShardOptions(const LRUCacheOptions& options,
                                               size_t entry_charge) const;
  [[nodiscard]] size_t ShareOf(size_t capacity) const;

  const int shard_bits_;
  const size_t shard_count_;
  const uint64_t seed_;
  const char* const name_;
  const double high_ratio_;
  const double low_ratio_;
  CacheShards* const shards_;  // a share
  CacheShard* const first_shard_;
  // Relaxed: read and set as plain settings; each shard has its own copy.
  std::atomic<size_t> capacity_;
  std::atomic<bool> strict_;
  std::atomic<bool> disowned_{false};
  // Relaxed: only distinctness matters.
  std::atomic<uint64_t> next_id_{1};
};

}  // namespace varve
