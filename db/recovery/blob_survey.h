// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finds the blob files that a repaired family needs, and checks them.

#include <cstdint>
#include <memory>
#include <set>
#include <vector>

#include "varve/file_system.h"
#include "varve/utilities/repair.h"

#include "db/recovery/manifest_survey.h"
#include "db/version/table_paths.h"

namespace varve {

// Returns the numbers of the blob files that the family's tables refer to or may refer to,
// according to the MANIFEST. The MANIFEST itself may lack some of these files.
std::set<uint64_t> NeededBlobFiles(const SurveyedFamily& family);

// A blob file that the tables of a family need. `garbage` counts values of this file, and fewer
// than `facts` has: at least one is left that a table refers to.
struct NeededBlobFile {
  BlobFileFacts facts;
  BlobGarbage garbage;
};

// Returns the needed blob files that the MANIFEST has, by ascending number. The garbage of a file
// is exact if every table that may refer to it says what it refers to; otherwise it is what edits
// have counted.
std::vector<NeededBlobFile> DescribeNeededBlobFiles(const SurveyedFamily& family);

// Limits family->blob_files to the existing files that the family's tables and the `copied` ones
// may refer to, and family->blob_garbage to records that these tables do not refer to. Requires
// these members and family->files. Reads every needed file completely. Adds missing and damaged
// files to report->lost, and sets *lost to true if there are any; leaves *lost otherwise. A damaged
// file is kept for its sound values; reads of the others return errors.
void SurveyBlobFiles(const std::shared_ptr<FileSystem>& fs, uint32_t family_id,
                     const TablePaths& paths, const std::vector<const NewFile*>& copied,
                     SurveyedFamily* family, RepairReport* report, bool* lost);

}  // namespace varve
