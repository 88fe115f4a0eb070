// SPDX-License-Identifier: Apache-2.0

// Defines the version compiled into the library.

#include "varve/version.h"

#include <string>

// Stand in where a compiler gets this file without the definitions of the build, as tools do.
#ifndef VARVE_COMMIT
#define VARVE_COMMIT "unknown"
#define VARVE_COMPILER "unknown compiler"
#define VARVE_BUILD_WORDS "unknown build"
#endif

namespace varve {

std::string GetVarveVersionAsString(bool with_patch) {
  std::string version = std::to_string(VARVE_MAJOR) + "." + std::to_string(VARVE_MINOR);
  if (with_patch) version += "." + std::to_string(VARVE_PATCH);
  return version;
}

std::string GetVarveBuildInfoAsString() {
  return "commit " VARVE_COMMIT ", " VARVE_COMPILER ", " VARVE_BUILD_WORDS;
}

}  // namespace varve
