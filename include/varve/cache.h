// SPDX-License-Identifier: Apache-2.0
#pragma once
//
// The block cache: the options to make one, the roles of what it holds, and the Cache itself.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "varve/customizable.h"
#include "varve/export.h"
#include "varve/memory_allocator.h"
#include "varve/slice.h"
#include "varve/status.h"

namespace varve {

class Cache;
class SecondaryCache;
struct ConfigOptions;

/// Names for what a cache is used for; all the same type.
using BlockCache = Cache;
using RowCache = Cache;

/// What an entry, or memory charged to a cache, is. Append before kMisc.
enum class CacheEntryRole {
  kDataBlock,
  kFilterBlock,
  /// Upper level of a partitioned filter.
  kFilterMetaBlock,
  kDeprecatedFilterBlock,
  kIndexBlock,
  kOtherBlock,
  kWriteBuffer,
  kCompressionDictionaryBuildingBuffer,
  kFilterConstruction,
  kBlockBasedTableReader,
  kFileMetadata,
  kBlobValue,
  kBlobCache,
  kMisc,
};
constexpr uint32_t kNumCacheEntryRoles = static_cast<uint32_t>(CacheEntryRole::kMisc) + 1;

/// Lower case with hyphens, e.g. "data-block".
VARVE_EXPORT const std::string& GetCacheEntryRoleName(CacheEntryRole role);

/// Names in the map of the properties "rocksdb.block-cache-entry-stats" and
/// "rocksdb.fast-block-cache-entry-stats".
struct VARVE_EXPORT BlockCacheEntryStatsMapKeys {
  /// Text that tells caches of one process apart.
  static const std::string& CacheId();
  static const std::string& CacheCapacityBytes();
  /// How long the counting took, and how long ago it ended.
  static const std::string& LastCollectionDurationSeconds();
  static const std::string& LastCollectionAgeSeconds();
  /// Of the entries of one role: their number, the bytes they are charged with, and these as a
  /// percentage of the capacity.
  static std::string EntryCount(CacheEntryRole role);
  static std::string UsedBytes(CacheEntryRole role);
  static std::string UsedPercent(CacheEntryRole role);
};

/// Whether the cache's own bookkeeping counts against its capacity.
enum CacheMetadataChargePolicy { kDontChargeCacheMetadata, kFullChargeCacheMetadata };
const CacheMetadataChargePolicy kDefaultCacheMetadataChargePolicy = kFullChargeCacheMetadata;

/// Accepted for compatibility; the cache chooses its own way of waiting.
inline constexpr bool kDefaultToAdaptiveMutex = false;

/// What every cache that is split into independently locked shards has.
struct ShardedCacheOptions {
  /// Bytes, over all shards.
  size_t capacity = 0;
  /// 2^this shards; -1: chosen from the capacity. At most 19.
  int num_shard_bits = -1;
  /// Refuse an insertion that does not fit beside what is in use, rather than exceed the capacity.
  bool strict_capacity_limit = false;
  /// Null: the standard one.
  std::shared_ptr<MemoryAllocator> memory_allocator;
  CacheMetadataChargePolicy metadata_charge_policy = kDefaultCacheMetadataChargePolicy;
  /// A slower cache behind this one. Refused unless null: making the cache fails.
  std::shared_ptr<SecondaryCache> secondary_cache;
  /// Seed of the hash that places entries; negative values choose one of two automatic rules.
  int32_t hash_seed = kHostHashSeed;

  static constexpr int32_t kQuasiRandomHashSeed = -1;
  static constexpr int32_t kHostHashSeed = -2;

  ShardedCacheOptions() = default;
  ShardedCacheOptions(
      size_t _capacity, int _num_shard_bits, bool _strict_capacity_limit,
      std::shared_ptr<MemoryAllocator> _memory_allocator = nullptr,
      CacheMetadataChargePolicy _metadata_charge_policy = kDefaultCacheMetadataChargePolicy)
      : capacity(_capacity),
        num_shard_bits(_num_shard_bits),
        strict_capacity_limit(_strict_capacity_limit),
        memory_allocator(std::move(_memory_allocator)),
        metadata_charge_policy(_metadata_charge_policy) {}
};

struct LRUCacheOptions : public ShardedCacheOptions {
  /// Shares of the capacity kept for entries of high and of low priority; entries pushed out of
  /// their share lose their priority, not their place. Each in [0, 1], the sum at most 1.
  double high_pri_pool_ratio = 0.5;
  double low_pri_pool_ratio = 0.0;
  /// Advisory: the cache chooses its own way of waiting.
  bool use_adaptive_mutex = kDefaultToAdaptiveMutex;

  LRUCacheOptions() = default;
  LRUCacheOptions(
      size_t _capacity, int _num_shard_bits, bool _strict_capacity_limit,
      double _high_pri_pool_ratio, std::shared_ptr<MemoryAllocator> _memory_allocator = nullptr,
      bool _use_adaptive_mutex = kDefaultToAdaptiveMutex,
      CacheMetadataChargePolicy _metadata_charge_policy = kDefaultCacheMetadataChargePolicy,
      double _low_pri_pool_ratio = 0.0)
      : ShardedCacheOptions(_capacity, _num_shard_bits, _strict_capacity_limit,
                            std::move(_memory_allocator), _metadata_charge_policy),
        high_pri_pool_ratio(_high_pri_pool_ratio),
        low_pri_pool_ratio(_low_pri_pool_ratio),
        use_adaptive_mutex(_use_adaptive_mutex) {}

  /// Null when an option is out of range or not supported.
  VARVE_EXPORT std::shared_ptr<Cache> MakeSharedCache() const;
};

VARVE_EXPORT std::shared_ptr<Cache> NewLRUCache(
    size_t capacity, int num_shard_bits = -1, bool strict_capacity_limit = false,
    double high_pri_pool_ratio = 0.5, std::shared_ptr<MemoryAllocator> memory_allocator = nullptr,
    bool use_adaptive_mutex = kDefaultToAdaptiveMutex,
    CacheMetadataChargePolicy metadata_charge_policy = kDefaultCacheMetadataChargePolicy,
    double low_pri_pool_ratio = 0.0);
VARVE_EXPORT std::shared_ptr<Cache> NewLRUCache(const LRUCacheOptions& cache_opts);

/// Makes the same cache as LRUCacheOptions, whose look-ups share no lock, under the name of
/// HyperClockCache, which programs and option files ask for.
struct HyperClockCacheOptions : public ShardedCacheOptions {
  /// Bytes of a typical entry; 0: unknown. Only a hint for the first size of the table.
  size_t estimated_entry_charge = 0;
  /// Bytes of the smallest usual entry; 0: unknown. Advisory: the table grows as it must.
  size_t min_avg_entry_charge = 450;

  HyperClockCacheOptions(
      size_t _capacity, size_t _estimated_entry_charge, int _num_shard_bits = -1,
      bool _strict_capacity_limit = false,
      std::shared_ptr<MemoryAllocator> _memory_allocator = nullptr,
      CacheMetadataChargePolicy _metadata_charge_policy = kDefaultCacheMetadataChargePolicy)
      : ShardedCacheOptions(_capacity, _num_shard_bits, _strict_capacity_limit,
                            std::move(_memory_allocator), _metadata_charge_policy),
        estimated_entry_charge(_estimated_entry_charge) {}

  /// Null when an option is out of range or not supported.
  VARVE_EXPORT std::shared_ptr<Cache> MakeSharedCache() const;
};

/// Maps byte strings to objects it owns, up to a capacity, and evicts what is used least. Made by
/// the functions above. Thread-safe. The engine uses the first group of methods; programs use the
/// second to size and to watch a cache.
class Cache : public Customizable {
 public:
  /// Opaque reference to an entry. While one is held the entry stays in memory.
  struct Handle {};
  using ObjectPtr = void*;

  /// Higher ones are evicted later.
  enum class Priority { HIGH, LOW, BOTTOM };

  /// Frees an object. `allocator` is the cache's, or null.
  using DeleterFn = void (*)(ObjectPtr obj, MemoryAllocator* allocator);

  /// What a kind of entry needs. One static instance for each kind; the cache keeps its address.
  struct CacheItemHelper {
    DeleterFn del_cb = nullptr;
    CacheEntryRole role = CacheEntryRole::kMisc;

    constexpr explicit CacheItemHelper(CacheEntryRole _role, DeleterFn _del_cb = nullptr)
        : del_cb(_del_cb), role(_role) {}
  };

  explicit Cache(std::shared_ptr<MemoryAllocator> allocator = nullptr)
      : memory_allocator_(std::move(allocator)) {}
  Cache(const Cache&) = delete;
  Cache& operator=(const Cache&) = delete;
  ~Cache() override = default;

  /// A cache as option strings name it: "8M", a capacity for an LRUCache; its options in braces,
  /// "{capacity=8M;strict_capacity_limit=true}", with "id=HyperClockCache" for those of
  /// HyperClockCacheOptions; "nullptr" for none. Sizes may end in K, M, G or T.
  /// InvalidArgument: a value out of range, or an unknown option; NotSupported: an unknown id.
  VARVE_EXPORT static Status CreateFromString(const ConfigOptions& config_options,
                                              const std::string& value,
                                              std::shared_ptr<Cache>* result);

  static const char* Type() { return "Cache"; }

  // For the engine.

  /// Takes `value` over, and replaces an entry of that key. With `handle` the caller gets a
  /// reference, to be given to Release(). MemoryLimit, with the value still the caller's, if it
  /// does not fit under a strict limit and a handle is wanted; without one it is dropped and that
  /// is OK.
  virtual Status Insert(const Slice& key, ObjectPtr value, const CacheItemHelper* helper,
                        size_t charge, Handle** handle = nullptr,
                        Priority priority = Priority::LOW) = 0;
  /// A reference to be given to Release(), or null.
  virtual Handle* Lookup(const Slice& key) = 0;
  /// One more reference to what `handle` already holds.
  virtual bool Ref(Handle* handle) = 0;
  /// Gives a reference back. True if that freed the entry.
  virtual bool Release(Handle* handle, bool erase_if_last_ref = false) = 0;
  virtual ObjectPtr Value(Handle* handle) = 0;
  /// Bytes the entry was inserted with.
  virtual size_t GetCharge(Handle* handle) const = 0;
  /// Forgets a key; the object goes with its last reference.
  virtual void Erase(const Slice& key) = 0;
  /// A number never given before by this cache, to make keys of different owners distinct.
  virtual uint64_t NewId() = 0;
  MemoryAllocator* memory_allocator() const { return memory_allocator_.get(); }

  // For programs.

  /// Evicts at once if the new capacity, in bytes, is smaller.
  virtual void SetCapacity(size_t capacity) = 0;
  virtual void SetStrictCapacityLimit(bool strict_capacity_limit) = 0;
  virtual bool HasStrictCapacityLimit() const = 0;
  virtual size_t GetCapacity() const = 0;
  /// Bytes in use, by all entries or by one.
  virtual size_t GetUsage() const = 0;
  virtual size_t GetUsage(Handle* handle) const = 0;
  /// Bytes of entries that are referenced, and so cannot be evicted. Goes over all entries.
  virtual size_t GetPinnedUsage() const = 0;
  /// Entries present; SIZE_MAX if not known.
  virtual size_t GetOccupancyCount() const { return SIZE_MAX; }
  struct ApplyToAllEntriesOptions {
    /// Entries to visit each time a lock is held, roughly: more of them make the walk shorter, and
    /// other users wait longer. Advisory: the walk chooses for itself.
    size_t average_entries_per_lock = 256;
  };
  /// Calls `callback` once for each entry present; `charge` is what it was inserted with. What is
  /// inserted or erased meanwhile may be left out, and is never met twice. Locks may be held: the
  /// callback must not call this cache, and may not keep `key` or `value`. The owner of an entry is
  /// `helper->role`; `helper` may be null.
  virtual void ApplyToAllEntries(
      const std::function<void(const Slice& key, ObjectPtr value, size_t charge,
                               const CacheItemHelper* helper)>& callback,
      const ApplyToAllEntriesOptions& opts) = 0;
  void ApplyToAllEntries(const std::function<void(const Slice& key, ObjectPtr value, size_t charge,
                                                  const CacheItemHelper* helper)>& callback) {
    ApplyToAllEntries(callback, ApplyToAllEntriesOptions());
  }
  /// Slots of the hash table; 0 if not known.
  virtual size_t GetTableAddressCount() const { return 0; }
  /// Drops every entry nobody references.
  virtual void EraseUnRefEntries() = 0;
  /// Leaks the contents on destruction: faster at the end of a process. Nothing else may be called
  /// afterwards.
  virtual void DisownData() {}

 private:
  std::shared_ptr<MemoryAllocator> memory_allocator_;
};

}  // namespace varve
