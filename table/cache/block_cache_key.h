// SPDX-License-Identifier: Apache-2.0
#pragma once

// Makes the keys of blocks in the block cache.

#include <cstdint>

#include "varve/cache.h"
#include "varve/slice.h"
#include "varve/table_properties.h"

#include "util/base/assert.h"

namespace varve {

// Key of one block; 16 bytes.
class BlockCacheKey {
 public:
  BlockCacheKey(uint64_t file_high, uint64_t file_low) : words_{file_high, file_low} {}
  [[nodiscard]] Slice AsSlice() const {
    return Slice(reinterpret_cast<const char*>(words_), sizeof(words_));
  }

 private:
  uint64_t words_[2];
};

// Holds the common part of the keys of one file's blocks.
//
// A table that knows its identity (database, session and number at its creation) gets the same keys
// whenever it is opened, so that its blocks are found again. Other tables get fresh keys. Thread
// safety: immutable.
class BlockCacheKeyBase {
 public:
  BlockCacheKeyBase() = default;
  // Returns the base for a table: a hash of its identity and of `file_size`, or, if the properties
  // lack a part of the identity, a new number of Cache::NewId(), which alone keeps these keys apart
  // from all other keys of `cache`. `cache` is not kept, and is not used if the identity is
  // complete.
  [[nodiscard]] static BlockCacheKeyBase ForTable(const TableProperties& properties,
                                                  uint64_t file_size, Cache* cache);

  // Returns the key of a block. Requires a kind of object below 128 and an offset in the file below
  // 2^56, so that distinct pairs of them have distinct keys.
  [[nodiscard]] BlockCacheKey ForBlock(uint64_t kind, uint64_t offset) const {
    VARVE_ASSERT(kind < 128);
    return BlockCacheKey(high_, low_ ^ kind << 56 ^ offset);
  }

 private:
  BlockCacheKeyBase(uint64_t high, uint64_t low) : high_(high), low_(low) {}

  uint64_t high_ = 0;
  uint64_t low_ = 0;
};

}  // namespace varve
