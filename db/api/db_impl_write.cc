// SPDX-License-Identifier: Apache-2.0

// Writing: each call becomes a checked batch on the commit path.

#include <memory>

#include "db/api/db_impl.h"
#include "db/background/write_admission.h"
#include "db/write/batch_inserter.h"
#include "db/write/write_batch_internal.h"
#include "util/base/status_macros.h"
#include "util/metrics/statistics.h"

namespace varve {

namespace {

Status NoTimestamps(const char* call) {
  return Status::NotSupported(std::string(call) +
                              " with a timestamp: user timestamps do not exist yet");
}

// The batch of a call that writes one record: the thread's own, whose memory is used again, unless
// the thread is in such a call already (a callback may write to another database), or the record
// is to carry a checksum.
class SingleRecordBatch {
 public:
  explicit SingleRecordBatch(size_t protection_bytes_per_key) : own_(Own()) {
    if (own_.in_use || protection_bytes_per_key != 0) {
      spare_ = std::make_unique<WriteBatch>(0, 0, protection_bytes_per_key, 0);
    } else {
      own_.in_use = true;
      own_.batch.Clear();
    }
  }
  ~SingleRecordBatch() {
    if (spare_ != nullptr) return;
    own_.in_use = false;
    constexpr size_t kKeptBytesMax = 64 << 10;
    if (own_.batch.GetDataSize() > kKeptBytesMax) own_.batch = WriteBatch();
  }
  SingleRecordBatch(const SingleRecordBatch&) = delete;
  SingleRecordBatch& operator=(const SingleRecordBatch&) = delete;

  WriteBatch* get() { return spare_ != nullptr ? spare_.get() : &own_.batch; }
  WriteBatch* operator->() { return get(); }

 private:
  struct OfThread {
    WriteBatch batch;
    bool in_use = false;
  };
  static OfThread& Own() {
    thread_local OfThread own;
    return own;
  }

  OfThread& own_;
  std::unique_ptr<WriteBatch> spare_;
};

Status CheckWriteOptions(const WriteOptions& options, const DBOptions& db) {
  if (options.sync && options.disableWAL) {
    return Status::InvalidArgument("write: sync and disableWAL exclude each other");
  }
  if (options.disableWAL && db.recycle_log_file_num > 0) {
    return Status::InvalidArgument("write: disableWAL, and recycle_log_file_num is not 0");
  }
  if (options.protection_bytes_per_key != 0 && options.protection_bytes_per_key != 8) {
    return Status::InvalidArgument("write: protection_bytes_per_key must be 0 or 8");
  }
  if (options.rate_limiter_priority == Env::IO_TOTAL) return Status::OK();
  if (options.rate_limiter_priority != Env::IO_USER) {
    return Status::InvalidArgument("write: rate_limiter_priority must be IO_TOTAL or IO_USER");
  }
  if (options.disableWAL || db.manual_wal_flush) {
    return Status::InvalidArgument(
        "write: rate_limiter_priority is for logs that each write flushes, not for disableWAL or "
        "manual_wal_flush");
  }
  return Status::OK();
}

}  // namespace

Status DbImpl::Write(const WriteOptions& options, WriteBatch* updates) {
  return WriteWithCallback(options, updates, nullptr);
}

Status DbImpl::WriteWithCallback(const WriteOptions& options, WriteBatch* updates,
                                 UserWriteCallback* callback) {
  if (updates == nullptr) return Status::InvalidArgument("write: the batch is null");
  Engine& e = *engine_;
  Status s = CheckWritable();
  if (s.ok()) s = CheckWriteOptions(options, e.options);
  if (!s.ok()) return s;
  if (options.disableWAL && !e.has_unlogged_data.load(std::memory_order_relaxed)) {
    e.has_unlogged_data.store(true, std::memory_order_release);
  }
  StopWatch watch(e.clock, e.statistics, DB_WRITE);
  BatchCheckOptions check;
  check.ignore_missing_families = options.ignore_missing_column_families;
  if (options.protection_bytes_per_key != 0) s = WriteBatchInternal::Protect(updates);
  if (s.ok()) s = updates->VerifyChecksum();
  if (s.ok()) s = CheckBatch(updates->Data(), &e.families, check);
  if (s.ok() && options.low_pri)
    s = e.admission->YieldToCompaction(options, updates->GetDataSize());
  if (s.ok()) s = e.admission->Admit(options, updates->GetDataSize());
  if (!s.ok()) return s;
  e.admission->ChargeLog(options, updates->GetDataSize());
  // Waiting may have taken long: what is logged and inserted is what was added.
  s = updates->VerifyChecksum();
  if (!s.ok()) return s;
  RecordTick(e.statistics, WRITE_DONE_BY_SELF);
  if (!options.disableWAL) RecordTick(e.statistics, WRITE_WITH_WAL);
  return e.commit->Commit(options, updates, callback);
}

// A batch knows ids only: another database's handle would reach the family of the same id here.
Status DbImpl::CheckHandle(ColumnFamilyHandle* handle) const {
  Status s;
  if (handle != default_handle_.get()) engine_->Resolve(handle, &s);
  return s;
}

Status DbImpl::Put(const WriteOptions& options, ColumnFamilyHandle* handle, const Slice& key,
                   const Slice& value) {
  VARVE_RETURN_IF_ERROR(CheckHandle(handle));
  SingleRecordBatch batch(options.protection_bytes_per_key);
  Status s = batch->Put(handle, key, value);
  return s.ok() ? Write(options, batch.get()) : s;
}

Status DbImpl::Put(const WriteOptions&, ColumnFamilyHandle*, const Slice&, const Slice&,
                   const Slice&) {
  return NoTimestamps("Put");
}

Status DbImpl::Delete(const WriteOptions& options, ColumnFamilyHandle* handle, const Slice& key) {
  VARVE_RETURN_IF_ERROR(CheckHandle(handle));
  SingleRecordBatch batch(options.protection_bytes_per_key);
  Status s = batch->Delete(handle, key);
  return s.ok() ? Write(options, batch.get()) : s;
}

Status DbImpl::Delete(const WriteOptions&, ColumnFamilyHandle*, const Slice&, const Slice&) {
  return NoTimestamps("Delete");
}

Status DbImpl::SingleDelete(const WriteOptions& options, ColumnFamilyHandle* handle,
                            const Slice& key) {
  VARVE_RETURN_IF_ERROR(CheckHandle(handle));
  SingleRecordBatch batch(options.protection_bytes_per_key);
  Status s = batch->SingleDelete(handle, key);
  return s.ok() ? Write(options, batch.get()) : s;
}

Status DbImpl::SingleDelete(const WriteOptions&, ColumnFamilyHandle*, const Slice&, const Slice&) {
  return NoTimestamps("SingleDelete");
}

Status DbImpl::DeleteRange(const WriteOptions& options, ColumnFamilyHandle* handle,
                           const Slice& begin, const Slice& end) {
  VARVE_RETURN_IF_ERROR(CheckHandle(handle));
  SingleRecordBatch batch(options.protection_bytes_per_key);
  Status s = batch->DeleteRange(handle, begin, end);
  return s.ok() ? Write(options, batch.get()) : s;
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
  // So that the current log stays what it is.
  e.commit->EnterExclusive();
  s = e.logs->FlushBuffer();
  if (s.ok() && sync) {
    RecordTick(e.statistics, WAL_FILE_SYNCED);
    s = e.logs->Sync();
  }
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
    e.attention.store(true, std::memory_order_release);  // of writers with no_slowdown
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
