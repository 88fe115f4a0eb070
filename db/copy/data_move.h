// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reports the outcome of a call that copied or moved whole files to listeners and the LOG.

#include <functional>
#include <string>
#include <vector>

#include "varve/listener.h"
#include "varve/status.h"

namespace varve {

struct CopyTask;
struct Engine;

// Runs `work`, and reports its outcome and duration. Sets kind, path, status and micros of *info;
// `work` sets families, files, bytes_copied, bytes_linked and sequence, as far as they apply.
// Returns the status of `work`, or its exception as a status. The caller must hold no lock.
Status MoveData(Engine* engine, DataMoveInfo::Kind kind, const std::string& path,
                const std::function<Status(DataMoveInfo* info)>& work);

// Adds to files, bytes_copied and bytes_linked of *info. Requires that CopyPool::Run has succeeded,
// and that `size` of each linked task is the file's.
void CountFiles(const std::vector<CopyTask>& tasks, DataMoveInfo* info);

}  // namespace varve
