// SPDX-License-Identifier: Apache-2.0
#pragma once

// BlobCache caches values of blob files in a Cache, which may be the block cache.

#include <cstdint>
#include <memory>

#include "varve/cache.h"
#include "varve/slice.h"

#include "db/blob/blob_reference.h"

namespace varve {

class BlobCacheCharge;
class Statistics;

// Caches the values of one column family during one opening: file numbers are unique only for that
// time, as they may be given out again after a crash.
//
// A value is found only with the user key and the reference with which it was inserted. So a
// damaged reference finds nothing here, and is checked when the file is read.
//
// Thread-safe.
class BlobCache {
 public:
  // `statistics` must outlive this object. It and `charge` may be null.
  BlobCache(std::shared_ptr<Cache> cache, std::shared_ptr<BlobCacheCharge> charge,
            Statistics* statistics);

  // Resets *value and pins the cached value in it. The value stays in memory while it is pinned,
  // even if this object is destroyed. Returns false, and does not change *value, if it is not
  // cached.
  bool Find(const Slice& user_key, const BlobReference& reference, PinnableSlice* value) const;
  // Inserts a copy of *value, and pins that in *value. Does nothing if this cache, or one that it
  // is charged to, has a strict limit and no room.
  void Keep(const Slice& user_key, const BlobReference& reference, PinnableSlice* value) const;
  // Inserts a copy of a value that was not read yet (prepopulate_blob_cache), if there is room.
  void KeepUnread(const Slice& user_key, const BlobReference& reference, const Slice& value) const;

 private:
  // Returns the handle of the inserted copy, or null if there was no room or memory.
  Cache::Handle* Insert(const Slice& user_key, const BlobReference& reference,
                        const Slice& value) const;
  void Pin(Cache::Handle* handle, PinnableSlice* value) const;

  const std::shared_ptr<Cache> cache_;
  const std::shared_ptr<BlobCacheCharge> charge_;
  Statistics* const statistics_;
  const uint64_t id_;  // of this opening of the family; unique in the cache
};

}  // namespace varve
