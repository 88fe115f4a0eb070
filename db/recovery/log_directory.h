// SPDX-License-Identifier: Apache-2.0
#pragma once

// Checks that the logs are searched in the right directory. An opening that searches elsewhere
// finds none, and what it would write makes the existing logs obsolete.

#include <cstdint>
#include <string>
#include <vector>

#include "varve/file_system.h"
#include "varve/status.h"

namespace varve {

// The directory where the logs of a database are searched. Paths are absolute.
struct LogLocation {
  FileSystem* fs = nullptr;
  FileOptions file_options;  // For reading logs.
  std::string db_name;
  std::string directory;
  // True if a process has locked the database at its present place. Otherwise it is a copy, for
  // example a checkpoint, and its OPTIONS file names the original's logs.
  bool was_locked = false;
};

// True if an OPTIONS file that was written in the directory `was_in` describes where this
// database's files are. If the database is a copy, its OPTIONS file describes the original's. If
// the database was moved, the answer depends on `found`, which is true if the files are where they
// are searched: then they were moved, too, and the OPTIONS file names their former place.
bool SpeaksOfThis(const LogLocation& place, const std::string& was_in, bool found);

// Must be called after the MANIFEST was read and before logs are. Returns InvalidArgument, naming
// both directories, if batches that the MANIFEST needs are not in place.directory, but in the
// directory of logs that the database was last opened with, or in the database's own. A log that
// was moved or copied together with its database is in the right place, whatever the OPTIONS file
// says. `numbers` are the logs found in place.directory, from `min_log` on, ascending. Writes
// nothing.
Status CheckLogDirectory(const LogLocation& place, const std::vector<uint64_t>& numbers,
                         uint64_t min_log);

// Checks an existing database whose log directory is missing. Returns InvalidArgument if the
// database was last opened with that directory, because the logs in it are lost.
Status CheckMayBeMissing(const LogLocation& place);

// Checks a database that is about to be created. Returns Corruption if the directory of logs is not
// the database's own and holds logs, since they would be replayed into the new database.
Status CheckNoLogs(const LogLocation& place);

}  // namespace varve
