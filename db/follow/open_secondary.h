// SPDX-License-Identifier: Apache-2.0
#pragma once

// Opens an engine on a database that another process writes.

#include <memory>
#include <string>

#include "db/recovery/open.h"

namespace varve {

class Secondary;
struct Engine;

// Opens a secondary or, if request.follower_directory is set, a follower. Requires
// request.read_only and request.follows; the options are still those of a writer, as a secondary
// can be promoted. `path` is the secondary's own directory, for its LOG; it is created if it is
// missing. The primary's files are not changed. *secondary refers to *engine, and must be destroyed
// before it. After an error neither is set.
Status OpenSecondaryEngine(const OpenRequest& request, const std::string& path,
                           std::shared_ptr<Engine>* engine, std::unique_ptr<Secondary>* secondary);

}  // namespace varve
