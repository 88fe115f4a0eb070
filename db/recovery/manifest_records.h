// SPDX-License-Identifier: Apache-2.0
#pragma once

// The records of a MANIFEST one after the other, as far as they are sound, for those who do not
// refuse a damaged one.

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "varve/file_system.h"

#include "db/version/version_edit.h"

namespace varve {

struct ManifestEnd {
  uint64_t offset = 0;  // behind the last sound record
  // Why it is not read on, and where; empty: it ends. A record that the end of the file cuts off is
  // no damage.
  std::string damage;
};

// `take` gets the edits that count together: one, or those of an atomic group, and the offset of
// the last record. False: they cannot follow what came before, and are damage. A group that is not
// complete at the end counts for nothing. Only I/O errors are errors.
Status ReadManifestRecords(
    FileSystem* fs, const FileOptions& file_options, const std::string& path,
    const std::function<bool(std::span<const VersionEdit> edits, uint64_t offset)>& take,
    ManifestEnd* end);

}  // namespace varve
