// SPDX-License-Identifier: Apache-2.0
#pragma once

// Lists options that can change while a database is open, with values that any option set accepts.

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
