// SPDX-License-Identifier: Apache-2.0
#pragma once

// CacheCharge: makes memory that lives outside a cache count against the cache's capacity.
//
// It keeps placeholder entries in the cache, each pinned and charged with 256 KiB, about as many as
// the reported memory needs. Placeholders are given up lazily, below three quarters of what they
// cover, so that memory going up and down around a step does not churn the cache.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "varve/cache.h"

#include "util/sync/mutex.h"

namespace varve {

// Thread safe. Takes all its placeholders out of the cache when destroyed.
class CacheCharge {
 public:
  static constexpr size_t kStepBytes = 256 * 1024;

  CacheCharge(std::shared_ptr<Cache> cache, CacheEntryRole role);
  ~CacheCharge();
  CacheCharge(const CacheCharge&) = delete;
  CacheCharge& operator=(const CacheCharge&) = delete;

  // Reports memory taken or freed. A cache with a strict limit may refuse placeholders; the memory
  // then stays uncharged until the next report finds room, because it is in use all the same.
  void Add(size_t bytes);
  void Subtract(size_t bytes);

  // Bytes the placeholders stand for.
  size_t charged() const;

 private:
  void Adjust() VARVE_REQUIRES(mutex_);

  const std::shared_ptr<Cache> cache_;
  const Cache::CacheItemHelper* const helper_;
  const uint64_t id_;

  mutable Mutex mutex_;
  size_t bytes_ VARVE_GUARDED_BY(mutex_) = 0;
  uint64_t next_key_ VARVE_GUARDED_BY(mutex_) = 0;
  std::vector<Cache::Handle*> handles_ VARVE_GUARDED_BY(mutex_);
};

}  // namespace varve
