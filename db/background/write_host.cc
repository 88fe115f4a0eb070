// SPDX-License-Identifier: Apache-2.0
#include "db/background/write_host.h"

#include <algorithm>

#include "db/background/compaction_work.h"
#include "db/background/flush_work.h"
#include "db/write/batch_inserter.h"
#include "util/metrics/statistics.h"

namespace varve {

namespace {

// Whether all logs together are too large is looked at when they have grown by this much.
constexpr uint64_t kLogBytesBetweenChecks = 64 << 10;
// A delayed writer looks this often whether it may go on.
constexpr uint64_t kDelaySliceMicros = 1000;
// What writes of low priority get while compactions are due, bytes a second.
constexpr uint64_t kLowPriorityRate = 2 << 20;
// A stopped writer is woken when a job ends; this bounds the harm of a missed reason.
constexpr uint64_t kStopSliceMicros = 100 * 1000;

}  // namespace

Status YieldToCompaction(Engine* engine, const WriteOptions& options, size_t bytes) {
  Engine& e = *engine;
  MutexLock lock(&e.mu);
  if (!e.compaction->Busy()) return Status::OK();
  if (options.no_slowdown) return Status::Incomplete("write of low priority: compactions are due");
  const uint64_t start = e.clock->NowMicros();
  const uint64_t delay = std::max(kDelaySliceMicros, bytes * 1000 * 1000 / kLowPriorityRate);
  while (e.compaction->Busy() && e.clock->NowMicros() < start + delay &&
         !e.shutting_down.load(std::memory_order_acquire)) {
    e.background_changed.WaitFor(kDelaySliceMicros);
  }
  return Status::OK();
}

Status WriteHost::Refusal() const {
  const Engine& e = *engine_;
  if (e.shutting_down.load(std::memory_order_acquire)) {
    return Status::ShutdownInProgress("write: the database is being closed");
  }
  if (e.errors.writes_stopped()) return e.errors.error();
  return Status::OK();
}

Status WriteHost::PrepareGroup(const WriteOptions& options, size_t bytes) {
  Engine& e = *engine_;
  MutexLock lock(&e.mu);
  e.attention.store(false, std::memory_order_relaxed);
  Status s = Refusal();
  if (s.ok()) s = e.flush->SwitchFullMemTables();
  if (s.ok()) s = WaitWhileStopped(options);
  if (s.ok()) s = WaitWhileDelayed(options, bytes);
  // Conditions that last make the next writer come here as well.
  if (e.errors.writes_stopped() || e.stopped_families > 0 || e.delayed_families > 0 ||
      e.shutting_down.load(std::memory_order_relaxed)) {
    e.attention.store(true, std::memory_order_release);
  }
  return s;
}

Status WriteHost::WaitWhileStopped(const WriteOptions& options) {
  Engine& e = *engine_;
  if (e.stopped_families == 0) return Status::OK();
  if (options.no_slowdown) return Status::Incomplete("write stall", e.stall_reason);
  const uint64_t start = e.clock->NowMicros();
  Status s;
  while (s.ok() && e.stopped_families > 0) {
    e.flush->Schedule();
    e.compaction->ScheduleAll();
    e.background_changed.WaitFor(kStopSliceMicros);
    s = Refusal();
  }
  const uint64_t waited = e.clock->NowMicros() - start;
  e.total_stall_micros += waited;
  RecordTick(e.statistics, STALL_MICROS, waited);
  RecordInHistogram(e.statistics, WRITE_STALL, waited);
  return s;
}

Status WriteHost::WaitWhileDelayed(const WriteOptions& options, size_t bytes) {
  Engine& e = *engine_;
  if (e.delayed_families == 0) return Status::OK();
  const uint64_t start = e.clock->NowMicros();
  const uint64_t delay = e.pacer->DelayMicros(bytes, start);
  if (delay == 0) return Status::OK();
  if (options.no_slowdown) return Status::Incomplete("write stall", e.stall_reason);
  Status s;
  while (s.ok()) {
    const uint64_t waited = e.clock->NowMicros() - start;
    if (waited >= delay || e.delayed_families == 0) break;
    {
      MutexUnlock unlock(&e.mu);
      e.clock->SleepForMicroseconds(
          static_cast<int>(std::min<uint64_t>(delay - waited, kDelaySliceMicros)));
    }
    s = Refusal();
  }
  const uint64_t waited = e.clock->NowMicros() - start;
  e.total_stall_micros += waited;
  e.total_delayed_writes++;
  RecordTick(e.statistics, STALL_MICROS, waited);
  RecordInHistogram(e.statistics, WRITE_STALL, waited);
  return s;
}

Status WriteHost::AppendToLog(const Slice& record, bool sync) {
  Engine& e = *engine_;
  IOStatus s = e.logs->Append(record);
  RecordTick(e.statistics, WAL_FILE_BYTES, record.size());
  logged_since_check_ += record.size();
  if (logged_since_check_ >= kLogBytesBetweenChecks) {
    logged_since_check_ = 0;
    e.attention.store(true, std::memory_order_release);
  }
  if (s.ok() && sync) {
    StopWatch watch(e.clock, e.statistics, WAL_FILE_SYNC_MICROS);
    s = e.logs->Sync();
    RecordTick(e.statistics, WAL_FILE_SYNCED);
  }
  return s;
}

Status WriteHost::Insert(const Slice& rep, SequenceNumber sequence) {
  Engine& e = *engine_;
  BatchInsertResult result;
  Status s = InsertBatch(rep, sequence, &e.families, &result);
  if (e.families.TakeFullFlag() || e.write_buffer_manager->ShouldFlush())
    e.attention.store(true, std::memory_order_release);
  RecordTick(e.statistics, NUMBER_KEYS_WRITTEN, result.inserted);
  RecordTick(e.statistics, BYTES_WRITTEN, rep.size());
  RecordInHistogram(e.statistics, BYTES_PER_WRITE, rep.size());
  return s;
}

void WriteHost::OnCommitError(const Status& status, bool in_log) {
  Engine& e = *engine_;
  MutexLock lock(&e.mu);
  e.ReportError(status,
                in_log ? BackgroundErrorReason::kWriteCallback : BackgroundErrorReason::kMemTable);
}

}  // namespace varve
