// SPDX-License-Identifier: Apache-2.0
#pragma once

// CopyHost: an open database, as what copies its files or brings files in sees it.

#include <functional>

#include "varve/status.h"

namespace varve {

struct Engine;

// A DB whose root (DB::GetRootDB) is none cannot be copied.
class CopyHost {
 public:
  virtual ~CopyHost() = default;

  // Calls `work` as a public call that Close waits for, and returns what it returns or throws.
  // Without calling it: ShutdownInProgress, and what else a closed database answers.
  virtual Status WithEngine(const std::function<Status(Engine* engine)>& work) = 0;
};

}  // namespace varve
