// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads a database that may be damaged or failing, in every way, and compares the results with the
// allowed states. An error is allowed; a wrong result is not.

#include <cstdint>
#include <string>
#include <vector>

#include "varve/db.h"

#include "tests/crash/numbered_writes.h"

namespace varve::testing {

// The states after writes 0..most, computed once. Thread-safe afterwards.
class StateTable {
 public:
  StateTable(std::vector<std::string> families, uint64_t most);

  const std::vector<std::string>& families() const { return families_; }
  uint64_t most() const { return states_.size() - 1; }
  const ReferenceState& At(uint64_t n) const { return states_[n]; }

 private:
  std::vector<std::string> families_;
  std::vector<ReferenceState> states_;
};

struct Verdict {
  std::string wrong;    // A result that is in no allowed state; "" if there is none.
  uint64_t errors = 0;  // Number of results that were errors.
  std::string first_error;
  // The first error about an entity that does not say which key has it; "" if there is none.
  std::string unnamed;
  uint64_t n = 0;  // The newest write that agrees with the results.
};

// Reads every key that may be there or not, and scans both ways, all families; where all values are
// entities, every key also as columns. The results must belong to one state in [least, most], and
// columns to their values.
Verdict ReadTolerantly(DB* db, const Handles& handles, const StateTable& states, uint64_t least,
                       uint64_t most);

}  // namespace varve::testing
