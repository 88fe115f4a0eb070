// SPDX-License-Identifier: Apache-2.0
#pragma once

// Counts what a database costs beside time: the space that its directory takes, and the bytes that
// its process writes.

#include <atomic>
#include <string>
#include <thread>

#include "benchmarks/compare/engine.h"

namespace compare {

// Returns the bytes of the files that lie in a directory itself, in MB.
double SpaceOf(const std::string& path);

// Remembers the most space that a directory took since the object was made, by looking at it again
// and again in a thread.
class SpaceWatch {
 public:
  explicit SpaceWatch(std::string path);
  ~SpaceWatch();
  SpaceWatch(const SpaceWatch&) = delete;
  SpaceWatch& operator=(const SpaceWatch&) = delete;

  // Ends the watch; called once at most. Returns the most space, in MB.
  double Stop();

 private:
  void Watch();

  const std::string path_;
  double most_ = 0;  // the thread's, until it has ended
  std::atomic<bool> done_{false};
  std::thread watcher_;
};

// Returns what this process has given to write calls since it began, in MB. Stores into mapped
// files are not in it.
double WrittenByProcess();

// Returns once no flush and no compaction runs. Requires that the engine has RocksDB's API.
void AwaitQuiet(Engine* engine);

}  // namespace compare
