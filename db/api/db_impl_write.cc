// SPDX-License-Identifier: Apache-2.0

// Writing: each call becomes a checked batch on the commit path.

#include <limits>

#include "db/api/db_impl.h"
#include "db/background/write_host.h"
#include "db/write/batch_inserter.h"
#include "util/base/status_macros.h"
#include "util/metrics/statistics.h"

namespace varve {

namespace {

Status NoTimestamps(const char* call) {
  return Status::NotSupported(std::string(call) +
                              " with a timestamp: user timestamps do not exist yet");
}

// For a batch with one record. Sizes beyond the format are refused by the batch, not reserved here.
size_t BytesToReserve(size_t key, size_t value) {
  constexpr size_t kMost = std::numeric_limits<uint32_t>::max();
  constexpr size_t kHeadAndLengths = 24;
  return key > kMost || value > kMost ? 0 : key + value + kHeadAndLengths;
}

Status CheckWriteOptions(const WriteOptions& options) {
  if (options.sync && options.disableWAL) {
    return Status::InvalidArgument("write: sync and disableWAL exclude each other");
  }
  if (options.protection_bytes_per_key != 0) {
    return Status::NotSupported("write: WriteOptions::protection_bytes_per_key is not supported");
  }
  if (options.rate_limiter_priority != Env::IO_TOTAL) {
    return Status::NotSupported("write: WriteOptions::rate_limiter_priority is not supported");
  }
  return Status::OK();
}

}  // namespace

Status DbImpl::Write(const WriteOptions& options, WriteBatch* updates) {
  if (updates == nullptr) return Status::InvalidArgument("write: the batch is null");
  Engine& e = *engine_;
  Status s = CheckWritable();
  if (s.ok()) s = CheckWriteOptions(options);
  if (!s.ok()) return s;
  if (options.disableWAL && !e.has_unlogged_data.load(std::memory_order_relaxed)) {
    e.has_unlogged_data.store(true, std::memory_order_release);
  }
  StopWatch watch(e.clock, e.statistics, DB_WRITE);
  RecordTick(e.statistics, WRITE_DONE_BY_SELF);
  if (!options.disableWAL) RecordTick(e.statistics, WRITE_WITH_WAL);
  BatchCheckOptions check;
  check.ignore_missing_families = options.ignore_missing_column_families;
  s = CheckBatch(updates->Data(), &e.families, check);
  if (s.ok() && options.low_pri) s = YieldToCompaction(&e, options, updates->GetDataSize());
  if (!s.ok()) return s;
  return e.commit->Commit(options, updates);
}

// A batch knows ids only: another database's handle would reach the family of the same id here.
Status DbImpl::CheckHandle(ColumnFamilyHandle* handle) const {
  Status s;
  if (handle != default_handle_.get()) engine_->Resolve(handle, &s);
  return s;
}

Status DbImpl::WriteOne(const WriteOptions& options, WriteBatch* batch) {
  return Write(options, batch);
}

Status DbImpl::Put(const WriteOptions& options, ColumnFamilyHandle* handle, const Slice& key,
                   const Slice& value) {
  VARVE_RETURN_IF_ERROR(CheckHandle(handle));
  WriteBatch batch(BytesToReserve(key.size(), value.size()));
  Status s = batch.Put(handle, key, value);
  return s.ok() ? WriteOne(options, &batch) : s;
}

Status DbImpl::Put(const WriteOptions&, ColumnFamilyHandle*, const Slice&, const Slice&,
                   const Slice&) {
  return NoTimestamps("Put");
}

Status DbImpl::Delete(const WriteOptions& options, ColumnFamilyHandle* handle, const Slice& key) {
  VARVE_RETURN_IF_ERROR(CheckHandle(handle));
  WriteBatch batch(BytesToReserve(key.size(), 0));
  Status s = batch.Delete(handle, key);
  return s.ok() ? WriteOne(options, &batch) : s;
}

Status DbImpl::Delete(const WriteOptions&, ColumnFamilyHandle*, const Slice&, const Slice&) {
  return NoTimestamps("Delete");
}

Status DbImpl::SingleDelete(const WriteOptions& options, ColumnFamilyHandle* handle,
                            const Slice& key) {
  VARVE_RETURN_IF_ERROR(CheckHandle(handle));
  WriteBatch batch(BytesToReserve(key.size(), 0));
  Status s = batch.SingleDelete(handle, key);
  return s.ok() ? WriteOne(options, &batch) : s;
}

Status DbImpl::SingleDelete(const WriteOptions&, ColumnFamilyHandle*, const Slice&, const Slice&) {
  return NoTimestamps("SingleDelete");
}

Status DbImpl::DeleteRange(const WriteOptions& options, ColumnFamilyHandle* handle,
                           const Slice& begin, const Slice& end) {
  VARVE_RETURN_IF_ERROR(CheckHandle(handle));
  WriteBatch batch;
  Status s = batch.DeleteRange(handle, begin, end);
  return s.ok() ? WriteOne(options, &batch) : s;
}

Status DbImpl::DeleteRange(const WriteOptions&, ColumnFamilyHandle*, const Slice&, const Slice&,
                           const Slice&) {
  return NoTimestamps("DeleteRange");
}

Status DbImpl::Merge(const WriteOptions&, ColumnFamilyHandle*, const Slice&, const Slice&) {
  return Status::NotSupported("Merge: merge_operator is not supported by this version");
}

Status DbImpl::Merge(const WriteOptions&, ColumnFamilyHandle*, const Slice&, const Slice&,
                     const Slice&) {
  return NoTimestamps("Merge");
}

Status DbImpl::FlushWAL(bool sync) {
  Status s = CheckWritable();
  if (!s.ok()) return s;
  Engine& e = *engine_;
  // The head of the commit path appends to the same buffer: keep it out.
  e.commit->EnterExclusive();
  s = e.logs->FlushBuffer();
  if (s.ok() && sync) s = e.logs->Sync();
  if (!s.ok()) {
    MutexLock lock(&e.mu);
    e.ReportError(s, BackgroundErrorReason::kWriteCallback);
  }
  e.commit->ExitExclusive();
  return s;
}

Status DbImpl::SyncWAL() {
  return FlushWAL(/*sync=*/true);
}

Status DbImpl::LockWAL() {
  Status s = CheckWritable();
  if (!s.ok()) return s;
  Engine& e = *engine_;
  {
    MutexLock lock(&e.mu);
    while (e.wal_locking) e.background_changed.Wait();
    if (e.wal_locked > 0) {
      e.wal_locked++;
      return s;
    }
    e.wal_locking = true;
  }
  e.commit->EnterExclusive();
  s = e.logs->FlushBuffer();
  if (!s.ok()) e.commit->ExitExclusive();
  MutexLock lock(&e.mu);
  e.wal_locking = false;
  e.wal_locked = s.ok() ? 1 : 0;
  e.background_changed.SignalAll();
  return s;
}

Status DbImpl::UnlockWAL() {
  Engine& e = *engine_;
  {
    MutexLock lock(&e.mu);
    if (e.wal_locked == 0) return Status::Aborted("UnlockWAL: the log is not locked");
    if (--e.wal_locked > 0) return Status::OK();
  }
  e.commit->ExitExclusive();
  return Status::OK();
}

}  // namespace varve
