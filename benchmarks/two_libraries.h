// SPDX-License-Identifier: Apache-2.0
#pragma once

// Shared by programs that are written once against the API that both engines have. A file that
// includes one of them first includes the engine's headers and names the engine: `namespace kv =
// varve;`.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace two_libraries {

// Ends the program if `s` is an error.
inline void Check(const kv::Status& s, const char* what) {
  if (s.ok()) return;
  std::fprintf(stderr, "%s: %s\n", what, s.ToString().c_str());
  std::exit(1);
}

// Returns the seconds of a monotonic clock.
inline double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Returns the greater of the two in the middle if their number is even. Requires: not empty.
inline double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace two_libraries
