// SPDX-License-Identifier: Apache-2.0

// Replays logs into memtables, and handles damaged and missing logs.
//
//    log 12 ---> records ---> memtables         log_ends_[12] = end of its last record
//    log 15 ---> "predecessor: 12, N bytes"     is log_ends_[12] >= N?
//                  yes: nothing is missing, whatever came after the last record of 12
//                  no:  the end of 12 was lost, although it had been synced when 15 began
//
// Completeness of logs is checked by three sources, the strongest first:
//
// 1. The synced mark (synced_) has the length of the synced part of one log. Less is a loss.
// 2. The first record of a log has the number and length of its predecessor (JudgePredecessor).
// 3. Without such a record, a log that begins with the next expected sequence number proves that
//    nothing is missing before it (GoesOn).
//
// After the first damage, stopped_at_ names the log at which replaying stopped; it is reset when a
// later log proves that nothing is missing. While it is set, no record of a later log is applied:
// under point-in-time recovery the result is always a state that the database once had.
// CheckOneMoment then refuses to open if some column family has tables newer than that state, as
// the others would be older.
//
// Invariants:
//
// 1. Damage is in the report, with its file and offset, before anything depends on it (NoteDamage).
// 2. In no mode is a record applied twice, nor one whose structure was not checked.
// 3. Missing synced bytes are counted in synced_bytes_lost in every mode, and make the opening fail
//    with kTolerateCorruptedTailRecords and kAbsoluteConsistency.
// 4. A failed replay changes no existing file; memtables that were flushed are in tables that no
//    MANIFEST names.
// 5. The replay stops at the commit of a transaction whose prepare was lost by damage.

#include "db/recovery/log_replay.h"

#include <algorithm>
#include <iterator>
#include <memory>

#include "db/engine/events.h"
#include "db/engine/output_options.h"
#include "db/flush/flush_job.h"
#include "db/recovery/lost_sequences.h"
#include "util/base/assert.h"
#include "util/base/canary.h"
#include "util/base/status_macros.h"
#include "util/env/file_names.h"
#include "util/env/info_log.h"
#include "util/env/sequential_file_reader.h"

namespace varve {

namespace {

// Larger sequence numbers are treated as damage, so that enough are left for later writes.
constexpr SequenceNumber kLargestSequence = kMaxSequenceNumber / 2;

std::string TooLarge(SequenceNumber sequence) {
  return "sequence number " + std::to_string(sequence) + " is out of range";
}

// Resolves families to memtables. Unless memtables remain in the open database (`are_read`), an
// empty one is replaced by one with faster inserts, which sorts its entries when it is flushed.
class ReplayResolver final : public MemTableResolver {
 public:
  ReplayResolver(ColumnFamilySet* families, bool are_read)
      : families_(*families), are_read_(are_read) {}

  MemTable* Find(uint32_t id) override {
    MemTable* const mem = families_.Find(id);
    if (are_read_ || mem == nullptr || !mem->Empty()) return mem;
    ColumnFamily* const family = families_.FindById(id);
    if (!mem->IsSortedByReads()) family->RenewMemTable(/*is_read=*/false);
    return family->mem();
  }
  const Comparator* ComparatorOf(uint32_t id) override { return families_.ComparatorOf(id); }
  std::string NameOf(uint32_t id) override { return families_.NameOf(id); }
  bool IsAlreadyInTables(uint32_t id) override { return families_.IsAlreadyInTables(id); }

 private:
  ColumnFamilySet& families_;
  const bool are_read_;
};

Status Refusal(const std::string& path, uint64_t offset, const std::string& reason) {
  return Status::Corruption(path, reason + " at offset " + std::to_string(offset) +
                                      "; nothing was changed. wal_recovery_mode "
                                      "kPointInTimeRecovery opens at the state before it");
}

}  // namespace

// Handles missing logs, replays the others, and checks that all families are of one moment. The
// report is complete even after an error.
Status LogReplay::Run(const std::vector<uint64_t>& log_numbers, uint64_t min_log) {
  VARVE_ASSERT(std::is_sorted(log_numbers.begin(), log_numbers.end()));
  min_log_ = min_log;
  {
    DbLock lock(&state_.mu);
    min_family_log_ = state_.versions->MinLogNumber();
  }
  max_sequence_ = state_.versions->last_sequence();
  if (max_sequence_ > kLargestSequence) {
    return Status::Corruption("MANIFEST of " + context_.name(), TooLarge(max_sequence_));
  }
  filter_.Begin(&state_);
  // Missing logs come first, as they may prevent the replay of the others.
  Status s = JudgeMissing(log_numbers);
  if (s.ok()) s = ReplayAll(log_numbers);
  if (stopped_at_ != 0 || s.IsCorruption()) FindLostSequences(log_numbers);
  if (s.ok() && stopped_at_ != 0 && !repairs_) s = CheckOneMoment();
  report_.last_sequence = max_sequence_;
  return s;
}

// The logs are not replayed, so the next sequence number is the one after the MANIFEST's.
void LogReplay::LeaveOut(const std::vector<uint64_t>& log_numbers) {
  {
    DbLock lock(&state_.mu);
    max_sequence_ = state_.versions->last_sequence();
  }
  report_.last_sequence = max_sequence_;
  for (const uint64_t number : log_numbers) {
    const std::string path = LogFileName(context_.WalDirectory(), number);
    uint64_t bytes = 0;
    context_.fs()->GetFileSize(path, IOOptions(), &bytes, nullptr).PermitUncheckedError();
    NoteDamage(number, path, 0, "left out, as it follows on tables that are missing", bytes);
    damaged_logs_.push_back(number);
  }
}

Status LogReplay::ReplayAll(const std::vector<uint64_t>& log_numbers) {
  Status s;
  for (uint64_t number : log_numbers) {
    // Entries of this log that a family has in tables already are skipped.
    state_.families.set_replayed_log(number);
    s = ReplayOne(number, LogFileName(context_.WalDirectory(), number));
    if (!s.ok()) break;
  }
  state_.families.set_replayed_log(0);
  return s;
}

// A family whose log number is above the log in which the replay stopped has tables with later
// writes.
Status LogReplay::CheckOneMoment() const {
  DbLock lock(&state_.mu);
  for (const auto& [id, family] : state_.families.all()) {
    const FamilyVersions& versions = *family->versions();
    if (versions.log_number <= stopped_at_ || versions.current->TotalBytes() == 0) continue;
    return Status::Corruption(
        LogFileName(context_.WalDirectory(), stopped_at_),
        "is damaged (" + report_.first_bad_reason + " at offset " +
            std::to_string(report_.first_bad_offset) + "), and column family " + family->name() +
            " has tables that are newer than the damage: replaying up to it would mix two "
            "moments; nothing was changed");
  }
  return Status::OK();
}

// The first record may be a predecessor record; the first batch after it shows whether the log
// continues where an earlier damaged one ends. The inserter holds slices of the records' memory, so
// it is flushed before that memory is reused and before each stop. A log that is not completely
// read gets no entry in log_ends_, so no predecessor record of a later log can prove that it is
// complete.
Status LogReplay::ReplayOne(uint64_t number, const std::string& path) {
  std::unique_ptr<SequentialFileReader> file;
  Status s =
      SequentialFileReader::Open(context_.fs().get(), path, context_.LogFileOptions(), &file);
  if (!s.ok()) return s;
  report_.logs_read++;
  wal::LogReader reader(std::move(file), number, path, nullptr);
  uint64_t file_bytes = 0;
  context_.fs()->GetFileSize(path, IOOptions(), &file_bytes, nullptr).PermitUncheckedError();
  TimestampAdapter adapter(TimestampsOf(state_.families));
  RecordPipeline records(&reader, &adapter, context_.options().wal_recovery_mode, file_bytes);
  RecordPipeline::Record record;
  ReplayResolver resolver(&state_.families, KeepsMemTables());
  // Collects entries of several records, since most records have only one.
  BatchInserter inserter(&resolver);
  bool first = true;
  bool marked = false;
  while (records.Next(&record)) {
    if (record.after_hole &&
        context_.options().wal_recovery_mode != WALRecoveryMode::kSkipAnyCorruptedRecords) {
      s = inserter.Flush();
      const uint64_t offset = record.offset;
      // Reads the rest of the log to find its end.
      while (s.ok() && records.Next(&record)) {
      }
      return s.ok() ? JudgeHole(number, path, offset, reader.LastRecordEnd()) : s;
    }
    PredecessorLog predecessor;
    if (first && !marked && ParsePredecessorRecord(record.bytes, &predecessor)) {
      marked = true;
      s = JudgePredecessor(predecessor, DecodeFixed64(record.bytes.data()));
      if (!s.ok()) return s;
      continue;
    }
    if (IsEndRecord(record.bytes)) {
      // This may be the last record of its chunk, whose memory the next call of Next reuses.
      s = inserter.Flush();
      if (!s.ok()) return s;
      continue;
    }
    // After damage the first batch of a log decides if the whole log is applied.
    const bool stays_out = first && stopped_at_ != 0 && (end_missing_ || !GoesOn(record.bytes));
    if (stays_out && !VARVE_CANARY(kReplayAfterDamage)) {
      damaged_logs_.push_back(number);  // It may be sound, but was not replayed.
      report_.synced_bytes_lost += SyncedAfter(number, 0);
      return Status::OK();
    }
    // If an earlier log was damaged, this one continues exactly where that one ends, so nothing is
    // missing.
    if (first) stopped_at_ = 0;
    first = false;
    if (repairs_ && record.structure.IsCorruption()) {
      s = inserter.Flush();
      return s.ok() ? StopAtRecord(number, path, record.structure.ToString(), record, &records) : s;
    }
    std::string stop_reason;
    s = filter_.active() && record.structure.ok()
            ? ApplyFiltered(record, number, path, &resolver, &inserter, &stop_reason)
            : ApplyRecord(record, number, path, &resolver, &inserter, &stop_reason);
    if (!s.ok()) return s;
    if (!stop_reason.empty()) return StopAtRecord(number, path, stop_reason, record, &records);
    report_.records_replayed++;
    report_.bytes_replayed += record.bytes.size();
  }
  if (!records.status().ok()) return records.status();
  VARVE_ASSERT(!log_ends_.contains(number));
  // The predecessor record of the next log is compared with this.
  log_ends_[number] = reader.LastRecordEnd();
  met_stamped_log_ |= !reader.timestamp_sizes().empty();
  if (first) empty_logs_.insert(number);
  if (first && stopped_at_ != 0) return Status::OK();
  return JudgeDamage(number, path, reader);
}

bool LogReplay::KeepsMemTables() const {
  // The logs must not be replayed again with a filter, so everything is flushed.
  const bool avoids = context_.options().avoid_flush_during_recovery && !filter_.active();
  return context_.read_only() || avoids;
}

// The exact next sequence number proves that the lost tail of the damaged log had no updates.
bool LogReplay::GoesOn(const Slice& first_record) const {
  return first_record.size() >= kBatchHeaderBytes &&
         DecodeFixed64(first_record.data()) == expected_next_;
}

// The record has the length of a log when the next one began. If that much was read, nothing is
// missing. If less was read, the end of that log is lost; if it was not read at all, the whole log
// is.
Status LogReplay::JudgePredecessor(const PredecessorLog& predecessor, SequenceNumber next) {
  const auto before = log_ends_.find(predecessor.number);
  const bool read = before != log_ends_.end();
  // A log below min_log_ was obsolete. A repair does not know that number.
  if (!read && (stopped_at_ != 0 || predecessor.number < min_log_ || repairs_)) return Status::OK();
  if (!read) missed_logs_.insert(predecessor.number);
  const uint64_t end = read ? before->second : 0;
  if (end >= predecessor.bytes) {
    stopped_at_ = 0;  // Nothing is missing: damage was after its last record.
    end_missing_ = false;
    return Status::OK();
  }
  end_missing_ = true;
  if (next > 0) lost_last_ = std::max(lost_last_, next - 1);
  if (stopped_at_ != 0) return Status::OK();
  const std::string path = LogFileName(context_.WalDirectory(), predecessor.number);
  const std::string reason = read ? "the end of the log is missing" : "the log is missing";
  const uint64_t lost = predecessor.bytes - end;
  NoteDamage(predecessor.number, path, end, reason, lost);
  const uint64_t synced =
      predecessor.number < synced_.log ? lost : SyncedAfter(predecessor.number, end);
  return StopOrRefuse(predecessor.number, path, end, reason, synced);
}

// Records with marks of two-phase commit are rare, and are applied one by one.
Status LogReplay::Insert(const RecordPipeline::Record& record, uint64_t number,
                         MemTableResolver* resolver, BatchInserter* inserter,
                         SequenceNumber* next_sequence, std::string* unknown_commit) {
  if (!record.has_marks) [[likely]]
    return inserter->Insert(record.bytes, *next_sequence, next_sequence);
  Status s = inserter->Flush();
  if (!s.ok()) return s;
  // After damage the prepare of a transaction, which has no sequence number, may be missing
  // although all numbers are present. Damage in logs that only prepared transactions need may be
  // from a crash that was already recovered from.
  const bool stops = !report_.first_bad_file.empty() && report_.first_bad_log >= min_family_log_ &&
                     context_.options().wal_recovery_mode == WALRecoveryMode::kPointInTimeRecovery;
  return two_phase_.Apply(record.bytes, number, resolver, next_sequence,
                          stops ? unknown_commit : nullptr);
}

// Counts the record's sequence numbers as used even if the insertion fails. Flushes the inserter if
// the record's memory is about to be reused, or a memtable is full.
Status LogReplay::ApplyRecord(const RecordPipeline::Record& record, uint64_t number,
                              const std::string& path, MemTableResolver* resolver,
                              BatchInserter* inserter, std::string* stop_reason) {
  Status s = record.structure;
  std::string unknown_commit;
  const SequenceNumber sequence = s.ok() ? DecodeFixed64(record.bytes.data()) : 0;
  if (sequence > kLargestSequence) s = Status::Corruption("a batch's", TooLarge(sequence));
  if (s.ok()) {
    first_sequence_ = std::min(first_sequence_, sequence);
    SequenceNumber next_sequence = sequence;
    s = Insert(record, number, resolver, inserter, &next_sequence, &unknown_commit);
    if (!unknown_commit.empty()) {
      *stop_reason = "the commit of " + ShownName(unknown_commit) + ", which the damage has taken";
    }
    VARVE_ASSERT(!s.ok() || next_sequence >= sequence);
    expected_next_ = std::max(expected_next_, next_sequence);
    if (next_sequence > 0) max_sequence_ = std::max(max_sequence_, next_sequence - 1);
  }
  const bool full = state_.families.TakeFullFlag();
  if (s.ok() && (full || record.last_to_stay)) s = inserter->Flush();
  if (!s.ok()) {
    return Status::CopyAppendMessage(s, " in ",
                                     path + " at offset " + std::to_string(record.offset));
  }
  // Full memtables are written to tables, which no MANIFEST names until the opening has succeeded.
  if (full && !context_.read_only()) return FlushFull();
  return Status::OK();
}

// The sequence numbers of a record that is left out or replaced count as used, since later records
// have the next ones.
Status LogReplay::ApplyFiltered(const RecordPipeline::Record& record, uint64_t number,
                                const std::string& path, MemTableResolver* resolver,
                                BatchInserter* inserter, std::string* stop_reason) {
  RecordFilter::Verdict verdict = RecordFilter::Verdict::kApply;
  std::string replacement;
  VARVE_RETURN_IF_ERROR(filter_.Judge(number, path, record.bytes, &verdict, &replacement));
  switch (verdict) {
    case RecordFilter::Verdict::kApply:
      return ApplyRecord(record, number, path, resolver, inserter, stop_reason);
    case RecordFilter::Verdict::kLeaveOut:
      NoteNumbers(record.bytes);
      return record.last_to_stay ? inserter->Flush() : Status::OK();
    case RecordFilter::Verdict::kDamaged:
      VARVE_RETURN_IF_ERROR(inserter->Flush());
      return JudgeFiltered(record, number, path, stop_reason);
    case RecordFilter::Verdict::kReplace:
      break;
  }
  RecordPipeline::Record replaced = record;
  replaced.bytes = replacement;
  replaced.last_to_stay = true;  // The replacement is destroyed at the end of this function.
  replaced.structure = CheckBatchStructure(replaced.bytes, &replaced.has_marks);
  VARVE_RETURN_IF_ERROR(inserter->Flush());
  NoteNumbers(record.bytes);
  return ApplyRecord(replaced, number, path, resolver, inserter, stop_reason);
}

// Treats the record like damaged bytes: returns an error, sets *stop_reason, or skips the record.
Status LogReplay::JudgeFiltered(const RecordPipeline::Record& record, uint64_t number,
                                const std::string& path, std::string* stop_reason) {
  const std::string reason = "the WalFilter calls the record corrupted";
  switch (context_.options().wal_recovery_mode) {
    case WALRecoveryMode::kAbsoluteConsistency:
    case WALRecoveryMode::kTolerateCorruptedTailRecords:
      return Refusal(path, record.offset, reason);
    case WALRecoveryMode::kPointInTimeRecovery:
      *stop_reason = reason;
      return Status::OK();
    case WALRecoveryMode::kSkipAnyCorruptedRecords:
      break;
  }
  NoteDamage(number, path, record.offset, reason, record.bytes.size());
  NoteNumbers(record.bytes);
  return Status::OK();
}

void LogReplay::NoteNumbers(const Slice& record) {
  const SequenceNumber first = DecodeFixed64(record.data());
  const SequenceNumber next = first + DecodeFixed32(record.data() + sizeof(first));
  if (next > kLargestSequence) return;
  first_sequence_ = std::min(first_sequence_, first);
  expected_next_ = std::max(expected_next_, next);
  if (next > 0) max_sequence_ = std::max(max_sequence_, next - 1);
}

// Reports the damage first. A torn tail is damage, too, if durable bytes are missing.
Status LogReplay::JudgeDamage(uint64_t number, const std::string& path,
                              const wal::LogReader& reader) {
  if (!reader.io_status().ok()) return reader.io_status();
  const wal::LogDamage& damage = reader.damage();
  if (damage.first_bad_offset == UINT64_MAX) return JudgeEnd(number, path, reader);
  NoteDamage(number, path, damage.first_bad_offset, damage.reason, damage.dropped_bytes);
  // An older log may end inside a record that was not acknowledged; the next log's predecessor
  // record shows that.
  const bool unknown = damage.torn_tail && number < synced_.log;
  const uint64_t synced = unknown ? 0 : SyncedAfter(number, damage.first_bad_offset);
  if (!damage.torn_tail || synced > 0) damaged_logs_.push_back(number);
  report_.synced_bytes_lost += synced;
  const WALRecoveryMode mode = context_.options().wal_recovery_mode;
  const bool refuse =
      mode == WALRecoveryMode::kAbsoluteConsistency ||
      (mode == WALRecoveryMode::kTolerateCorruptedTailRecords && (!damage.torn_tail || synced > 0));
  if (refuse) return Refusal(path, damage.first_bad_offset, damage.reason);
  if (mode == WALRecoveryMode::kPointInTimeRecovery) stopped_at_ = number;
  return Status::OK();
}

// A log that ends with a complete record, or with zeros after one, may have been longer.
Status LogReplay::JudgeEnd(uint64_t number, const std::string& path, const wal::LogReader& reader) {
  const uint64_t end = reader.LastRecordEnd();
  const uint64_t synced = SyncedAfter(number, end);
  if (synced > 0 && number == synced_.log) {
    const std::string reason = "the end of the log is missing";
    NoteDamage(number, path, end, reason, synced);
    damaged_logs_.push_back(number);
    return StopOrRefuse(number, path, end, reason, synced);
  }
  // Behind this log's records is one of the former log in this file, where more records of this log
  // may have been. Only the first record of the next log can show whether they were lost.
  if (reader.EndedAtOtherLog() &&
      context_.options().wal_recovery_mode == WALRecoveryMode::kPointInTimeRecovery) {
    stopped_at_ = number;
  }
  return Status::OK();
}

// There are zeros up to the end of a block, and records after them: a power loss has destroyed
// pages that were not synced, but not later ones. Records after the hole may depend on lost ones.
Status LogReplay::JudgeHole(uint64_t number, const std::string& path, uint64_t offset,
                            uint64_t end) {
  const WALRecoveryMode mode = context_.options().wal_recovery_mode;
  const std::string reason = "zeros before the record";
  NoteDamage(number, path, offset, reason, end - offset);
  damaged_logs_.push_back(number);
  report_.synced_bytes_lost += SyncedAfter(number, offset);
  if (mode != WALRecoveryMode::kPointInTimeRecovery) return Refusal(path, offset, reason);
  stopped_at_ = number;
  return Status::OK();
}

// An edit may name a log whose name a power loss has removed because nothing in it was synced, so a
// missing oldest log is only reported. A missing log with synced bytes is a proven loss.
Status LogReplay::JudgeMissing(const std::vector<uint64_t>& log_numbers) {
  const auto is_missing = [&](uint64_t number) {
    return number != 0 && number >= min_log_ &&
           std::find(log_numbers.begin(), log_numbers.end(), number) == log_numbers.end();
  };
  const std::string& directory = context_.WalDirectory();
  std::vector<std::string>& missing = report_.files_missing;
  for (const uint64_t number : {min_log_, synced_.log}) {
    if (is_missing(number)) missed_logs_.insert(number);
  }
  if (is_missing(min_log_)) missing.push_back(LogFileName(directory, min_log_));
  if (!is_missing(synced_.log)) return Status::OK();
  const std::string path = LogFileName(directory, synced_.log);
  if (synced_.log != min_log_) missing.push_back(path);
  // If there is a later log, its predecessor record shows whether this one is needed.
  const bool newest = log_numbers.empty() || log_numbers.back() < synced_.log;
  if (synced_.log_bytes == 0 || !newest) return Status::OK();
  const std::string reason = "the log is missing";
  NoteDamage(synced_.log, path, 0, reason, synced_.log_bytes);
  const Status s = StopOrRefuse(synced_.log, path, 0, reason, synced_.log_bytes);
  stopped_at_ = 0;  // All other logs are older.
  return s;
}

uint64_t LogReplay::SyncedAfter(uint64_t number, uint64_t end) const {
  if (number == synced_.log) return synced_.log_bytes - std::min(synced_.log_bytes, end);
  if (number > synced_.log) return 0;
  // Every record of an older log is durable (SyncedMark), so its whole size counts.
  uint64_t bytes = 0;
  const std::string path = LogFileName(context_.WalDirectory(), number);
  context_.fs()->GetFileSize(path, IOOptions(), &bytes, nullptr).PermitUncheckedError();
  return bytes - std::min(bytes, end);
}

// Counts the durable bytes as lost in every mode. With kSkipAnyCorruptedRecords, the replay
// continues.
Status LogReplay::StopOrRefuse(uint64_t number, const std::string& path, uint64_t end,
                               const std::string& reason, uint64_t synced) {
  report_.synced_bytes_lost += synced;
  switch (context_.options().wal_recovery_mode) {
    case WALRecoveryMode::kAbsoluteConsistency:
      return Refusal(path, end, reason);
    case WALRecoveryMode::kTolerateCorruptedTailRecords:
      if (synced > 0) return Refusal(path, end, reason);
      [[fallthrough]];
    case WALRecoveryMode::kPointInTimeRecovery:
      stopped_at_ = number;
      return Status::OK();
    case WALRecoveryMode::kSkipAnyCorruptedRecords:
      break;
  }
  return Status::OK();
}

SequenceNumber LogReplay::NextExpected() const {
  return expected_next_ != 0 ? expected_next_ : state_.versions->last_sequence() + 1;
}

// Reports the range from the first sequence number that was not replayed to the last one that is
// known to have been used.
void LogReplay::FindLostSequences(const std::vector<uint64_t>& log_numbers) {
  SequenceNumber last = lost_last_;
  for (uint64_t number : log_numbers) {
    if (number < stopped_at_) continue;
    const std::string path = LogFileName(context_.WalDirectory(), number);
    last = std::max(last,
                    LastSequenceIn(context_.fs().get(), context_.LogFileOptions(), path, number));
  }
  if (last < NextExpected()) return;  // Only an unreadable torn tail was lost.
  VARVE_ASSERT(NextExpected() <= last);
  report_.first_lost_sequence = NextExpected();
  report_.last_lost_sequence = last;
}

Status LogReplay::StopAtRecord(uint64_t number, const std::string& path, const std::string& reason,
                               const RecordPipeline::Record& record, RecordPipeline* records) {
  NoteDamage(number, path, record.offset, reason, record.bytes.size());
  damaged_logs_.push_back(number);
  stopped_at_ = number;
  RecordPipeline::Record rest;
  while (records->Next(&rest)) {
  }
  return records->status();
}

uint64_t LogReplay::LogEnd(uint64_t number) const {
  const auto it = log_ends_.find(number);
  return it == log_ends_.end() ? 0 : it->second;
}

// The numbers between two completely read logs form a range, which is returned if a log is known to
// be missing in it.
std::vector<std::pair<uint64_t, uint64_t>> LogReplay::UnreadLogs(uint64_t end) const {
  std::vector<std::pair<uint64_t, uint64_t>> gaps;
  uint64_t first = min_log_;
  const auto end_gap = [&](uint64_t gap_end) {
    const auto missed = missed_logs_.lower_bound(first);
    if (missed != missed_logs_.end() && *missed < gap_end) gaps.emplace_back(first, gap_end);
  };
  for (const auto& [number, bytes] : log_ends_) {
    if (std::ranges::find(damaged_logs_, number) != damaged_logs_.end()) continue;
    end_gap(number);
    first = number + 1;
  }
  end_gap(end);
  return gaps;
}

void LogReplay::NoteDamage(uint64_t number, const std::string& path, uint64_t offset,
                           const std::string& reason, uint64_t dropped_bytes) {
  RecoveryReport& report = report_;
  if (report.first_bad_file.empty()) {
    report.first_bad_log = number;
    report.first_bad_file = path;
    report.first_bad_offset = offset;
    report.first_bad_reason = reason;
  }
  report.dropped_bytes += dropped_bytes;
  LogWarn(context_.info_log(), "%s: %s at offset %llu; %llu bytes dropped", path.c_str(),
          reason.c_str(), static_cast<unsigned long long>(offset),
          static_cast<unsigned long long>(dropped_bytes));
}

Status LogReplay::FlushFull() {
  for (const auto& [id, family] : state_.families.all()) {
    if (!family->mem()->ShouldSwitch()) continue;
    Status s = FlushFamily(family.get());
    if (!s.ok()) return s;
  }
  return Status::OK();
}

Status LogReplay::FlushRest() {
  for (const auto& [id, family] : state_.families.all()) {
    if (!family->mem()->Empty()) {
      Status s = FlushFamily(family.get());
      if (!s.ok()) return s;
      // ReplayResolver may have made an empty memtable that must not be read; the options' kind
      // replaces it.
    } else if (!KeepsMemTables() && family->mem()->IsSortedByReads()) {
      family->RenewMemTable(/*is_read=*/true);
    }
  }
  return Status::OK();
}

// The frozen memtable leaves the family before its table exists, since nobody reads the family yet.
FlushInput LogReplay::FreezeForFlush(ColumnFamily* family) {
  FlushInput input;
  family->SwitchMemTable(family->NewMemTable(max_sequence_ + 1), /*log_number=*/0);
  VARVE_ASSERT(family->immutables().size() == 1 && family->mem()->Empty());
  input.memtables.push_back(family->immutables().front().mem);
  family->DropFlushed(1);
  FillFlushInput(context_, dynamic_, &state_, *family, TableFileCreationReason::kRecovery,
                 /*base_level=*/1, &input);
  input.new_blob_file_number = [versions = state_.versions.get()] {
    return versions->NewFileNumber();
  };
  return input;
}

// Freezes the memtable under the mutex, and writes it without the mutex: into a table, and large
// values into blob files. All of them are added to the family's edit, which goes into the MANIFEST
// if the opening succeeds; until then nothing names them.
Status LogReplay::FlushFamily(ColumnFamily* family) {
  FlushInput input;
  int job_id = 0;
  {
    DbLock lock(&state_.mu);
    input = FreezeForFlush(family);
    job_id = state_.NextJobId();
  }
  constexpr auto kReason = TableFileCreationReason::kRecovery;
  constexpr auto kBlobReason = BlobFileCreationReason::kRecovery;
  input.output.on_create =
      events::TableFileCreationStarted(context_, family->name(), job_id, kReason);
  input.output.on_create_blobs =
      events::BlobFileCreationStarted(context_, family->name(), job_id, kBlobReason);
  VersionEdit& edit = edits_[family->id()];
  edit.column_family = family->id();
  if (edit.family.full_history_ts_low.has_value())
    input.full_history_ts_low = *edit.family.full_history_ts_low;
  FlushResult result;
  VARVE_RETURN_IF_ERROR(RunFlush(input, &result));
  if (result.wrote_file) {
    edit.new_files.push_back(result.file);
    if (events::Wanted(context_)) {
      events::TableFileCreated(
          context_, events::DescribeNewTable(context_, *family, job_id, kReason, result.file,
                                             result.properties));
      events::BlobFilesCreated(context_, *family, job_id, kBlobReason, result.blob_files);
    }
    std::ranges::move(result.blob_files, std::back_inserter(edit.new_blob_files));
  }
  // The new bound is never below that of an earlier flush of the family, which was the flush's
  // input.
  if (!result.full_history_ts_low.empty())
    edit.family.full_history_ts_low = result.full_history_ts_low;
  wrote_tables_ = true;
  return Status::OK();
}

}  // namespace varve
