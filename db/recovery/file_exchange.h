// SPDX-License-Identifier: Apache-2.0
#pragma once

// Replaces the files of a database by those of another state, as the last part of a restore. After
// a crash at any moment the database has one of the two states.
//
// The new files are in restore.tmp/new of each directory, complete, checked and durable.
//   1. Write restore.tmp/LIST with the names of the new files, and copy CURRENT to
//      restore.tmp/before.
//   2. Write to CURRENT that an exchange is under way. No engine opens such a database.
//   3. Move the old files to restore.tmp/before.
//   4. Move the new files in.
//   5. Let CURRENT name the new MANIFEST. From here on the new state is in force.
// Each step is durable before the next begins. If an opening or another restore finds the CURRENT
// of step 2, it goes back: files in LIST that `new` lacks have moved in, and are moved back; then
// the files in `before` are, and CURRENT last.

#include <string>
#include <vector>

#include "varve/file_system.h"

namespace varve {

inline constexpr char kRestoreFolder[] = "restore.tmp";

// Returns the folder for the new files of a directory.
std::string IncomingFolder(const std::string& directory);

// Returns the name of the temporary file of CURRENT. A crash may leave it in the database's
// directory. ExchangeFiles writes it anew, so it must not be among the leaving files.
std::string ExchangeTempName();

// Names of files in one directory. CURRENT is in neither list, nor is ExchangeTempName().
struct ExchangedFiles {
  std::string directory;
  std::vector<std::string> leaving;
  std::vector<std::string> coming;
};

// Replaces files in `places`: the database's directory and, if there is a second one, that of its
// logs. `new_current` is the new contents of CURRENT. Requires that the caller holds the database's
// lock. After an error the database has the old state, or the next opening restores it, unless
// *in_force is true: then it has the new state.
Status ExchangeFiles(FileSystem* fs, const std::vector<ExchangedFiles>& places,
                     const std::string& new_current, bool* in_force);

// Undoes an interrupted exchange, and removes leftovers of restores. Requires that the caller holds
// the database's lock. wal_dir may be empty, or the database's directory.
Status UndoInterruptedRestore(FileSystem* fs, const std::string& db_name,
                              const std::string& wal_dir);

// Removes restore.tmp of one directory if it exists.
Status RemoveRestoreFolder(FileSystem* fs, const std::string& directory);

}  // namespace varve
