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

// Runs `work`, which sets the remaining members of *info, and reports its outcome and duration.
// Returns the status of `work`, or its exception as a status. The caller must hold no lock.
Status MoveData(Engine* engine, DataMoveInfo::Kind kind, const std::string& path,
                const std::function<Status(DataMoveInfo* info)>& work);

// Adds the numbers of files and of bytes copied and linked to *info.
void CountFiles(const std::vector<CopyTask>& tasks, DataMoveInfo* info);

}  // namespace varve
