// SPDX-License-Identifier: Apache-2.0
#pragma once

// CopyHost: the view that code which copies files out of a database, or imports them, has of it.

#include <functional>

#include "varve/status.h"

namespace varve {

struct Engine;

// A DB can be copied only if its root (DB::GetRootDB) implements this interface.
class CopyHost {
 public:
  virtual ~CopyHost() = default;

  // Runs `work` as a public call that Close waits for, and returns what it returns or throws.
  // Returns ShutdownInProgress, or another error of a closed database, without running it.
  virtual Status WithEngine(const std::function<Status(Engine* engine)>& work) = 0;
};

}  // namespace varve
