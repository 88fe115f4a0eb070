// SPDX-License-Identifier: Apache-2.0

// Runs a script of transactions in two phases with RocksDB.

#include <rocksdb/convenience.h>
#include <rocksdb/db.h>
#include <rocksdb/options.h>
#include <rocksdb/utilities/transaction.h>
#include <rocksdb/utilities/transaction_db.h>

namespace kv = rocksdb;

#include "tests/interop/two_phase_driver.h"

int main(int argc, char** argv) {
  return interop::RunTwoPhaseDriver(argc, argv);
}
