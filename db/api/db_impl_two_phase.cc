// SPDX-License-Identifier: Apache-2.0

// Implements two-phase commit for transactions: each step becomes a checked request on the commit
// path.
//
//       PrepareSection    Plan (registered, holds its name) -> record in the log -> undecided
//       CommitSection     record with the name, and with further updates if any -> updates inserted
//       RollbackSection   record with the name -> nothing inserted
//
// The registry (engine/prepared_transactions.h) changes state in the insertion step of each write.
// Before that point an error leaves everything as it was, and the decision may be tried again.

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

Status DbImpl::PrepareSection(const WriteOptions& options, const std::string& name,
                              const WriteBatch& updates, PreparedSection** section) try {
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
  PreparedSection* planned = nullptr;
  VARVE_RETURN_IF_ERROR(
      e.state.sections.Plan(name, updates, e.context.MonotonicMicros(), &planned));
  const SectionStep step{
      .kind = SectionStep::Kind::kPrepare, .section = planned, .synced = logged.sync};
  // After an exception, too, the registration is removed below.
  const Status s = Guarded([&] {
    WriteRequest request(&record, /*sequences=*/0, &step);
    return SubmitStep(logged, &request, request.bytes());
  });
  if (s.ok()) {
    *section = planned;
  } else {
    e.state.sections.Forget(planned);
  }
  return s;
} catch (...) {
  return CaughtException();
}

// Families that were dropped since the prepare are no error: their prepared updates are skipped.
Status DbImpl::CheckSection(const PreparedSection& section, const WriteBatch& updates,
                            const WriteOptions& options) const {
  BatchCheckOptions check;
  // First the prepared updates, then those that come with the commit.
  check.ignore_missing_families = true;
  VARVE_RETURN_IF_ERROR(CheckBatch(WriteBatchInternal::Contents(section.updates),
                                   &engine_->state.families, check, /*batch=*/nullptr));
  check.ignore_missing_families = options.ignore_missing_column_families;
  VARVE_RETURN_IF_ERROR(
      CheckBatch(WriteBatchInternal::Contents(updates), &engine_->state.families, check, &updates));
  // Both are inserted by one write, whose numbers a batch header counts in 32 bits.
  const uint64_t count = uint64_t{section.updates.Count()} + updates.Count();
  if (count > std::numeric_limits<uint32_t>::max()) {
    return Status::InvalidArgument("Commit: more updates than can be counted");
  }
  return Status::OK();
}

// Other threads may read the transaction's updates meanwhile, so the timestamp goes into a copy.
Status DbImpl::StampSection(const PreparedSection& section, const Slice& timestamp,
                            WriteBatch* stamped, bool* any) const {
  const auto timestamp_size = [&](uint32_t id) {
    const Comparator* const comparator = engine_->state.families.ComparatorOf(id);
    return comparator == nullptr ? 0 : comparator->timestamp_size();
  };
  *any =
      std::ranges::any_of(section.families, [&](uint32_t id) { return timestamp_size(id) != 0; });
  if (!*any) return Status::OK();
  if (timestamp.empty()) {
    return Status::InvalidArgument(
        "Commit: the transaction has updated a column family with timestamps, and "
        "SetCommitTimestamp was not called");
  }
  *stamped = section.updates;
  return stamped->UpdateTimestamps(timestamp, timestamp_size);
}

Status DbImpl::CommitSection(const WriteOptions& options, PreparedSection* section,
                             const WriteBatch& updates, const Slice& timestamp,
                             SequenceNumber* first) try {
  VARVE_RETURN_IF_ERROR(CheckWritable());
  if (options.disableWAL) {
    return Status::InvalidArgument(
        "Commit: disableWAL, and the transaction is prepared: it would be prepared again after a "
        "crash");
  }
  VARVE_RETURN_IF_ERROR(CheckSection(*section, updates, options));
  WriteBatch stamped;
  bool has_timestamps = false;
  VARVE_RETURN_IF_ERROR(StampSection(*section, timestamp, &stamped, &has_timestamps));
  WriteBatch record =
      MakeCommitRecord(updates, section->name, has_timestamps ? timestamp : Slice());
  const SectionStep step{.kind = SectionStep::Kind::kCommit,
                         .section = section,
                         .commit_time = &updates,
                         .updates = has_timestamps ? &stamped : &section->updates,
                         .synced = options.sync};
  // The record holds only the name and the further updates. The prepared ones are in the log
  // already, but they take their numbers, and their room in memtables, now.
  WriteRequest request(&record, section->updates.Count() + updates.Count(), &step);
  VARVE_RETURN_IF_ERROR(
      SubmitStep(options, &request, request.bytes() + section->updates.GetDataSize()));
  *first = WriteBatchInternal::Sequence(record);
  return Status::OK();
} catch (...) {
  return CaughtException();
}

Status DbImpl::RollbackSection(const WriteOptions& options, PreparedSection* section) try {
  VARVE_RETURN_IF_ERROR(CheckWritable());
  WriteOptions logged = options;
  logged.disableWAL = false;
  WriteBatch record = MakeRollbackRecord(section->name);
  const SectionStep step{
      .kind = SectionStep::Kind::kRollback, .section = section, .synced = logged.sync};
  WriteRequest request(&record, /*sequences=*/0, &step);
  return SubmitStep(logged, &request, request.bytes());
} catch (...) {
  return CaughtException();
}

std::vector<PreparedSection*> DbImpl::ClaimSections() {
  return engine_->state.sections.Claim();
}

void DbImpl::AbandonSection(PreparedSection* section) {
  engine_->state.sections.Abandon(section);
}

bool DbImpl::HasSection(const std::string& name) {
  return engine_->state.sections.Has(name);
}

uint64_t DbImpl::LogOfSection(const PreparedSection* section) {
  return engine_->state.sections.LogOf(section);
}

}  // namespace varve
