// SPDX-License-Identifier: Apache-2.0
#pragma once

// Lists of the files that a database consists of, for programs that copy them by themselves.

#include <vector>

#include "varve/file_checksum.h"
#include "varve/metadata.h"
#include "varve/options.h"

namespace varve {

struct Engine;

// As DB::GetLiveFilesStorageInfo and DB::GetLiveFilesChecksumInfo.
Status ListFilesOfOneMoment(Engine* engine, const LiveFilesStorageInfoOptions& options,
                            std::vector<LiveFileStorageInfo>* files);
Status ListChecksums(Engine* engine, FileChecksumList* list);

}  // namespace varve
