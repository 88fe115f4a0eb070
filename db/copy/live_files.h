// SPDX-License-Identifier: Apache-2.0
#pragma once

// Lists the files that make up a database, for programs that copy them by themselves.
//
// The lists are of one moment, but nothing keeps their files from deletion when the call has
// returned. A program that copies them disables deletions before (DB::DisableFileDeletions).

#include <vector>

#include "varve/file_checksum.h"
#include "varve/metadata.h"
#include "varve/options.h"

namespace varve {

struct Engine;

// Implement DB::GetLiveFilesStorageInfo and DB::GetLiveFilesChecksumInfo.
Status ListFilesOfOneMoment(Engine* engine, const LiveFilesStorageInfoOptions& options,
                            std::vector<LiveFileStorageInfo>* files);
Status ListChecksums(Engine* engine, FileChecksumList* list);

}  // namespace varve
