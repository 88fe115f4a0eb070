// SPDX-License-Identifier: Apache-2.0
#pragma once

// Owns the databases that rot: small ones, each of one kind of contents and format.

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
  uint64_t compact_at;  // 0: never
  bool pending;         // the last writes are only in the log, and the process died
  void (*tune)(ColumnFamilyOptions* cf, BlockBasedTableOptions* table);
  uint64_t mark_at = 0;  // 0: never; families with timestamps then forget half of their history
  uint64_t killed_at =
      0;  // 0: never; the process dies, and another one goes on in a log of its own
  void (*tune_log)(DBOptions* db) = nullptr;
  // Damage in a log reads like what is left of an older one, so that nothing need tell of it.
  bool quiet_log = false;
};

std::span<const RotShape> RotShapes();

}  // namespace varve::testing
