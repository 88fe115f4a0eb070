// SPDX-License-Identifier: Apache-2.0

// Writing: each call becomes a checked request on the commit path.

#include "db/api/db_impl.h"
#include "db/background/write_admission.h"
#include "db/wal/record_decompressor.h"
#include "db/write/batch_inserter.h"
#include "db/write/batch_timestamps.h"
#include "db/write/record_encoder.h"
#include "db/write/write_batch_internal.h"
#include "util/base/caught_exception.h"
#include "util/base/status_macros.h"
#include "util/metrics/statistics.h"

namespace varve {

namespace {

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
  if (options.io_activity != Env::IOActivity::kUnknown) {
    return Status::InvalidArgument("write: io_activity is for the engine's own writes");
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

// Of a batch that only a plain log can hold.
Status CheckCompressedBytes(const WriteOptions& options, const DBOptions& db, size_t bytes) {
  if (options.disableWAL || db.wal_compression == kNoCompression) return Status::OK();
  return Status::InvalidArgument("write: a batch of " + std::to_string(bytes) +
                                 " bytes; with wal_compression 4 GiB are too much");
}

}  // namespace

Status DbImpl::Write(const WriteOptions& options, WriteBatch* updates) {
  return WriteWithCallback(options, updates, nullptr);
}

Status DbImpl::WriteWithCallback(const WriteOptions& options, WriteBatch* updates,
                                 UserWriteCallback* callback) try {
  if (updates == nullptr) return Status::InvalidArgument("write: the batch is null");
  WriteRequest request(updates);
  return Submit(options, &request, callback);
} catch (...) {
  return CaughtException();
}

Status DbImpl::Submit(const WriteOptions& options, WriteRequest* request,
                      UserWriteCallback* callback) {
  Engine& e = *engine_;
  VARVE_RETURN_IF_ERROR(CheckWritable());
  VARVE_RETURN_IF_ERROR(CheckWriteOptions(options, e.options));
  if (options.disableWAL && !e.has_unlogged_data.load(std::memory_order_relaxed)) {
    e.has_unlogged_data.store(true, std::memory_order_release);
  }
  StopWatch watch(e.clock, e.statistics, DB_WRITE);
  BatchCheckOptions check;
  check.ignore_missing_families = options.ignore_missing_column_families;
  if (options.protection_bytes_per_key != 0) VARVE_RETURN_IF_ERROR(request->Protect());
  VARVE_RETURN_IF_ERROR(request->VerifyChecksum());
  VARVE_RETURN_IF_ERROR(CheckRequest(*request, &e.families, check));
  if (request->bytes() > wal::kCompressedRecordBytesMax) [[unlikely]] {
    VARVE_RETURN_IF_ERROR(CheckCompressedBytes(options, e.options, request->bytes()));
  }
  if (options.low_pri) {
    VARVE_RETURN_IF_ERROR(e.admission->YieldToCompaction(options, request->bytes()));
  }
  VARVE_RETURN_IF_ERROR(e.admission->Admit(options, request->bytes()));
  e.admission->Charge(options.rate_limiter_priority, request->bytes());
  // Waiting may have taken long: what is logged and inserted is what was added.
  VARVE_RETURN_IF_ERROR(request->VerifyChecksum());
  RecordTick(e.statistics, WRITE_DONE_BY_SELF);
  if (!options.disableWAL) RecordTick(e.statistics, WRITE_WITH_WAL);
  return e.commit->Commit(options, request, callback);
}

// A batch knows ids only: another database's handle would reach the family of the same id here.
Status DbImpl::CheckHandle(ColumnFamilyHandle* handle) const try {
  Status s;
  if (handle != default_handle_.get()) engine_->Resolve(handle, &s);
  return s;
} catch (...) {
  return CaughtException();
}

Status DbImpl::WriteOne(const WriteOptions& options, ColumnFamilyHandle* handle, ValueType type,
                        const Slice& key, const Slice& value, const Slice* ts) try {
  VARVE_RETURN_IF_ERROR(CheckHandle(handle));
  const BatchRecord update{type, handle->GetID(), key, value};
  // Only a batch has checksums; and only its value may end with a timestamp.
  const bool stamps_value = ts != nullptr && type == kTypeRangeDeletion;
  if (options.protection_bytes_per_key != 0 || stamps_value) [[unlikely]] {
    WriteBatch batch(0, 0, options.protection_bytes_per_key, 0);
    VARVE_RETURN_IF_ERROR(
        ts != nullptr ? WriteBatchInternal::AddStamped(&batch, type, handle, key, *ts, value)
                      : WriteBatchInternal::AddRecord(&batch, type, update.column_family,
                                                      SliceParts(&key, 1), SliceParts(&value, 1)));
    return Write(options, &batch);
  }
  const Slice stamp = ts != nullptr ? *ts : Slice();
  if (ts != nullptr && ts->empty()) {
    return TimestampSizeError(handle->GetName(), 0, handle->GetComparator()->timestamp_size());
  }
  VARVE_RETURN_IF_ERROR(CheckRecordSizes(key.size() + stamp.size(), value.size()));
  WriteRequest request(update, stamp);
  return Submit(options, &request, nullptr);
} catch (...) {
  return CaughtException();
}

Status DbImpl::Put(const WriteOptions& options, ColumnFamilyHandle* handle, const Slice& key,
                   const Slice& value) {
  return WriteOne(options, handle, kTypeValue, key, value);
}

Status DbImpl::Put(const WriteOptions& options, ColumnFamilyHandle* handle, const Slice& key,
                   const Slice& ts, const Slice& value) {
  return WriteOne(options, handle, kTypeValue, key, value, &ts);
}

Status DbImpl::Delete(const WriteOptions& options, ColumnFamilyHandle* handle, const Slice& key) {
  return WriteOne(options, handle, kTypeDeletion, key, Slice());
}

Status DbImpl::Delete(const WriteOptions& options, ColumnFamilyHandle* handle, const Slice& key,
                      const Slice& ts) {
  return WriteOne(options, handle, kTypeDeletion, key, Slice(), &ts);
}

Status DbImpl::SingleDelete(const WriteOptions& options, ColumnFamilyHandle* handle,
                            const Slice& key) {
  return WriteOne(options, handle, kTypeSingleDeletion, key, Slice());
}

Status DbImpl::SingleDelete(const WriteOptions& options, ColumnFamilyHandle* handle,
                            const Slice& key, const Slice& ts) {
  return WriteOne(options, handle, kTypeSingleDeletion, key, Slice(), &ts);
}

Status DbImpl::DeleteRange(const WriteOptions& options, ColumnFamilyHandle* handle,
                           const Slice& begin, const Slice& end) {
  return WriteOne(options, handle, kTypeRangeDeletion, begin, end);
}

Status DbImpl::DeleteRange(const WriteOptions& options, ColumnFamilyHandle* handle,
                           const Slice& begin, const Slice& end, const Slice& ts) {
  return WriteOne(options, handle, kTypeRangeDeletion, begin, end, &ts);
}

Status DbImpl::Merge(const WriteOptions& options, ColumnFamilyHandle* handle, const Slice& key,
                     const Slice& value) {
  return WriteOne(options, handle, kTypeMerge, key, value);
}

Status DbImpl::Merge(const WriteOptions& options, ColumnFamilyHandle* handle, const Slice& key,
                     const Slice& ts, const Slice& value) {
  return WriteOne(options, handle, kTypeMerge, key, value, &ts);
}

Status DbImpl::FlushWAL(bool sync) try {
  const OpenCall call = EnterCall();
  Status s = CheckWritable(call);
  if (!s.ok()) return s;
  Engine& e = *engine_;
  const uint64_t repairs = e.errors.repairs();
  s = e.logs->FlushBuffers();
  if (s.ok() && sync) {
    RecordTick(e.statistics, WAL_FILE_SYNCED);
    s = e.logs->Sync();
  }
  if (!s.ok()) {
    MutexLock lock(&e.mu);
    // Of a log that has been left meanwhile nobody wants anything.
    const bool repaired = e.errors.repairs() != repairs && !e.logs->current_failed();
    s = repaired ? ErrorState::Judged(s, BackgroundErrorReason::kWriteCallback)
                 : e.ReportedError(s, BackgroundErrorReason::kWriteCallback);
  }
  return s;
} catch (...) {
  return CaughtException();
}

// What the limiter delays is this call, before it holds up any other.
Status DbImpl::FlushWAL(const FlushWALOptions& options) try {
  if (options.rate_limiter_priority != Env::IO_TOTAL) {
    const OpenCall call = EnterCall();
    VARVE_RETURN_IF_ERROR(CheckWritable(call));
    engine_->admission->Charge(options.rate_limiter_priority, engine_->logs->held_back());
  }
  return FlushWAL(options.sync);
} catch (...) {
  return CaughtException();
}

Status DbImpl::SyncWAL() {
  return FlushWAL(/*sync=*/true);
}

Status DbImpl::LockWAL() try {
  const OpenCall call = EnterCall();
  Status s = CheckWritable(call);
  if (!s.ok()) return s;
  Engine& e = *engine_;
  {
    MutexLock lock(&e.mu);
    while (e.wal_locking) e.background_changed.Wait();
    // Close looks at this once, and does not come back to it.
    s = CheckOpen();
    if (!s.ok()) return s;
    if (e.wal_locked > 0) {
      e.wal_locked++;
      return s;
    }
    e.wal_locking = true;
    e.attention.store(true, std::memory_order_release);  // of writers with no_slowdown
  }
  e.commit->EnterExclusive();
  s = Guarded([&] { return e.logs->FlushBuffers(); });
  if (!s.ok()) e.commit->ExitExclusive();
  MutexLock lock(&e.mu);
  e.wal_locking = false;
  e.wal_locked = s.ok() ? 1 : 0;
  e.background_changed.SignalAll();
  return s;
} catch (...) {
  return CaughtException();
}

Status DbImpl::UnlockWAL() try {
  const OpenCall call = EnterCall();
  if (Status s = CheckOpen(call); !s.ok()) return s;
  Engine& e = *engine_;
  {
    MutexLock lock(&e.mu);
    if (e.wal_locked == 0) return Status::Aborted("UnlockWAL: the log is not locked");
    if (--e.wal_locked > 0) return Status::OK();
  }
  e.commit->ExitExclusive();
  return Status::OK();
} catch (...) {
  return CaughtException();
}

}  // namespace varve
