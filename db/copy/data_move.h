// SPDX-License-Identifier: Apache-2.0
#pragma once

// Tells listeners and the LOG the outcome of a call that copied or moved whole files.

#include <functional>
#include <string>
#include <vector>

#include "varve/listener.h"
#include "varve/status.h"

namespace varve {

struct CopyTask;
struct Engine;

// Runs `work`, which fills in the rest of *info, and returns what it returns or throws. The caller
// holds no lock.
Status MoveData(Engine* engine, DataMoveInfo::Kind kind, const std::string& path,
                const std::function<Status(DataMoveInfo* info)>& work);

// Adds the files that were copied, linked or written to *info.
void CountFiles(const std::vector<CopyTask>& tasks, DataMoveInfo* info);

}  // namespace varve
