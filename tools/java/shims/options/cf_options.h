// SPDX-License-Identifier: Apache-2.0
#pragma once

// RocksDB's Java glue makes these from options to build a memtable with them; the one of
// db/memtable.h needs nothing of them.

#include "varve/options.h"

namespace varve {

struct ImmutableOptions {
  explicit ImmutableOptions(const Options& /*options*/) {}
};

struct MutableCFOptions {
  explicit MutableCFOptions(const Options& /*options*/) {}
};

}  // namespace varve
