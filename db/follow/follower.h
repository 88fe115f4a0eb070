// SPDX-License-Identifier: Apache-2.0
#pragma once

// Follower runs a thread that makes a secondary catch up periodically.
//
// Each attempt is a public call of the engine, so Close waits for it, and no attempt is made after
// it.

#include <cstdint>
#include <thread>

#include "db/engine/engine.h"
#include "util/sync/mutex.h"

namespace varve {

class Secondary;

// Thread safety: any thread may call Stop; Start comes before all other calls.
class Follower {
 public:
  // Both are borrowed, and must outlive the follower.
  Follower(Engine* engine, Secondary* secondary) : engine_(engine), secondary_(secondary) {}
  ~Follower() { Stop(); }
  Follower(const Follower&) = delete;
  Follower& operator=(const Follower&) = delete;

  // Starts the thread; must be called at most once. Does nothing if
  // follower_refresh_catchup_period_ms is 0.
  void Start();
  // Stops the thread, and waits for a running attempt. May be called repeatedly.
  void Stop();

 private:
  // Calls CatchUp periodically until Stop, on thread_.
  void Run();
  // Makes attempts until one succeeds, at most follower_catchup_retry_count; errors are only
  // logged.
  void CatchUp();
  // Returns false, possibly early, if Stop was called.
  bool Sleep(uint64_t millis);

  Engine* const engine_;
  Secondary* const secondary_;
  Mutex mu_;
  CondVar stop_{&mu_};
  bool stopping_ VARVE_GUARDED_BY(mu_) = false;
  std::thread thread_;  // Started by the opening; joined under joining_.
  Mutex joining_;
};

}  // namespace varve
