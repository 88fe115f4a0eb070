// SPDX-License-Identifier: Apache-2.0

// Measures reads of merge operands with Varve.

#include "varve/cache.h"
#include "varve/db.h"
#include "varve/merge_operator.h"
#include "varve/options.h"
#include "varve/table.h"

namespace kv = varve;

#include "benchmarks/merge_operands.h"

int main(int argc, char** argv) {
  return merge_bench::Main(argc, argv);
}
