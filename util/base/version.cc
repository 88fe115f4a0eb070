// SPDX-License-Identifier: Apache-2.0

// Defines the version compiled into the library.

#include "varve/version.h"

#include <string>

namespace varve {

std::string GetVarveVersionAsString(bool with_patch) {
  std::string version = std::to_string(VARVE_MAJOR) + "." + std::to_string(VARVE_MINOR);
  if (with_patch) version += "." + std::to_string(VARVE_PATCH);
  return version;
}

}  // namespace varve
