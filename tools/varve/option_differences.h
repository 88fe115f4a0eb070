// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finds the options of a database that differ from the defaults.

#include <string>
#include <vector>

#include "tools/varve/database.h"

namespace varve::tool {

struct OptionDifference {
  std::string family;  // Empty: an option of the whole database.
  std::string name;
  std::string value;
  std::string usual;
};

// Returns them sorted by name, those of the whole database first.
std::vector<OptionDifference> DifferencesOf(const StoredOptions& stored);

}  // namespace varve::tool
