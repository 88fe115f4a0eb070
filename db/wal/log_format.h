// SPDX-License-Identifier: Apache-2.0
#pragma once

// Defines sizes and types of the physical records of a log (FORMAT.md). The MANIFEST uses the same
// framing.

#include <cstdint>

namespace varve::wal {

// Types of physical records. The values are on disk.
enum RecordType : uint8_t {
  kZeroType = 0,  // Preallocated zeros: the rest of the block is empty.
  kFullType = 1,
  kFirstType = 2,
  kMiddleType = 3,
  kLastType = 4,
  kRecyclableFullType = 5,
  kRecyclableFirstType = 6,
  kRecyclableMiddleType = 7,
  kRecyclableLastType = 8,
  kSetCompressionType = 9,
  kTimestampSizeType = 10,
  kRecyclableTimestampSizeType = 11,
  kPredecessorWalInfoType = 130,
  kRecyclablePredecessorWalInfoType = 131,
};

// Bytes of a block. No physical record crosses the end of one.
constexpr uint32_t kBlockBytes = 32768;
// Bytes of a header: checksum, length, type; the recyclable form adds the low half of the log's
// number.
constexpr uint32_t kHeaderBytes = 4 + 2 + 1;
constexpr uint32_t kRecyclableHeaderBytes = kHeaderBytes + 4;

// True if the header also has the low half of the log's number, by which a reader of a reused file
// tells this log's records from an older one's.
inline bool HasRecyclableHeader(uint8_t type) {
  return (type >= kRecyclableFullType && type <= kRecyclableLastType) ||
         (type >= kTimestampSizeType && (type & 1) != 0);
}

// Returns the type of a fragment by whether it is its record's first and last.
inline RecordType FragmentType(bool first, bool last) {
  if (first) return last ? kFullType : kFirstType;
  return last ? kLastType : kMiddleType;
}

}  // namespace varve::wal
