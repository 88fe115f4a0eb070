// SPDX-License-Identifier: Apache-2.0
#pragma once
//
// UserWriteCallback is called by DB::WriteWithCallback at stages of a write.

#include "varve/export.h"

namespace varve {

/// Called by the writing thread, in this order, each at most once. The calls delay this write, and
/// without unordered_write the visibility of later ones. They must not write to the database.
/// Exceptions are caught and dropped; the write continues.
class UserWriteCallback {
 public:
  virtual ~UserWriteCallback() = default;

  /// The write has its position in the order of all writes.
  virtual void OnWriteEnqueued() = 0;

  /// The write is in the log, and durable if `sync` is set. Not called with disableWAL.
  virtual void OnWalWriteFinish() = 0;
};

}  // namespace varve
