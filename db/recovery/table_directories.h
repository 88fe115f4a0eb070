// SPDX-License-Identifier: Apache-2.0
#pragma once

// Directories of tables (db_paths, cf_paths) beside the database's own: an opening makes them, and
// reads what is in them.

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "varve/column_family.h"

#include "db/engine/context.h"

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
                            DirectoryListing* listing);

}  // namespace varve
