// SPDX-License-Identifier: Apache-2.0
#pragma once

// Computes the effective options: sets defaults that depend on other options, and clamps values
// that are allowed but useless, as documented at each field.

#include <string>
#include <vector>

#include "varve/file_system.h"
#include "varve/options.h"

namespace varve {

// Return the effective options. Invalid values are not refused here (ValidateOptions).
DBOptions SanitizeOptions(const std::string& db_name, const DBOptions& options);
ColumnFamilyOptions SanitizeFamilyOptions(const DBOptions& db_options,
                                          const ColumnFamilyOptions& options);
// Returns the absolute directories of the family's tables, or none if the options have none, which
// means the database's own.
std::vector<DbPath> TablePathsOf(const DBOptions& db_options, const ColumnFamilyOptions& options);
// Prepares the table factory, if there is one: creates missing parts, such as a block cache, which
// all users of the factory share. SanitizeFamilyOptions does so too, but ignores the error.
Status PrepareTableFactory(const ColumnFamilyOptions& options);
// Returns `options` with absolute directories, so that they do not change with the working
// directory of the process (util/env/absolute_path.h).
DBOptions WithAbsolutePaths(FileSystem* fs, const DBOptions& options);
// Returns the number of tables that may be open with this max_open_files, which must be positive.
size_t TablesFor(int max_open_files);
// Returns the host name for table properties that db_host_id selects, or an empty one if the system
// does not tell it. Requires effective options (env is set).
std::string HostNameForTables(const DBOptions& options);
// Creates the LOG in the database's directory, or db_log_dir, after renaming the previous one, and
// sets *log to it. Requires effective options (env is set).
Status CreateInfoLog(const DBOptions& options, const std::string& db_name,
                     std::shared_ptr<Logger>* log);

}  // namespace varve
