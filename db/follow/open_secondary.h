// SPDX-License-Identifier: Apache-2.0
#pragma once

// From a directory that another process writes to an engine that follows it.

#include <memory>
#include <string>

#include "db/recovery/open.h"

namespace varve {

class Secondary;
struct Engine;

// The request's options are a writer's: a promoted secondary is one. `path` is a directory of the
// secondary's own, made if it is missing, for its LOG. Nothing is changed in the primary's.
Status OpenSecondaryEngine(const OpenRequest& request, const std::string& path,
                           std::shared_ptr<Engine>* engine, std::unique_ptr<Secondary>* secondary);

}  // namespace varve
