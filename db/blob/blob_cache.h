// SPDX-License-Identifier: Apache-2.0
#pragma once

// Keeps values of blob files in a cache, which may be the block cache.

#include <cstdint>
#include <memory>

#include "varve/cache.h"
#include "varve/slice.h"

#include "db/blob/blob_reference.h"

namespace varve {

class BlobCacheCharge;
class Statistics;

// The values of one column family, for as long as it is open: numbers of files are unique for that
// time, but may return after a crash.
//
// A value is found only by the very key and reference that it was kept under. A damaged reference
// therefore finds nothing here, and is judged by its file.
//
// Thread safety: all methods may be called from any thread.
class BlobCache {
 public:
  // `statistics` must outlive this object. It and `charge` may be null.
  BlobCache(std::shared_ptr<Cache> cache, std::shared_ptr<BlobCacheCharge> charge,
            Statistics* statistics);

  // Resets *value and makes it refer to the kept value, which stays in memory as long as it does,
  // whatever happens to this object. Returns false, and does not change *value, if there is none.
  bool Find(const Slice& user_key, const BlobReference& reference, PinnableSlice* value) const;
  // Keeps a copy of *value, and makes *value refer to it. If there is no room for it below a strict
  // limit, of this cache or of one that it is charged to, nothing changes.
  void Keep(const Slice& user_key, const BlobReference& reference, PinnableSlice* value) const;
  // Keeps a copy of a value that nobody has asked for yet, if there is room.
  void KeepUnread(const Slice& user_key, const BlobReference& reference, const Slice& value) const;

 private:
  // Returns null if there was no room, or no memory.
  Cache::Handle* Insert(const Slice& user_key, const BlobReference& reference,
                        const Slice& value) const;
  void Pin(Cache::Handle* handle, PinnableSlice* value) const;

  const std::shared_ptr<Cache> cache_;
  const std::shared_ptr<BlobCacheCharge> charge_;
  Statistics* const statistics_;
  const uint64_t id_;  // of this opening of the family; unique in the cache
};

}  // namespace varve
