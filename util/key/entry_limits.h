// SPDX-License-Identifier: Apache-2.0
#pragma once

// Defines limits of the size of an entry and of what contains it, common to writers and readers.
// Each limit is larger than the one below it, so that what a call accepts can be logged, flushed,
// compacted and read.

#include <cstddef>
#include <cstdint>

namespace varve {

// Largest uncompressed block of a table: lengths and offsets within one have 32 bits.
inline constexpr uint64_t kBlockBytesMax = UINT32_MAX;

// Largest internal key and value of a table entry together. The rest of its block is for lengths
// and restart points, and for the header of a block in the cache.
inline constexpr uint64_t kEntryBytesMax = kBlockBytesMax - (uint64_t{64} << 10);

// Largest key (timestamp included) and value together of a write, a memtable entry or a merge. The
// rest, 1024 bytes, is for sequence number and type, and for a timestamp that a key may get later.
// An entry of this size has no room for a later timestamp of more than 1016 bytes.
inline constexpr uint64_t kWriteBytesMax = kEntryBytesMax - 1024;

// Largest timestamp: its length has 16 bits in a log.
inline constexpr size_t kTimestampBytesMax = UINT16_MAX;

// True if key and value, each of any size, are together within the limit.
[[nodiscard]] inline constexpr bool FitsAWrite(uint64_t key_bytes, uint64_t value_bytes) {
  return key_bytes <= kWriteBytesMax && value_bytes <= kWriteBytesMax - key_bytes;
}

}  // namespace varve
