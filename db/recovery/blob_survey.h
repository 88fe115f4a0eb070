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

// A blob file that the tables of a family need. Of `garbage`, all values are in the file, and at
// least one value is none of them.
struct NeededBlobFile {
  BlobFileFacts facts;
  BlobGarbage garbage;
};

// Returns those that the MANIFEST has, by ascending number. The garbage is exact if the tables say
// what they refer to; otherwise it is what edits have counted.
std::vector<NeededBlobFile> DescribeNeededBlobFiles(const SurveyedFamily& family);

// Limits family->blob_files to the existing files that the family's tables and the `copied` ones
// may refer to, and family->blob_garbage to records that these tables do not refer to. Reads every
// needed file completely. Adds missing and damaged files to report->lost, and sets *lost to true if
// there are any. A damaged file is kept for its sound values; reads of the others return errors.
void SurveyBlobFiles(const std::shared_ptr<FileSystem>& fs, uint32_t family_id,
                     const TablePaths& paths, const std::vector<const NewFile*>& copied,
                     SurveyedFamily* family, RepairReport* report, bool* lost);

}  // namespace varve
