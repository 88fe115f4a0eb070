// SPDX-License-Identifier: Apache-2.0
#pragma once

// Owns the table of write modes that the suites of proof run through, and the one list of modes
// that Open refuses today. The change that builds a refused mode removes its line from that list:
// the suites then hold the mode to its promises, and fail while the line is still there.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "varve/options.h"
#include "varve/status.h"

#include "tests/harness/random.h"

namespace varve::testing {

struct WriteMode {
  std::string_view name;
  void (*tune)(DBOptions* db);
  // One in so many writes is synced, or skips the log; 1: every one, 0: none.
  uint32_t sync_one_in = 0;
  uint32_t no_log_one_in = 0;
  bool no_slowdown = false;
  bool low_pri = false;
  // A plain Get may see a part of a batch whose Write has not returned. All other reads never do.
  bool torn_gets = false;
  // The log is handed to the system by FlushWAL and syncs only.
  bool buffers_log = false;
  // Writes through the log pay the rate limiter.
  bool limited = false;
  // The log is written in another way than that of the options' defaults.
  bool backs_log = false;
  // The kind of memtables, as GetMemTableRepFactoryFromString takes it; null: the default.
  const char* memtable = nullptr;

  // Sets the mode into options that are otherwise whatever they are.
  void Apply(DBOptions* db, ColumnFamilyOptions* family) const;

  // Every acknowledged write survives a killed process.
  bool SurvivesKill() const { return no_log_one_in == 0 && !buffers_log; }
  // For the next write: what the mode asks for, by chance where it asks for a mixture.
  WriteOptions DrawWriteOptions(Random* random) const;
};

std::span<const WriteMode> WriteModes();
// "ordered", whose log is mapped where the file system offers that, and all modes that back the log
// in another way: tools that pair their cases with a few modes take these.
std::vector<const WriteMode*> LogBackings();
// By name, which must exist.
const WriteMode& WriteModeNamed(std::string_view name);

// The list: modes that DB::Open answers with NotSupported.
bool IsExpectedRefusal(const WriteMode& mode);

// Judges what opening in `mode` said. "" when the list agrees: an expected refusal was refused, any
// other mode was opened. Otherwise what to do about it.
std::string JudgeOpening(const WriteMode& mode, const Status& status);

}  // namespace varve::testing
