// SPDX-License-Identifier: Apache-2.0
#pragma once

// Plants bugs: stores that now and then answer as a broken database would. A checker that does not
// report them proves nothing.

#include <memory>
#include <span>

#include "tests/consistency/store.h"

namespace varve::testing {

struct PlantedBug {
  const char* name;
  // Names of the checkers that must report the bug when they run alone; the others may.
  const char* caught_by;
  std::unique_ptr<Store> (*make)(const WriteMode& mode, std::unique_ptr<DB> db,
                                 std::vector<ColumnFamilyHandle*> handles, Findings* findings);
};

std::span<const PlantedBug> PlantedBugs();

}  // namespace varve::testing
