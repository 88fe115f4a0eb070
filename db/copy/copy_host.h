// SPDX-License-Identifier: Apache-2.0
#pragma once

// CopyHost gives checkpoints, backups and copy plans access to the engine behind a DB.

#include <functional>

#include "varve/status.h"

namespace varve {

struct Engine;

// A DB can be copied only if its root (DB::GetRootDB) implements this interface. Any thread that
// holds no lock of the database may call it.
class CopyHost {
 public:
  virtual ~CopyHost() = default;

  // Runs `work` as a public call that Close waits for, and returns its status, or the exception
  // that it throws as a status. If the database is closed or closing, returns an error such as
  // ShutdownInProgress without running it.
  virtual Status WithEngine(const std::function<Status(Engine* engine)>& work) = 0;
};

}  // namespace varve
