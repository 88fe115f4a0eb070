// SPDX-License-Identifier: Apache-2.0
#pragma once

// A write history of several threads that tells by itself what it holds. Write i of thread t says
// so in every column family, and carries how far every thread was acknowledged when it began. So a
// state shows up to which write of each thread it goes, and whether that is a cut: what was
// acknowledged before a write that is there began, is there too. In families that merge, each write
// also merges into values that show how often it counts; in those with timestamps, write i is of
// timestamp i.

#include <array>
#include <atomic>
#include <cstdint>
#include <string>

#include "tests/crash/numbered_writes.h"
#include "tests/harness/write_modes.h"

namespace varve::testing {

inline constexpr size_t kMostWriters = 8;
using Positions = std::array<uint64_t, kMostWriters>;

// Where the threads are. May lie in memory that processes share.
struct Progress {
  std::array<std::atomic<uint64_t>, kMostWriters> begun{};
  // Stored with release after the write returned OK.
  std::array<std::atomic<uint64_t>, kMostWriters> acked{};
  // Of those, the last that went through the log; everything logged before it is there with it.
  std::array<std::atomic<uint64_t>, kMostWriters> logged{};
  // The last that a write with sync, or a sync of the log, has made durable.
  std::array<std::atomic<uint64_t>, kMostWriters> durable{};
};

Positions Load(const std::array<std::atomic<uint64_t>, kMostWriters>& positions);
// Raises each of `positions` to `least`.
void RaiseTo(std::array<std::atomic<uint64_t>, kMostWriters>* positions, const Positions& least);

// The options of write i of thread t, always the same.
WriteOptions OptionsOfParallelWrite(const WriteMode& mode, size_t thread, uint64_t i);

// Writes, and notes progress. Tries again what no_slowdown turned away.
Status WriteParallel(DB* db, const Handles& handles, const WriteMode& mode, size_t thread,
                     uint64_t i, Progress* progress);

struct ParallelCheck {
  std::string problem;  // "" when all is well
  Positions at{};
};

// Reads everything. Each thread must be within [least, most]; families that are flushed on their
// own and have no log may differ.
ParallelCheck CheckParallel(DB* db, const Handles& handles, const WriteMode& mode,
                            const Positions& least, const Positions& most);

// Whether unlogged writes leave holes that make the state no cut.
inline bool LeavesHoles(const WriteMode& mode) {
  return mode.no_log_one_in > 1;
}

}  // namespace varve::testing
