// SPDX-License-Identifier: Apache-2.0
#pragma once

// A file that holds space of the disk for the time when it is full.

#include <atomic>
#include <string>

#include "db/db_mutex.h"
#include "db/engine/context.h"
#include "db/engine/lifecycle.h"

namespace varve {

// In the database's directory. No other engine's name, so others pass it over.
inline constexpr char kReserveFileName[] = "RESERVE";

// Thread safety: any thread. That the file cannot be made is logged, and no error: it is made where
// there is room later. Without reserve_bytes, and before Start, nothing happens.
class SpaceReserve {
 public:
  SpaceReserve(const DbContext& context, const Lifecycle& lifecycle)
      : context_(context), lifecycle_(lifecycle) {}
  SpaceReserve(const SpaceReserve&) = delete;
  SpaceReserve& operator=(const SpaceReserve&) = delete;

  // Makes the file of options.reserve_bytes, if the one that is there is not of that size.
  void Start() VARVE_EXCLUDES(kDbMutex);
  // For an opening without the option: a file of an earlier one goes.
  void RemoveFile() VARVE_EXCLUDES(kDbMutex);

  // The file is wanted, and not there.
  bool Lacks() const {
    return wanted_.load(std::memory_order_relaxed) && !held_.load(std::memory_order_relaxed);
  }
  // Deletes the file.
  void ReleaseSpace() VARVE_EXCLUDES(kDbMutex);
  // Makes the file if it is not there, and twice its size is free.
  void TakeIfThereIsRoom() VARVE_EXCLUDES(kDbMutex);

 private:
  IOStatus MakeFile() VARVE_REQUIRES(mu_);
  std::string Path() const { return context_.name() + "/" + kReserveFileName; }

  const DbContext& context_;
  const Lifecycle& lifecycle_;
  Mutex mu_{lock_ranks::kSpaceReserve};  // one at a time makes or deletes the file
  std::atomic<bool> wanted_{false};      // since Start; publishes nothing
  std::atomic<bool> held_{false};        // changed under mu_; a hint for others
};

}  // namespace varve
