// SPDX-License-Identifier: Apache-2.0
#pragma once

// Changes the options of an open database by name: all of the changes or none.

#include <string>
#include <unordered_map>

#include "varve/options.h"
#include "varve/status.h"

namespace varve {

using OptionChanges = std::unordered_map<std::string, std::string>;

// Sets *changed to `current`, which must be valid, with the named dynamic options changed; the
// result is checked as at open. One field of a struct is named like "compression_opts.level".
// Dynamic table options are fields of block_based_table_factory, also named table_factory, and may
// be given together: "{name=value;...}". *changed is unchanged after an error. Errors:
// InvalidArgument if no name is given or a name is unknown or not dynamic, or a value is unreadable
// or invalid; NotSupported for a value that the engine lacks.
Status ChangeDbOptions(const DBOptions& current, const OptionChanges& changes, DBOptions* changed);
Status ChangeColumnFamilyOptions(const DBOptions& db_options, const ColumnFamilyOptions& current,
                                 const OptionChanges& changes, ColumnFamilyOptions* changed);

}  // namespace varve
