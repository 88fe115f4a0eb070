// SPDX-License-Identifier: Apache-2.0
#pragma once

// Computes the options that the engine uses: defaults that depend on other options are filled in,
// and values that are allowed but useless are clamped, as documented at each field.

#include <string>
#include <vector>

#include "varve/file_system.h"
#include "varve/options.h"

namespace varve {

// Return the options as the engine uses them. Bad values are not refused here (ValidateOptions).
DBOptions SanitizeOptions(const std::string& db_name, const DBOptions& options);
ColumnFamilyOptions SanitizeFamilyOptions(const DBOptions& db_options,
                                          const ColumnFamilyOptions& options);
// Returns the absolute directories of the family's tables; empty if none are set, which means the
// database's own.
std::vector<DbPath> TablePathsOf(const DBOptions& db_options, const ColumnFamilyOptions& options);
// Prepares the table factory, if there is one: missing parts, such as a block cache, are made in
// it, for all who share it. SanitizeFamilyOptions does this as well, but drops the error.
Status PrepareTableFactory(const ColumnFamilyOptions& options);
// Returns `options` with absolute directories, which stay the same when the process changes its
// working directory (util/env/absolute_path.h). Used with an absolute database name.
DBOptions WithAbsolutePaths(FileSystem* fs, const DBOptions& options);
// Returns the number of tables that may be open under max_open_files, which must be above 0.
size_t TablesFor(int max_open_files);
// Returns the host name for table properties that db_host_id selects.
std::string HostNameForTables(const DBOptions& options);
// Creates LOG in the database's directory (or db_log_dir), and renames the previous one.
Status CreateInfoLog(const DBOptions& options, const std::string& db_name,
                     std::shared_ptr<Logger>* log);

}  // namespace varve
