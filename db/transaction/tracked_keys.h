// SPDX-License-Identifier: Apache-2.0
#pragma once

// TrackedKeys stores the keys that an optimistic transaction has used, and since when they must be
// unchanged.
//
//      first_ -> [k1] -> [k2] -> ... -> [kn]   in the order of addition; never shortened
//      index_ [ - | k2 | - | k1 | ... ]        from nine keys on: open addressing by hash
//
// Records lie with their keys' bytes in memory that belongs to the transaction, the first kilobyte
// inside this object, and are freed all together.

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <vector>

#include "varve/slice.h"
#include "varve/types.h"

namespace varve {

// A key that an optimistic transaction has read or written.
struct TrackedKey {
  // These do not change.
  uint32_t family = 0;
  uint64_t hash = 0;    // Hash of family and key.
  uint64_t bucket = 0;  // Result of KeyStamps::HashOf.
  Slice key;            // The user key; families with timestamps have no optimistic transactions.
  TrackedKey* next = nullptr;  // Next in the order of addition.

  SequenceNumber unchanged_since = 0;  // A write after this conflicts.
  // Numbers of uses for reading and for writing that were not undone.
  uint32_t reads = 0;
  uint32_t writes = 0;
  bool was_read = false;  // True if a read for update has found the key in the database.

  bool in_use() const { return reads != 0 || writes != 0; }
};

// A key whose uses were all undone counts as absent; its record is kept for the next use, or until
// Clear.
//
// Thread safety: none. Cost: the first few keys need no allocation, and are searched one by one.
class TrackedKeys {
 public:
  TrackedKeys() = default;
  TrackedKeys(const TrackedKeys&) = delete;
  TrackedKeys& operator=(const TrackedKeys&) = delete;

  // Returns the key, or null if it is not in use.
  TrackedKey* Find(uint32_t family, const Slice& key, uint64_t hash) const {
    TrackedKey* const found = FindAny(family, key, hash);
    return found != nullptr && found->in_use() ? found : nullptr;
  }
  // Returns the key's record, which is made with a copy of the key if there is none. Sets *added to
  // whether the record was not in use before; the caller must then count a use. May throw, with
  // nothing changed.
  TrackedKey* FindOrAdd(uint32_t family, const Slice& key, uint64_t hash, uint64_t bucket,
                        bool* added);
  // Returns the number of keys in use. Visits every record.
  size_t CountInUse() const;
  // Returns the first of all records, in use or not.
  const TrackedKey* first() const { return first_; }
  // Returns the bytes of the records.
  size_t bytes() const { return bytes_; }
  // Removes all records. Requires that no pointer to one is used afterwards.
  void Clear();

 private:
  static constexpr size_t kInlineBytes = 1024;  // Room for about ten keys.
  // Up to this many keys are searched one by one, more by hash.
  static constexpr size_t kLookedThrough = 8;

  // Returns the record of a key, also one that is not in use any more.
  TrackedKey* FindAny(uint32_t family, const Slice& key, uint64_t hash) const;
  // Puts a key into the hash table, which must have room.
  void Index(TrackedKey* key);
  // Doubles the hash table, and puts all records into it. Throws std::bad_alloc, with nothing
  // changed.
  void GrowIndex();

  TrackedKey* first_ = nullptr;
  TrackedKey* last_ = nullptr;
  size_t count_ = 0;  // Number of records.
  size_t bytes_ = 0;
  // A hash table with open addressing, whose size is a power of two, at most half full; empty while
  // there are few keys.
  std::vector<TrackedKey*> index_;
  alignas(TrackedKey) char inline_[kInlineBytes];
  std::pmr::monotonic_buffer_resource memory_{inline_, kInlineBytes};
};

}  // namespace varve
