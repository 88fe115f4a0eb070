// SPDX-License-Identifier: Apache-2.0

// Measures user timestamps with RocksDB.

#include <rocksdb/cache.h>
#include <rocksdb/comparator.h>
#include <rocksdb/db.h>
#include <rocksdb/options.h>
#include <rocksdb/table.h>

namespace kv = rocksdb;

#include "benchmarks/timestamps.h"

int main(int argc, char** argv) {
  return timestamp_bench::Main(argc, argv);
}
