// SPDX-License-Identifier: Apache-2.0
#pragma once

// Flags that are options of the engine by their own names: --<option>=<value> for every row of the
// options' schema (util/options/option_schema.h) that has a text form and is no flag of gflags.

#include <string>
#include <utility>
#include <vector>

#include "varve/options.h"
#include "varve/table.h"

namespace varve::bench {

class OptionFlags {
 public:
  // Takes them out of the command line, in the forms that gflags has. False, with a line on
  // stderr, if one comes without its value.
  [[nodiscard]] bool TakeFrom(int* argc, char** argv);

  // Sets the options whose defaults differ from the library's, and then those of the command line.
  // False, with a line on stderr, for a value that cannot be read.
  [[nodiscard]] bool Apply(Options* options, BlockBasedTableOptions* table) const;

 private:
  std::vector<std::pair<std::string, std::string>> given_;
};

}  // namespace varve::bench
