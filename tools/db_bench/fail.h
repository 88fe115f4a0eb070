// SPDX-License-Identifier: Apache-2.0
#pragma once

// How a run ends early: a figure that was measured over an error is worth nothing.

#include <cstdio>
#include <cstdlib>
#include <string>

#include "varve/status.h"

namespace varve::bench {

// Says what went wrong and ends the process with status 1, from any thread. The database is not
// closed: other threads may be using it.
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
