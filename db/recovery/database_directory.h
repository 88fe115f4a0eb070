// SPDX-License-Identifier: Apache-2.0
#pragma once

// The directory of a database at its opening: it is made and locked, and holds a database, or
// nothing that an opening could do harm to.

#include <string>
#include <vector>

#include "varve/status.h"

#include "db/engine/context.h"
#include "db/recovery/log_directory.h"

namespace varve {

// A missing directory is made, and its name synced into its parent: without that a power loss could
// take all that is in it, however well its files were synced. *made: it was missing.
IOStatus MakeDirectoryDurably(FileSystem* fs, const std::string& path, bool* made = nullptr);

// Directories that are made for something that may be refused: those that hold nothing are removed
// again, as if nobody had asked, unless they are kept.
class MadeDirectories {
 public:
  explicit MadeDirectories(FileSystem* fs) : fs_(fs) {}
  ~MadeDirectories() { Remove(); }
  MadeDirectories(const MadeDirectories&) = delete;
  MadeDirectories& operator=(const MadeDirectories&) = delete;

  // Does nothing if it is there.
  IOStatus Make(const std::string& path);
  void Keep() noexcept { paths_.clear(); }
  void Remove() noexcept;

 private:
  FileSystem* const fs_;
  std::vector<std::string> paths_;
};

// Makes the directories if the options say so, locks the database, and opens the LOG. A reader
// (DbContext::read_only) leaves the directory alone, and a repair has locked it already. The
// database's own directory stays, with the LOG, whatever becomes of the opening.
Status TakeDirectory(DbContext* context, bool repairs, MadeDirectories* made);

// Whether the directory is that of another database: it has a CURRENT, and is not this one's by
// another name.
bool IsOfAnotherDatabase(FileSystem* fs, const std::string& db_name, const std::string& directory);

// InvalidArgument if it is; `what` of this one it is to hold.
Status CheckNotOfAnother(FileSystem* fs, const std::string& db_name, const std::string& directory,
                         const std::string& what);

// *found: there is a CURRENT, or `manifest_chosen`, which stands for one. InvalidArgument if the
// options want it otherwise.
Status FindDatabase(const DbContext& context, bool manifest_chosen, bool* found);

// Of a directory of a database that is about to be made, as there is no CURRENT. It is a new one
// only if it holds no data: what is left of an interrupted creation is a MANIFEST and temporary
// files.
Status CheckHoldsNoData(const LogLocation& logs, const std::string& directory,
                        const std::vector<std::string>& entries);

}  // namespace varve
