// SPDX-License-Identifier: Apache-2.0

// Reads the logs of a running writer in order. The difficulty is the end of a log: the writer may
// be about to add to it, may have begun the next one, or may have lost the end in a crash. A log is
// left only when the next one has a record, since the writer switches logs only when the old one is
// complete; the old log is then read once more, because records may have been added between the
// last read and the switch.
//
// The next log's predecessor record, or the next sequence number, shows whether the end that was
// read is the real end. If neither does, the MANIFEST is read again: it names newer tables if a
// whole log was written and deleted meanwhile.

#include "db/follow/log_follower.h"

#include <algorithm>
#include <utility>

#include "db/write/batch_reader.h"
#include "util/base/assert.h"
#include "util/base/caught_exception.h"
#include "util/base/status_macros.h"
#include "util/coding/fixed.h"
#include "util/env/file_names.h"
#include "util/env/io_error.h"

namespace varve {

namespace {

// Returns true if there is a whole record. Sets *status if the log cannot be read.
bool NextRecord(wal::LogTail* tail, Slice* record, Status* status) {
  const wal::LogTail::Met met = tail->Next(UINT64_MAX, record);
  if (met == wal::LogTail::Met::kError) *status = tail->status();
  return met == wal::LogTail::Met::kRecord;
}

// Bytes of batches that are inserted together, after they were copied out of the log's buffer.
constexpr size_t kChunkBytes = 256 << 10;

}  // namespace

// Skips families that are not open or no longer exist, and entries that are in tables already.
class LogFollower::Resolver final : public MemTableResolver {
 public:
  Resolver(const LogFollower& follower, ColumnFamilySet* families)
      : follower_(follower), families_(*families) {}

  MemTable* Find(uint32_t id) override { return families_.Find(id); }
  const Comparator* ComparatorOf(uint32_t id) override { return families_.ComparatorOf(id); }
  std::string NameOf(uint32_t id) override { return families_.NameOf(id); }
  bool IsAlreadyInTables(uint32_t id) override {
    const auto needed = follower_.log_numbers_.find(id);
    return needed == follower_.log_numbers_.end() || follower_.number() < needed->second;
  }

 private:
  const LogFollower& follower_;
  ColumnFamilySet& families_;
};

LogFollower::LogFollower(Engine* engine)
    : engine_(engine), resolver_(std::make_unique<Resolver>(*this, &engine->state.families)) {
  two_phase_.KeepCommitted();
}

LogFollower::~LogFollower() = default;

// No other thread uses the replay's versions.
void LogFollower::NoteNeeds(ManifestReplay* replay) VARVE_NO_THREAD_SAFETY_ANALYSIS {
  // Families that this process has not opened need no logs here.
  log_numbers_.clear();
  needed_ = UINT64_MAX;
  for (const auto& [id, family] : replay->families()) {
    if (engine_->state.families.FindById(id) == nullptr) continue;
    log_numbers_[id] = family.versions->log_number;
    needed_ = std::min(needed_, family.versions->log_number);
  }
  // A family without data in memory needs no log, though its own log number may be lower.
  needed_ = std::max(needed_, replay->min_log_number_to_keep());
  two_phase_.ForgetCommitted(needed_);
  const uint64_t kept = std::min(needed_, two_phase_.OldestLog());
  std::erase_if(ends_, [kept](const auto& log) { return log.first < kept; });
}

Status LogFollower::ListLogs(std::vector<uint64_t>* logs) const {
  const DbContext& context = engine_->context;
  std::vector<std::string> names;
  const IOStatus s =
      context.fs()->GetChildren(context.WalDirectory(), IOOptions(), &names, nullptr);
  if (!s.ok() && !IsMissing(s)) return s;
  for (const auto& [name, number, type] : FilesAmong(names, kWalFile)) {
    // A name with a larger number is no log of a database.
    if (number <= kMaxFoundFileNumber) logs->push_back(number);
  }
  std::sort(logs->begin(), logs->end());
  return Status::OK();
}

// Logs older than those that families need may have prepared transactions, as at an opening
// (log_recovery.cc).
Status LogFollower::FindFirst(const std::vector<uint64_t>& logs, ManifestReplay* replay,
                              uint64_t* first) const {
  const DbContext& context = engine_->context;
  const uint64_t kept = replay->min_log_number_to_keep();
  *first = std::max(needed_, kept);
  if (kept >= needed_) return Status::OK();
  // From here on logs in [kept, needed_) are of interest, if there are any.
  const auto oldest = std::ranges::lower_bound(logs, kept);
  if (oldest == logs.end() || *oldest >= needed_) return Status::OK();
  // A `kept` of 0 means that the MANIFEST does not name the oldest log with a prepared transaction.
  // With allow_2pc any log may have one, so none is left out.
  if (kept != 0 || context.options().allow_2pc) {
    *first = kept != 0 ? kept : *oldest;
    return Status::OK();
  }
  // A MANIFEST of another program may not name the logs that it keeps for prepared transactions, so
  // the logs are searched.
  for (auto log = oldest; log != logs.end() && *log < *first; ++log) {
    bool has_marks = false;
    VARVE_RETURN_IF_ERROR(HasTwoPhaseMarks(context.fs().get(), context.LogFileOptions(),
                                           LogFileName(context.WalDirectory(), *log), *log,
                                           &has_marks));
    if (has_marks) *first = *log;
  }
  return Status::OK();
}

Status LogFollower::Open(uint64_t number, std::unique_ptr<wal::LogTail>* tail) const {
  const DbContext& context = engine_->context;
  return wal::LogTail::Open(context.fs().get(), LogFileName(context.WalDirectory(), number), number,
                            context.LogFileOptions(), tail);
}

// Reads the current log to its end, then looks for a later one that has a record. If there is one,
// the current log is read once more, the record is compared with where it ended, and only then is
// the current log left.
Status LogFollower::ReadOn(ManifestReplay* replay) {
  NoteNeeds(replay);
  // Identifies the state of the MANIFEST for CheckFollows, which asks whether it has changed.
  manifest_at_ = std::to_string(replay->largest_number()) + " " +
                 std::to_string(replay->last_sequence()) + " " + std::to_string(needed_);
  std::vector<uint64_t> logs;
  VARVE_RETURN_IF_ERROR(ListLogs(&logs));
  uint64_t first = 0;
  if (tail_ == nullptr) VARVE_RETURN_IF_ERROR(FindFirst(logs, replay, &first));
  for (;;) {
    if (tail_ != nullptr) VARVE_RETURN_IF_ERROR(Drain());
    // The list was made before the current log was read, so later logs in it began before its end
    // was reached.
    const auto next = tail_ != nullptr ? std::ranges::upper_bound(logs, tail_->number())
                                       : std::ranges::lower_bound(logs, first);
    if (next == logs.end()) return Status::OK();
    std::unique_ptr<wal::LogTail> tail;
    Status s = Open(*next, &tail);
    // A log that no family needs may be deleted at any time.
    if (IsMissing(s) && *next < needed_) {
      logs.erase(next);
      continue;
    }
    VARVE_RETURN_IF_ERROR(s);
    Slice record;
    if (!NextRecord(tail.get(), &record, &s)) {
      VARVE_RETURN_IF_ERROR(s);
      // The log has no record yet, or will never have one: in the latter case another log follows.
      if (std::next(next) == logs.end()) return Status::OK();
      logs.erase(next);
      continue;
    }
    if (tail_ != nullptr) VARVE_RETURN_IF_ERROR(Drain());
    VARVE_RETURN_IF_ERROR(CheckFollows(record, *next));
    // The record was only read to see that the log has begun. The next Drain reads it again.
    tail->PutBack();
    MoveTo(std::move(tail));
  }
}

// Compares the end of the current log with the next log's predecessor record. Corruption: the end
// is missing. If there is no such record and the sequence numbers have a gap, returns an error the
// first time, so that the MANIFEST is read again.
Status LogFollower::CheckFollows(const Slice& first, uint64_t next) {
  const uint64_t before = number();
  // Records that the current log may lack at its end are in tables already.
  if (before != 0 && needed_ > before) return Status::OK();
  PredecessorLog mark;
  const DbContext& context = engine_->context;
  if (ParsePredecessorRecord(first, &mark)) {
    // The predecessor that the record names is not needed, or was read before the current log.
    if (mark.number < needed_ || mark.number < before) return Status::OK();
    if (mark.number == before && end() >= mark.bytes) return Status::OK();
    return Status::Corruption(
        LogFileName(context.WalDirectory(), mark.number),
        "its end is missing: the next log says that it has " + std::to_string(mark.bytes) +
            " bytes, " + std::to_string(mark.number == before ? end() : 0) + " can be read");
  }
  const bool goes_on =
      first.size() >= kBatchHeaderBytes && DecodeFixed64(first.data()) == applied_ + 1;
  if (goes_on || before == 0) return Status::OK();
  // The missing sequence numbers were used by unlogged writes, or a whole log was written and
  // deleted meanwhile; in the latter case the MANIFEST has changed.
  const std::string here = std::to_string(before) + " " + std::to_string(next) + " " + manifest_at_;
  // The first time this is an error, so that the caller reads the MANIFEST again. If the MANIFEST
  // is the same the second time, no log was missed: the numbers were not logged.
  if (met_.empty() && unsure_at_ == here) return Status::OK();
  unsure_at_ = here;
  return Status::Corruption(LogFileName(context.WalDirectory(), before),
                            "ends at " + std::to_string(end()) +
                                (met_.empty() ? "" : " with " + met_) + ", and log " +
                                std::to_string(next) + " does not go on from there");
}

// Each memtable has the entries of one log, so those that are not empty become immutable before the
// next log is read.
void LogFollower::MoveTo(std::unique_ptr<wal::LogTail> next) {
  DbState& state = engine_->state;
  if (tail_ != nullptr) {
    DbLock lock(&state.mu);
    for (const auto& [id, family] : state.families.all()) {
      if (family->mem()->Empty()) continue;
      // Not the number of `next`: a log between the two may have been missed, and be the family's
      // log number in the MANIFEST once this memtable is in a table (Secondary::DropFlushed).
      family->SwitchMemTable(family->NewMemTable(applied_ + 1), number() + 1);
    }
  }
  // The adapter is made before tail_ changes, as that may throw: a log must not be read with the
  // adapter of another one.
  adapter_ = std::make_unique<TimestampAdapter>(TimestampsOf(state.families));
  tail_ = std::move(next);
  first_ = true;
  first_batch_ = true;
}

// However this ends, all entries of the records taken from the log are inserted, or in_part_ is
// true: TakeRecords sets it during each insertion, and this function during the last one, so an
// exception leaves it set.
Status LogFollower::Drain() {
  // Entries of a record may be missing in a memtable, so the following records must not be applied.
  if (in_part_) return At(lost_);
  BatchInserter inserter(resolver_.get());
  chunk_.clear();
  // The inserter holds slices of the chunk until Flush, so the chunk must not be reallocated
  // meanwhile.
  chunk_.reserve(kChunkBytes);
  Status s = Guarded([&] { return TakeRecords(&inserter); });
  if (!in_part_) {
    in_part_ = true;
    Status flushed = Guarded([&] { return inserter.Flush(); });
    in_part_ = !flushed.ok();
    if (in_part_) s = std::move(flushed);
  }
  if (in_part_) {
    lost_ = std::move(s);
    return At(lost_);
  }
  met_ = tail_->status().ok() ? "" : tail_->status().ToString();
  ends_[number()] = end();
  return s.ok() ? s : At(s);
}

Status LogFollower::At(const Status& s) const {
  return Status::CopyAppendMessage(s, " in ",
                                   LogFileName(engine_->context.WalDirectory(), number()) +
                                       " before offset " + std::to_string(end()) +
                                       (in_part_ ? "; open the secondary again" : ""));
}

// Stops at the first record that fails a check, which is put back, or that cannot be inserted,
// which leaves in_part_ true.
Status LogFollower::TakeRecords(BatchInserter* inserter) {
  Slice record;
  Status s;
  while (NextRecord(tail_.get(), &record, &s)) {
    Slice batch;
    bool has_marks = false;
    s = Guarded([&] { return Check(record, &batch, &has_marks); });
    // Nothing of the record was inserted, so the next call reads it again.
    if (!s.ok()) {
      tail_->PutBack();
      return s;
    }
    first_ = false;
    if (batch.empty()) continue;
    // This stays true if Apply fails or throws.
    in_part_ = true;
    VARVE_RETURN_IF_ERROR(Apply(batch, has_marks, inserter));
    in_part_ = false;
    first_batch_ = false;
  }
  return s;
}

// Returns Aborted if the first batch of a log is not newer than what was applied: the primary was
// set back, for example by a restore, so its state is not a continuation of this one.
Status LogFollower::Check(const Slice& record, Slice* batch, bool* has_marks) {
  PredecessorLog mark;
  if (first_ && ParsePredecessorRecord(record, &mark)) return Status::OK();
  if (IsEndRecord(record)) return Status::OK();
  VARVE_RETURN_IF_ERROR(CheckBatchStructure(record, has_marks));
  Slice adapted;
  VARVE_RETURN_IF_ERROR(adapter_->Adapt(record, tail_->timestamp_sizes(), &adapted_, &adapted));
  // A batch begins with its first sequence number (8 bytes) and its count (4 bytes), which
  // CheckBatchStructure has found there. A batch without a count uses no sequence number.
  if (first_batch_ && !*has_marks && DecodeFixed32(adapted.data() + 8) != 0 &&
      DecodeFixed64(adapted.data()) <= applied_) {
    return Status::Aborted("the primary has gone back behind what was read of it, to sequence " +
                           std::to_string(DecodeFixed64(adapted.data())) +
                           "; open the secondary again");
  }
  *batch = adapted;
  return Status::OK();
}

// Replaces memtables by others with the same contents. Requires that no inserter holds any of them.
void LogFollower::LearnKeyPrefixes() {
  DbState& state = engine_->state;
  DbLock lock(&state.mu);
  for (const auto& [id, family] : state.families.all()) family->LearnKeyPrefix();
}

// Copies the batch into the chunk, because the log's buffer changes with the next record, and the
// inserter holds slices until it is flushed.
Status LogFollower::Apply(const Slice& batch, bool has_marks, BatchInserter* inserter) {
  SequenceNumber next = DecodeFixed64(batch.data());
  if (has_marks) {
    // TwoPhaseReplay inserts prepared transactions, after everything before them.
    VARVE_RETURN_IF_ERROR(inserter->Flush());
    VARVE_RETURN_IF_ERROR(two_phase_.Apply(batch, number(), resolver_.get(), &next, nullptr));
  } else {
    if (chunk_.size() + batch.size() > chunk_.capacity()) {
      VARVE_RETURN_IF_ERROR(inserter->Flush());
      LearnKeyPrefixes();
      chunk_.clear();
      // A larger batch gets a chunk of its own.
      chunk_.reserve(batch.size());
    }
    const size_t start = chunk_.size();
    chunk_.append(batch.data(), batch.size());
    VARVE_RETURN_IF_ERROR(
        inserter->Insert(Slice(chunk_.data() + start, batch.size()), next, &next));
  }
  // A record with marks may use no sequence number.
  if (next > 0) applied_ = std::max(applied_, next - 1);
  return Status::OK();
}

Status LogFollower::MeasureRest(uint64_t* bytes, SequenceNumber* newest) const {
  *bytes = 0;
  *newest = applied_;
  // Records whose insertion failed would count as applied.
  if (in_part_) return At(lost_);
  std::vector<uint64_t> logs;
  VARVE_RETURN_IF_ERROR(ListLogs(&logs));
  for (const uint64_t log : logs) {
    if (log < std::max(number(), needed_)) continue;
    std::unique_ptr<wal::LogTail> tail;
    Status s = Open(log, &tail);
    if (IsMissing(s)) continue;
    VARVE_RETURN_IF_ERROR(s);
    // The current log is read again from its beginning, without changing the follower's position.
    const uint64_t read = log == number() ? end() : 0;
    Slice record;
    while (NextRecord(tail.get(), &record, &s)) {
      if (tail->offset() <= read || record.size() < kBatchHeaderBytes) continue;
      // The header of a batch: 8 bytes of the first sequence number, 4 of the count.
      const uint32_t count = DecodeFixed32(record.data() + 8);
      const SequenceNumber sequence = DecodeFixed64(record.data());
      if (count > 0) *newest = std::max(*newest, sequence + count - 1);
    }
    VARVE_RETURN_IF_ERROR(s);
    *bytes += tail->offset() - std::min(tail->offset(), read);
  }
  return Status::OK();
}

}  // namespace varve
