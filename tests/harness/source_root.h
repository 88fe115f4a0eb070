// SPDX-License-Identifier: Apache-2.0
#pragma once

// Where the tree is that the tests were built from. Its path is in one small object, so that all
// others are the same in every checkout, and a compiler's cache finds them.

#include <string>

namespace varve::testing {

// Returns the root of the tree that this program was built from, or the folder that VARVE_TREE
// names.
std::string SourceRoot();

}  // namespace varve::testing
