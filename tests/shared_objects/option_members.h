// SPDX-License-Identifier: Apache-2.0
#pragma once

// Which members of option structs point to objects that outlive a call, and so may be given to
// several families and databases: read from the public headers, so that none is forgotten.

#include <set>
#include <string>

namespace varve::testing {

// "Struct::member" of each, in all headers under `include_dir`. Pointers to what belongs to one
// call, as slices and snapshots do, are not among them.
std::set<std::string> SharedMembers(const std::string& include_dir);

}  // namespace varve::testing
