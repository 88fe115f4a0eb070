// SPDX-License-Identifier: Apache-2.0
#pragma once

// What this process has of the system at a moment: memory, files, threads, mappings.

#include <cstdint>
#include <map>
#include <string>

namespace varve::testing {

// By name. Blocks and bytes are those of operator new, which this program replaces.
using Counts = std::map<std::string, int64_t>;

Counts CountProcess();

// Files and directories below `directory`.
int64_t CountEntries(const std::string& directory);

}  // namespace varve::testing
