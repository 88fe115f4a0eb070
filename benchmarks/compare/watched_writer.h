// SPDX-License-Identifier: Apache-2.0
#pragma once

// Measures how long writes take beside other work.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

#include "benchmarks/compare/row.h"

namespace compare {

// Puts one key again and again, in a thread that gets scheduling priority where the system lets a
// program ask for it, so that the time measured is the time the library holds it up. Requires an
// open database that outlives the object.
class WatchedWriter {
 public:
  // Returns after the first write. The writer pauses after each.
  WatchedWriter(Run* run, uint64_t key, Durability durability, std::chrono::microseconds pause);
  ~WatchedWriter();
  WatchedWriter(const WatchedWriter&) = delete;
  WatchedWriter& operator=(const WatchedWriter&) = delete;

  // Ends the writes; called once at most. Returns the seconds of the longest one.
  double Stop();

 private:
  void Write(Run* run, uint64_t key, Durability durability, std::chrono::microseconds pause);

  std::atomic<bool> done_ = false;
  std::atomic<uint64_t> writes_ = 0;
  double longest_ = 0;  // the thread's, until it has ended
  std::thread thread_;
};

}  // namespace compare
