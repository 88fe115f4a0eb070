// SPDX-License-Identifier: Apache-2.0
#pragma once

// Creates and locks the directory of a database at its opening, and checks that it holds a
// database, or nothing that an opening could damage.

#include <string>
#include <vector>

#include "varve/status.h"

#include "db/engine/context.h"
#include "db/recovery/log_directory.h"

namespace varve {

// Creates a missing directory and syncs its name into its parent: otherwise a power loss could
// remove everything in it, even synced files. Sets *made to true if it was missing.
IOStatus MakeDirectoryDurably(FileSystem* fs, const std::string& path, bool* made = nullptr);

// Directories that an opening has created. The destructor removes the empty ones, unless Keep was
// called because the opening succeeded. The file system is borrowed. Thread safety: none.
class MadeDirectories {
 public:
  explicit MadeDirectories(FileSystem* fs) : fs_(fs) {}
  ~MadeDirectories() { Remove(); }
  MadeDirectories(const MadeDirectories&) = delete;
  MadeDirectories& operator=(const MadeDirectories&) = delete;

  // Creates the directory durably, and remembers it; does nothing if it exists.
  IOStatus Make(const std::string& path);
  // Forgets the directories, which stay.
  void Keep() noexcept { paths_.clear(); }
  // Removes those that are empty but for a LOCK file, and forgets all.
  void Remove() noexcept;

 private:
  FileSystem* const fs_;
  std::vector<std::string> paths_;
};

// Creates the directories if the options say so, locks the database, and opens the LOG. A reader
// (DbContext::read_only) does not change the directory, and a repair has already locked it. The
// database's own directory stays, with the LOG, even if the opening fails.
Status TakeDirectory(DbContext* context, bool repairs, MadeDirectories* made);

// True if the directory is that of another database: it has a CURRENT, and is not this database's
// directory under another name.
bool IsOfAnotherDatabase(FileSystem* fs, const std::string& db_name, const std::string& directory);

// Returns InvalidArgument if the directory is that of another database; `what` names the files that
// it is to contain.
Status CheckNotOfAnother(FileSystem* fs, const std::string& db_name, const std::string& directory,
                         const std::string& what);

// Sets *found to true if there is a CURRENT or `manifest_chosen`, which replaces one.
// Returns InvalidArgument if that contradicts the options (create_if_missing, error_if_exists).
Status FindDatabase(const DbContext& context, bool manifest_chosen, bool* found);

// Checks the directory of a database to be created, which has no CURRENT. It must hold no data:
// only a MANIFEST and temporary files may be left of an interrupted creation.
Status CheckHoldsNoData(const LogLocation& logs, const std::string& directory,
                        const std::vector<std::string>& entries);

}  // namespace varve
