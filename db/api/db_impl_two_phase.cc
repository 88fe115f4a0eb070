// SPDX-License-Identifier: Apache-2.0

// Implements two-phase commit for transactions: each step becomes a checked request on the commit
// path.
//
//     PrepareTransaction  Plan (registered, holds its name) -> record in the log -> undecided
//     CommitPrepared      record with the name, and with further updates if any -> updates inserted
//     RollbackPrepared    record with the name -> nothing inserted
//
// The registry (engine/prepared_transactions.h) changes the state of the prepared transaction in
// the insertion step of each write. Before that point an error leaves everything as it was, and the
// decision may be tried again.

#include <algorithm>
#include <limits>

#include "db/api/db_impl.h"
#include "db/engine/prepared_transactions.h"
#include "db/write/batch_inserter.h"
#include "db/write/two_phase_records.h"
#include "db/write/write_batch_internal.h"
#include "util/base/caught_exception.h"
#include "util/base/status_macros.h"

namespace varve {

Status DbImpl::PrepareTransaction(const WriteOptions& options, const std::string& name,
                                  const WriteBatch& updates, PreparedTransaction** prepared) try {
  VARVE_RETURN_IF_ERROR(CheckWritable());
  Engine& e = *engine_;
  if (!e.context.options().allow_2pc) {
    return Status::InvalidArgument(
        "Prepare: the database was opened without DBOptions::allow_2pc, which TransactionDB::Open "
        "and TransactionDB::PrepareWrap set");
  }
  BatchCheckOptions check;
  check.ignore_missing_families = options.ignore_missing_column_families;
  // Timestamps may be set at the commit, so keys may have room for one that is not filled in yet.
  check.unset_timestamps = true;
  VARVE_RETURN_IF_ERROR(
      CheckBatch(WriteBatchInternal::Contents(updates), &e.state.families, check, &updates));
  WriteOptions logged = options;
  // The prepare record is logged even with disableWAL: it is needed only after a crash.
  logged.disableWAL = false;
  WriteBatch record = MakePrepareRecord(updates, name);
  // The registration precedes the log. Otherwise a second prepare of the same name could be logged
  // in between, and a recovery could not tell the two apart.
  PreparedTransaction* planned = nullptr;
  VARVE_RETURN_IF_ERROR(
      e.state.prepared.Plan(name, updates, e.context.MonotonicMicros(), &planned));
  const TwoPhaseStep step{
      .kind = TwoPhaseStep::Kind::kPrepare, .prepared = planned, .synced = logged.sync};
  // After an exception, too, the registration is removed below.
  const Status s = Guarded([&] {
    WriteRequest request(&record, /*sequences=*/0, &step);
    return SubmitStep(logged, &request, request.bytes());
  });
  if (s.ok()) {
    *prepared = planned;
  } else {
    e.state.prepared.Forget(planned);
  }
  return s;
} catch (...) {
  return CaughtException();
}

// Families that were dropped since the prepare are no error: their prepared updates are skipped.
Status DbImpl::CheckPrepared(const PreparedTransaction& prepared, const WriteBatch& updates,
                             const WriteOptions& options) const {
  BatchCheckOptions check;
  // First the prepared updates, then those that come with the commit.
  check.ignore_missing_families = true;
  VARVE_RETURN_IF_ERROR(CheckBatch(WriteBatchInternal::Contents(prepared.updates),
                                   &engine_->state.families, check, /*batch=*/nullptr));
  check.ignore_missing_families = options.ignore_missing_column_families;
  VARVE_RETURN_IF_ERROR(
      CheckBatch(WriteBatchInternal::Contents(updates), &engine_->state.families, check, &updates));
  // Both are inserted by one write, whose numbers a batch header counts in 32 bits.
  const uint64_t count = uint64_t{prepared.updates.Count()} + updates.Count();
  if (count > std::numeric_limits<uint32_t>::max()) {
    return Status::InvalidArgument("Commit: more updates than can be counted");
  }
  return Status::OK();
}

// Other threads may read the transaction's updates meanwhile, so the timestamp goes into a copy.
Status DbImpl::StampPrepared(const PreparedTransaction& prepared, const Slice& timestamp,
                             WriteBatch* stamped, bool* any) const {
  const auto timestamp_size = [&](uint32_t id) {
    const Comparator* const comparator = engine_->state.families.ComparatorOf(id);
    return comparator == nullptr ? 0 : comparator->timestamp_size();
  };
  *any =
      std::ranges::any_of(prepared.families, [&](uint32_t id) { return timestamp_size(id) != 0; });
  if (!*any) return Status::OK();
  if (timestamp.empty()) {
    return Status::InvalidArgument(
        "Commit: the transaction has updated a column family with timestamps, and "
        "SetCommitTimestamp was not called");
  }
  *stamped = prepared.updates;
  return stamped->UpdateTimestamps(timestamp, timestamp_size);
}

Status DbImpl::CommitPrepared(const WriteOptions& options, PreparedTransaction* prepared,
                              const WriteBatch& updates, const Slice& timestamp,
                              SequenceNumber* first) try {
  VARVE_RETURN_IF_ERROR(CheckWritable());
  if (options.disableWAL) {
    return Status::InvalidArgument(
        "Commit: disableWAL, and the transaction is prepared: it would be prepared again after a "
        "crash");
  }
  VARVE_RETURN_IF_ERROR(CheckPrepared(*prepared, updates, options));
  WriteBatch stamped;
  bool has_timestamps = false;
  VARVE_RETURN_IF_ERROR(StampPrepared(*prepared, timestamp, &stamped, &has_timestamps));
  WriteBatch record =
      MakeCommitRecord(updates, prepared->name, has_timestamps ? timestamp : Slice());
  const TwoPhaseStep step{.kind = TwoPhaseStep::Kind::kCommit,
                          .prepared = prepared,
                          .commit_time = &updates,
                          .updates = has_timestamps ? &stamped : &prepared->updates,
                          .synced = options.sync};
  // The record holds only the name and the further updates. The prepared ones are in the log
  // already, but they take their numbers, and their room in memtables, now.
  WriteRequest request(&record, prepared->updates.Count() + updates.Count(), &step);
  VARVE_RETURN_IF_ERROR(
      SubmitStep(options, &request, request.bytes() + prepared->updates.GetDataSize()));
  *first = WriteBatchInternal::Sequence(record);
  return Status::OK();
} catch (...) {
  return CaughtException();
}

Status DbImpl::RollbackPrepared(const WriteOptions& options, PreparedTransaction* prepared) try {
  VARVE_RETURN_IF_ERROR(CheckWritable());
  WriteOptions logged = options;
  // Without its record the transaction would be prepared again after a crash.
  logged.disableWAL = false;
  WriteBatch record = MakeRollbackRecord(prepared->name);
  const TwoPhaseStep step{
      .kind = TwoPhaseStep::Kind::kRollback, .prepared = prepared, .synced = logged.sync};
  WriteRequest request(&record, /*sequences=*/0, &step);
  return SubmitStep(logged, &request, request.bytes());
} catch (...) {
  return CaughtException();
}

std::vector<PreparedTransaction*> DbImpl::ClaimPrepared() {
  return engine_->state.prepared.Claim();
}

void DbImpl::AbandonPrepared(PreparedTransaction* prepared) {
  engine_->state.prepared.Abandon(prepared);
}

bool DbImpl::HasPrepared(const std::string& name) {
  return engine_->state.prepared.Has(name);
}

uint64_t DbImpl::LogOfPrepared(const PreparedTransaction* prepared) {
  return engine_->state.prepared.LogOf(prepared);
}

}  // namespace varve
