// SPDX-License-Identifier: Apache-2.0
#pragma once

// Makes a secondary a follower: a thread that lets it catch up every so often.
//
// The thread enters the engine as a call for each attempt, so it ends by itself when the database
// closes, and Close waits for an attempt like for any call.

#include <cstdint>
#include <thread>

#include "db/engine/engine.h"
#include "util/sync/mutex.h"

namespace varve {

class Secondary;

// Thread safety: any thread may call Stop; Start comes before all other calls.
class Follower {
 public:
  // Both are borrowed, and outlive the follower.
  Follower(Engine* engine, Secondary* secondary) : engine_(engine), secondary_(secondary) {}
  ~Follower() { Stop(); }
  Follower(const Follower&) = delete;
  Follower& operator=(const Follower&) = delete;

  // Starts the thread; called once. Does nothing if the options ask for no period.
  void Start();
  // Waits for the end of the attempt that is under way. May be called repeatedly.
  void Stop();

 private:
  // Calls CatchUp periodically until Stop, on thread_.
  void Run();
  // Makes one round of attempts; errors are only logged.
  void CatchUp();
  // Returns false if it is to stop.
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
