// SPDX-License-Identifier: Apache-2.0
#pragma once

// How large an entry, and what holds it, may be: one set of limits for those who write and those
// who read. Each is larger than the one below it, so that what a call accepts can be logged,
// flushed, compacted and read.

#include <cstddef>
#include <cstdint>

namespace varve {

// A block of a table, uncompressed: lengths and offsets within one have 32 bits.
inline constexpr uint64_t kBlockBytesMax = UINT32_MAX;

// Internal key and value of an entry of a table. The rest of its block is for lengths and restart
// points, and for what stands before a block in the cache.
inline constexpr uint64_t kEntryBytesMax = kBlockBytesMax - (uint64_t{64} << 10);

// Key, its timestamp included, and value of a write, a memtable's entry, or a merge. The rest is
// for sequence number and type, and for a timestamp that a key may get later.
inline constexpr uint64_t kWriteBytesMax = kEntryBytesMax - 1024;

// A timestamp: its length has 16 bits in a log.
inline constexpr size_t kTimestampBytesMax = UINT16_MAX;

// Whether both together, each of any size, are within the limit.
[[nodiscard]] inline constexpr bool FitsAWrite(uint64_t key_bytes, uint64_t value_bytes) {
  return key_bytes <= kWriteBytesMax && value_bytes <= kWriteBytesMax - key_bytes;
}

}  // namespace varve
