// SPDX-License-Identifier: Apache-2.0
#pragma once

// Defines a write history of several threads whose state shows what it holds. Write i of thread t
// marks every column family, and records how far every thread was acknowledged when it began. So a
// state shows up to which write of each thread it goes, and if it is a consistent cut: everything
// acknowledged before a present write began is present too. In families that merge, each write also
// merges into values that show how often it counts; in those with timestamps, write i has timestamp
// i.

#include <array>
#include <atomic>
#include <cstdint>
#include <string>

#include "tests/crash/numbered_writes.h"
#include "tests/harness/write_modes.h"

namespace varve::testing {

inline constexpr size_t kMostWriters = 8;
using Positions = std::array<uint64_t, kMostWriters>;

// Progress of the threads. May lie in memory that processes share.
struct Progress {
  std::array<std::atomic<uint64_t>, kMostWriters> begun{};
  // Stored with release after the write returned OK.
  std::array<std::atomic<uint64_t>, kMostWriters> acked{};
  // The last acknowledged write that went through the log; everything logged before it is present
  // if it is.
  std::array<std::atomic<uint64_t>, kMostWriters> logged{};
  // The last write that a write with sync, or a sync of the log, has made durable.
  std::array<std::atomic<uint64_t>, kMostWriters> durable{};
};

Positions Load(const std::array<std::atomic<uint64_t>, kMostWriters>& positions);
// Raises each of `positions` to at least that of `least`.
void RaiseTo(std::array<std::atomic<uint64_t>, kMostWriters>* positions, const Positions& least);

// Returns the options of write i of thread t, which are always the same.
WriteOptions OptionsOfParallelWrite(const WriteMode& mode, size_t thread, uint64_t i);

// Writes, and records progress. Retries writes that no_slowdown rejected.
Status WriteParallel(DB* db, const Handles& handles, const WriteMode& mode, size_t thread,
                     uint64_t i, Progress* progress);

struct ParallelCheck {
  std::string problem;  // "" if all is well.
  Positions at{};
};

// Reads everything. Each thread must be within [least, most]; families that are flushed separately
// and have no log may differ.
ParallelCheck CheckParallel(DB* db, const Handles& handles, const WriteMode& mode,
                            const Positions& least, const Positions& most);

// True if unlogged writes leave holes, so that the state is no consistent cut.
inline bool LeavesHoles(const WriteMode& mode) {
  return mode.no_log_one_in > 1;
}

}  // namespace varve::testing
