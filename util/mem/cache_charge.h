// SPDX-License-Identifier: Apache-2.0
#pragma once

// CacheCharge makes memory that lives outside a cache count against the cache's capacity.
//
// It keeps placeholder entries in the cache, each pinned and charged with 256 KiB, about as many as
// the reported memory needs. Placeholders are released lazily, below three quarters of what they
// cover, so that memory oscillating around a step does not churn the cache.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "varve/cache.h"
#include "varve/status.h"
#include "varve/table.h"

#include "util/sync/lock_ranks.h"
#include "util/sync/mutex.h"

namespace varve {

// Thread-safe. Releases all its placeholders when destroyed.
class CacheCharge {
 public:
  static constexpr size_t kStepBytes = 256 * 1024;

  // `cache` is not null. The cache's statistics count the memory under `role`.
  CacheCharge(std::shared_ptr<Cache> cache, CacheEntryRole role);
  ~CacheCharge();
  CacheCharge(const CacheCharge&) = delete;
  CacheCharge& operator=(const CacheCharge&) = delete;

  // Report memory allocated or freed. A cache with a strict limit may refuse placeholders; the
  // memory, which is in use all the same, then stays uncharged until a later report finds room.
  void Add(size_t bytes);
  void Subtract(size_t bytes);
  // Like Add for optional memory: returns MemoryLimit, with nothing changed, if the cache refuses
  // it.
  Status TryAdd(size_t bytes);

  // Resets the state in the child right after a fork(); the child has one thread and reports all
  // its memory anew. Placeholders are released by the next report; none are kept for unreported
  // memory. Takes no lock that another thread may have held.
  void StartAnewInChild() VARVE_NO_THREAD_SAFETY_ANALYSIS;

  // Returns the bytes that the placeholders stand for.
  size_t charged() const { return charged_.load(std::memory_order_relaxed); }

 private:
  // Inserts placeholders until they cover bytes_; returns the cache's error if it refuses one.
  Status Cover() VARVE_REQUIRES(mutex_);
  // Releases the placeholders that are not needed.
  void Trim() VARVE_REQUIRES(mutex_);
  // Releases one placeholder.
  void GiveOneBack() VARVE_REQUIRES(mutex_);

  const std::shared_ptr<Cache> cache_;
  const Cache::CacheItemHelper* const helper_;  // Tells the role.
  const uint64_t id_;                           // Begins the keys of the placeholders.

  // Relaxed, because it is only a statistic. Read without the lock, which is held while the cache
  // evicts.
  std::atomic<size_t> charged_{0};
  Mutex mutex_{lock_ranks::kCacheCharge};
  size_t bytes_ VARVE_GUARDED_BY(mutex_) = 0;
  uint64_t next_key_ VARVE_GUARDED_BY(mutex_) = 0;  // Ends the next one's key.
  std::vector<Cache::Handle*> handles_ VARVE_GUARDED_BY(mutex_);
};

// The part of a charge that one object owns, released with it. Without a charge it only counts.
//
// Thread safety: none. Movable.
class ChargedBytes {
 public:
  ChargedBytes() = default;
  explicit ChargedBytes(std::shared_ptr<CacheCharge> charge) : charge_(std::move(charge)) {}
  ChargedBytes(ChargedBytes&& other) noexcept
      : charge_(std::move(other.charge_)), bytes_(std::exchange(other.bytes_, 0)) {}
  ChargedBytes& operator=(ChargedBytes&& other) noexcept {
    if (this != &other) {
      Set(0);
      charge_ = std::move(other.charge_);
      bytes_ = std::exchange(other.bytes_, 0);
    }
    return *this;
  }
  ~ChargedBytes() { Set(0); }

  [[nodiscard]] size_t bytes() const { return bytes_; }
  // Sets the object's bytes, even if the cache refuses them.
  void Set(size_t bytes);
  // Sets the object's bytes. Returns MemoryLimit, with nothing changed, if the cache refuses them.
  Status TrySet(size_t bytes);

 private:
  std::shared_ptr<CacheCharge> charge_;
  size_t bytes_ = 0;
};

// True if BlockBasedTableOptions::cache_usage_options asks to charge memory of this role.
bool IsCharged(const BlockBasedTableOptions& table, CacheEntryRole role);
// Returns a charge to the block cache; null if it is not asked for, or if there is no block cache.
std::shared_ptr<CacheCharge> NewCacheCharge(const BlockBasedTableOptions& table,
                                            CacheEntryRole role);
// Returns NotSupported for roles that cannot be charged, InvalidArgument if there is no cache for
// them.
Status CheckCacheUsage(const BlockBasedTableOptions& table);

}  // namespace varve
