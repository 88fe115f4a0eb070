// SPDX-License-Identifier: Apache-2.0
#pragma once

// What an opening writes into the information log of the options that it opens with.

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

}  // namespace varve
