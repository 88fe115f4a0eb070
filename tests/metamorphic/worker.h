// SPDX-License-Identifier: Apache-2.0
#pragma once

// Runs cases in their own processes, so that a crash or a hang is found and shrunk like any other
// finding. A worker is this program, told by the environment what to play.

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/metamorphic/history.h"

namespace varve::testing {

// Number of an option set that stands for RocksDB's library.
constexpr uint64_t kRocksDbSet = 0;

struct Report {
  uint64_t played = 0;  // lines that meant something, of all cases
  uint64_t cases = 0;
  std::string what;  // "" when all went well
  uint64_t set = 0;  // under which it did not
  uint64_t seed = 0;
  bool found() const { return !what.empty(); }
};

// Tells a worker what to do: histories from `seed` on, each under sets from `first_set` on.
struct Work {
  uint64_t seed = 1;
  uint64_t histories = 1;
  uint64_t lines = 1000;
  uint64_t first_set = 1;
  uint64_t sets = 1;
  uint64_t share = 0;  // takes the cases that leave this rest
  uint64_t shares = 1;
  std::string file;      // a history to play in place of seeds
  bool rocksdb = false;  // and on RocksDB, each once
};

// Starts a worker for each work and waits for all. Returns the first finding.
Report RunWorkers(const std::vector<Work>& works, std::chrono::seconds most);
// Plays one history in a worker, up to `times` times.
Report RunAlone(const History& history, uint64_t set, int times, std::chrono::seconds most);

// Returns true if this process is a worker.
bool IsWorker();
void DoWork();

}  // namespace varve::testing
