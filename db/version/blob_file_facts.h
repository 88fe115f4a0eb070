// SPDX-License-Identifier: Apache-2.0
#pragma once

// Stores what the MANIFEST says of blob files: their contents, their garbage, and which table
// refers to which of them.

#include <cstdint>
#include <string>
#include <vector>

#include "db/blob/blob_file_format.h"

namespace varve {

// Checksum of the whole file. Both members are empty if there is none.
struct BlobFileChecksum {
  std::string value;
  std::string function;  // name of the function

  bool operator==(const BlobFileChecksum&) const = default;
};

// A finished blob file. It lies in the first path of its family.
struct BlobFileFacts {
  uint64_t number = 0;
  uint64_t count = 0;  // values
  uint64_t bytes = 0;  // of all records: 32 + key + stored value each
  BlobFileChecksum checksum;
  // True if in every version at most one entry of one table refers to a value: the file was written
  // by a flush or a compaction of this database while punch_holes_in_blob_files was set. A repair,
  // and RocksDB when it opens the database, forget it. The holes stay, so a file without it may
  // have some.
  bool referred_once = false;

  // Returns the size of the whole file in bytes.
  uint64_t FileSize() const { return bytes + kBlobFileFrameBytes; }
  bool operator==(const BlobFileFacts&) const = default;
};

// Returns the bytes that the files take together.
inline uint64_t BytesOf(const std::vector<BlobFileFacts>& files) {
  uint64_t bytes = 0;
  for (const BlobFileFacts& file : files) bytes += file.FileSize();
  return bytes;
}

// Values of a blob file that an edit leaves without a reference.
struct BlobGarbage {
  uint64_t number = 0;
  uint64_t count = 0;
  uint64_t bytes = 0;  // of their records

  bool operator==(const BlobGarbage&) const = default;
};

// The values of one blob file that one table refers to.
struct BlobShare {
  uint64_t file = 0;
  uint64_t count = 0;
  uint64_t bytes = 0;  // of the records

  bool operator==(const BlobShare&) const = default;
};

}  // namespace varve
