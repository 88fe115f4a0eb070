// SPDX-License-Identifier: Apache-2.0
#pragma once

// Lists the combinations of format options and contents under which directories are written.

#include <string>
#include <vector>

#include "tests/interop/script.h"

namespace varve::testing {

struct Combo {
  std::string name;
  std::string db_options;
  std::string family_options;
  std::string reading_options;  // options of a family that say how its tables are read
  std::string fast_bytes;       // not empty: tables beyond them are in another directory
  Content content;
  int ping_pongs = 0;  // cycles in which the two engines go on writing in turn
};

// Returns the combinations that Varve writes.
std::vector<Combo> OurCombos();
// Returns the combinations that RocksDB writes, including what Varve does not write.
std::vector<Combo> TheirCombos();

}  // namespace varve::testing
