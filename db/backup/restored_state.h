// SPDX-License-Identifier: Apache-2.0
#pragma once

// Checks whether copied files are a database: it finds what an opening would, but needs nothing
// that only the database's user has, such as comparators.

#include <cstdint>
#include <map>
#include <string>

#include "varve/file_system.h"
#include "varve/status.h"

namespace varve {

// `directory` has CURRENT and the MANIFEST; `tables` are the paths of all tables by number.
// Corruption: CURRENT names no MANIFEST that exists, the MANIFEST is not whole, or a table that it
// names is missing, has another size, or is another one.
Status CheckRestoredState(FileSystem* fs, const std::string& directory,
                          const std::map<uint64_t, std::string>& tables);

}  // namespace varve
