// SPDX-License-Identifier: Apache-2.0
#pragma once

// Directories of tables (db_paths, cf_paths) beside the database's own: an opening makes them, and
// reads what is in them. Whoever misses tables asks whether they are where the database had them.

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

// Names of files, by directory.
using DirectoryListing = std::map<std::string, std::vector<std::string>>;

// Numbers of the tables.
std::set<uint64_t> TablesIn(const DirectoryListing& listing);

// Of all these families.
std::set<std::string> TableDirectories(const std::string& db_name, const DBOptions& options,
                                       const std::vector<ColumnFamilyDescriptor>& families);

// What is in them. Missing ones are made, and their names durable, unless the database is
// open to read only: then they are left out. InvalidArgument if one belongs to another database.
Status TakeTableDirectories(const DbContext& context,
                            const std::vector<ColumnFamilyDescriptor>& families,
                            MadeDirectories* made, DirectoryListing* listing);

// Where the newest OPTIONS file has tables. Those of other programs do not tell.
class FormerDirectories {
 public:
  // What cannot be read tells nothing. Of the place, the directory of logs is not looked at.
  explicit FormerDirectories(const LogLocation& place);

  // Of a table that is not where the options have it. InvalidArgument, naming both directories, if
  // it is in one that the options lack, and the family had.
  Status CheckNotThere(const std::string& family, const TablePaths& paths,
                       const TableFacts& table) const;
  // Those of the family, if the options lack any; empty: they do not.
  std::string WithUnnamed(const std::string& family, const TablePaths& paths) const;

 private:
  FileSystem* const fs_;
  const std::string db_name_;
  std::map<std::string, std::vector<std::string>> by_family_;
};

}  // namespace varve
