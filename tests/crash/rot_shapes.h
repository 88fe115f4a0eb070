// SPDX-License-Identifier: Apache-2.0
#pragma once

// Defines the databases that rot: small ones, each with one kind of contents and format.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "varve/options.h"
#include "varve/table.h"

namespace varve::testing {

struct RotShape {
  const char* name;
  std::vector<std::string> families;
  uint64_t writes;
  uint64_t flush_every;
  uint64_t compact_at;  // 0 is never.
  bool pending;         // The last writes are only in the log, and the process died.
  void (*tune)(ColumnFamilyOptions* cf, BlockBasedTableOptions* table);
  uint64_t mark_at = 0;    // 0 is never; families with timestamps then drop half of their history.
  uint64_t killed_at = 0;  // 0 is never; the process dies, and another one continues in a new log.
  void (*tune_log)(DBOptions* db) = nullptr;
  // Damage in a log looks like the remains of an older one, so that it need not be reported.
  bool quiet_log = false;
};

std::span<const RotShape> RotShapes();

}  // namespace varve::testing
