// SPDX-License-Identifier: Apache-2.0

// A reader alternates between two steps. Look asks the database, once, how far the log is whole and
// which number is visible, and reads the first record within these bounds. Next then takes further
// records within the same bounds without asking again. Judge decides about each record: given out,
// skipped because it was given out before or has nothing to show, put back because it is not
// visible yet, or put back because numbers before it are missing.
//
// may_be_lost_ is the memory of doubt: it is set when a log is left or could not be read whole, and
// cleared when a record proves that nothing is missing.

#include "db/follow/update_reader.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "db/engine/engine.h"
#include "db/write/batch_reader.h"
#include "db/write/predecessor_log.h"
#include "util/base/assert.h"
#include "util/base/caught_exception.h"
#include "util/base/status_macros.h"
#include "util/coding/fixed.h"

namespace varve {

namespace {

using TailMet = wal::LogTail::Met;

}  // namespace

UpdateReader::UpdateReader(std::shared_ptr<Engine> engine, const Options& options)
    : engine_(std::move(engine)),
      files_(engine_.get()),
      options_(options),
      hold_(options.held_by_others ? LogHold() : LogHold(engine_->state.logs.get(), 0)),
      next_(std::max<SequenceNumber>(options.from, 1)) {}

UpdateReader::~UpdateReader() = default;

UpdateReader::Met UpdateReader::Fail(Status status) {
  status_ = std::move(status);
  return Met::kFailed;
}

// Reads the log from its beginning up to the first record that has a number. A log that ends
// before, or in damage, leaves 0; only an error of the file system is returned.
Status UpdateReader::FirstSequence(uint64_t number, SequenceNumber* first) {
  *first = 0;
  LogSet::LogView view;
  std::unique_ptr<wal::LogTail> tail;
  VARVE_RETURN_IF_ERROR(files_.View(number, &view));
  VARVE_RETURN_IF_ERROR(files_.Open(number, &tail));
  Slice record;
  TailMet met = TailMet::kRecord;
  // Records without a number of their own, as log data only, say nothing about where the log
  // begins.
  while ((met = tail->Next(view.bytes, &record)) == TailMet::kRecord) {
    bool has_marks = false;
    if (!CheckBatchStructure(record, &has_marks).ok()) break;
    PredecessorLog before;
    const bool counts = has_marks || ParsePredecessorRecord(record, &before);
    if (!counts && DecodeFixed32(record.data() + 8) == 0) continue;
    // A prepare record and a predecessor record carry the next number, which the next record may
    // have, too.
    *first = DecodeFixed64(record.data());
    return Status::OK();
  }
  return met == TailMet::kError ? tail->status() : Status::OK();
}

// Sets begins_late_ and may_be_lost_ if the log that had the position is not among these.
Status UpdateReader::FindFirst(const std::vector<uint64_t>& numbers, size_t* first) {
  // If nothing at the position has been written yet, nothing can be lost.
  const bool wants_any = next_ <= engine_->state.versions->last_sequence();
  // A named position knows its log. If that is gone, the reading begins with the next one, and what
  // lies between is in doubt.
  if (options_.first_log != 0) {
    const auto it = std::ranges::lower_bound(numbers, options_.first_log);
    *first = it == numbers.end() ? numbers.size() - 1 : static_cast<size_t>(it - numbers.begin());
    begins_late_ = wants_any && numbers[*first] != options_.first_log;
    may_be_lost_ = begins_late_;
    return Status::OK();
  }
  // Finds the newest log that does not begin after the position.
  *first = numbers.size();
  SequenceNumber begins = 0;
  do {
    VARVE_RETURN_IF_ERROR(FirstSequence(numbers[--*first], &begins));
  } while (*first > 0 && (begins == 0 || begins > next_));
  const bool found = begins != 0 && begins <= next_;
  may_be_lost_ = wants_any && !found && !options_.all_held;
  begins_late_ = may_be_lost_;
  if (!may_be_lost_ || begins != 0) return Status::OK();
  // The file of this log, the oldest, has no record with a number. Its records may all be in memory
  // still (manual_wal_flush): then the reader is not late.
  LogSet::LogView view;
  VARVE_RETURN_IF_ERROR(files_.View(numbers[*first], &view));
  begins_late_ = view.held_back == 0;
  return Status::OK();
}

// Repeats the search if a log was removed between the listing and its opening: only a log that is
// open, and that the LogHold keeps, is certain to stay.
Status UpdateReader::Begin() {
  std::vector<uint64_t> numbers;
  VARVE_RETURN_IF_ERROR(files_.List(&numbers));
  size_t first = 0;
  for (;;) {
    if (numbers.empty()) return Status::NotFound("no log is there any more");
    Status s = FindFirst(numbers, &first);
    if (s.ok()) s = MoveTo(numbers[first]);
    if (s.ok()) break;
    if (!s.IsNotFound()) return s;
    // The log was removed before hold_ could keep it, so the search goes on behind it.
    numbers.erase(numbers.begin(), numbers.begin() + static_cast<ptrdiff_t>(first) + 1);
  }
  // Unless they may be lost, all numbers from the position on are in this log, or in later ones, if
  // in any.
  if (options_.first_log != 0 || !engine_->state.prepared.InUse()) return Status::OK();
  // A commit in this log or a later one may belong to a transaction that was prepared in one
  // before. Those of the earlier logs that are still there are read now.
  for (size_t i = 0; i < first; i++) {
    VARVE_RETURN_IF_ERROR(ReadPrepared(numbers[i], &transactions_));
  }
  return Status::OK();
}

// The position in the order of sequence numbers stays; only the log changes.
Status UpdateReader::MoveTo(uint64_t number) {
  std::unique_ptr<wal::LogTail> tail;
  VARVE_RETURN_IF_ERROR(files_.Open(number, &tail));
  VARVE_RETURN_IF_ERROR(files_.View(number, &view_, &settled_));
  // The log is opened before hold_ gives up the log of before: if opening fails, the reader still
  // has its old log, and still keeps the old one and all later ones from deletion.
  tail_ = std::move(tail);
  hold_.MoveTo(number);
  looked_ = false;
  return Status::OK();
}

Status UpdateReader::Start() {
  const OpenCall call(&engine_->lifecycle);
  if (!call.inside()) return engine_->lifecycle.CheckOpen();
  return tail_ == nullptr ? Begin() : Status::OK();
}

uint64_t UpdateReader::OldestLogNeeded() const {
  // While it is in doubt whether numbers are lost, a later reader has to begin where the doubt
  // began.
  const uint64_t from = may_be_lost_ && lost_from_ != 0 ? lost_from_ : tail_->number();
  return std::min(from, transactions_.OldestLog());
}

// Takes records, one after the other, until one is given out or a gap is due. A record that is not
// given out now is put back and met again, so no number is passed silently.
UpdateReader::Met UpdateReader::Next(Update* update) {
  for (;;) {
    Slice record;
    // Records within the last look come first.
    const bool at_hand = looked_ && tail_->Next(End(), &record) == TailMet::kRecord;
    // A look costs locks and reads of shared counters, so it is made only when the records of the
    // last one are used up.
    if (!at_hand) {
      const Met met = Look(&record);
      if (met == Met::kGap) return Gap(limit_, may_be_lost_, update);
      if (met != Met::kBatch) return met;
    }
    Verdict verdict = Verdict::kFailed;
    Status thrown = Guarded([&] { verdict = Judge(record, update); });
    if (!thrown.ok()) status_ = std::move(thrown);
    switch (verdict) {
      case Verdict::kGive:
        return Met::kBatch;
      case Verdict::kSkip:
        break;
      case Verdict::kNotYet:
        tail_->PutBack();
        looked_ = false;
        // The record was visible to nobody at the last look. It may be by now, so the reader looks
        // again.
        if (at_hand) break;
        if (next_ > limit_) return Met::kNothing;
        // All visible records would have come before this one.
        return Gap(limit_, may_be_lost_, update);
      case Verdict::kGap:
        tail_->PutBack();
        if (!damage_.ok()) return Fail(damage_);
        return Gap(update->first - 1, may_be_lost_, update);
      case Verdict::kFailed:
        // The next call meets the record again, so it is never passed over.
        tail_->PutBack();
        looked_ = false;
        return Met::kFailed;
    }
  }
}

// A gap ends every doubt about the numbers in it: they are given out as lost or not, once.
UpdateReader::Met UpdateReader::Gap(SequenceNumber last, bool lost, Update* update) {
  VARVE_ASSERT(last >= next_);
  *update = Update();
  update->first = next_;
  update->last = last;
  update->lost = lost;
  next_ = last + 1;
  behind_ = false;
  may_be_lost_ = false;
  damage_ = Status::OK();
  return Met::kGap;
}

// Returns when there is a record, or when nothing more can be read now. A log is left only when it
// is not the current one, and was read as far as it is whole.
UpdateReader::Met UpdateReader::Look(Slice* record) {
  const DbState& state = engine_->state;
  const OpenCall call(&engine_->lifecycle);
  if (!call.inside()) return Fail(engine_->lifecycle.CheckOpen());
  if (tail_ == nullptr) {
    Status s = Begin();
    if (!s.ok()) return Fail(std::move(s));
  }
  for (;;) {
    // The order of these two statements is what invariant 1 rests on: a write becomes visible only
    // after its record is in the log, so every record up to limit_ lies within the length that is
    // read afterwards.
    limit_ = state.versions->last_sequence();
    const Status s = settled_ ? Status::OK() : files_.View(tail_->number(), &view_, &settled_);
    if (!s.ok()) return Fail(s);
    // A write of this log has failed, so a record in it may belong to a write that its program was
    // told had failed.
    if (view_.doubtful) {
      if (view_.current) {
        status_ = Status::TryAgain("log " + std::to_string(view_.number) +
                                   " has failed: what it holds cannot be told from writes that "
                                   "failed before the database has recovered from that");
        return Met::kLater;
      }
      const Met met = GoOn(/*damaged=*/true);
      if (met != Met::kBatch) return met;
      continue;
    }
    const TailMet met = tail_->Next(End(), record);
    if (met == TailMet::kError) return Fail(tail_->status());
    looked_ = met == TailMet::kRecord;
    if (looked_) return Met::kBatch;
    // The rest is written but not synced, and will be given out once it is.
    if (options_.durable_only && End() < view_.bytes) return Met::kNothing;
    // Nothing follows the current log: the numbers are there later, or in no log.
    if (view_.current) return Missing(met);
    if (met == TailMet::kBad) damage_ = tail_->status();
    const Met next = GoOn(met == TailMet::kBad || tail_->offset() < view_.bytes);
    if (next != Met::kBatch) return next;
  }
}

// Leaves the log for the next one, if there is one. From then until a record of the next log clears
// the doubt, numbers may have been lost at the end of the log that is left (may_be_lost_).
UpdateReader::Met UpdateReader::GoOn(bool damaged) {
  uint64_t next = 0;
  Status s = files_.After(tail_->number(), &next);
  if (!s.ok()) return Fail(std::move(s));
  if (next == 0) {
    // There will be no next log that could say more, so the doubt ends here.
    const bool ends_here = engine_->context.read_only() && next_ <= limit_;
    return ends_here ? Met::kGap : Met::kNothing;
  }
  const uint64_t left_log = tail_->number();
  const uint64_t left_end = tail_->offset();
  const bool left_found = !settled_ && view_.recovered;
  s = MoveTo(next);
  if (!s.ok()) return Fail(std::move(s));
  // The reader remembers how it left that log. Only the next log's predecessor record can say if
  // that was its end.
  left_log_ = left_log;
  left_end_ = left_end;
  left_whole_ = !damaged && !may_be_lost_;
  left_closed_ = std::exchange(at_end_record_, false);
  if (!may_be_lost_) lost_from_ = left_log;
  may_be_lost_ = true;  // The next log may say that this was the end.
  // Transactions that a recovery has seen decided may have been logged again before: no decision
  // follows.
  if (left_found && !view_.recovered) transactions_.Restart();
  return Met::kBatch;
}

// Called when nothing can be read where the current log goes on. Returns kGap if the visible
// numbers are in no log.
UpdateReader::Met UpdateReader::Missing(TailMet met) {
  if (next_ > limit_) return Met::kNothing;
  if (view_.held_back > 0) {
    status_ = Status::TryAgain(
        "what was written is in memory still (manual_wal_flush): FlushWAL makes it readable");
    return Met::kLater;
  }
  if (tail_->offset() >= view_.bytes) return Met::kGap;
  if (met == TailMet::kBad) return Fail(tail_->status());
  return Fail(Status::Corruption("log " + std::to_string(view_.number) +
                                 " has a hole, or ends inside a record, at offset " +
                                 std::to_string(tail_->offset())));
}

// Doubt ends if the record confirms where the log that was left ends, or if no number before this
// log's is missing any more.
bool UpdateReader::TakePredecessor(const Slice& record) {
  PredecessorLog before;
  if (!ParsePredecessorRecord(record, &before)) return false;
  const bool is_left = before.number == left_log_ && before.bytes == left_end_;
  // The last log of an earlier opening may have lost its end, unless it was closed.
  const bool is_whole = left_whole_ && (!before.found || left_closed_);
  // Numbers from the record's own on were given to later writes.
  const bool all_later = DecodeFixed64(record.data()) <= next_;
  if ((is_left && is_whole) || all_later) may_be_lost_ = false;
  return true;
}

// Changes the position and the remembered prepared transactions only for a record that is given
// out, or passed for good: the others are put back, and judged again.
UpdateReader::Verdict UpdateReader::Judge(const Slice& record, Update* update) {
  bool has_marks = false;
  status_ = CheckBatchStructure(record, &has_marks);
  if (!status_.ok()) return Verdict::kFailed;
  Slice batch = record;
  if (has_marks) {
    status_ = AssembleBatch(record, &batch);
    if (!status_.ok()) return Verdict::kFailed;
  }
  // A batch's header: 8 bytes of the first sequence number, 4 of the count, both little-endian.
  const uint32_t count = DecodeFixed32(batch.data() + 8);
  update->first = DecodeFixed64(batch.data());
  update->last = update->first + count - 1;
  update->batch = batch;
  update->log = std::min(tail_->number(), transactions_.OldestLog());
  at_end_record_ = IsEndRecord(record);
  if (at_end_record_) return Verdict::kSkip;
  if (count == 0 && TakePredecessor(record)) {
    // No log has the numbers up to this one; in this log it is told from the records themselves.
    const bool ends_gap = update->first > next_ && update->last <= limit_;
    return ends_gap ? Verdict::kGap : Verdict::kSkip;
  }
  if (update->first == 0) {
    status_ = Status::Corruption("log " + std::to_string(tail_->number()) + ", before offset " +
                                 std::to_string(tail_->offset()) + ": a batch without a number");
    return Verdict::kFailed;
  }
  if (update->last > limit_) return Verdict::kNotYet;
  // A record before the position was given out by an earlier reader, or belongs to a gap that was.
  // A batch of log data alone has a `last` of first - 1: it is before the position only while no
  // record at the position has been read (behind_).
  const bool passed = update->last < next_ && (count != 0 || behind_);
  const bool empty = batch.size() == kBatchHeaderBytes;
  // The gap is given out first; the caller puts the record back and meets it again afterwards.
  if (!passed && !empty && update->first > next_) return Verdict::kGap;
  if (has_marks) transactions_.Apply(record, tail_->number(), view_.recovered);
  // Numbers missing behind it in the same log were not logged.
  if (passed && count != 0) may_be_lost_ = false;
  if (passed || empty) return Verdict::kSkip;
  next_ = update->last + 1;
  behind_ = false;
  may_be_lost_ = false;
  damage_ = Status::OK();
  return Verdict::kGive;
}

// Prepared transactions that are not known yet are searched for in earlier logs, once. RocksDB
// joins the records of a group of writers, so a record may commit several of them.
Status UpdateReader::AssembleBatch(const Slice& record, Slice* batch) {
  std::set<std::string> missing;
  Status s = transactions_.Assemble(record, tail_->timestamp_sizes(), &assembled_, &missing);
  if (!missing.empty()) {
    // A record that comes before the position is passed over anyway, so an empty batch will do.
    if (DecodeFixed64(record.data()) < next_ && behind_) {
      assembled_.assign(record.data(), kBatchHeaderBytes);
      EncodeFixed32(assembled_.data() + 8, 0);
      *batch = Slice(assembled_);
      return Status::OK();
    }
    VARVE_RETURN_IF_ERROR(SearchEarlierLogs(missing));
    s = transactions_.Assemble(record, tail_->timestamp_sizes(), &assembled_, &missing);
  }
  *batch = Slice(assembled_);
  return s;
}

Status UpdateReader::SearchEarlierLogs(const std::set<std::string>& names) {
  std::vector<uint64_t> numbers;
  VARVE_RETURN_IF_ERROR(files_.List(&numbers));
  TransactionAssembler earlier;
  for (uint64_t number : numbers) {
    if (number >= tail_->number()) break;
    VARVE_RETURN_IF_ERROR(ReadPrepared(number, &earlier));
  }
  for (const std::string& name : names) {
    if (transactions_.TakeFrom(&earlier, name)) continue;
    return Status::NotFound("two-phase commit: the log in which the transaction '" +
                            ShownName(name) + "' was prepared is not there any more");
  }
  return Status::OK();
}

// Reads the log up to its end or to damage. A log that is gone has no transactions for the caller.
Status UpdateReader::ReadPrepared(uint64_t number, TransactionAssembler* transactions) const {
  LogSet::LogView view;
  std::unique_ptr<wal::LogTail> tail;
  Status s = files_.View(number, &view);
  if (s.ok()) s = files_.Open(number, &tail);
  // A missing transaction is reported where it is committed.
  if (s.IsNotFound()) return Status::OK();
  VARVE_RETURN_IF_ERROR(s);
  Slice record;
  while (tail->Next(view.bytes, &record) == TailMet::kRecord) {
    bool has_marks = false;
    if (CheckBatchStructure(record, &has_marks).ok() && has_marks) {
      transactions->Apply(record, number, view.recovered);
    }
  }
  return Status::OK();
}

}  // namespace varve
