// SPDX-License-Identifier: Apache-2.0

// Gives writes in the commit path what they need of the database: nothing here waits for a
// stall, and only refusals and errors take the DB mutex. Calls come from all writing threads at
// once, except ReserveLog and Publish, which the commit path calls one at a time.

#include "db/engine/write_host.h"

#include <string_view>

#include "db/engine/merge_folding.h"
#include "db/write/batch_inserter.h"
#include "db/write/write_batch_internal.h"
#include "util/base/assert.h"
#include "util/base/canary.h"
#include "util/base/status_macros.h"
#include "util/metrics/statistics.h"

namespace varve {

namespace {

// Growth of the logs after which their total size is checked.
constexpr uint64_t kLogBytesBetweenChecks = 64 << 10;

// Tells memtables that their entries are in no log.
class UnloggedResolver final : public FoldingResolver {
 public:
  using FoldingResolver::FoldingResolver;

  MemTable* Find(uint32_t family) override {
    MemTable* const mem = FoldingResolver::Find(family);
    if (mem != nullptr) mem->NoteUnlogged();
    return mem;
  }
};

bool SameError(const Status& a, const Status& b) {
  const auto text = [](const Status& s) {
    return s.getState() == nullptr ? std::string_view() : std::string_view(s.getState());
  };
  return a == b && a.subcode() == b.subcode() && text(a) == text(b);
}

}  // namespace

bool WriteHost::BytesDecideIn(uint32_t column_family) {
  const Comparator* const comparator = state_.families.ComparatorOf(column_family);
  return comparator == nullptr || !comparator->CanKeysWithDifferentByteContentsBeEqual();
}

// Looks closer at a write that may have to be refused. A family may have been dropped after the
// request was checked, so the request is checked again against the families of now.
Status WriteHost::Refusal(WriteRequest* request) {
  {
    DbLock lock(&state_.mu);
    VARVE_RETURN_IF_ERROR(errors_.WriteRefusal());
  }
  if (!MissesRemoval(*request)) return Status::OK();
  BatchCheckOptions check;
  check.ignore_missing_families = request->ignores_missing_families();
  request->SetChecked(state_.families.removals(), check.ignore_missing_families);
  return CheckRequest(request, &state_.families, check);
}

// Called under the commit path's lock. The total size of the logs is not computed here; a later
// write does that on the slow path.
Status WriteHost::ReserveLog(size_t bytes, wal::LogReservation* place) {
  VARVE_ASSERT(bytes > 0);
  RecordTick(context_.statistics(), WAL_FILE_BYTES, bytes);
  logged_since_check_ += bytes;
  if (logged_since_check_ >= kLogBytesBetweenChecks) {
    logged_since_check_ = 0;
    slow_path_.Set();
  }
  return state_.logs->Reserve(bytes, place);
}

Status WriteHost::SyncLog(const wal::LogReservation& place) {
  StopWatch watch(context_.clock(), context_.statistics(), WAL_FILE_SYNC_MICROS);
  RecordTick(context_.statistics(), WAL_FILE_SYNCED);
  return state_.logs->SyncTo(place);
}

// Chooses how families are resolved: an unlogged write is noted at each memtable, merges may be
// folded, and the usual write needs neither.
Status WriteHost::Insert(const WriteRequest& request, SequenceNumber sequence) {
  if (request.step() != nullptr) [[unlikely]]
    return TakeStep(request, sequence);
  BatchInsertResult result;
  Status s;
  if (request.unlogged()) [[unlikely]] {
    UnloggedResolver unlogged(&state_, sequence);
    s = InsertRequest(request, sequence, &unlogged, &result);
  } else if (request.has_merges()) [[unlikely]] {
    FoldingResolver folding(&state_, sequence);
    s = InsertRequest(request, sequence, &folding, &result);
  } else {
    s = InsertRequest(request, sequence, &state_.families, &result);
  }
  LookForFull();
  CountWrite(result.inserted, request.bytes());
  return s;
}

void WriteHost::LookForFull() {
  if (state_.families.TakeFullFlag() || context_.write_buffer_manager()->ShouldFlush() ||
      context_.write_buffer_manager()->ShouldStall()) {
    slow_path_.Set();
  }
}

void WriteHost::CountWrite(uint64_t keys, uint64_t bytes) const {
  RecordTick(context_.statistics(), NUMBER_KEYS_WRITTEN, keys);
  RecordTick(context_.statistics(), BYTES_WRITTEN, bytes);
  RecordInHistogram(context_.statistics(), BYTES_PER_WRITE, bytes);
}

// The write's slot is not complete, so the log with its record is still the current one; and a
// caller that asks which logs stay always finds a prepared transaction either undecided or in a
// memtable.
Status WriteHost::TakeStep(const WriteRequest& request, SequenceNumber sequence) {
  const TwoPhaseStep& step = *request.step();
  const uint64_t log = state_.logs->current_number();
  if (step.kind == TwoPhaseStep::Kind::kPrepare) {
    state_.prepared.NotePrepared(step.prepared, log);
    return Status::OK();
  }
  uint64_t inserted = 0;
  if (step.kind == TwoPhaseStep::Kind::kCommit) {
    VARVE_RETURN_IF_ERROR(InsertCommitted(step, sequence, &inserted));
  }
  // The updates are in memtables before the transaction counts as decided: whoever asks for the
  // oldest log that must stay finds them in one of the two places.
  state_.prepared.NoteDecided(step, log);
  CountWrite(inserted, request.bytes());
  return Status::OK();
}

// Inserts the updates of a prepared transaction that is committed. After an error *inserted counts
// those that are in memtables; they never become visible.
Status WriteHost::InsertCommitted(const TwoPhaseStep& step, SequenceNumber sequence,
                                  uint64_t* inserted) {
  FoldingResolver folding(&state_, sequence);
  const WriteBatch* const parts[] = {step.commit_time, step.updates};
  // The updates of GetCommitTimeWriteBatch come first, with the smaller numbers.
  for (const WriteBatch* updates : parts) {
    BatchInsertResult result;
    Status s = InsertBatch(WriteBatchInternal::Contents(*updates), sequence, &folding, &result);
    *inserted += result.inserted;
    LookForFull();
    if (!s.ok()) return s;
    sequence = result.next_sequence;
  }
  return Status::OK();
}

// All writes that depend on one append fail with its error, which is reported once.
Status WriteHost::OnLogError(const Status& status) {
  DbLock lock(&state_.mu);
  if (errors_.state().writes_stopped() && SameError(errors_.state().error(), status)) {
    return ErrorState::Judged(status, BackgroundErrorReason::kWriteCallback);
  }
  return errors_.Reported(status, BackgroundErrorReason::kWriteCallback);
}

// The batch's entries in memory are invisible from here on, and will not get into tables; its log
// has it completely. Recovery moves all families beyond that log in one step, after which the batch
// does not exist.
Status WriteHost::OnInsertError(const Status& status, SequenceNumber first, SequenceNumber last) {
  VARVE_ASSERT(!status.ok() && first <= last);
  // Readers of the log must not give out this batch, which is whole in the log and will not count.
  state_.logs->NoteDoubtful();
  DbLock lock(&state_.mu);
  const bool noted = errors_.invalidated()->Add(first, last);
  for (const auto& [id, family] : state_.families.all()) {
    // VARVE_CANARY plants a bug in builds that test the tests; in all others it is false.
    if (!VARVE_CANARY(kKeepHalfInsertion)) family->mem()->LeaveOut(errors_.invalidated());
  }
  return errors_.Reported(
      noted ? status : Status::Corruption("write: more failed than can be told apart"),
      BackgroundErrorReason::kMemTable);
}

}  // namespace varve
