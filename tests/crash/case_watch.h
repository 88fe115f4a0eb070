// SPDX-License-Identifier: Apache-2.0
#pragma once

// Runs many small cases on a few threads, and names the case if one hangs or crashes.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace varve::testing {

// Holds the result of a case. `wrong` is for the report; "" if all is well.
struct CaseResult {
  std::string wrong;
  std::string outcome;  // Counted by name.
};

struct CaseTotals {
  uint64_t cases = 0;
  std::vector<std::string> wrong;  // The first few, with the names of their cases.
  uint64_t wrong_count = 0;
  std::vector<std::pair<std::string, uint64_t>> outcomes;
};

// Runs `run(i)` for 0 <= i < count on `threads` threads. A case of more than ten seconds, or a
// crash, ends the process after printing the names of the running cases.
CaseTotals RunCases(uint64_t count, int threads, const std::function<std::string(uint64_t)>& name,
                    const std::function<CaseResult(uint64_t)>& run);

// Prints two lines for people: outcomes, and the first wrong cases.
void PrintTotals(const char* what, const CaseTotals& totals);

}  // namespace varve::testing
