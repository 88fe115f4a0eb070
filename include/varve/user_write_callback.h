// SPDX-License-Identifier: Apache-2.0
#pragma once
//
// UserWriteCallback: what DB::WriteWithCallback calls while a write is on its way.

#include "varve/export.h"

namespace varve {

/// Called by the writing thread, in this order, each at most once. The calls are on the write's
/// way: they hold up this write, and without unordered_write the visibility of those after it. They
/// must not write to the database. What they throw is caught and dropped: the write goes on.
class UserWriteCallback {
 public:
  virtual ~UserWriteCallback() = default;

  /// The write has its place in the order of all writes.
  virtual void OnWriteEnqueued() = 0;

  /// The write is in the log, and durable if it asked for that. Not called when it has disableWAL.
  virtual void OnWalWriteFinish() = 0;
};

}  // namespace varve
