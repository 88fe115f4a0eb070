// SPDX-License-Identifier: Apache-2.0

// Runs a script about timestamps with Varve.

#include "varve/comparator.h"
#include "varve/convenience.h"
#include "varve/db.h"
#include "varve/options.h"
#include "varve/write_batch.h"

namespace kv = varve;
constexpr bool kKnowsAll = true;
constexpr bool kWalksBackwards = true;

#include "tests/interop/timestamp_driver.h"

int main(int argc, char** argv) {
  return interop::RunTimestampDriver(argc, argv);
}
