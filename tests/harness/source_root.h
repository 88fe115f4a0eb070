// SPDX-License-Identifier: Apache-2.0
#pragma once

// Tells the location of the source tree of the tests. Its path is in one small object file, so that
// all others are the same in every checkout, and a compiler's cache finds them.

#include <string>

namespace varve::testing {

// Returns the root of the tree from which this program was built, or the folder that VARVE_TREE
// names.
std::string SourceRoot();

}  // namespace varve::testing
