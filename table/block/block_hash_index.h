// SPDX-License-Identifier: Apache-2.0
#pragma once

// Defines the constants of the optional hash index after a data block's restart array: buckets of
// one byte that name a restart point, then their number. It is written for RocksDB, and not read
// here: a cached block is searched by its entry index (table/block/entry_index.h).

#include <cstddef>
#include <cstdint>

namespace varve::block_hash {

// Seed of the hash of user keys that selects a bucket.
inline constexpr uint32_t kSeed = 397;

// A bucket names a restart point in one byte; two values are special.
inline constexpr uint8_t kEmptyBucket = 255;
inline constexpr uint8_t kCollision = 254;
inline constexpr size_t kMaxRestarts = 254;

// A larger block, index included, has no hash index.
inline constexpr size_t kMaxBlockBytes = size_t{64} << 10;

// Flag in the block's last word, beside the number of restart points.
inline constexpr uint32_t kFlag = uint32_t{1} << 31;

}  // namespace varve::block_hash
