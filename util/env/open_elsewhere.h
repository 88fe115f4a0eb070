// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finds out whether any process has a file open, so that it must not be cut.

#include <string>

namespace varve {

// Returns true if another descriptor of the file is open, in this process or another one of this
// machine, or if that cannot be known. Returns false if the system has no file of that name, as for
// a file system that is not the system's.
bool MayBeOpenElsewhere(const std::string& path);

}  // namespace varve
