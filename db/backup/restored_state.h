// SPDX-License-Identifier: Apache-2.0
#pragma once

// Checks whether copied files form a complete database. It finds the errors that opening it would,
// but needs nothing that only the database's user has, such as comparators.

#include <cstdint>
#include <map>
#include <string>

#include "varve/file_system.h"
#include "varve/status.h"

namespace varve {

// Checks CURRENT and the MANIFEST in `directory`, and the tables and blob files whose paths `files`
// holds by number. Returns OK if they form a database. Corruption: CURRENT names no MANIFEST that
// exists, the MANIFEST is not whole, a table that it names is missing, has another size, or is
// another one, or a blob file that these tables need is missing or has another size.
Status CheckRestoredState(FileSystem* fs, const std::string& directory,
                          const std::map<uint64_t, std::string>& files);

}  // namespace varve
