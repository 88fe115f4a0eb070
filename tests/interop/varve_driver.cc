// SPDX-License-Identifier: Apache-2.0

// Runs a script with Varve.

#include "varve/convenience.h"
#include "varve/db.h"
#include "varve/listener.h"
#include "varve/options.h"
#include "varve/slice_transform.h"
#include "varve/table.h"
#include "varve/write_batch.h"

namespace kv = varve;

#include "tests/interop/driver.h"

int main(int argc, char** argv) {
  return interop::RunDriver(argc, argv);
}
