// SPDX-License-Identifier: Apache-2.0
#pragma once

// BlobSums adds up the sizes and the garbage of a version's blob files.

#include <cstddef>
#include <cstdint>

#include "db/version/blob_file.h"

namespace varve {

struct BlobSums {
  explicit BlobSums(const BlobFiles& all) : files(all.size()) {
    for (const BlobFileState& file : all) {
      bytes += file.FileSize();
      garbage += file.garbage_bytes;
    }
  }

  size_t files;
  uint64_t bytes = 0;    // of the files
  uint64_t garbage = 0;  // bytes of records that no table refers to

  // Returns how many bytes the files take for each byte that is not garbage; 0 if all are garbage.
  [[nodiscard]] double space_amplification() const {
    return bytes > garbage ? static_cast<double>(bytes) / static_cast<double>(bytes - garbage) : 0;
  }
};

}  // namespace varve
