// SPDX-License-Identifier: Apache-2.0
#pragma once

// The work of rows that ask what overwriting costs in the long run: it fills a database, overwrites
// it, waits until the engine is at rest, and reads.

#include <cstddef>
#include <cstdint>

#include "benchmarks/compare/row.h"

namespace compare {

enum class Order { kScattered, kAscending };
enum class Draw { kUniform, kZipfian };

// Says what is written, without a log: each key once, then further values of drawn keys.
struct Overwriting {
  uint64_t keys = 1;
  uint64_t writes = 1;  // of which the first `keys` are each key's first
  size_t value_size = kValueSize;
  Order order = Order::kScattered;  // of the keys as they are written first
  Draw draw = Draw::kUniform;       // of the keys that are overwritten
};

// Writes to the open database. Requires keys <= writes.
void Overwrite(Run* run, const Overwriting& work);

// Opens the database, writes, waits until it is at rest, reads keys one by one, by seeks, and all
// of them, and closes. Reports the rates, the bytes that were written, and the space that they
// took, at most and at rest. Requires an engine with RocksDB's API.
void ReportOverwriting(Run* run, const Settings& settings, const Overwriting& work);

}  // namespace compare
