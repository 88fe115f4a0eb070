// SPDX-License-Identifier: Apache-2.0

// Runs a script of transactions in two phases with Varve.

#include "varve/convenience.h"
#include "varve/db.h"
#include "varve/options.h"
#include "varve/utilities/transaction_db.h"

namespace kv = varve;

#include "tests/interop/two_phase_driver.h"

int main(int argc, char** argv) {
  return interop::RunTwoPhaseDriver(argc, argv);
}
