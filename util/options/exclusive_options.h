// SPDX-License-Identifier: Apache-2.0
#pragma once

// Which options exclude each other: one table, with RocksDB's rules, so that a configuration works
// with both engines or with neither.

#include <span>

#include "varve/options.h"
#include "varve/status.h"
#include "varve/table.h"

namespace varve {

// Two options of which each value is fine alone.
struct ExclusiveOptions {
  // What decides: options of the database, of a family (its tables' options among them), or of both
  // together.
  enum class Of : uint8_t { kDatabase, kFamily, kBoth };
  struct Combination {
    const DBOptions* db;                  // null: of a family alone
    const ColumnFamilyOptions* cf;        // null: of a database alone
    const BlockBasedTableOptions* table;  // with cf; null: tables of another kind
  };

  Of of;
  // As the message names them, the one to be blamed first; between them stands `how`.
  const char* option;
  const char* how;
  const char* with;
  Status::Code code;  // kInvalidArgument, or kNotSupported where RocksDB says that
  bool (*met)(const Combination& options);
};

// All of them.
std::span<const ExclusiveOptions> AllExclusiveOptions();

// OK, or the first pair of that kind that is met; the message names both options.
Status CheckExclusiveOptions(ExclusiveOptions::Of of, const DBOptions* db,
                             const ColumnFamilyOptions* cf);

}  // namespace varve
