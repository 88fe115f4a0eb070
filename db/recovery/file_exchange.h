// SPDX-License-Identifier: Apache-2.0
#pragma once

// Puts the files of another state of a database in the place of those that are there, so that a
// crash at any moment leaves the one or the other: what a restore does last.
//
// The new files wait in restore.tmp/new of each directory, complete, checked and durable.
//   1. restore.tmp/LIST says which of them come in, and restore.tmp/before gets a copy of CURRENT.
//   2. CURRENT says that an exchange is under way. No engine opens that.
//   3. The files that go move to restore.tmp/before.
//   4. The new files move in.
//   5. CURRENT names the new MANIFEST. From here on the new state is in force.
// Each step is durable before the next begins. An opening, or another restore, that finds CURRENT
// as of 2 goes back: what LIST names and `new` lacks has moved in, and moves back; then what is in
// `before` does, and CURRENT comes last.

#include <string>
#include <vector>

#include "varve/file_system.h"

namespace varve {

inline constexpr char kRestoreFolder[] = "restore.tmp";

// Where the new files of a directory wait.
std::string IncomingFolder(const std::string& directory);

// Names within one directory. CURRENT is in neither list.
struct ExchangedFiles {
  std::string directory;
  std::vector<std::string> leaving;
  std::vector<std::string> coming;
};

// The first place is the database's own directory, the second, if there is one, that of its logs.
// The caller holds the database's lock. After an error the old state is in force, or what an
// opening goes back from to it; if *in_force, the new one is.
Status ExchangeFiles(FileSystem* fs, const std::vector<ExchangedFiles>& places,
                     const std::string& new_current, bool* in_force);

// Goes back from an exchange that was interrupted, and removes what restores have left. The caller
// holds the lock. wal_dir may be empty, or the database's directory.
Status UndoInterruptedRestore(FileSystem* fs, const std::string& db_name,
                              const std::string& wal_dir);

// Removes restore.tmp of one directory, if it is there.
Status RemoveRestoreFolder(FileSystem* fs, const std::string& directory);

}  // namespace varve
