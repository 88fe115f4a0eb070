// SPDX-License-Identifier: Apache-2.0
#pragma once

// What background work has done for one column family since the database was opened, for people.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "util/base/assert.h"

namespace varve {

// What was written into one level, by flushes into L0 too.
struct LevelWork {
  uint64_t bytes_read_above = 0;     // of inputs from levels before it
  uint64_t bytes_read_at_level = 0;  // of inputs that were in it
  uint64_t bytes_written = 0;
  uint64_t bytes_moved = 0;  // given to the level by an edit alone
  uint64_t micros = 0;
  uint64_t cpu_micros = 0;  // of compactions
  uint64_t count = 0;
  uint64_t entries_in = 0;  // of compactions
  uint64_t entries_dropped = 0;

  void Add(const LevelWork& other) {
    bytes_read_above += other.bytes_read_above;
    bytes_read_at_level += other.bytes_read_at_level;
    bytes_written += other.bytes_written;
    bytes_moved += other.bytes_moved;
    micros += other.micros;
    cpu_micros += other.cpu_micros;
    count += other.count;
    entries_in += other.entries_in;
    entries_dropped += other.entries_dropped;
  }
};

struct FamilyWork {
  std::vector<LevelWork> levels;  // as far as anything was written
  uint64_t flushes = 0;
  uint64_t flush_bytes = 0;

  LevelWork& Level(int level) {
    VARVE_ASSERT(level >= 0);
    const auto at = static_cast<size_t>(level);
    if (levels.size() <= at) levels.resize(at + 1);
    return levels[at];
  }
  void CountFlush(uint64_t bytes, uint64_t micros) {
    flushes++;
    flush_bytes += bytes;
    LevelWork& first = Level(0);
    first.count++;
    first.bytes_written += bytes;
    first.micros += micros;
  }
};

}  // namespace varve
