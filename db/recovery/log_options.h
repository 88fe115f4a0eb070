// SPDX-License-Identifier: Apache-2.0
#pragma once

// Writes the options of a database and its families to the info log.

#include <string>
#include <vector>

#include "varve/options.h"

#include "db/engine/context.h"

namespace varve {

// Logs the version, a summary of the directory, and all options as lines "Options.name: value": one
// entry for the database and one for each family, which begins with "Options for column family
// [name]". `entries` are the names in the directory.
void LogOptions(const DbContext& context, const std::vector<ColumnFamilyDescriptor>& families,
                const std::vector<std::string>& entries);

// Logs the entry of a family that is created later. `log` may be null.
void LogFamilyOptions(Logger* log, const ColumnFamilyDescriptor& family);
// Forgets the entry of a dropped family, so that new LOG files do not repeat it.
void ForgetFamilyOptions(Logger* log, const std::string& family);

}  // namespace varve
