// SPDX-License-Identifier: Apache-2.0
#pragma once

// Owns the question whether a directory is shared with other machines, where a lock may keep out
// processes of one alone.

#include <string>

namespace varve {

// False also where nothing can be found out.
bool IsOnNetworkStorage(const std::string& directory);

}  // namespace varve
