// SPDX-License-Identifier: Apache-2.0
#pragma once

// Detects directories that are shared with other machines, where a lock may exclude only processes
// of one of them.

#include <string>

namespace varve {

// True if the directory is on network storage; false if that cannot be determined.
bool IsOnNetworkStorage(const std::string& directory);

}  // namespace varve
