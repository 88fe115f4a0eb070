// SPDX-License-Identifier: Apache-2.0
#pragma once

// Counts what this process uses of the system: memory, files, threads, mappings.

#include <cstdint>
#include <map>
#include <string>

namespace varve::testing {

// Counts by name. Blocks and bytes are those of operator new, which this program replaces.
using Counts = std::map<std::string, int64_t>;

Counts CountProcess();

// Counts files and directories below `directory`.
int64_t CountEntries(const std::string& directory);

}  // namespace varve::testing
