// SPDX-License-Identifier: Apache-2.0
#pragma once

// Checks whether copied files form a complete database, without what only the database's user has,
// such as comparators. Logs are not checked: their replay does that.

#include <cstdint>
#include <map>
#include <string>

#include "varve/file_system.h"
#include "varve/status.h"

namespace varve {

// Checks CURRENT and the MANIFEST in `directory`, and the tables and blob files whose paths `files`
// holds by number. Returns OK if they form a database. Corruption: CURRENT names no MANIFEST that
// exists, the MANIFEST is not whole, `files` lacks a table that it names or a blob file that the
// tables need, or one of these has another size or is another file. NotFound or PathNotFound:
// `files` names a file that does not exist. Otherwise the error of a read.
Status CheckRestoredState(FileSystem* fs, const std::string& directory,
                          const std::map<uint64_t, std::string>& files);

}  // namespace varve
