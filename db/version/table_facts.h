// SPDX-License-Identifier: Apache-2.0
#pragma once

// Stores what the MANIFEST says of one table, independent of its place in the tree; used in edits
// and in versions.

#include <cstdint>
#include <string>

#include "varve/types.h"

#include "util/key/internal_key.h"

namespace varve {

constexpr uint64_t kUnknownEpochNumber = 0;

// Times in seconds; 0: unknown.
struct TableTimes {
  uint64_t oldest_ancestor = 0;  // time of the oldest table that its entries came from
  uint64_t created = 0;
};

// Checksum of the whole file. Both members are empty if there is none.
struct TableChecksum {
  std::string value;
  std::string function;  // name of the function
};

// Number, size and bounds are adjacent, as a search of a level reads nothing else.
struct TableFacts {
  uint64_t number = 0;
  uint32_t path_id = 0;
  uint64_t size = 0;     // bytes
  InternalKey smallest;  // bounds of every point entry and tombstone
  InternalKey largest;
  SequenceNumber smallest_seq = 0;
  SequenceNumber largest_seq = 0;
  uint64_t epoch_number = kUnknownEpochNumber;  // orders L0: larger is newer
  TableTimes times;
  uint64_t tail_size = 0;  // bytes after the data blocks; 0: unknown
  std::string unique_id;   // 16 bytes or empty
  TableChecksum checksum;
  Temperature temperature = Temperature::kUnknown;
  // False: the table's keys have no timestamps, though the family's have or had. While the family
  // has timestamps, the bounds in a version have them nevertheless: the smallest one, if none was
  // stored.
  bool timestamps_persisted = true;
};

}  // namespace varve
