// SPDX-License-Identifier: Apache-2.0
#pragma once

// Whether the logs are looked for where they are. An opening that looks elsewhere finds none, and
// what it would write down makes those that there are obsolete.

#include <cstdint>
#include <string>
#include <vector>

#include "varve/file_system.h"
#include "varve/status.h"

namespace varve {

// Of a database, where logs are going to be looked for. Paths are absolute.
struct LogLocation {
  FileSystem* fs = nullptr;
  FileOptions file_options;  // to read logs with
  std::string db_name;
  std::string directory;
  // A process has locked the database where it is now. If not, it is a copy, as of a checkpoint:
  // its OPTIONS file speaks of the original's logs.
  bool was_locked = false;
};

// Whether an OPTIONS file that was written in `was_in` tells where this database's files are. That
// of a copy speaks of its original. `found`: they are where they are looked for.
bool SpeaksOfThis(const LogLocation& place, const std::string& was_in, bool found);

// After the MANIFEST was read, before logs are. InvalidArgument, naming both, when batches that the
// MANIFEST asks for are not in the directory, but in the one that the database was last opened
// with, or in its own. A log that was moved or copied together with its database is where it should
// be, whatever the OPTIONS file says. `numbers`: the logs found, not below `min_log`, ascending.
// Writes nothing.
Status CheckLogDirectory(const LogLocation& place, const std::vector<uint64_t>& numbers,
                         uint64_t min_log);

// Of a database that exists, when the directory does not. InvalidArgument if the database was last
// opened with it: nobody knows what is gone.
Status CheckMayBeMissing(const LogLocation& place);

// Of a database that is about to be made. Corruption: the directory, if it is not the database's
// own, holds logs, which would be replayed into it.
Status CheckNoLogs(const LogLocation& place);

}  // namespace varve
