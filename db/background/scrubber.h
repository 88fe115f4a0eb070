// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads all live tables again and again, slowly, and tells of those that have rotted.

#include <string>
#include <thread>
#include <vector>

#include "db/background/engine.h"

namespace varve {

struct ScrubProgress {
  uint64_t passes = 0;  // that have ended
  uint64_t tables = 0;  // verified since opening
  uint64_t bytes = 0;   // read since opening
  uint64_t corruptions = 0;
  uint64_t errors = 0;  // tables that could not be read for another reason
  // Of the pass under way; both 0 between passes.
  uint64_t pass_bytes = 0;
  uint64_t pass_bytes_wanted = 0;
  std::string last_corruption;
  std::string ToString() const;
};

// Thread safety: Start and Stop by whoever opens and closes; progress from any thread.
class Scrubber {
 public:
  explicit Scrubber(Engine* engine);
  ~Scrubber();

  void Start();
  // Ends the pass under way within a block. Idempotent. Must not hold the DB mutex.
  void Stop();
  ScrubProgress progress() const;

 private:
  struct Target;

  void Run();
  std::vector<Target> ListTargets();
  void RunPass();
  void VerifyTable(ColumnFamily* family, const FileRef& file, int level);
  // Waits until so many bytes may have been read. ShutdownInProgress when there is no time left.
  Status Pace(uint64_t bytes);
  // False: stop.
  bool SleepUntil(uint64_t micros);

  Engine* const engine_;
  std::thread thread_;
  mutable Mutex mu_;  // leaf
  CondVar stop_{&mu_};
  bool stopping_ VARVE_GUARDED_BY(mu_) = false;
  ScrubProgress progress_ VARVE_GUARDED_BY(mu_);
  uint64_t due_micros_ = 0;  // of the thread: when what was read may have been
};

}  // namespace varve
