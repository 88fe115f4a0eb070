// SPDX-License-Identifier: Apache-2.0
#pragma once

// Creates and locks the directory of a database at its opening, and checks that it has a database,
// or nothing that an opening could damage.

#include <string>
#include <vector>

#include "varve/status.h"

#include "db/engine/context.h"
#include "db/recovery/log_directory.h"

namespace varve {

// Creates the directory if it is missing, and syncs its parent: otherwise a power loss could remove
// it with everything in it, even synced files. Sets *made, unless it is null, to whether it was
// missing.
IOStatus MakeDirectoryDurably(FileSystem* fs, const std::string& path, bool* made = nullptr);

// Directories that an opening has created. The destructor removes the empty ones, unless Keep was
// called because the opening succeeded. The file system is borrowed. Thread safety: none.
class MadeDirectories {
 public:
  explicit MadeDirectories(FileSystem* fs) : fs_(fs) {}
  ~MadeDirectories() { Remove(); }
  MadeDirectories(const MadeDirectories&) = delete;
  MadeDirectories& operator=(const MadeDirectories&) = delete;

  // Creates the directory durably, and adds it to the list; does nothing if it exists.
  IOStatus Make(const std::string& path);
  // Empties the list, so that the directories stay.
  void Keep() noexcept { paths_.clear(); }
  // Removes the directories that are empty except for a LOCK file, and empties the list.
  void Remove() noexcept;

 private:
  FileSystem* const fs_;
  std::vector<std::string> paths_;
};

// Creates the directories with create_if_missing, locks the database, and opens the LOG and the
// directory for syncs. A read-only opening does not change the directory, and a repair (`repairs`)
// has locked it already. The database's own directory stays, with the LOG, even if the opening
// fails. After an error the lock may be held: the caller calls made->Remove(), and then
// context->Unlock().
Status TakeDirectory(DbContext* context, bool repairs, MadeDirectories* made);

// Returns true if the directory is another database's: it has a CURRENT, and is not this database's
// directory under another name.
bool IsOfAnotherDatabase(FileSystem* fs, const std::string& db_name, const std::string& directory);

// Returns InvalidArgument if the directory is another database's. `what` names, for the message,
// the files for which it was given.
Status CheckNotOfAnother(FileSystem* fs, const std::string& db_name, const std::string& directory,
                         const std::string& what);

// Sets *found to whether there is a database: a CURRENT, or `manifest_chosen`
// (best_efforts_recovery). InvalidArgument: that contradicts create_if_missing or error_if_exists.
Status FindDatabase(const DbContext& context, bool manifest_chosen, bool* found);

// Checks a directory without CURRENT in which a database is to be created; `entries` are the names
// in it. Returns Corruption if there is a table, a log or a blob file, or if a separate directory
// of logs has logs. Other files, such as the MANIFEST of an interrupted creation, are accepted.
Status CheckHoldsNoData(const LogLocation& logs, const std::string& directory,
                        const std::vector<std::string>& entries);

}  // namespace varve
