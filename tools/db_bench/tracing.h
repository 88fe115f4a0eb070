// SPDX-License-Identifier: Apache-2.0
#pragma once

// Records the calls of a benchmark in the file of --trace_file.

#include "tools/db_bench/database.h"

namespace varve::bench {

// Traces from its construction to its destruction. Every failure ends the program.
class Tracing {
 public:
  explicit Tracing(const Database& database);
  ~Tracing();
  Tracing(const Tracing&) = delete;
  Tracing& operator=(const Tracing&) = delete;

 private:
  const Database& database_;
};

}  // namespace varve::bench
