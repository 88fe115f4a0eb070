// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finds the members of option structs that point to objects that outlive a call, and so may be
// given to several families and databases. It reads the public headers, so that none is forgotten.

#include <set>
#include <string>

namespace varve::testing {

// Returns "Struct::member" of each, in all headers under `include_dir`. Pointers to what belongs to
// one call, such as slices and snapshots, are not among them.
std::set<std::string> SharedMembers(const std::string& include_dir);

}  // namespace varve::testing
