// SPDX-License-Identifier: Apache-2.0
#pragma once

// Manages a file that reserves disk space for the time when the disk is full.
//
// A full disk stops writes, and what would free space, a compaction or the deletion of obsolete
// files after a flush, needs space itself. The reserve is deleted in that moment, so that recovery
// can write; it is created again when twice its size is free.

#include <atomic>
#include <string>

#include "db/db_mutex.h"
#include "db/engine/context.h"
#include "db/engine/lifecycle.h"

namespace varve {

// In the database's directory. Other engines do not use the name, and ignore the file.
inline constexpr char kReserveFileName[] = "RESERVE";

// Thread safety: any thread. A failure to create the file is logged, and is no error: it is created
// later when there is space. Without reserve_bytes, and before Start, nothing happens. What the
// object is given must outlive it.
class SpaceReserve {
 public:
  SpaceReserve(const DbContext& context, const Lifecycle& lifecycle)
      : context_(context), lifecycle_(lifecycle) {}
  SpaceReserve(const SpaceReserve&) = delete;
  SpaceReserve& operator=(const SpaceReserve&) = delete;

  // Creates the file of options.reserve_bytes, unless it exists with that size.
  void Start() VARVE_EXCLUDES(kDbMutex);
  // Removes the file of an earlier opening, for an opening without the option.
  void RemoveFile() VARVE_EXCLUDES(kDbMutex);

  // True if the file is wanted and does not exist.
  bool Lacks() const {
    return wanted_.load(std::memory_order_relaxed) && !held_.load(std::memory_order_relaxed);
  }
  // Deletes the file to free its space.
  void ReleaseSpace() VARVE_EXCLUDES(kDbMutex);
  // Creates the file if it does not exist, and twice its size is free.
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
  std::atomic<bool> held_{false};        // changed under mu_; a hint for others
};

}  // namespace varve
