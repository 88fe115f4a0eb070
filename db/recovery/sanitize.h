// SPDX-License-Identifier: Apache-2.0
#pragma once

// Options as the engine uses them: defaults that depend on others are filled in, values that users
// may give but that make no sense alone are clamped, as documented at each field.

#include <string>
#include <vector>

#include "varve/file_system.h"
#include "varve/options.h"

namespace varve {

DBOptions SanitizeOptions(const std::string& db_name, const DBOptions& options);
ColumnFamilyOptions SanitizeFamilyOptions(const DBOptions& db_options,
                                          const ColumnFamilyOptions& options);
// Another step: the directories of the family's tables, absolute; none: the database's.
std::vector<DbPath> TablePathsOf(const DBOptions& db_options, const ColumnFamilyOptions& options);
// The first step of that, for those who need the cache before the rest: the table factory, if there
// is one, is made ready for use. It is the caller's: what it lacks, as a block cache, it has from
// now on, for all who share it.
Status PrepareTableFactory(const ColumnFamilyOptions& options);
// `options` whose directories are what they are now, wherever the process goes: with a name that is
// absolute too (util/env/absolute_path.h).
DBOptions WithAbsolutePaths(FileSystem* fs, const DBOptions& options);
// How many tables may be open under max_open_files, which is above 0.
size_t TablesFor(int max_open_files);
// What db_host_id names for table properties.
std::string HostNameForTables(const DBOptions& options);
// LOG in the database's directory (or db_log_dir), the one before renamed.
Status CreateInfoLog(const DBOptions& options, const std::string& db_name,
                     std::shared_ptr<Logger>* log);

}  // namespace varve
