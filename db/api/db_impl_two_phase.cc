// SPDX-License-Identifier: Apache-2.0

// Two-phase commit as transactions ask for it: each step becomes a checked request on the commit
// path.

#include <limits>

#include "db/api/db_impl.h"
#include "db/engine/prepared_sections.h"
#include "db/write/batch_inserter.h"
#include "db/write/section_records.h"
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
  VARVE_RETURN_IF_ERROR(
      CheckBatch(WriteBatchInternal::Contents(updates), &e.state.families, check, &updates));
  WriteOptions logged = options;
  logged.disableWAL = false;
  WriteBatch record = MakePrepareRecord(updates, name);
  PreparedSection* planned = nullptr;
  VARVE_RETURN_IF_ERROR(
      e.state.sections.Plan(name, updates, e.context.MonotonicMicros(), &planned));
  const SectionStep step{SectionStep::Kind::kPrepare, planned, nullptr, logged.sync};
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

// A family that was dropped since has lost its updates, those of the section as well.
Status DbImpl::CheckSection(const PreparedSection& section, const WriteBatch& updates,
                            const WriteOptions& options) const {
  BatchCheckOptions check;
  check.ignore_missing_families = true;
  VARVE_RETURN_IF_ERROR(CheckBatch(WriteBatchInternal::Contents(section.updates),
                                   &engine_->state.families, check, /*batch=*/nullptr));
  check.ignore_missing_families = options.ignore_missing_column_families;
  VARVE_RETURN_IF_ERROR(
      CheckBatch(WriteBatchInternal::Contents(updates), &engine_->state.families, check, &updates));
  const uint64_t count = uint64_t{section.updates.Count()} + updates.Count();
  if (count > std::numeric_limits<uint32_t>::max()) {
    return Status::InvalidArgument("Commit: more updates than can be counted");
  }
  return Status::OK();
}

Status DbImpl::CommitSection(const WriteOptions& options, PreparedSection* section,
                             const WriteBatch& updates, SequenceNumber* first) try {
  VARVE_RETURN_IF_ERROR(CheckWritable());
  if (options.disableWAL) {
    return Status::InvalidArgument(
        "Commit: disableWAL, and the transaction is prepared: it would be prepared again after a "
        "crash");
  }
  VARVE_RETURN_IF_ERROR(CheckSection(*section, updates, options));
  WriteBatch record = MakeCommitRecord(updates, section->name);
  const SectionStep step{SectionStep::Kind::kCommit, section, &updates, options.sync};
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
  const SectionStep step{SectionStep::Kind::kRollback, section, nullptr, logged.sync};
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
