// SPDX-License-Identifier: Apache-2.0
#include "db/background/write_admission.h"

#include <algorithm>

#include "varve/rate_limiter.h"

#include "db/background/compaction_work.h"
#include "db/background/flush_work.h"
#include "util/base/caught_exception.h"
#include "util/metrics/statistics.h"

namespace varve {

namespace {

// A delayed writer looks this often whether it may go on.
constexpr uint64_t kDelaySliceMicros = 1000;
// Stopped writers are woken when that ends; this bounds the harm of a missed reason.
constexpr uint64_t kStopSliceMicros = 100 * 1000;
// One that waits for memory is woken when some is freed, but not when its database closes.
constexpr uint64_t kMemorySliceMicros = 10 * 1000;

}  // namespace

Status WriteAdmission::YieldToCompaction(const WriteOptions& options, size_t bytes) {
  Engine& e = *engine_;
  MutexLock lock(&e.mu);
  if (!e.compaction->Busy()) return Status::OK();
  if (options.no_slowdown) return Status::Incomplete("write of low priority: compactions are due");
  e.low_priority_pacer.DelayMicros(bytes, e.MonotonicMicros());
  const uint64_t delay = std::max(kDelaySliceMicros, e.low_priority_pacer.DebtMicros());
  return SleepInSlices(delay, [&] { return e.compaction->Busy(); });
}

void WriteAdmission::Charge(Env::IOPriority priority, uint64_t bytes) {
  RateLimiter* const limiter = engine_->options.rate_limiter.get();
  if (priority == Env::IO_TOTAL || limiter == nullptr) return;
  auto left = static_cast<int64_t>(bytes);
  while (left > 0) {
    const int64_t part = std::clamp<int64_t>(limiter->GetSingleBurstBytes(), 1, left);
    limiter->Request(part, priority, engine_->statistics, RateLimiter::OpType::kWrite);
    left -= part;
  }
}

// Whether the next writer has to look as well. Requires mu.
bool WriteAdmission::AnythingLasting() const {
  const Engine& e = *engine_;
  return e.stopped_families > 0 || e.delayed_families > 0 || e.switching_memtables ||
         e.wal_locking || e.wal_locked > 0 || e.write_buffer_manager->ShouldStall();
}

Status WriteAdmission::AdmitWithAttention(const WriteOptions& options, size_t bytes) {
  Engine& e = *engine_;
  MutexLock lock(&e.mu);
  // Before any wait: others must not pass by meanwhile.
  e.attention.store(AnythingLasting(), std::memory_order_release);
  Status s = e.WriteRefusal();
  const bool others_inside = e.switching_memtables || e.wal_locking || e.wal_locked > 0;
  if (s.ok() && options.no_slowdown && others_inside) {
    s = Status::Incomplete("write stall", e.switching_memtables ? "memtables are being switched"
                                                                : "the log is locked (LockWAL)");
  }
  // A full memtable stays as it is while writes are stopped: switching it would add to the reason.
  if (s.ok()) s = WaitWhileStopped(options);
  if (s.ok() && !e.switching_memtables && e.flush->AnythingFull()) {
    e.switching_memtables = true;
    e.attention.store(true, std::memory_order_release);  // of writers with no_slowdown
    {
      MutexUnlock unlock(&e.mu);
      s = Guarded([&] { return SwitchFullMemTables(options); });
    }
    e.switching_memtables = false;
    // Still full: for the next writer to look at.
    if (s.IsIncomplete()) e.attention.store(true, std::memory_order_release);
    if (s.ok()) s = WaitWhileStopped(options);
  }
  if (s.ok()) s = WaitWhileDelayed(options, bytes);
  if (s.ok()) s = WaitForMemory(options);
  if (AnythingLasting()) e.attention.store(true, std::memory_order_release);
  return s;
}

Status WriteAdmission::SwitchFullMemTables(const WriteOptions& options) {
  Engine& e = *engine_;
  const OpenCall call(&e.calls, e.closed);
  if (!call.inside()) return Status::ShutdownInProgress("write: the database is being closed");
  if (!options.no_slowdown) {
    e.commit->EnterExclusive();
  } else if (!e.commit->EnterExclusiveWithin(kNoSlowdownMicros)) {
    return Status::Incomplete("write stall", "a memtable is full, and somebody holds the log");
  }
  const ExclusiveCommit exclusive(e.commit.get(), ExclusiveCommit::Entered());
  MutexLock lock(&e.mu);
  Status s = e.WriteRefusal();
  return s.ok() ? e.flush->SwitchFullMemTables() : s;
}

uint64_t WriteAdmission::BeginStall() {
  Engine& e = *engine_;
  const uint64_t now = e.MonotonicMicros();
  if (e.stalled_writers++ == 0) e.writers_stalled_since = now;
  return now;
}

void WriteAdmission::EndStall(uint64_t started) {
  Engine& e = *engine_;
  const uint64_t now = std::max(e.MonotonicMicros(), started);
  RecordInHistogram(e.statistics, WRITE_STALL, now - started);
  if (--e.stalled_writers > 0) return;
  const uint64_t waited = now - std::min(now, e.writers_stalled_since);
  e.total_stall_micros += waited;
  RecordTick(e.statistics, STALL_MICROS, waited);
}

Status WriteAdmission::WaitWhileStopped(const WriteOptions& options) {
  Engine& e = *engine_;
  if (e.stopped_families == 0) return Status::OK();
  if (options.no_slowdown) return Status::Incomplete("write stall", e.stall_reason);
  const uint64_t started = BeginStall();
  e.total_stopped_writes++;
  Status s = Guarded([&] {
    e.flush->RequestStopped();
    e.flush->Schedule();
    return Status::OK();
  });
  while (s.ok() && e.stopped_families > 0) {
    if (e.stop_watched) {
      e.stop_ended.Wait();
    } else {
      e.stop_watched = true;
      s = Guarded([&] {
        AskForWork();
        return Status::OK();
      });
      if (s.ok() && e.stopped_families > 0) e.stop_ended.WaitFor(kStopSliceMicros);
      e.stop_watched = false;
    }
    if (s.ok()) s = e.WriteRefusal();
  }
  e.stop_ended.Signal();
  EndStall(started);
  return s;
}

// What will end the stop, in case nobody has asked for it. Who ends a job asks for what comes next.
void WriteAdmission::AskForWork() {
  Engine& e = *engine_;
  e.flush->RequestStopped();
  e.flush->Schedule();
  e.compaction->ScheduleAll();
}

template <typename Wanted>
Status WriteAdmission::SleepInSlices(uint64_t micros, Wanted wanted) {
  Engine& e = *engine_;
  const uint64_t start = e.MonotonicMicros();
  Status s;
  while (s.ok() && wanted()) {
    const uint64_t waited = e.MonotonicMicros() - start;
    if (waited >= micros) break;
    {
      MutexUnlock unlock(&e.mu);
      e.clock->SleepForMicroseconds(
          static_cast<int>(std::min<uint64_t>(micros - waited, kDelaySliceMicros)));
    }
    s = e.WriteRefusal();
  }
  return s;
}

Status WriteAdmission::WaitWhileDelayed(const WriteOptions& options, size_t bytes) {
  Engine& e = *engine_;
  if (e.delayed_families == 0) return Status::OK();
  const uint64_t now = e.MonotonicMicros();
  if (options.no_slowdown) {
    // A write that is refused owes nothing.
    const uint64_t wait = e.pacer->DelayMicros(0, now);
    if (wait > 0) return Status::Incomplete("write stall", e.stall_reason);
  }
  const uint64_t delay = e.pacer->DelayMicros(bytes, now);
  if (delay == 0) return Status::OK();
  const uint64_t started = BeginStall();
  e.total_delayed_writes++;
  Status s = SleepInSlices(delay, [&] { return e.delayed_families > 0; });
  EndStall(started);
  return s;
}

// Not one of the stalls above: whoever frees memory may be another database, and none of it is in
// the statistics of stalls.
Status WriteAdmission::WaitForMemory(const WriteOptions& options) {
  Engine& e = *engine_;
  WriteBufferManager& memory = *e.write_buffer_manager;
  if (!memory.ShouldStall()) return Status::OK();
  const uint64_t start = e.MonotonicMicros();
  bool waited = false;
  Status s;
  while (s.ok() && memory.ShouldStall()) {
    MutexUnlock unlock(&e.mu);  // users are asked, and freed memory is told of, without it
    // When no flush of any database can free anything, waiting would never end.
    if (!memory.AskForMemory()) break;
    if (options.no_slowdown) {
      s = Status::Incomplete("write stall",
                             "memtables take " + std::to_string(memory.memory_usage()) +
                                 " bytes, the write-buffer manager's limit is " +
                                 std::to_string(memory.buffer_size()) + "; ends with a flush");
      break;
    }
    waited = true;
    memory.WaitForChange(kMemorySliceMicros);
    MutexLock lock(&e.mu);
    s = e.WriteRefusal();
  }
  if (waited) {
    e.memory_stalls++;
    e.memory_stall_micros += e.MonotonicMicros() - start;
  }
  return s;
}

}  // namespace varve
