// SPDX-License-Identifier: Apache-2.0
#pragma once

// Defines the histories during which power is lost: short ones, each with one kind of file work.

#include <cstdint>
#include <string>
#include <vector>

#include "varve/db.h"

#include "tests/crash/numbered_writes.h"
#include "tests/harness/write_modes.h"

namespace varve::testing {

struct LossWorkload {
  const char* name;
  std::vector<std::string> families;
  uint64_t writes;
  void (*tune)(DBOptions* db, ColumnFamilyOptions* cf);
  // Does additional work after write i.
  void (*after)(DB* db, const Handles& handles, uint64_t i);
  uint64_t sync_every;       // 0 is never.
  uint64_t reopen_every;     // 0 is never.
  bool no_log = false;       // disableWAL: only flushes make writes durable.
  uint64_t marks_every = 0;  // Raises marks this often; 0 is never. Families with timestamps keep
                             // this many writes below a mark.
  const WriteMode* mode = nullptr;
  bool mapped = false;  // Logs are written by stores, which are no calls.
};

// Returns all workloads, including those of every write mode.
std::vector<LossWorkload> LossWorkloads();

}  // namespace varve::testing
