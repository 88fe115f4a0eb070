// SPDX-License-Identifier: Apache-2.0

// Measures user timestamps with Varve.

#include "varve/cache.h"
#include "varve/comparator.h"
#include "varve/db.h"
#include "varve/options.h"
#include "varve/table.h"

namespace kv = varve;

#include "benchmarks/timestamps.h"

int main(int argc, char** argv) {
  return timestamp_bench::Main(argc, argv);
}
