// SPDX-License-Identifier: Apache-2.0
#pragma once

// Creates and lists the table directories (db_paths, cf_paths) other than the database's own. If
// tables are missing, checks whether they are in directories that the database had before.

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

// Returns the table directories of all these families other than the database's own.
std::set<std::string> TableDirectories(const std::string& db_name, const DBOptions& options,
                                       const std::vector<ColumnFamilyDescriptor>& families);

// Adds to *listing the names in each of TableDirectories. Creates missing ones durably, and adds
// them to *made; omits them if `made` is null, as a read-only opening must. InvalidArgument: one is
// another database's.
Status TakeTableDirectories(const DbContext& context,
                            const std::vector<ColumnFamilyDescriptor>& families,
                            MadeDirectories* made, DirectoryListing* listing);

// The table directories in the newest OPTIONS file. An OPTIONS file of another program is ignored.
// The file system must outlive the object. Thread-safe.
class FormerDirectories {
 public:
  // Reads the file, and ignores it if it cannot be read. Does not use place.directory.
  explicit FormerDirectories(const LogLocation& place);

  // Checks a table that is not in its directory. InvalidArgument, naming the former directories:
  // the table is in one of these that the options lack. Otherwise returns the error of a file
  // system that cannot tell.
  Status CheckNotThere(const std::string& family, const TablePaths& paths,
                       const TableFacts& table) const;
  // Returns the family's former directories, as text, if the options lack any of them, or else "".
  std::string WithUnnamed(const std::string& family, const TablePaths& paths) const;

 private:
  FileSystem* const fs_;
  const std::string db_name_;
  std::map<std::string, std::vector<std::string>> by_family_;
};

}  // namespace varve
