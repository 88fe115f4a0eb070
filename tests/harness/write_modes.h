// SPDX-License-Identifier: Apache-2.0
#pragma once

// Defines the table of write modes that all proof suites run through, and the single list of modes
// that Open refuses today. A change that implements a refused mode removes it from that list: the
// suites then test the mode, and they fail while it is still listed.

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
  // One in this many writes is synced, or skips the log; 1 is every one, 0 is none.
  uint32_t sync_one_in = 0;
  uint32_t no_log_one_in = 0;
  bool no_slowdown = false;
  bool low_pri = false;
  // A plain Get may see a part of a batch whose Write has not returned. Other reads never do.
  bool torn_gets = false;
  // Only FlushWAL and syncs write the log to the system.
  bool buffers_log = false;
  // Writes through the log use the rate limiter.
  bool limited = false;
  // The log is written in another way than with default options.
  bool backs_log = false;
  // The kind of memtables, as GetMemTableRepFactoryFromString accepts it; null is the default.
  const char* memtable = nullptr;

  // Sets the mode in options; leaves other options unchanged.
  void Apply(DBOptions* db, ColumnFamilyOptions* family) const;

  // True if every acknowledged write survives a killed process.
  bool SurvivesKill() const { return no_log_one_in == 0 && !buffers_log; }
  // Returns options for the next write; if the mode asks for a mixture, they are random.
  WriteOptions DrawWriteOptions(Random* random) const;
};

std::span<const WriteMode> WriteModes();
// Returns "ordered", whose log is mapped if the file system supports that, and all modes that write
// the log in another way: tools that pair their cases with a few modes use these.
std::vector<const WriteMode*> LogBackings();
// Returns a mode by its name, which must exist.
const WriteMode& WriteModeNamed(std::string_view name);

// True if the mode is in the list of modes that DB::Open answers with NotSupported.
bool IsExpectedRefusal(const WriteMode& mode);

// Checks the status of opening in `mode`. Returns "" if the list agrees: an expected refusal was
// refused, any other mode was opened. Otherwise returns what to do about it.
std::string JudgeOpening(const WriteMode& mode, const Status& status);

}  // namespace varve::testing
