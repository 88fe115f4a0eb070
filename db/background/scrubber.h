// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads all live tables repeatedly and slowly, and reports those that are damaged.

#include <string>
#include <thread>
#include <vector>

#include "db/engine/context.h"
#include "db/engine/db_state.h"
#include "db/engine/job_interfaces.h"
#include "db/engine/lifecycle.h"

namespace varve {

struct ScrubProgress {
  uint64_t passes = 0;  // finished passes
  uint64_t tables = 0;  // verified since opening
  uint64_t bytes = 0;   // read since opening
  uint64_t corruptions = 0;
  uint64_t errors = 0;  // tables that could not be read for another reason
  // Progress of the current pass; both 0 between passes.
  uint64_t pass_bytes = 0;
  uint64_t pass_bytes_wanted = 0;
  std::string last_corruption;
  std::string ToString() const;
};

// Thread safety: Start and Stop are called by the threads that open and close; the rest from any
// thread.
class Scrubber {
 public:
  struct Parts {
    const DbContext& context;
    DbState& state;
    const Lifecycle& lifecycle;
    FilePurger& purger;
  };
  explicit Scrubber(const Parts& parts) : with_(parts) {}
  ~Scrubber() { Stop(); }
  Scrubber(const Scrubber&) = delete;
  Scrubber& operator=(const Scrubber&) = delete;

  // Does nothing if the options do not ask for it.
  void Start();
  // Ends the current pass within a block. May be called repeatedly.
  void Stop() VARVE_EXCLUDES(kDbMutex);

  bool started() const { return started_.load(std::memory_order_relaxed); }
  ScrubProgress progress() const;

 private:
  struct Target;

  void Run();
  std::vector<Target> ListTargets();
  void RunPass();
  void VerifyTable(ColumnFamily* family, const FileRef& file, int level);
  // Waits until this many bytes may have been read. Returns ShutdownInProgress if it is to stop.
  Status Pace(uint64_t bytes);
  // Returns false if it is to stop.
  bool SleepUntil(uint64_t micros);

  const Parts with_;
  std::thread thread_;
  std::atomic<bool> started_{false};  // publishes no other data

  mutable Mutex mu_{lock_ranks::kScrubber};
  CondVar stop_{&mu_};
  bool stopping_ VARVE_GUARDED_BY(mu_) = false;
  ScrubProgress progress_ VARVE_GUARDED_BY(mu_);
  uint64_t due_micros_ = 0;  // used by the thread: earliest time for the bytes already read
};

}  // namespace varve
