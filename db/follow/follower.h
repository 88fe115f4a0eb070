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

// Thread safety: all methods from any thread.
class Follower {
 public:
  // Both are borrowed.
  Follower(Engine* engine, Secondary* secondary) : engine_(engine), secondary_(secondary) {}
  ~Follower() { Stop(); }
  Follower(const Follower&) = delete;
  Follower& operator=(const Follower&) = delete;

  // Once. Does nothing if the options ask for no period.
  void Start();
  // Waits for the end of the attempt that is under way. May be called repeatedly.
  void Stop();

 private:
  void Run();
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
