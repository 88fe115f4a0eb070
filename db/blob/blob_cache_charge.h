// SPDX-License-Identifier: Apache-2.0
#pragma once

// Makes a cache of blob values count against the capacity of a block cache
// (BlockBasedTableOptions::cache_usage_options, role kBlobCache).

#include <cstddef>
#include <memory>

#include "varve/cache.h"

#include "util/mem/cache_charge.h"
#include "util/sync/mutex.h"

namespace varve {

// The charge of one cache of values to one block cache. All families and databases that have these
// two share it, so that the memory is charged once. It ends with the last of them.
//
// Thread safety: all methods may be called from any thread.
class BlobCacheCharge {
 public:
  // Returns null if the table's options do not ask for the charge, or if there is nothing to
  // charge: no cache of values, or one that is the block cache itself, or larger.
  static std::shared_ptr<BlobCacheCharge> Of(const std::shared_ptr<Cache>& values,
                                             const BlockBasedTableOptions& table);

  // Charges what the cache of values will hold with so many bytes more. Returns false, with nothing
  // changed, if the block cache has no room for it.
  bool MakeRoom(size_t bytes);

 private:
  BlobCacheCharge(std::shared_ptr<Cache> values, std::shared_ptr<CacheCharge> charge);

  const std::shared_ptr<Cache> values_;
  Mutex mutex_;  // has no rank, as it is held while both caches are called
  ChargedBytes bytes_ VARVE_GUARDED_BY(mutex_);
};

}  // namespace varve
