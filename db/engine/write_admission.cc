// SPDX-License-Identifier: Apache-2.0

// The slow path of writes. A writer that finds the flag set takes the DB mutex and goes through the
// conditions in a fixed order: errors, a stop, a full memtable, a delay, memory. Each wait releases
// the mutex, so after each the next condition is judged from the state as it is then. The flag is
// set again at the end if another writer has to go through this as well.
//
// Writers that are stopped all sleep on one condition. One of them (stop_watched_) wakes from time
// to time and asks for the work that would end the stop, in case nobody did.

#include "db/engine/write_admission.h"

#include <algorithm>

#include "varve/rate_limiter.h"

#include "util/base/assert.h"
#include "util/base/canary.h"
#include "util/base/caught_exception.h"
#include "util/base/probes.h"
#include "util/base/status_macros.h"
#include "util/metrics/statistics.h"

namespace varve {

namespace {

// The rate of all writes of low priority together, while compactions are due.
constexpr uint64_t kLowPriorityBytesPerSecond = 2 << 20;
// Interval at which a delayed writer checks if it may continue.
constexpr uint64_t kDelaySliceMicros = 1000;
// Stopped writers are woken when the stop ends; this limits the harm of a missed wake-up.
constexpr uint64_t kStopSliceMicros = 100 * 1000;
// A writer that waits for memory is woken when some is freed, but not when its database closes.
constexpr uint64_t kMemorySliceMicros = 10 * 1000;

}  // namespace

WriteAdmission::WriteAdmission(const Parts& parts)
    : mu_(parts.mu),
      commit_(parts.commit),
      context_(parts.context),
      lifecycle_(parts.lifecycle),
      stalls_(parts.stalls),
      errors_(parts.errors),
      log_gate_(parts.log_gate),
      flush_(parts.flush),
      compaction_(parts.compaction),
      slow_path_(parts.stalls.slow_path()),
      low_priority_pacer_(kLowPriorityBytesPerSecond) {}

Status WriteAdmission::YieldToCompaction(const WriteOptions& options, size_t bytes) {
  DbLock lock(mu_);
  if (!compaction_.Busy()) return Status::OK();
  if (options.no_slowdown) return Status::Incomplete("write of low priority: compactions are due");
  // Adds these bytes to the debt that all writes of low priority pay off together.
  low_priority_pacer_.DelayMicros(bytes, context_.MonotonicMicros());
  // The writer waits at least one slice, even if no other write of low priority came before it.
  const uint64_t delay = std::max(kDelaySliceMicros, low_priority_pacer_.DebtMicros());
  return SleepInSlices(delay, [&] {
    mu_->AssertHeld();
    return compaction_.Busy();
  });
}

void WriteAdmission::Charge(Env::IOPriority priority, uint64_t bytes) {
  RateLimiter* const limiter = context_.options().rate_limiter.get();
  if (priority == Env::IO_TOTAL || limiter == nullptr) return;
  auto left = static_cast<int64_t>(bytes);
  while (left > 0 && !context_.limit_lifted().load(std::memory_order_relaxed)) {
    // A limiter grants at most one burst at a time.
    const int64_t part = std::clamp<int64_t>(limiter->GetSingleBurstBytes(), 1, left);
    limiter->Request(part, priority, context_.statistics(), RateLimiter::OpType::kWrite);
    left -= part;
  }
}

// True if the next writer has to check as well.
bool WriteAdmission::AnythingLasting() const {
  return stalls_.stopped() || stalls_.delayed() || switching_memtables_ || log_gate_.locking() ||
         log_gate_.locked() || context_.write_buffer_manager()->ShouldStall();
}

// Errors are returned, waits are waited for, in the order of the file's head. Of all writers that
// come here while a memtable is full one switches it; the others go on to the commit path, where
// they wait for the switch at the gate.
Status WriteAdmission::AdmitSlowly(const WriteOptions& options, size_t bytes) {
  DbLock lock(mu_);
  // Must precede any wait: other writers must not pass by meanwhile.
  slow_path_.Set(AnythingLasting());
  Status s = errors_.WriteRefusal();
  const bool others_inside = switching_memtables_ || log_gate_.locking() || log_gate_.locked();
  if (s.ok() && options.no_slowdown && others_inside) {
    s = Status::Incomplete("write stall", switching_memtables_ ? "memtables are being switched"
                                                               : "the log is locked (LockWAL)");
  }
  // A full memtable is not switched while writes are stopped: that would add to the reason.
  if (s.ok()) s = WaitWhileStopped(options);
  if (s.ok() && !switching_memtables_ && flush_.AnythingDue()) {
    switching_memtables_ = true;
    slow_path_.Set();  // for writers with no_slowdown
    {
      DbUnlock unlock(mu_);
      s = Guarded([&] { return SwitchFullMemTables(options); });
    }
    VARVE_ASSERT(switching_memtables_);
    switching_memtables_ = false;
    // It is still full, so the next writer must check.
    if (s.IsIncomplete()) slow_path_.Set();
    if (s.ok()) s = WaitWhileStopped(options);
  }
  if (s.ok()) s = WaitWhileDelayed(options, bytes);
  if (s.ok()) s = WaitForMemory(options);
  if (AnythingLasting()) slow_path_.Set();
  return s;
}

// OK does not say that this call has switched anything: another writer may have been first. Returns
// Incomplete if another thread keeps writers out, and the write has no_slowdown.
Status WriteAdmission::SwitchFullMemTables(const WriteOptions& options) {
  const OpenCall call(&lifecycle_);
  if (!call.inside()) return Status::ShutdownInProgress("write: the database is being closed");
  if (!options.no_slowdown) {
    commit_->EnterExclusive();
  } else if (!commit_->EnterExclusiveWithin(kNoSlowdownMicros)) {
    DbLock lock(mu_);
    if (!flush_.AnythingFull()) return Status::OK();
    return Status::Incomplete("write stall", "a memtable is full, and somebody holds the log");
  }
  Status s;
  {
    const ExclusiveCommit exclusive(commit_, ExclusiveCommit::Entered());
    DbLock lock(mu_);
    s = errors_.WriteRefusal();
    // Writers are out now, so the memtables are looked at again: another writer may have switched
    // them.
    if (s.ok()) s = flush_.SwitchFullMemTables();
  }
  DbLock lock(mu_);
  stalls_.Tell();
  return s;
}

// Returns the error of a write in a callback: it cannot wait for something that ends with the work
// that it was called from.
Status WriteAdmission::CalledBack() const {
  // VARVE_CANARY plants a bug in builds that test the tests; in all others it is false.
  if (VARVE_CANARY(kWaitInCallback)) return Status::OK();
  return RefuseHeldUp("write", ActiveWork::kFlush | ActiveWork::kCompaction, &lifecycle_);
}

// Each writer that leaves, for whatever reason, wakes the next sleeper, which looks for itself. So
// the end of a stop wakes all of them, one after the other.
Status WriteAdmission::WaitWhileStopped(const WriteOptions& options) {
  if (!stalls_.stopped()) return Status::OK();
  Status s = StopRefusal();
  if (!s.ok()) return s;
  if (options.no_slowdown) return Status::Incomplete("write stall", stalls_.reason());
  VARVE_RETURN_IF_ERROR(CalledBack());
  const uint64_t started = stalls_.BeginWait();
  stalls_.totals().stopped_writes++;
  s = Guarded([&] {
    mu_->AssertHeld();
    flush_.FlushStopped();
  });
  while (s.ok() && stalls_.stopped()) {
    if (stop_watched_) {
      stalls_.SleepWhileStopped();
    } else {
      stop_watched_ = true;
      s = Guarded([&] {
        mu_->AssertHeld();
        AskForWork();
      });
      if (s.ok() && stalls_.stopped()) stalls_.SleepWhileStopped(kStopSliceMicros);
      VARVE_ASSERT(stop_watched_);
      stop_watched_ = false;
    }
    if (s.ok()) s = StopRefusal();
  }
  stalls_.WakeStopped();
  stalls_.EndWait(started);
  return s;
}

Status WriteAdmission::StopRefusal() {
  Status s = errors_.WriteRefusal();
  const bool unending = stalls_.stopped_for_compaction() && !compaction_.MayMakeRoom();
  return s.ok() && unending ? errors_.CompactionRefusal() : s;
}

// Requests the work that will end the stop, in case it was not requested yet. The end of a job
// requests what comes next.
void WriteAdmission::AskForWork() {
  flush_.FlushStopped();
  compaction_.ScheduleAll();
}

// The mutex is released for each slice, and `wanted` and the errors are asked again after it.
template <typename Wanted>
Status WriteAdmission::SleepInSlices(uint64_t micros, Wanted wanted) {
  const uint64_t start = context_.MonotonicMicros();
  Status s;
  while (s.ok() && wanted()) {
    const uint64_t waited = context_.MonotonicMicros() - start;
    if (waited >= micros) break;
    {
      DbUnlock unlock(mu_);
      context_.clock()->SleepForMicroseconds(
          static_cast<int>(std::min<uint64_t>(micros - waited, kDelaySliceMicros)));
    }
    s = errors_.WriteRefusal();
  }
  return s;
}

// The wait is computed from the debt of earlier writes, and ends early if the delay ends.
Status WriteAdmission::WaitWhileDelayed(const WriteOptions& options, size_t bytes) {
  if (!stalls_.delayed()) return Status::OK();
  const uint64_t now = context_.MonotonicMicros();
  if (options.no_slowdown) {
    // A refused write adds no debt.
    const uint64_t wait = stalls_.pacer().DelayMicros(0, now);
    if (wait > 0) return Status::Incomplete("write stall", stalls_.reason());
  }
  const uint64_t delay = stalls_.pacer().DelayMicros(bytes, now);
  if (delay == 0) return Status::OK();
  const uint64_t started = stalls_.BeginWait();
  stalls_.totals().delayed_writes++;
  Status s = SleepInSlices(delay, [&] {
    mu_->AssertHeld();
    return stalls_.delayed();
  });
  stalls_.EndWait(started);
  return s;
}

// Differs from the stalls above: another database may free the memory, and the wait is not in the
// statistics of stalls.
Status WriteAdmission::WaitForMemory(const WriteOptions& options) {
  WriteBufferManager& memory = *context_.write_buffer_manager();
  if (!memory.ShouldStall()) return Status::OK();
  const uint64_t start = context_.MonotonicMicros();
  bool waited = false;
  Status s;
  while (s.ok() && memory.ShouldStall()) {
    DbUnlock unlock(mu_);  // unlocked, as users are called, and a release of memory signals
    // If no flush of any database can free memory, waiting would never end.
    if (!memory.AskForMemory()) break;
    if (options.no_slowdown) {
      s = Status::Incomplete("write stall",
                             "memtables take " + std::to_string(memory.memory_usage()) +
                                 " bytes, the write-buffer manager's limit is " +
                                 std::to_string(memory.buffer_size()) + "; ends with a flush");
      break;
    }
    s = CalledBack();
    if (!s.ok()) break;
    if (!waited) VARVE_PROBE_WRITE_STALL_BEGIN("memtables take more than their limit", true);
    waited = true;
    memory.WaitForChange(kMemorySliceMicros);
    DbLock lock(mu_);
    s = errors_.WriteRefusal();
  }
  if (waited) {
    const uint64_t micros = context_.MonotonicMicros() - start;
    VARVE_PROBE_WRITE_STALL_END(micros);
    stalls_.totals().memory_stalls++;
    stalls_.totals().memory_stall_micros += micros;
  }
  return s;
}

}  // namespace varve
