// SPDX-License-Identifier: Apache-2.0
#pragma once

// Makes an engine that follows a directory which another process writes.

#include <memory>
#include <string>

#include "db/recovery/open.h"

namespace varve {

class Secondary;
struct Engine;

// Requires `read_only` and `follows` of the request. Its options are those of a writer all the
// same, as a secondary can be promoted to one. `path` is the secondary's own directory for its LOG,
// made if it is missing. The primary's files are not changed. *secondary refers to *engine, and
// must be destroyed before it. After an error neither is set.
Status OpenSecondaryEngine(const OpenRequest& request, const std::string& path,
                           std::shared_ptr<Engine>* engine, std::unique_ptr<Secondary>* secondary);

}  // namespace varve
