// SPDX-License-Identifier: Apache-2.0

// Runs a script about timestamps with RocksDB.

#include <rocksdb/comparator.h>
#include <rocksdb/convenience.h>
#include <rocksdb/db.h>
#include <rocksdb/options.h>
#include <rocksdb/version.h>
#include <rocksdb/write_batch.h>

namespace kv = rocksdb;
// RocksDB learnt this in the course of version 8.
constexpr bool kKnowsAll = ROCKSDB_MAJOR >= 9;
// Backwards, RocksDB's iterator shows versions that are too old, and of a key and timestamp the
// version written first.
constexpr bool kWalksBackwards = false;

#include "tests/interop/timestamp_driver.h"

int main(int argc, char** argv) {
  return interop::RunTimestampDriver(argc, argv);
}
