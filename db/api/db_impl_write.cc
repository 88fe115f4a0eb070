// SPDX-License-Identifier: Apache-2.0

// Implements writing: each call becomes a checked request on the commit path.
//
//   Put, Delete, Merge ...     WriteOne: one update, no batch
//   Write                      a batch
//   transactions               WriteIf (with a condition), SubmitStep (two-phase commit)
//     Submit                   is it allowed?  options, handles, contents
//     Enter                    must it wait?   stalls, full memtables, the rate limiter
//     CommitPath::Commit       order, log, memtable, visibility
//
// Everything that can refuse a write for reasons of its own is checked before Commit. A write that
// has its place in the order must get into the log and the memtables: those behind it wait for it.

#include "db/api/db_impl.h"
#include "db/wal/record_decompressor.h"
#include "db/write/batch_inserter.h"
#include "db/write/batch_timestamps.h"
#include "db/write/record_encoder.h"
#include "db/write/write_batch_internal.h"
#include "util/base/assert.h"
#include "util/base/caught_exception.h"
#include "util/base/status_macros.h"
#include "util/key/entity.h"
#include "util/metrics/statistics.h"

namespace varve {

namespace {

// Returns an error for options that contradict each other or the database's options.
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

// Returns InvalidArgument if a batch of more than wal::kCompressedRecordBytesMax bytes would go
// into a compressed log.
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

// Is inlined into Submit and SubmitStep, so that a write pays for no further call.
[[gnu::always_inline]] inline Status DbImpl::Enter(const WriteOptions& options,
                                                   WriteRequest* request, size_t bytes,
                                                   UserWriteCallback* callback) {
  Engine& e = *engine_;
  // The write may wait until a flush has made room, which writes the MANIFEST. In a callback of the
  // thread that writes the MANIFEST it would wait for itself.
  VARVE_RETURN_IF_ERROR(RefuseHeldUp("write", ActiveWork::kManifest, e.state.versions.get()));
  // Writes of low priority wait first: what Admit checks may have changed after that wait, which is
  // the longest.
  if (options.low_pri) VARVE_RETURN_IF_ERROR(e.admission->YieldToCompaction(options, bytes));
  VARVE_RETURN_IF_ERROR(e.admission->Admit(options, bytes));
  // The rate limiter comes last: a write that is refused has used none of the limit.
  e.admission->Charge(options.rate_limiter_priority, bytes);
  // The wait may have been long: this checks that the bytes are still those that were added.
  VARVE_RETURN_IF_ERROR(request->VerifyChecksum());
  VARVE_ASSERT(!e.context.read_only());
  RecordTick(e.context.statistics(), WRITE_DONE_BY_SELF);
  if (!options.disableWAL) RecordTick(e.context.statistics(), WRITE_WITH_WAL);
  if (e.trace.on()) [[unlikely]]
    return CommitTraced(options, request, callback);
  return e.state.commit->Commit(options, request, callback);
}

Status DbImpl::Submit(const WriteOptions& options, WriteRequest* request,
                      UserWriteCallback* callback) {
  Engine& e = *engine_;
  VARVE_RETURN_IF_ERROR(CheckWritable());
  VARVE_RETURN_IF_ERROR(CheckWriteOptions(options, e.context.options()));
  if (options.disableWAL) {
    // The note comes before the write. A Close, or a read of the persisted tier, that finds no note
    // finds no such write in the memtables either.
    e.log_gate.NoteUnlogged();
    request->SetUnlogged();
  }
  StopWatch watch(e.context.clock(), e.context.statistics(), DB_WRITE);
  BatchCheckOptions check;
  check.ignore_missing_families = options.ignore_missing_column_families;
  if (options.protection_bytes_per_key != 0) VARVE_RETURN_IF_ERROR(request->Protect());
  VARVE_RETURN_IF_ERROR(request->VerifyChecksum());
  // The count of removals is read before the families are looked up. If one is dropped in between,
  // the count has changed when the write gets its place, and the write is checked again there
  // (WriteHost::Refusal).
  request->SetChecked(e.state.families.removals(), check.ignore_missing_families);
  VARVE_RETURN_IF_ERROR(CheckRequest(request, &e.state.families, check));
  // A compressed log states a record's size in 32 bits.
  if (request->bytes() > wal::kCompressedRecordBytesMax) [[unlikely]] {
    VARVE_RETURN_IF_ERROR(CheckCompressedBytes(options, e.context.options(), request->bytes()));
  }
  return Enter(options, request, request->bytes(), callback);
}

// The callers have made the record, and have checked the updates and their families, so this checks
// less than Submit. `bytes` counts the updates that go into memtables, too: a commit's record has
// only the name of what was prepared.
Status DbImpl::SubmitStep(const WriteOptions& options, WriteRequest* request, size_t bytes) {
  Engine& e = *engine_;
  VARVE_RETURN_IF_ERROR(CheckWriteOptions(options, e.context.options()));
  StopWatch watch(e.context.clock(), e.context.statistics(), DB_WRITE);
  if (request->bytes() > wal::kCompressedRecordBytesMax) [[unlikely]] {
    VARVE_RETURN_IF_ERROR(CheckCompressedBytes(options, e.context.options(), request->bytes()));
  }
  return Enter(options, request, bytes, /*callback=*/nullptr);
}

// Without this check a handle of another database would reach the family with the same id here, as
// batches identify families by id.
Status DbImpl::CheckHandle(ColumnFamilyHandle* handle) const try {
  Status s;
  if (handle != default_handle_.get()) engine_->state.Resolve(handle, &s);
  return s;
} catch (...) {
  return CaughtException();
}

Status DbImpl::WriteOne(const WriteOptions& options, ColumnFamilyHandle* handle, ValueType type,
                        const Slice& key, const Slice& value, const Slice* ts) try {
  // Later steps know only the family's id.
  VARVE_RETURN_IF_ERROR(CheckHandle(handle));
  const uint32_t family = handle->GetID();
  // Two kinds of updates need a batch: those with checksums, and range deletions with a timestamp,
  // which both of their keys get; the end key is the value.
  const bool stamps_value = ts != nullptr && type == kTypeRangeDeletion;
  // The general way copies the update into a batch once more; the usual one encodes only the head
  // of the record.
  if (options.protection_bytes_per_key != 0 || stamps_value) [[unlikely]] {
    WriteBatch batch(0, 0, options.protection_bytes_per_key, 0);
    VARVE_RETURN_IF_ERROR(
        ts != nullptr ? WriteBatchInternal::AddWithTimestamp(&batch, type, handle, key, *ts, value)
                      : WriteBatchInternal::AddRecord(&batch, type, family, SliceParts(&key, 1),
                                                      SliceParts(&value, 1)));
    return Write(options, &batch);
  }
  VARVE_ASSERT(!stamps_value);
  // To the request an empty timestamp means none, so a given one must not be empty.
  const Slice timestamp = ts != nullptr ? *ts : Slice();
  if (ts != nullptr && ts->empty()) {
    return TimestampSizeError(handle->GetName(), 0, handle->GetComparator()->timestamp_size());
  }
  // Sizes are checked before the request is made, as its encoding counts them in 32 bits.
  VARVE_RETURN_IF_ERROR(CheckRecordSizes(key.size() + timestamp.size(), value.size()));
  WriteRequest request(key, value, type, family, timestamp);
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

Status DbImpl::PutEntity(const WriteOptions& options, ColumnFamilyHandle* handle, const Slice& key,
                         const WideColumns& columns) try {
  VARVE_RETURN_IF_ERROR(CheckHandle(handle));
  std::string entity;
  VARVE_RETURN_IF_ERROR(EncodeEntity(columns, &entity));
  return WriteOne(options, handle, kTypeWideColumnEntity, key, entity);
} catch (...) {
  return CaughtException();
}

Status DbImpl::PutEntity(const WriteOptions& options, const Slice& key,
                         const AttributeGroups& groups) try {
  for (const AttributeGroup& group : groups) {
    VARVE_RETURN_IF_ERROR(CheckHandle(group.column_family()));
  }
  WriteBatch batch;
  VARVE_RETURN_IF_ERROR(batch.PutEntity(key, groups));
  return Write(options, &batch);
} catch (...) {
  return CaughtException();
}

Status DbImpl::FlushWAL(bool sync) try {
  const OpenCall call = EnterCall();
  Status s = CheckWritable(call);
  if (!s.ok()) return s;
  Engine& e = *engine_;
  VARVE_RETURN_IF_ERROR(RefuseHeldUp("FlushWAL", ActiveWork::kLog, e.state.commit.get()));
  // A file system of the user may call the database from within the write or the sync. A call that
  // would wait for the log is then refused instead of waiting for this one.
  const ActiveWork active(ActiveWork::kLog, e.state.commit.get(), "the log,");
  // A recovery that begins and ends while this call waits has replaced the log, with its error.
  const uint64_t recoveries = e.errors.state().recoveries();
  s = e.state.logs->FlushBuffers();
  if (s.ok() && sync) {
    RecordTick(e.context.statistics(), WAL_FILE_SYNCED);
    s = e.state.logs->Sync();
  }
  // Change streams that wait for updates look again: they may find more now, or an error.
  e.state.updates.Notify();
  if (!s.ok()) {
    DbLock lock(&e.state.mu);
    // The error of a log that recovery has replaced meanwhile is returned, but stops no writes.
    const bool was_replaced =
        e.errors.state().recoveries() != recoveries && !e.state.logs->current_failed();
    s = was_replaced ? ErrorState::Judged(s, BackgroundErrorReason::kWriteCallback)
                     : e.errors.Reported(s, BackgroundErrorReason::kWriteCallback);
  }
  return s;
} catch (...) {
  return CaughtException();
}

// The limiter delays this call before the log is locked, so that it holds up no other.
Status DbImpl::FlushWAL(const FlushWALOptions& options) try {
  if (options.rate_limiter_priority != Env::IO_TOTAL) {
    const OpenCall call = EnterCall();
    VARVE_RETURN_IF_ERROR(CheckWritable(call));
    // The bytes that are held back in memory are what the flush is about to write.
    engine_->admission->Charge(options.rate_limiter_priority, engine_->state.logs->held_back());
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
  return s.ok() ? engine_->log_gate.Lock() : s;
} catch (...) {
  return CaughtException();
}

Status DbImpl::UnlockWAL() try {
  const OpenCall call = EnterCall();
  Status s = CheckOpen(call);
  // A read-only database has no lock to undo, and says so; hence no CheckWritable.
  return s.ok() ? engine_->log_gate.Unlock() : s;
} catch (...) {
  return CaughtException();
}

}  // namespace varve
