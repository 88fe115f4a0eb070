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
// called because the opening succeeded.
class MadeDirectories {
 public:
  explicit MadeDirectories(FileSystem* fs) : fs_(fs) {}
  ~MadeDirectories() { Remove(); }
  MadeDirectories(const MadeDirectories&) = delete;
  MadeDirectories& operator=(const MadeDirectories&) = delete;

  // Does nothing if the directory exists.
  IOStatus Make(const std::string& path);
  void Keep() noexcept { paths_.clear(); }
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

// Returns InvalidArgument if it is; `what` names the files that the directory is to hold.
Status CheckNotOfAnother(FileSystem* fs, const std::string& db_name, const std::string& directory,
                         const std::string& what);

// Sets *found to true if there is a CURRENT or `manifest_chosen`, which replaces one.
// InvalidArgument if that contradicts the options.
Status FindDatabase(const DbContext& context, bool manifest_chosen, bool* found);

// Checks the directory of a database to be created, which has no CURRENT. It must hold no data:
// only a MANIFEST and temporary files may be left of an interrupted creation.
Status CheckHoldsNoData(const LogLocation& logs, const std::string& directory,
                        const std::vector<std::string>& entries);

}  // namespace varve
