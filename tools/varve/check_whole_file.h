// SPDX-License-Identifier: Apache-2.0
#pragma once

// Compares the checksum of a whole file with the one that the MANIFEST has of it.

#include <string>

#include "varve/options.h"
#include "varve/status.h"

#include "tools/varve/findings.h"

namespace varve::tool {

// Reads the file at `path` and reports damage unless `function`, the name of a function, gives
// `value`, the bytes of its result. Does nothing if the MANIFEST has no checksum of the file, and
// leaves a remark if the function is known neither to the options nor to this program. Returns
// errors of the file system.
Status CheckWholeFile(const DBOptions& options, const std::string& path,
                      const std::string& function, const std::string& value, Findings* findings);

}  // namespace varve::tool
