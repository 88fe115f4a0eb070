// SPDX-License-Identifier: Apache-2.0
#pragma once

// The options of one opening: from the flags, or drawn.

#include <cstdint>
#include <memory>
#include <string>

#include "varve/options.h"

namespace varve::stress {

// splitmix64.
class Dice {
 public:
  explicit Dice(uint64_t seed) : state_(seed) {}
  uint64_t Next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }
  uint64_t Below(uint64_t n) { return Next() % n; }
  // Never, for 0.
  bool OneIn(uint64_t n) { return n != 0 && Below(n) == 0; }

 private:
  uint64_t state_;
};

struct StressOptions {
  DBOptions db;
  ColumnFamilyOptions family;
  uint32_t sync_one_in = 0;    // writes that are synced; 0: none
  uint32_t no_log_one_in = 0;  // writes that skip the log
  // Room for tables in the database's directory; what is too much goes to another one.
  uint64_t fast_bytes = UINT64_MAX;
  std::string description;

  // Whether every acknowledged write survives a kill.
  [[nodiscard]] bool SurvivesKill() const { return no_log_one_in == 0 && !db.manual_wal_flush; }
  // Of changes of one key, or of many. Where only some writes are logged, all of a key are or none:
  // otherwise a kill could take one from between two others.
  WriteOptions DrawWriteOptions(uint64_t key, Dice* dice) const;
  WriteOptions DrawWideWriteOptions(Dice* dice) const;
};

// False, with the reason on stderr: a flag has a value that it may not have.
bool DrawOptions(Dice* dice, StressOptions* options);

// Appends operands without a delimiter, the empty value included.
std::shared_ptr<MergeOperator> AppendOperator();

}  // namespace varve::stress
