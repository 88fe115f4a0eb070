// SPDX-License-Identifier: Apache-2.0
#pragma once

// What is written into the information log of the options of a database and its families.

#include <string>
#include <vector>

#include "varve/options.h"

#include "db/engine/context.h"

namespace varve {

// The version, what is in the directory, and all options: "Options.name: value" a line, in one
// entry each for the database and every family, after "Options for column family [name]". `entries`
// are names in the directory.
void LogOptions(const DbContext& context, const std::vector<ColumnFamilyDescriptor>& families,
                const std::vector<std::string>& entries);

// The entry of one family, for one that is created later. `log` may be null.
void LogFamilyOptions(Logger* log, const ColumnFamilyDescriptor& family);
// It is not repeated in later logs: the family is dropped.
void ForgetFamilyOptions(Logger* log, const std::string& family);

}  // namespace varve
