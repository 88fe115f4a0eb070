// SPDX-License-Identifier: Apache-2.0

// Measures reads of merge operands with RocksDB.

#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/merge_operator.h>
#include <rocksdb/options.h>
#include <rocksdb/table.h>

namespace kv = rocksdb;

#include "benchmarks/merge_operands.h"

int main(int argc, char** argv) {
  return merge_bench::Main(argc, argv);
}
