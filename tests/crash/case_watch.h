// SPDX-License-Identifier: Apache-2.0
#pragma once

// Runs many small cases on a few threads, and names the case when one hangs or crashes.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace varve::testing {

// What a case came to. `wrong` is for the report; "" when all is well.
struct CaseResult {
  std::string wrong;
  std::string outcome;  // counted by name
};

struct CaseTotals {
  uint64_t cases = 0;
  std::vector<std::string> wrong;  // the first few, with the cases' names
  uint64_t wrong_count = 0;
  std::vector<std::pair<std::string, uint64_t>> outcomes;
};

// Runs `run(i)` for 0 <= i < count on `threads` threads. A case of more than ten seconds, or a
// crash, ends the process after printing the names of the cases under way.
CaseTotals RunCases(uint64_t count, int threads, const std::function<std::string(uint64_t)>& name,
                    const std::function<CaseResult(uint64_t)>& run);

// Two lines for people: outcomes, and the first wrong cases.
void PrintTotals(const char* what, const CaseTotals& totals);

}  // namespace varve::testing
