// SPDX-License-Identifier: Apache-2.0
#pragma once

// Handles the table directories (db_paths, cf_paths) besides the database's own: an opening creates
// and lists them. If tables are missing, it checks whether they are in directories that the
// database had before.

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "varve/column_family.h"

#include "db/engine/context.h"
#include "db/recovery/database_directory.h"
#include "db/recovery/log_directory.h"
#include "db/version/table_paths.h"

namespace varve {

// Names of files by directory.
using DirectoryListing = std::map<std::string, std::vector<std::string>>;

// Returns the numbers of the tables and blob files.
std::set<uint64_t> TablesIn(const DirectoryListing& listing);

// Returns the directories of all these families.
std::set<std::string> TableDirectories(const std::string& db_name, const DBOptions& options,
                                       const std::vector<ColumnFamilyDescriptor>& families);

// Lists the contents of the directories of all these families. Creates missing ones durably, and
// notes them in `made`; a read-only opening omits them instead. Returns InvalidArgument if one
// belongs to another database.
Status TakeTableDirectories(const DbContext& context,
                            const std::vector<ColumnFamilyDescriptor>& families,
                            MadeDirectories* made, DirectoryListing* listing);

// The table directories in the newest OPTIONS file, read once. An OPTIONS file that another program
// has written is ignored. The file system must outlive the object. Thread safety: any thread.
class FormerDirectories {
 public:
  // Ignores a file that cannot be read. Does not use the log directory of `place`.
  explicit FormerDirectories(const LogLocation& place);

  // Checks a table that is not in the directory that the options give. Returns InvalidArgument,
  // naming both directories, if it is in one that the family had and the options lack.
  Status CheckNotThere(const std::string& family, const TablePaths& paths,
                       const TableFacts& table) const;
  // Returns the family's former directories if the options lack any of them; otherwise an empty
  // text.
  std::string WithUnnamed(const std::string& family, const TablePaths& paths) const;

 private:
  FileSystem* const fs_;
  const std::string db_name_;
  std::map<std::string, std::vector<std::string>> by_family_;
};

}  // namespace varve
