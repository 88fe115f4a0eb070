// SPDX-License-Identifier: Apache-2.0
#pragma once

// SpaceReserve manages a file that reserves disk space for recovery from a full disk.
//
// A full disk stops writes, but flushes and compactions, which would free space, need space
// themselves. So the file is deleted when the disk is full, and created again when twice its size
// is free.

#include <atomic>
#include <string>

#include "db/db_mutex.h"
#include "db/engine/context.h"
#include "db/engine/lifecycle.h"

namespace varve {

// Name in the database's directory. Other engines ignore a file of this name.
inline constexpr char kReserveFileName[] = "RESERVE";

// Thread-safe. A failure to create the file is only logged: it is created later when there is
// space. Without reserve_bytes, and before Start, nothing happens. Borrows its arguments.
class SpaceReserve {
 public:
  SpaceReserve(const DbContext& context, const Lifecycle& lifecycle)
      : context_(context), lifecycle_(lifecycle) {}
  SpaceReserve(const SpaceReserve&) = delete;
  SpaceReserve& operator=(const SpaceReserve&) = delete;

  // Begins to keep a file of options.reserve_bytes: creates it now, unless it exists with that size
  // or twice its size is not free.
  void Start() VARVE_EXCLUDES(kDbMutex);
  // Deletes the file of an earlier opening. Called if the option is not set.
  void RemoveFile() VARVE_EXCLUDES(kDbMutex);

  // Returns true if the file is configured and does not exist.
  bool Lacks() const {
    return wanted_.load(std::memory_order_relaxed) && !held_.load(std::memory_order_relaxed);
  }
  // Deletes the file to free its space.
  void ReleaseSpace() VARVE_EXCLUDES(kDbMutex);
  // Creates the file if it is configured and missing, and twice its size is free.
  void TakeIfThereIsRoom() VARVE_EXCLUDES(kDbMutex);

 private:
  // Creates the file with its full size allocated.
  IOStatus MakeFile() VARVE_REQUIRES(mu_);
  // Returns the path of the file.
  std::string Path() const { return context_.name() + "/" + kReserveFileName; }

  const DbContext& context_;
  const Lifecycle& lifecycle_;
  Mutex mu_{lock_ranks::kSpaceReserve};  // held while the file is created or deleted
  std::atomic<bool> wanted_{false};      // set by Start; publishes no other data
  std::atomic<bool> held_{false};        // changed under mu_; relaxed reads are only a hint
};

}  // namespace varve
