// SPDX-License-Identifier: Apache-2.0
#pragma once

// Lists options that exclude each other: one table, with RocksDB's rules, so that a configuration
// works with both engines or with neither.

#include <span>

#include "varve/options.h"
#include "varve/status.h"
#include "varve/table.h"

namespace varve {

// A combination of two options, each of which is valid alone.
struct ExclusiveOptions {
  // Options of the database, of a family (its table options included), or of both decide.
  enum class Of : uint8_t { kDatabase, kFamily, kBoth };
  struct Combination {
    const DBOptions* db;                  // Null: only a family is checked.
    const ColumnFamilyOptions* cf;        // Null: only a database is checked.
    const BlockBasedTableOptions* table;  // Set with cf; null for another table format.
  };

  Of of;
  // The message is "option: how with": the option at fault, how it stands to the other, the other.
  const char* option;
  const char* how;
  const char* with;
  Status::Code code;  // kInvalidArgument, or kNotSupported where RocksDB returns that.
  // True if the options are combined in the forbidden way.
  bool (*met)(const Combination& options);
};

// Returns all combinations.
std::span<const ExclusiveOptions> AllExclusiveOptions();

// Returns OK, or the error of the first excluded combination of that kind; the message names both
// options.
Status CheckExclusiveOptions(ExclusiveOptions::Of of, const DBOptions* db,
                             const ColumnFamilyOptions* cf);

}  // namespace varve
