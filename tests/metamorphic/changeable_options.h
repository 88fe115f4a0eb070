// SPDX-License-Identifier: Apache-2.0
#pragma once

// Options that change while a database is open, with values that any option set can take.

#include <string>
#include <vector>

namespace varve::testing {

struct ChangeableOption {
  std::string name;
  std::vector<std::string> values;
};

const std::vector<ChangeableOption>& FamilyOptions();
const std::vector<ChangeableOption>& DatabaseOptions();

}  // namespace varve::testing
