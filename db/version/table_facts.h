// SPDX-License-Identifier: Apache-2.0
#pragma once

// Stores what the MANIFEST says of one table, independent of its place in the tree; used in edits
// and in versions. A blob file in a version has number, size and kind alone.

#include <cstdint>
#include <string>
#include <vector>

#include "varve/types.h"

#include "db/version/blob_file_facts.h"
#include "util/key/internal_key.h"

namespace varve {

// Stands for the epoch of a file that another program has written without one.
constexpr uint64_t kUnknownEpochNumber = 0;

// Times in seconds; 0: unknown.
struct TableTimes {
  uint64_t oldest_ancestor = 0;  // time of the oldest table that its entries came from
  uint64_t created = 0;
  uint64_t newest = 0;  // no later than this its newest entry was written; 0: it is `created`

  // Returns the time by which the newest entry was written; 0: unknown.
  uint64_t Newest() const { return newest != 0 ? newest : created; }
};

// Checksum of the whole file. Both members are empty if there is none.
struct TableChecksum {
  std::string value;
  std::string function;  // name of the function
};

// Says what a data file holds.
enum class DataFileKind : uint8_t {
  kTable,
  kBlobs,  // values that tables refer to
};

// Number, size and bounds are adjacent, as a search of a level reads nothing else.
struct TableFacts {
  uint64_t number = 0;
  // Index in cf_paths of the directory that has the file.
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
  // has timestamps, the bounds in a version have them nevertheless, made up if none was stored
  // (comparator_change.h).
  bool timestamps_persisted = true;
  DataFileKind kind = DataFileKind::kTable;
  // The smallest number of a blob file that the table refers to; 0: it refers to none.
  uint64_t oldest_blob_file_number = 0;
  // All that it refers to, by ascending number; empty: unknown, or nothing.
  std::vector<BlobShare> blob_shares;
};

}  // namespace varve
