// SPDX-License-Identifier: Apache-2.0

// Runs a script with RocksDB.

#include <rocksdb/convenience.h>
#include <rocksdb/db.h>
#include <rocksdb/listener.h>
#include <rocksdb/options.h>
#include <rocksdb/slice_transform.h>
#include <rocksdb/table.h>
#include <rocksdb/write_batch.h>

namespace kv = rocksdb;

#include "tests/interop/driver.h"

int main(int argc, char** argv) {
  return interop::RunDriver(argc, argv);
}
