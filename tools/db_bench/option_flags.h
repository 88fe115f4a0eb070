// SPDX-License-Identifier: Apache-2.0
#pragma once

// Flags that set options of the engine by their own names: --<option>=<value> for every row of the
// options' schema (util/options/option_schema.h) that has a text form and is no flag of gflags.

#include <string>
#include <utility>
#include <vector>

#include "varve/options.h"
#include "varve/table.h"

namespace varve::bench {

// Holds the flags of this kind that a command line gave, in their order: of two for one option the
// later one counts. TakeFrom comes before gflags parses, which would refuse them.
class OptionFlags {
 public:
  // Removes these flags from the command line, in the forms that gflags accepts. Returns false,
  // with a line on stderr, if one has no value.
  [[nodiscard]] bool TakeFrom(int* argc, char** argv);

  // Sets the options whose defaults differ from the library's, and then those of the command line.
  // Returns false, with a line on stderr, if a value cannot be parsed.
  [[nodiscard]] bool Apply(Options* options, BlockBasedTableOptions* table) const;

 private:
  std::vector<std::pair<std::string, std::string>> given_;
};

}  // namespace varve::bench
