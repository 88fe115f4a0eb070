// SPDX-License-Identifier: Apache-2.0
#pragma once

// Where the tree is whose rules are checked.

#include <cstdlib>
#include <filesystem>

namespace varve::tidy {

// Returns the root of the tree that this program was built from, or the folder that VARVE_TREE
// names.
inline std::filesystem::path SourceRoot() {
  const char* const named = std::getenv("VARVE_TREE");
  return named == nullptr ? VARVE_SOURCE_DIR : named;
}

}  // namespace varve::tidy
