// SPDX-License-Identifier: Apache-2.0
#pragma once

// Makes random but legal options, small enough that every mechanism runs within a few thousand
// operations.

#include <cstdint>
#include <memory>
#include <string>

#include "varve/options.h"

#include "tests/harness/random.h"
#include "tests/harness/write_modes.h"

namespace varve::testing {

struct OptionSet {
  DBOptions db;
  ColumnFamilyOptions family;
  const WriteMode* mode = nullptr;  // tuned into `db`; draws the options of writes
  // Room for tables in the database's directory, for a test that sets a second path. Such a test
  // must always set the same paths.
  uint64_t fast_bytes = UINT64_MAX;
  bool takes_ranges = true;  // false: the tables cannot hold range deletions
  std::string description;   // the differences from the defaults, for failure messages
};

// `env` is set into the options; nothing else is shared between sets.
OptionSet RandomOptionSet(Random* random, Env* env);
// Exchanges the tables of one set in six for PlainTables.
void MayUsePlainTables(Random* random, OptionSet* set);
// Returns files in memory. In every other one logs can be mapped.
std::unique_ptr<Env> RandomEnv(Random* random);

}  // namespace varve::testing
