// SPDX-License-Identifier: Apache-2.0
#pragma once

// Defines the layout of an entry in memory: varint32 key size | user key | 8-byte trailer |
// varint32 value size | value, at any address. It is written once, before other threads can reach
// it.
//
//      put of "k1" = "v" at 12:     02 | k 1 | 01 0c 00 00 00 00 00 00 | 01 | v
//
// An entry is never changed and never freed on its own; the arena of its memtable frees all entries
// together. So a pointer to an entry stays valid as long as the memtable, and readers need no lock
// once they have one.

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "varve/slice.h"
#include "varve/types.h"

#include "util/base/assert.h"
#include "util/coding/fixed.h"
#include "util/coding/varint.h"
#include "util/key/internal_key.h"
#include "util/mem/prefetch.h"

namespace varve {

// An entry as it is given to a memtable.
struct MemTableEntry {
  SequenceNumber seq = 0;
  ValueType type = kTypeValue;
  // The user key, with its timestamp if the family has timestamps.
  Slice key;
  Slice value;
};

// Totals of what has been added.
struct EntryTotals {
  uint64_t entries = 0;
  // Entries that delete one key; range deletions are counted elsewhere.
  uint64_t deletions = 0;
  uint64_t bytes = 0;  // User keys, trailers and values.

  // Counts an entry.
  void Add(const Slice& user_key, uint64_t trailer, size_t value_bytes) {
    entries++;
    bytes += user_key.size() + kInternalKeyTrailerBytes + value_bytes;
    const ValueType type = UnpackType(trailer);
    if (type == kTypeDeletion || type == kTypeSingleDeletion ||
        type == kTypeDeletionWithTimestamp) {
      deletions++;
    }
  }
};

// An entry in memory. No object is constructed: a pointer to one is the address of the entry's
// first byte.
//
// Thread safety: immutable once it was written, and its address was published to other threads.
// Lifetime: that of the memory that it was written to, an arena.
class MemEntry {
 public:
  MemEntry() = delete;

  // Returns the number of bytes that an entry takes.
  static size_t BytesFor(const Slice& user_key, const Slice& value) {
    return VarintLength(user_key.size()) + user_key.size() + kInternalKeyTrailerBytes +
           VarintLength(value.size()) + value.size();
  }
  // Writes an entry to the BytesFor() bytes at `to`, and returns it. Requires that key and value
  // are shorter than 4 GiB.
  static const MemEntry* Write(char* to, const Slice& user_key, uint64_t trailer,
                               const Slice& value) {
    VARVE_ASSERT(user_key.size() <= UINT32_MAX && value.size() <= UINT32_MAX);
    char* p = EncodeVarint32(to, static_cast<uint32_t>(user_key.size()));
    if (!user_key.empty()) memcpy(p, user_key.data(), user_key.size());
    p += user_key.size();
    EncodeFixed64(p, trailer);
    p = EncodeVarint32(p + kInternalKeyTrailerBytes, static_cast<uint32_t>(value.size()));
    if (!value.empty()) memcpy(p, value.data(), value.size());
    return At(to);
  }
  // Returns the entry that begins at `p`.
  static const MemEntry* At(const char* p) { return reinterpret_cast<const MemEntry*>(p); }

  // Return the key, without and with its trailer.
  [[nodiscard]] Slice user_key() const {
    uint32_t n = 0;
    const char* const key = Key(&n);
    return Slice(key, n);
  }
  [[nodiscard]] Slice internal_key() const {
    uint32_t n = 0;
    const char* const key = Key(&n);
    return Slice(key, n + kInternalKeyTrailerBytes);
  }
  // Returns the internal key, and sets *value to the entry's value.
  [[nodiscard]] Slice internal_key(Slice* value) const {
    uint32_t n = 0;
    const char* const key = Key(&n);
    const char* p = key + n + kInternalKeyTrailerBytes;
    uint32_t value_bytes = 0;
    p = GetVarint32Ptr(p, p + kMaxVarint32Length, &value_bytes);
    *value = Slice(p, value_bytes);
    return Slice(key, n + kInternalKeyTrailerBytes);
  }
  // Prefetches the first 128 bytes, usually the key and the start of the value.
  void Prefetch() const {
    const char* const p = reinterpret_cast<const char*>(this);
    PrefetchLine(p);
    PrefetchLine(p + 64);
  }

 private:
  // Returns the user key's address, and sets *bytes to its size. The bytes are the engine's own, so
  // they are not checked.
  const char* Key(uint32_t* bytes) const {
    const char* const p = reinterpret_cast<const char*>(this);
    return GetVarint32Ptr(p, p + kMaxVarint32Length, bytes);
  }
};

}  // namespace varve
