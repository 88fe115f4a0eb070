// SPDX-License-Identifier: Apache-2.0
#pragma once

// TrackedKeys: the keys that an optimistic transaction has used, and since when nobody may have
// changed them.

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <vector>

#include "varve/slice.h"
#include "varve/types.h"

namespace varve {

struct TrackedKey {
  // Constant once made.
  uint32_t family = 0;
  uint64_t hash = 0;    // of family and key
  uint64_t bucket = 0;  // KeyStamps::HashOf
  Slice key;
  TrackedKey* next = nullptr;  // that came after it

  SequenceNumber unchanged_since = 0;  // a write that changes it after this is in conflict
  uint32_t reads = 0;                  // uses that are not taken back
  uint32_t writes = 0;
  bool was_read = false;  // and found, in the database

  bool in_use() const { return reads != 0 || writes != 0; }
};

// A key all of whose uses were taken back is as if it were not there; its record waits for the next
// use, or for Clear.
//
// Thread safety: none. Cost: the first few keys take no allocation, and are looked for one by one.
class TrackedKeys {
 public:
  TrackedKeys() = default;
  TrackedKeys(const TrackedKeys&) = delete;
  TrackedKeys& operator=(const TrackedKeys&) = delete;

  // Null: it is not in use.
  TrackedKey* Find(uint32_t family, const Slice& key, uint64_t hash) const {
    TrackedKey* const found = FindAny(family, key, hash);
    return found != nullptr && found->in_use() ? found : nullptr;
  }
  // The key's record, a copy of the key made if there is none: *added tells that it is not in use.
  // The caller notes a use then. May throw, and nothing is changed then.
  TrackedKey* FindOrAdd(uint32_t family, const Slice& key, uint64_t hash, uint64_t bucket,
                        bool* added);
  // How many are in use. Looks at each.
  size_t CountInUse() const;
  // The first of all, in use or not.
  const TrackedKey* first() const { return first_; }
  // What records take.
  size_t bytes() const { return bytes_; }
  // No pointer to a record is used any more.
  void Clear();

 private:
  static constexpr size_t kInlineBytes = 1024;  // some ten keys
  // More are found by their hash.
  static constexpr size_t kLookedThrough = 8;

  TrackedKey* FindAny(uint32_t family, const Slice& key, uint64_t hash) const;
  void Index(TrackedKey* key);
  void GrowIndex();

  TrackedKey* first_ = nullptr;
  TrackedKey* last_ = nullptr;
  size_t count_ = 0;  // of records
  size_t bytes_ = 0;
  // Open addressing, a power of two, at most half full; empty while there are few.
  std::vector<TrackedKey*> index_;
  alignas(TrackedKey) char inline_[kInlineBytes];
  std::pmr::monotonic_buffer_resource memory_{inline_, kInlineBytes};
};

}  // namespace varve
