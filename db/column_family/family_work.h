// SPDX-License-Identifier: Apache-2.0
#pragma once

// Counts the background work for one column family since the database was opened, for users.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "util/base/assert.h"

namespace varve {

// Counts what was written into one level, including flushes into L0.
struct LevelWork {
  uint64_t bytes_read_above = 0;     // bytes of inputs from levels above
  uint64_t bytes_read_at_level = 0;  // bytes of inputs in the level
  uint64_t bytes_written = 0;
  uint64_t bytes_moved = 0;  // moved to the level by an edit alone
  uint64_t micros = 0;
  uint64_t cpu_micros = 0;  // time of compactions only
  uint64_t count = 0;
  uint64_t entries_in = 0;  // entries of compactions only
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
  std::vector<LevelWork> levels;  // up to the last level with work
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
