// SPDX-License-Identifier: Apache-2.0

// RocksDB, obeying a script.

#include <rocksdb/convenience.h>
#include <rocksdb/db.h>
#include <rocksdb/options.h>
#include <rocksdb/write_batch.h>

namespace kv = rocksdb;

#include "tests/interop/driver.h"

int main(int argc, char** argv) {
  return interop::RunDriver(argc, argv);
}
