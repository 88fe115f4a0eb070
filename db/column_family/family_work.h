// SPDX-License-Identifier: Apache-2.0
#pragma once

// Counts the background work for one column family, for properties and reports.
//
// Counters grow from the opening, or the last ResetStats, on; a report about an interval subtracts
// an earlier reading (FamilyReading). Bytes are those of files, after compression; micros are the
// wall-clock times of jobs, so concurrent jobs count twice.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "util/base/assert.h"

namespace varve {

// Counts the work that wrote into one level, including flushes into L0.
struct LevelWork {
  // Inputs of a job are above the level that it writes into, or in it.
  uint64_t bytes_read_above = 0;     // bytes of inputs from levels above
  uint64_t bytes_read_at_level = 0;  // bytes of inputs in the level
  uint64_t bytes_written = 0;        // of tables
  uint64_t blob_bytes_read = 0;      // of values in blob files
  uint64_t blob_bytes_written = 0;   // of blob files
  // Trivial moves write nothing, so they are counted separately.
  uint64_t bytes_moved = 0;  // bytes of tables moved to the level
  uint64_t micros = 0;
  uint64_t cpu_micros = 0;  // time of compactions only
  // Number of jobs that wrote into the level.
  uint64_t count = 0;
  uint64_t entries_in = 0;  // entries of compactions only
  // Entries of inputs that are in no output.
  uint64_t entries_dropped = 0;

  // Adds the counts of another level or job.
  void Add(const LevelWork& other) {
    bytes_read_above += other.bytes_read_above;
    bytes_read_at_level += other.bytes_read_at_level;
    bytes_written += other.bytes_written;
    blob_bytes_read += other.blob_bytes_read;
    blob_bytes_written += other.blob_bytes_written;
    bytes_moved += other.bytes_moved;
    micros += other.micros;
    cpu_micros += other.cpu_micros;
    count += other.count;
    entries_in += other.entries_in;
    entries_dropped += other.entries_dropped;
  }
  // Subtracts an earlier reading of the same counts.
  void Subtract(const LevelWork& earlier) {
    VARVE_ASSERT(count >= earlier.count && bytes_written >= earlier.bytes_written);
    bytes_read_above -= earlier.bytes_read_above;
    bytes_read_at_level -= earlier.bytes_read_at_level;
    bytes_written -= earlier.bytes_written;
    blob_bytes_read -= earlier.blob_bytes_read;
    blob_bytes_written -= earlier.blob_bytes_written;
    bytes_moved -= earlier.bytes_moved;
    micros -= earlier.micros;
    cpu_micros -= earlier.cpu_micros;
    count -= earlier.count;
    entries_in -= earlier.entries_in;
    entries_dropped -= earlier.entries_dropped;
  }
};

// Counts the files that IngestExternalFile added.
struct IngestedFiles {
  uint64_t files = 0;
  // Files that were placed in L0.
  uint64_t l0_files = 0;
  uint64_t bytes = 0;
  uint64_t entries = 0;
};

// The counts when the last report about the family was made.
struct FamilyReading {
  uint64_t micros = 0;  // Monotonic time; 0: there was no report.
  LevelWork work;       // The sum of all levels.
  uint64_t flush_bytes = 0;
  IngestedFiles ingested;
  // Number of times that the family entered a stall condition.
  uint64_t stalls = 0;
};

// Counts of the flushes and compactions of one family since the opening, or ResetStats. Guarded by
// the DB mutex.
struct FamilyWork {
  std::vector<LevelWork> levels;  // up to the last level with work
  // Number of flushes that wrote a table.
  uint64_t flushes = 0;
  uint64_t flush_bytes = 0;
  IngestedFiles ingested;
  // The counts at the last report, where the next interval begins.
  FamilyReading reported;

  // Returns the counts of a level, adding levels as needed.
  LevelWork& Level(int level) {
    VARVE_ASSERT(level >= 0);
    const auto at = static_cast<size_t>(level);
    if (levels.size() <= at) levels.resize(at + 1);
    return levels[at];
  }
  // Counts one ingested file that was placed in `level`.
  void CountIngested(int level, uint64_t bytes, uint64_t entries) {
    ingested.files++;
    if (level == 0) ingested.l0_files++;
    ingested.bytes += bytes;
    ingested.entries += entries;
  }
  // Counts a flush, which is also work of L0.
  void CountFlush(uint64_t table_bytes, uint64_t blob_bytes, uint64_t micros) {
    flushes++;
    flush_bytes += table_bytes + blob_bytes;
    LevelWork& first = Level(0);
    first.count++;
    first.bytes_written += table_bytes;
    first.blob_bytes_written += blob_bytes;
    first.micros += micros;
  }
};

}  // namespace varve
