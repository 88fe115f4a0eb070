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

// True if an OPTIONS file that was written in `was_in` describes where this database's files are.
// That of a copy describes the original. `found`: the files are where they are searched.
bool SpeaksOfThis(const LogLocation& place, const std::string& was_in, bool found);

// Must be called after the MANIFEST was read and before logs are. InvalidArgument, naming both
// directories, when batches that the MANIFEST needs are not in the directory, but in the one that
// the database was last opened with, or in its own. A log that was moved or copied together with
// its database is in the right place, whatever the OPTIONS file says. `numbers`: the logs found,
// not below `min_log`, ascending. Writes nothing.
Status CheckLogDirectory(const LogLocation& place, const std::vector<uint64_t>& numbers,
                         uint64_t min_log);

// Checks an existing database whose log directory is missing. InvalidArgument if the database was
// last opened with that directory, because the logs in it are lost.
Status CheckMayBeMissing(const LogLocation& place);

// Checks a database that is about to be created. Corruption: the directory, if it is not the
// database's own, holds logs, which would be replayed into it.
Status CheckNoLogs(const LogLocation& place);

}  // namespace varve
