// SPDX-License-Identifier: Apache-2.0
#pragma once

// A file that holds space of the disk for the time when it is full.

#include <atomic>

#include "db/background/engine.h"

namespace varve {

// In the database's directory. No other engine's name, so others pass it over.
inline constexpr char kReserveFileName[] = "RESERVE";

// Thread safety: any thread; must not hold the DB mutex, as all but held() do I/O. That the file
// cannot be made is logged, and no error: it is made where there is room later.
class SpaceReserve {
 public:
  // Makes the file of options.reserve_bytes, if the one that is there is not of that size.
  explicit SpaceReserve(Engine* engine);
  // For an opening without the option: a file of an earlier one goes.
  static void RemoveFile(Engine* engine);

  bool held() const { return held_.load(std::memory_order_relaxed); }
  // Deletes the file.
  void GiveUp();
  // Makes the file if it is not there, and twice its size is free.
  void TakeIfThereIsRoom();

 private:
  IOStatus MakeFile();
  std::string Path() const { return engine_->name + "/" + kReserveFileName; }

  Engine* const engine_;
  Mutex mu_;                       // one at a time makes or deletes the file
  std::atomic<bool> held_{false};  // a hint for those who would take it
};

}  // namespace varve
