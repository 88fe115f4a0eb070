// SPDX-License-Identifier: Apache-2.0
#pragma once

// Lists the files that make up a database, for programs that copy the files themselves.
//
// A list is of one moment, but its files may be deleted as soon as the call has returned. A program
// that copies them must disable deletions before the call (DB::DisableFileDeletions).

#include <vector>

#include "varve/file_checksum.h"
#include "varve/metadata.h"
#include "varve/options.h"

namespace varve {

struct Engine;

// Implement DB::GetLiveFilesStorageInfo and DB::GetLiveFilesChecksumInfo. Require a call within
// CopyHost::WithEngine, without locks. *files is replaced, and unchanged after an error; *list is
// reset, and then filled.
Status ListFilesOfOneMoment(Engine* engine, const LiveFilesStorageInfoOptions& options,
                            std::vector<LiveFileStorageInfo>* files);
Status ListChecksums(Engine* engine, FileChecksumList* list);

}  // namespace varve
