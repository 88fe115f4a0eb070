// SPDX-License-Identifier: Apache-2.0
#pragma once

// Holds the options of one opening, from the flags or drawn.

#include <cstdint>
#include <memory>
#include <string>

#include "varve/options.h"

namespace varve::stress {

// Draws random numbers by splitmix64.
class Dice {
 public:
  explicit Dice(uint64_t seed) : state_(seed) {}
  uint64_t Next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }
  // Returns a number of [0, n). Requires n > 0.
  uint64_t Below(uint64_t n) { return Next() % n; }
  // Returns false always if n is 0.
  bool OneIn(uint64_t n) { return n != 0 && Below(n) == 0; }

 private:
  uint64_t state_;
};

struct StressOptions {
  DBOptions db;
  ColumnFamilyOptions family;
  uint32_t sync_one_in = 0;    // writes that are synced; 0: none
  uint32_t no_log_one_in = 0;  // keys whose writes skip the log: its multiples; 0: none
  // Room for tables in the database's directory; the excess goes to another one.
  uint64_t fast_bytes = UINT64_MAX;
  bool takes_ranges = true;  // false: tables cannot hold range deletions
  std::string description;

  // True if every acknowledged write survives a kill.
  [[nodiscard]] bool SurvivesKill() const { return no_log_one_in == 0 && !db.manual_wal_flush; }
  // Returns the options for a copy that is only read, in one directory.
  [[nodiscard]] DBOptions OfCopy() const;
  // Draws options for changes of one key, or of many. Where only some writes are logged, all of a
  // key are or none are: otherwise a kill could remove one from between two others.
  WriteOptions DrawWriteOptions(uint64_t key, Dice* dice) const;
  WriteOptions DrawWideWriteOptions(Dice* dice) const;
};

// Returns false, with the reason on stderr, if a flag has an invalid value.
bool DrawOptions(Dice* dice, StressOptions* options);

// Returns an operator that appends operands without a delimiter, the empty value included.
std::shared_ptr<MergeOperator> AppendOperator();

}  // namespace varve::stress
