// SPDX-License-Identifier: Apache-2.0
#pragma once

// Owns the histories during which the power goes: short ones, each of one kind of file work.

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
  // What happens beside the writes after write i.
  void (*after)(DB* db, const Handles& handles, uint64_t i);
  uint64_t sync_every;       // 0: never
  uint64_t reopen_every;     // 0: never
  bool no_log = false;       // disableWAL: durable by flushing alone
  uint64_t marks_every = 0;  // 0: never; families with timestamps keep as many writes below it
  const WriteMode* mode = nullptr;
  bool mapped = false;  // logs are stored into, which no call tells of
};

// All of them, those of every write mode too.
std::vector<LossWorkload> LossWorkloads();

}  // namespace varve::testing
