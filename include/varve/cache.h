// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The block cache: its options, the roles of its entries, and the Cache class.
///
/// Blocks of tables that were read stay in a cache of limited size, uncompressed, so that the next
/// read of them needs no file. Make one cache, set it in BlockBasedTableOptions::block_cache of all
/// column families, and size it by the memory that reads may use. Several databases may share it.

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

/// Names for uses of a cache; all are the same type.
using BlockCache = Cache;
using RowCache = Cache;

/// The kind of an entry, or of memory charged to a cache. Append before kMisc. Varve inserts blocks
/// of data, filters and indexes, and values of blob files (ColumnFamilyOptions::blob_cache), and
/// charges those of CacheUsageOptions and of WriteBufferManager; other roles keep the numbering.
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

/// Returns the name in lower case with hyphens, e.g. "data-block".
VARVE_EXPORT const std::string& GetCacheEntryRoleName(CacheEntryRole role);

/// Keys in the maps of the properties "rocksdb.block-cache-entry-stats" and
/// "rocksdb.fast-block-cache-entry-stats".
/// Keys and values are texts; numbers are decimal.
struct VARVE_EXPORT BlockCacheEntryStatsMapKeys {
  /// Text that distinguishes the caches of one process.
  static const std::string& CacheId();
  /// Capacity of the cache in bytes.
  static const std::string& CacheCapacityBytes();
  /// Duration of the last count, and the time since it ended.
  static const std::string& LastCollectionDurationSeconds();
  static const std::string& LastCollectionAgeSeconds();
  /// Number of the entries of a role, the bytes they are charged with, and these bytes as a
  /// percentage of the capacity.
  static std::string EntryCount(CacheEntryRole role);
  static std::string UsedBytes(CacheEntryRole role);
  static std::string UsedPercent(CacheEntryRole role);
};

/// Selects if the memory for the cache's own metadata counts against its capacity.
enum CacheMetadataChargePolicy { kDontChargeCacheMetadata, kFullChargeCacheMetadata };
const CacheMetadataChargePolicy kDefaultCacheMetadataChargePolicy = kFullChargeCacheMetadata;

/// Accepted for compatibility; the cache chooses how it waits for locks.
inline constexpr bool kDefaultToAdaptiveMutex = false;

/// Options of every cache that is split into independently locked shards. "Refused" and "Advisory",
/// here and below, are explained in advanced_options.h.
struct ShardedCacheOptions {
  /// Bytes of all shards together.
  size_t capacity = 0;
  /// The cache has 2^num_shard_bits shards; -1: derived from the capacity. At most 19.
  int num_shard_bits = -1;
  /// Refuses an insertion that does not fit beside referenced entries instead of exceeding the
  /// capacity.
  bool strict_capacity_limit = false;
  /// Null: the standard allocator.
  std::shared_ptr<MemoryAllocator> memory_allocator;
  CacheMetadataChargePolicy metadata_charge_policy = kDefaultCacheMetadataChargePolicy;
  /// A slower cache behind this one. Refused unless null: making the cache fails.
  std::shared_ptr<SecondaryCache> secondary_cache;
  /// Seed of the hash that places entries; all negative values select one built-in seed.
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

/// Options of the standard cache. Its name and options are those of RocksDB's LRUCache; it evicts
/// by a clock, which approximates that order without a lock in lookups.
struct LRUCacheOptions : public ShardedCacheOptions {
  /// Shares of the capacity reserved for entries of high and of low priority; entries pushed out of
  /// their share lose their priority, not their place. Each is in [0, 1], the sum at most 1.
  double high_pri_pool_ratio = 0.5;
  double low_pri_pool_ratio = 0.0;
  /// Advisory: the cache chooses how it waits for locks.
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

  /// Returns null if an option is out of range or not supported.
  VARVE_EXPORT std::shared_ptr<Cache> MakeSharedCache() const;
};

/// Make a cache from parameters, or from options. Null if one is out of range or not supported.
VARVE_EXPORT std::shared_ptr<Cache> NewLRUCache(
    size_t capacity, int num_shard_bits = -1, bool strict_capacity_limit = false,
    double high_pri_pool_ratio = 0.5, std::shared_ptr<MemoryAllocator> memory_allocator = nullptr,
    bool use_adaptive_mutex = kDefaultToAdaptiveMutex,
    CacheMetadataChargePolicy metadata_charge_policy = kDefaultCacheMetadataChargePolicy,
    double low_pri_pool_ratio = 0.0);
VARVE_EXPORT std::shared_ptr<Cache> NewLRUCache(const LRUCacheOptions& cache_opts);

/// Makes the same cache as LRUCacheOptions, whose lookups share no lock, under the name
/// HyperClockCache, for programs and option files that use that name.
struct HyperClockCacheOptions : public ShardedCacheOptions {
  /// Bytes of a typical entry; 0: unknown. A hint for the initial size of the hash table.
  size_t estimated_entry_charge = 0;
  /// Bytes of the smallest usual entry; 0: unknown. Advisory: the hash table grows as needed.
  size_t min_avg_entry_charge = 450;

  HyperClockCacheOptions(
      size_t _capacity, size_t _estimated_entry_charge, int _num_shard_bits = -1,
      bool _strict_capacity_limit = false,
      std::shared_ptr<MemoryAllocator> _memory_allocator = nullptr,
      CacheMetadataChargePolicy _metadata_charge_policy = kDefaultCacheMetadataChargePolicy)
      : ShardedCacheOptions(_capacity, _num_shard_bits, _strict_capacity_limit,
                            std::move(_memory_allocator), _metadata_charge_policy),
        estimated_entry_charge(_estimated_entry_charge) {}

  /// Returns null if an option is out of range or not supported.
  VARVE_EXPORT std::shared_ptr<Cache> MakeSharedCache() const;
};

/// Maps byte strings to objects it owns, up to a capacity, and evicts those that were not used
/// lately. Made by the functions above. Thread-safe. The engine uses the first group of methods;
/// programs use the second to size and monitor a cache.
///
/// An entry is in one of two states. Referenced: a Handle is held, the entry stays in memory
/// whatever the capacity is. Unreferenced: it may be evicted when room is needed. So the usage
/// exceeds the capacity only by referenced entries, and not at all with a strict limit.
class Cache : public Customizable {
 public:
  /// Opaque reference to an entry, which stays in memory as long as one is held.
  struct Handle {};
  using ObjectPtr = void*;

  /// Entries of higher priority are evicted later.
  enum class Priority { HIGH, LOW, BOTTOM };

  /// Frees an object. `allocator` is that of the cache, or null.
  using DeleterFn = void (*)(ObjectPtr obj, MemoryAllocator* allocator);

  /// Describes a kind of entry. Each kind has one static instance; the cache stores its address.
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

  /// Makes a cache from an option string: "8M", the capacity of an LRUCache; LRUCacheOptions in
  /// braces, "{capacity=8M;strict_capacity_limit=true}"; HyperClockCacheOptions with
  /// "id=HyperClockCache"; "nullptr" for none. Sizes may end in K, M, G or T. InvalidArgument: a
  /// value out of range, or an unknown option; NotSupported: an unknown id.
  VARVE_EXPORT static Status CreateFromString(const ConfigOptions& config_options,
                                              const std::string& value,
                                              std::shared_ptr<Cache>* result);

  static const char* Type() { return "Cache"; }

  // Methods for the engine.

  /// Takes ownership of `value`, copies `key`, and replaces an entry with the same key. `charge`:
  /// bytes that count against the capacity. A null `helper`, or one without del_cb, means that
  /// nothing frees the value. If `handle` is given, the caller gets a reference that it must
  /// Release(). If the entry does not fit under a strict limit: with `handle` returns MemoryLimit,
  /// and the caller keeps the value; without it drops the value and returns OK.
  virtual Status Insert(const Slice& key, ObjectPtr value, const CacheItemHelper* helper,
                        size_t charge, Handle** handle = nullptr,
                        Priority priority = Priority::LOW) = 0;
  /// Returns a reference that the caller must Release(), or null if there is no such entry.
  virtual Handle* Lookup(const Slice& key) = 0;
  /// Adds a reference to the entry of `handle`, to be given back by another Release(). Returns
  /// true.
  virtual bool Ref(Handle* handle) = 0;
  /// Gives a reference back. With `erase_if_last_ref` the entry is removed if there is no other
  /// reference. Returns true if the call freed the entry.
  virtual bool Release(Handle* handle, bool erase_if_last_ref = false) = 0;
  /// Returns the object of an entry that the caller holds a reference to.
  virtual ObjectPtr Value(Handle* handle) = 0;
  /// Returns the bytes that the entry was inserted with.
  virtual size_t GetCharge(Handle* handle) const = 0;
  /// Removes a key; its object is freed with the last reference.
  virtual void Erase(const Slice& key) = 0;
  /// Returns a number unique in this cache, which makes the keys of different owners distinct.
  virtual uint64_t NewId() = 0;
  /// Returns the allocator of ShardedCacheOptions; null: the standard one.
  MemoryAllocator* memory_allocator() const { return memory_allocator_.get(); }

  // Methods for programs.

  /// Sets the capacity in bytes; evicts at once if it is smaller.
  virtual void SetCapacity(size_t capacity) = 0;
  /// With a strict limit insertions fail that would exceed the capacity; without it they succeed,
  /// and the usage may exceed the capacity by what is referenced.
  virtual void SetStrictCapacityLimit(bool strict_capacity_limit) = 0;
  virtual bool HasStrictCapacityLimit() const = 0;
  /// Returns the capacity in bytes, of all shards together.
  virtual size_t GetCapacity() const = 0;
  /// Return the bytes in use, by all entries or by one.
  virtual size_t GetUsage() const = 0;
  virtual size_t GetUsage(Handle* handle) const = 0;
  /// Returns the bytes of referenced entries, which cannot be evicted. Visits all entries.
  virtual size_t GetPinnedUsage() const = 0;
  /// Returns the number of entries; SIZE_MAX if unknown.
  virtual size_t GetOccupancyCount() const { return SIZE_MAX; }
  struct ApplyToAllEntriesOptions {
    /// Approximate number of entries visited per lock acquisition: larger values make the walk
    /// shorter and other users wait longer. Advisory: the walk chooses the number.
    size_t average_entries_per_lock = 256;
  };
  /// Calls `callback` once for each entry; `charge` is that of its insertion. Entries inserted or
  /// erased meanwhile may be missed, but none is visited twice. Locks may be held: the callback
  /// must not call this cache, and may not keep `key` or `value`. `helper->role` names the kind of
  /// entry; `helper` may be null.
  virtual void ApplyToAllEntries(
      const std::function<void(const Slice& key, ObjectPtr value, size_t charge,
                               const CacheItemHelper* helper)>& callback,
      const ApplyToAllEntriesOptions& opts) = 0;
  void ApplyToAllEntries(const std::function<void(const Slice& key, ObjectPtr value, size_t charge,
                                                  const CacheItemHelper* helper)>& callback) {
    ApplyToAllEntries(callback, ApplyToAllEntriesOptions());
  }
  /// Returns the number of slots of the hash table; 0 if unknown.
  virtual size_t GetTableAddressCount() const { return 0; }
  /// Drops every unreferenced entry.
  virtual void EraseUnRefEntries() = 0;
  /// Makes the destructor leak the contents: faster at the end of a process. Nothing else may be
  /// called afterwards.
  virtual void DisownData() {}

 private:
  std::shared_ptr<MemoryAllocator> memory_allocator_;
};

}  // namespace varve
