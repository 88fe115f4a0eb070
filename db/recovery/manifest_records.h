// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads the records of a MANIFEST up to the first damage, for callers that accept a damaged one.

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "varve/file_system.h"

#include "db/version/version_edit.h"

namespace varve {

// Describes how far a MANIFEST could be read.
struct ManifestEnd {
  uint64_t offset = 0;  // End of the last sound record.
  // Reason and position of the first damage, or empty. An incomplete record at the end of the file
  // is not damage.
  std::string damage;
};

// Calls `take` with each edit or atomic group of edits, and the offset of its last record. If
// `take` returns false, the edits are inconsistent with earlier ones, and count as damage. An
// incomplete group at the end is ignored. Sets *end, which must be new. Returns only I/O errors.
Status ReadManifestRecords(
    FileSystem* fs, const FileOptions& file_options, const std::string& path,
    const std::function<bool(std::span<const VersionEdit> edits, uint64_t offset)>& take,
    ManifestEnd* end);

}  // namespace varve
