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

// `directory` has CURRENT and the MANIFEST; `files` are the paths of all tables and blob files, by
// number.
// Corruption: CURRENT names no MANIFEST that exists, the MANIFEST is not whole, a table that it
// names is missing, has another size, or is another one, or a blob file that these tables need is
// missing or has another size.
Status CheckRestoredState(FileSystem* fs, const std::string& directory,
                          const std::map<uint64_t, std::string>& files);

}  // namespace varve
