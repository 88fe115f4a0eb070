// SPDX-License-Identifier: Apache-2.0
#pragma once

// Changing the options of an open database by name: all of the changes or none.

#include <string>
#include <unordered_map>

#include "varve/options.h"
#include "varve/status.h"

namespace varve {

using OptionMap = std::unordered_map<std::string, std::string>;

// `current` with the named dynamic options changed, checked as at open. *changed is untouched
// after an error. InvalidArgument: unknown name, not dynamic, unreadable or without sense.
// NotSupported: a value that the engine lacks.
Status ChangeDbOptions(const DBOptions& current, const OptionMap& changes, DBOptions* changed);
Status ChangeColumnFamilyOptions(const DBOptions& db_options, const ColumnFamilyOptions& current,
                                 const OptionMap& changes, ColumnFamilyOptions* changed);

}  // namespace varve
