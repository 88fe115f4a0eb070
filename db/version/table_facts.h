// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the MANIFEST says of one table, wherever in the tree it is: the same in an edit and in a
// version.

#include <cstdint>
#include <string>

#include "varve/types.h"

#include "util/key/internal_key.h"

namespace varve {

constexpr uint64_t kUnknownEpochNumber = 0;

// In seconds; 0: not known.
struct TableTimes {
  uint64_t oldest_ancestor = 0;  // of the oldest table that entries came through
  uint64_t created = 0;
};

// Of the whole file. Both are empty where none was made.
struct TableChecksum {
  std::string value;
  std::string function;  // its name
};

// Number, size and bounds lie together: a search of a level reads nothing else.
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
  uint64_t tail_size = 0;  // bytes after the data blocks; 0 unknown
  std::string unique_id;   // 16 bytes or empty
  TableChecksum checksum;
  Temperature temperature = Temperature::kUnknown;
  // False: the table's keys have no timestamps, though the family's have or had. The bounds in a
  // version have them all the same while the family has: the smallest one, where none was stored.
  bool timestamps_persisted = true;
};

}  // namespace varve
