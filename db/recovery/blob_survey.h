// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finds the blob files that a repaired family needs, and reads what the MANIFEST does not say of
// them.

#include <cstdint>
#include <memory>
#include <set>
#include <vector>

#include "varve/file_system.h"
#include "varve/utilities/repair.h"

#include "db/recovery/manifest_survey.h"
#include "db/version/table_paths.h"

namespace varve {

// Returns the numbers of the blob files that the family's tables need, as far as its MANIFEST
// tells. After the loss of a blob file, some of these may be missing in the MANIFEST too.
std::set<uint64_t> NeededBlobFiles(const SurveyedFamily& family);

// Limits family->blob_files to the existing files that the family's tables and the `copied` ones
// may refer to, and family->blob_garbage to what these tables do not refer to. Reads every file
// that is needed, also for the counts of those that the MANIFEST does not know. Adds missing and
// damaged files to report->lost, and sets *lost to true then; otherwise *lost stays as it is. A
// damaged file stays, for the values in it that are sound; reads of the others return errors.
void SurveyBlobFiles(const std::shared_ptr<FileSystem>& fs, uint32_t family_id,
                     const TablePaths& paths, const std::vector<const NewFile*>& copied,
                     SurveyedFamily* family, RepairReport* report, bool* lost);

}  // namespace varve
