// SPDX-License-Identifier: Apache-2.0
#pragma once

// Changing the options of an open database by name: all of the changes or none.

#include <string>
#include <unordered_map>

#include "varve/options.h"
#include "varve/status.h"

namespace varve {

using OptionChanges = std::unordered_map<std::string, std::string>;

// `current`, which is valid, with the named dynamic options changed; the result is checked as at
// open. One field of a struct is named "compression_opts.level". Table options that are dynamic are
// fields of block_based_table_factory, which is also table_factory, and may be given together:
// "{name=value;...}".
// *changed is untouched after an error. Errors: InvalidArgument: none named, unknown name, not
// dynamic, unreadable, or without sense.
//   NotSupported: a value that the engine lacks.
Status ChangeDbOptions(const DBOptions& current, const OptionChanges& changes, DBOptions* changed);
Status ChangeColumnFamilyOptions(const DBOptions& db_options, const ColumnFamilyOptions& current,
                                 const OptionChanges& changes, ColumnFamilyOptions* changed);

}  // namespace varve
