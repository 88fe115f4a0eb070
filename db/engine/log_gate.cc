// SPDX-License-Identifier: Apache-2.0

//       locks_ = 0  --Lock: locking_, waits for writers--> locks_ = 1 <--Lock, Unlock--> 2, 3 ...
//           ^                                                 |
//           '------ the last Unlock lets writers in ----------'
//
// The lock of the log is the exclusive hold of the commit path, which belongs to no thread: another
// thread may unlock.

#include "db/engine/log_gate.h"

#include "util/base/assert.h"
#include "util/base/caught_exception.h"
#include "util/base/status_macros.h"

namespace varve {

// The first caller closes the commit path and hands the log to the file system, without the mutex;
// others wait for it, and only count. A failure lets writers in again.
Status LogGate::Lock() {
  VARVE_RETURN_IF_ERROR(
      RefuseHeldUp("LockWAL", ActiveWork::kFlush | ActiveWork::kIngestion, &lifecycle_));
  {
    DbLock lock(&state_.mu);
    while (locking_) state_.work.Wait();
    // Close has looked for locks already if it has begun, and does not look again.
    VARVE_RETURN_IF_ERROR(lifecycle_.CheckOpen());
    if (locks_ > 0) {
      locks_++;
      return Status::OK();
    }
    locking_ = true;
    slow_path_.Set();  // for writers with no_slowdown
  }
  // The mutex is not held while this waits, as writers inside may need it. `locking_` keeps other
  // calls of Lock out meanwhile.
  Status s = Guarded([&] { state_.commit->EnterExclusive(); });
  if (s.ok()) {
    const ActiveWork active(ActiveWork::kLog, state_.commit.get(), "the log,");
    s = Guarded([&] { return state_.logs->FlushBuffers(); });
    if (!s.ok()) state_.commit->ExitExclusive();
  }
  DbLock lock(&state_.mu);
  // An ingestion that has its place in the order of writes already shows its tables before this
  // returns, so that nothing changes while the log is locked.
  if (s.ok()) state_.ingest_windows.AwaitNone();
  VARVE_ASSERT(locking_ && locks_ == 0);
  locking_ = false;
  locks_ = s.ok() ? 1 : 0;
  state_.work.SignalAll();
  return s;
}

// Only the last of nested locks lets writers in.
Status LogGate::Unlock() {
  {
    DbLock lock(&state_.mu);
    if (locks_ == 0) return Status::Aborted("UnlockWAL: the log is not locked");
    if (--locks_ > 0) return Status::OK();
  }
  // Without the mutex: whoever is let in may take it at once.
  state_.commit->ExitExclusive();
  return Status::OK();
}

}  // namespace varve
