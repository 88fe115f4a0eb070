// SPDX-License-Identifier: Apache-2.0
#pragma once

// Checks that logs are searched in the right directory (wal_dir). An opening that searched
// elsewhere would find none, and make the existing logs obsolete.

#include <cstdint>
#include <string>
#include <vector>

#include "varve/file_system.h"
#include "varve/status.h"

namespace varve {

// The directory in which an opening searches the logs of a database. Paths are absolute.
struct LogLocation {
  FileSystem* fs = nullptr;
  FileOptions file_options;  // For reading logs.
  std::string db_name;
  std::string directory;
  // True if a process has locked the database at this path. Otherwise it is a copy, such as a
  // checkpoint, and its OPTIONS file names the original's directories.
  bool was_locked = false;
};

// Returns true if the OPTIONS file of this database, which was written in the directory `was_in`
// (empty: unknown), names the directories of this database. In a copy it names those of the
// original: false if `was_in` has a LOCK, and that is not this database's. Without a LOCK there the
// database was moved; then the result is !found, as files that were found where they are searched
// were moved, too, and the OPTIONS file names their former directories.
bool SpeaksOfThis(const LogLocation& place, const std::string& was_in, bool found);

// Must be called after the MANIFEST was read and before logs are. Returns InvalidArgument, naming
// both directories, if logs that the MANIFEST needs are not in place.directory, but in the
// directory of logs of the last opening, or in the database's own. Logs that were moved or copied
// with their database are accepted, whatever the OPTIONS file has. `numbers` are the logs in
// place.directory from `min_log` on, ascending. Writes nothing.
Status CheckLogDirectory(const LogLocation& place, const std::vector<uint64_t>& numbers,
                         uint64_t min_log);

// Checks an existing database whose directory of logs is missing. Returns InvalidArgument if the
// database was last opened with that directory, since its logs are then lost.
Status CheckMayBeMissing(const LogLocation& place);

// Checks a database that is about to be created. Returns Corruption if the directory of logs is not
// the database's own and has logs, which would be replayed into the new database.
Status CheckNoLogs(const LogLocation& place);

}  // namespace varve
