// SPDX-License-Identifier: Apache-2.0
#pragma once
//
// Versions of the library: the one that a program is compiled against, and the one it runs with.

#include <string>

#include "varve/export.h"

#define VARVE_MAJOR 0
#define VARVE_MINOR 1
#define VARVE_PATCH 0

namespace varve {

/// Returns the version of the linked library: "0.1.0", or "0.1" without the patch.
VARVE_EXPORT std::string GetVarveVersionAsString(bool with_patch = true);

}  // namespace varve
