// SPDX-License-Identifier: Apache-2.0
#include "tests/harness/source_root.h"

#include <cstdlib>

namespace varve::testing {

std::string SourceRoot() {
  const char* const named = std::getenv("VARVE_TREE");
  return named == nullptr ? VARVE_SOURCE_DIR : named;
}

}  // namespace varve::testing
