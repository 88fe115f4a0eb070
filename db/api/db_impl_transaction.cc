// SPDX-License-Identifier: Apache-2.0

// Implements the calls that transactions make to the database beyond its public ones.
//
// Conflict checks ask for the newest write of a key, in whichever form it is: a value, a deletion,
// a merge operand, a range deletion that covers the key, or a table that was ingested over it. The
// answer is a sequence number, which the transaction compares with that of its own view.

#include <algorithm>

#include "db/api/db_impl.h"
#include "db/background/jobs.h"
#include "db/read/get.h"
#include "db/read/read_timestamp.h"
#include "util/base/assert.h"
#include "util/base/canary.h"
#include "util/base/caught_exception.h"
#include "util/base/status_macros.h"
#include "util/metrics/statistics.h"

namespace varve {

namespace {

// Sets *newest to the newest write that covers the key, given without a timestamp, at `sequence`:
// an entry, or a range deletion. If keys have timestamps, only entries not newer than `timestamp`
// count; `timestamp` is empty if keys have none. *found_timestamp, unless null, becomes the
// timestamp of the entry, empty if there is none.
Status FindNewestAsOf(const SuperVersion& super_version, SequenceNumber sequence, const Slice& key,
                      const Slice& timestamp, TransactionHost::NewestWrite* newest,
                      std::string* found_timestamp) {
  ReadOptions options;
  options.timestamp = timestamp.empty() ? nullptr : &timestamp;
  // No value is wanted: the search ends at the newest entry, and reads no block only for its value.
  PointLookup lookup(key, sequence, /*value=*/nullptr, /*merger=*/nullptr,
                     AsOf(options, super_version));
  Status s = GetFromSuperVersion(options, super_version, &lookup, /*statistics=*/nullptr);
  // Without an operator the search ends at the newest operand, as at any entry, with this error.
  const bool is_operand = s.IsInvalidArgument();
  // Only the number is asked for: an error after an entry was found changes nothing.
  if (!s.ok() && !is_operand && lookup.found_seq() == 0) return s;
  newest->found = is_operand || lookup.state() != PointLookup::State::kSearching;
  // A range deletion that covers the key may be newer than the entry that was found beneath it.
  newest->sequence = std::max(lookup.found_seq(), lookup.covering_seq());
  if (found_timestamp != nullptr) *found_timestamp = lookup.last_timestamp().ToString();
  return Status::OK();
}

}  // namespace

Status DbImpl::CheckRead(const ReadOptions& options, ColumnFamilyHandle* handle) const try {
  // The checks are spelled out, as they run for every operation of a transaction: an open database
  // costs one load.
  if (engine_->lifecycle.closed()) [[unlikely]]
    return CheckOpen();
  if (options.snapshot != nullptr) VARVE_RETURN_IF_ERROR(CheckReadOptions(options));
  return CheckHandle(handle);
} catch (...) {
  return CaughtException();
}

Status DbImpl::CheckUpdate(ColumnFamilyHandle* handle) const try {
  if (engine_->lifecycle.closed()) [[unlikely]]
    return CheckOpen();
  // The default family cannot be dropped. VARVE_CANARY plants a bug in builds that test the tests;
  // in all others it is false.
  if (handle == default_handle_.get() || VARVE_CANARY(kForeignHandle)) return Status::OK();
  Status s;
  const ColumnFamily* const family = engine_->state.Resolve(handle, &s);
  if (family == nullptr || !family->dropped()) return s;
  return Status::InvalidArgument("the column family was dropped", family->name());
} catch (...) {
  return CaughtException();
}

Status DbImpl::FindNewest(ColumnFamilyHandle* handle, const Slice& key, NewestWrite* newest) try {
  VARVE_ASSERT(newest != nullptr);
  VARVE_RETURN_IF_ERROR(CheckOpen());
  Status s;
  ColumnFamily* const family = engine_->state.Resolve(handle, &s);
  if (family == nullptr) return s;
  {
    ReadGuard super_version(family);
    VARVE_RETURN_IF_ERROR(
        FindNewestAsOf(*super_version, ReadSequence(ReadOptions(), *super_version), key,
                       family->user_comparator()->GetMaxTimestamp(), newest, nullptr));
  }
  // Ingested tables count from the moment they became visible, whatever numbers their entries have.
  // They are looked up behind the search, so that a table which became visible meanwhile is not
  // missed.
  const SequenceNumber ingested = family->ingested_ranges().Newest(key);
  newest->found |= ingested != 0;
  newest->sequence = std::max(newest->sequence, ingested);
  return Status::OK();
} catch (...) {
  return CaughtException();
}

// Compares the newest write at any timestamp with the newest one as of `timestamp`: they differ if
// a newer one exists. The timestamps themselves are not compared, as a lookup does not return that
// of a range deletion. Below full_history_ts_low the answer is unknown, and *newer becomes true.
Status DbImpl::HasNewerTimestamp(ColumnFamilyHandle* handle, const Slice& key,
                                 const Slice& timestamp, bool* newer) try {
  VARVE_RETURN_IF_ERROR(CheckOpen());
  Status s;
  ColumnFamily* const family = engine_->state.Resolve(handle, &s);
  if (family == nullptr) return s;
  VARVE_ASSERT(timestamp.size() == family->icmp().timestamp_size());
  ReadGuard super_version(family);
  const std::string& low = super_version->full_history_ts_low();
  if (!low.empty() && family->icmp().CompareTimestamp(timestamp, low) < 0) {
    *newer = true;
    return Status::OK();
  }
  const SequenceNumber sequence = ReadSequence(ReadOptions(), *super_version);
  NewestWrite of_all;
  NewestWrite as_of;
  std::string timestamp_of_all;
  std::string timestamp_as_of;
  VARVE_RETURN_IF_ERROR(FindNewestAsOf(*super_version, sequence, key,
                                       family->user_comparator()->GetMaxTimestamp(), &of_all,
                                       &timestamp_of_all));
  VARVE_RETURN_IF_ERROR(
      FindNewestAsOf(*super_version, sequence, key, timestamp, &as_of, &timestamp_as_of));
  *newer = of_all.found != as_of.found || of_all.sequence != as_of.sequence ||
           timestamp_of_all != timestamp_as_of;
  return Status::OK();
} catch (...) {
  return CaughtException();
}

void DbImpl::WatchKeys() {
  engine_->state.commit->WatchKeys();
}

Status DbImpl::WriteIf(const WriteOptions& options, WriteBatch* updates,
                       WriteCondition* condition) try {
  // Prefetches the memory that the condition is compared with, while the batch is checked.
  engine_->state.commit->ExpectCondition(*condition);
  WriteRequest request(updates);
  request.SetCondition(condition);
  return Submit(options, &request, nullptr);
} catch (...) {
  return CaughtException();
}

SequenceNumber DbImpl::WaitForAllWrites() {
  // An ingestion has its sequence numbers before readers have its tables, so its window must close
  // as well. A thread that the ingestion waits for must not wait for it. There the number is
  // returned while the window is open, which does no harm: conditional writes are refused until it
  // closes.
  engine_->state.commit->WaitForAll();
  if (engine_->state.ingest_windows.any() && !HoldsIngestionsUp()) {
    DbLock lock(&engine_->state.mu);
    engine_->state.ingest_windows.AwaitNone();
  }
  return engine_->state.versions->last_sequence();
}

void DbImpl::CountTransaction(uint64_t updates) {
  RecordInHistogram(engine_->context.statistics(), NUM_OP_PER_TRANSACTION, updates);
}

EvidenceHolds::Slot* DbImpl::HoldEvidence(const void* holder) {
  if (!CheckOpen().ok()) return nullptr;
  // Evidence is kept of changes after the newest visible number, below which no insertion may be
  // under way.
  engine_->state.commit->WaitUntilVisible();
  const SequenceNumber visible = engine_->state.versions->last_sequence();
  return engine_->state.snapshots.HoldEvidence(visible, holder);
}

void DbImpl::ReleaseEvidence(EvidenceHolds::Slot* slot) {
  if (!CheckNotForked().ok()) return;
  bool awaited = false;
  engine_->state.snapshots.ReleaseEvidence(slot, &awaited);
  // Compactions may have waited for this hold as for a snapshot.
  if (awaited) engine_->jobs->compaction.NoteSnapshotsGone();
}

SequenceNumber DbImpl::NewestDroppedWithFiles(ColumnFamilyHandle* handle) {
  Status s;
  const ColumnFamily* const family = engine_->state.Resolve(handle, &s);
  return family == nullptr ? 0 : family->newest_dropped_with_files();
}

const Comparator* DbImpl::ComparatorOf(uint32_t family) {
  return engine_->state.families.ComparatorOf(family);
}

std::unique_ptr<ColumnFamilyHandle> DbImpl::OpenFamily(uint32_t id) {
  // The handle is the library's own, so it is not counted among those that a user has to destroy.
  DbLock lock(&engine_->state.mu);
  ColumnFamily* const family = engine_->state.families.FindById(id);
  if (family == nullptr) return nullptr;
  return std::make_unique<ColumnFamilyHandleImpl>(family->shared_from_this(), /*counted=*/false);
}

}  // namespace varve
