// SPDX-License-Identifier: Apache-2.0
#pragma once

// BlobCacheCharge charges a cache of blob values to the capacity of a block cache
// (BlockBasedTableOptions::cache_usage_options, role kBlobCache).

#include <cstddef>
#include <memory>

#include "varve/cache.h"

#include "util/mem/cache_charge.h"
#include "util/sync/mutex.h"

namespace varve {

// The charge of one cache of values to one block cache. All families and databases of the process
// with these two caches share it, so that the memory is charged once. The last owner's release ends
// it.
//
// Thread-safe.
class BlobCacheCharge {
 public:
  // Returns the charge of `values` to the block cache of `table`, or null if the options do not ask
  // for it, or if it is impossible: there is no cache of values, it is the block cache itself, or
  // its capacity is larger than the block cache's. Validation refuses the impossible only where
  // options_overrides names kBlobCache; where CacheUsageOptions::options asks for all roles,
  // nothing is charged.
  static std::shared_ptr<BlobCacheCharge> Of(const std::shared_ptr<Cache>& values,
                                             const BlockBasedTableOptions& table);

  // Charges the bytes that the cache of values will have with this many more. Returns false, and
  // changes nothing, if the block cache has no room.
  bool MakeRoom(size_t bytes);

 private:
  BlobCacheCharge(std::shared_ptr<Cache> values, std::shared_ptr<CacheCharge> charge);

  const std::shared_ptr<Cache> values_;
  Mutex mutex_;  // has no rank, as it is held while both caches are called
  ChargedBytes bytes_ VARVE_GUARDED_BY(mutex_);
};

}  // namespace varve
