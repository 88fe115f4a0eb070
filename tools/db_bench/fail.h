// SPDX-License-Identifier: Apache-2.0
#pragma once

// Ends a run early, as a figure measured over an error is worth nothing.

#include <cstdio>
#include <cstdlib>
#include <string>

#include "varve/status.h"

namespace varve::bench {

// Prints the reason and ends the process with status 1, from any thread. The database is not
// closed, as other threads may be using it.
[[noreturn]] inline void Fail(const std::string& what) {
  std::fflush(stdout);
  std::fprintf(stderr, "%s\n", what.c_str());
  std::fflush(stderr);
  std::_Exit(1);
}

[[noreturn]] inline void Fail(const std::string& what, const Status& status) {
  Fail(what + ": " + status.ToString());
}

}  // namespace varve::bench
