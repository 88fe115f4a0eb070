// SPDX-License-Identifier: Apache-2.0
#pragma once

// Gets a database from a soft or hard error back to work: on demand, and by itself while trying
// again can help.

#include <memory>
#include <thread>

#include "db/background/engine.h"

namespace varve {

class ErrorRecovery {
 public:
  explicit ErrorRecovery(Engine* engine) : engine_(engine) {}
  ~ErrorRecovery();

  // One attempt. OK: writes work again. Busy: another attempt is under way. Otherwise the error
  // that stands in the way now. Takes the DB mutex and the commit path.
  Status Resume();
  // Starts the thread that tries until it helps, if it is not there. Requires the DB mutex, and may
  // let go of it.
  void StartRetrying();
  // Ends the thread; engine->shutting_down is set. Must not hold the DB mutex.
  void Stop();

 private:
  void RetryLoop();
  // Fresh log if the current one failed, all memtables into tables, MANIFEST proven writable; and
  // then the error is lifted.
  Status Repair(ErrorState::Severity severity);
  Status LeaveOldLogs();
  Status Lift(ErrorState::Severity repaired);  // requires the DB mutex
  // Readers may have been left with an older state. Requires the DB mutex.
  void ShowFamilies();
  void TakeUpWork();  // requires the DB mutex
  void Tell(const Status& old_error, const Status& result) const;

  Engine* const engine_;
  std::thread thread_;     // guarded by the DB mutex, joined by Stop
  bool retrying_ = false;  // guarded by the DB mutex
  // Also guarded by it: before the next attempt, and when an error was lifted last (0: never).
  uint64_t pause_micros_ = 0;
  uint64_t lifted_micros_ = 0;
};

}  // namespace varve
