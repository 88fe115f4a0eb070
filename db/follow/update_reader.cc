// SPDX-License-Identifier: Apache-2.0
#include "db/follow/update_reader.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "db/engine/engine.h"
#include "db/write/batch_reader.h"
#include "db/write/predecessor_log.h"
#include "util/base/assert.h"
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

Status UpdateReader::FirstSequence(uint64_t number, SequenceNumber* first) {
  *first = 0;
  LogSet::LogView view;
  std::unique_ptr<wal::LogTail> tail;
  VARVE_RETURN_IF_ERROR(files_.View(number, &view));
  VARVE_RETURN_IF_ERROR(files_.Open(number, &tail));
  Slice record;
  TailMet met = TailMet::kRecord;
  while ((met = tail->Next(view.bytes, &record)) == TailMet::kRecord) {
    bool has_marks = false;
    if (!CheckBatchStructure(record, &has_marks).ok()) break;
    if (!has_marks && DecodeFixed32(record.data() + 8) == 0) continue;
    // A prepare record carries the next number, which the next record may have, too.
    *first = DecodeFixed64(record.data());
    return Status::OK();
  }
  return met == TailMet::kError ? tail->status() : Status::OK();
}

Status UpdateReader::FindFirst(const std::vector<uint64_t>& numbers, size_t* first) {
  const bool wants_any = next_ <= engine_->state.versions->last_sequence();
  if (options_.first_log != 0) {
    const auto it = std::ranges::lower_bound(numbers, options_.first_log);
    *first = it == numbers.end() ? numbers.size() - 1 : static_cast<size_t>(it - numbers.begin());
    begins_late_ = wants_any && numbers[*first] != options_.first_log;
    return Status::OK();
  }
  // Finds the newest log that does not begin after the position.
  *first = numbers.size();
  SequenceNumber begins = 0;
  do {
    VARVE_RETURN_IF_ERROR(FirstSequence(numbers[--*first], &begins));
  } while (*first > 0 && (begins == 0 || begins > next_));
  begins_late_ = wants_any && (begins == 0 || begins > next_);
  return Status::OK();
}

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
    // It was removed before the logs were held, so the search goes on behind it.
    numbers.erase(numbers.begin(), numbers.begin() + static_cast<ptrdiff_t>(first) + 1);
  }
  may_be_lost_ = true;  // Nothing is known of the logs before the first one.
  if (options_.first_log != 0 || !engine_->state.sections.InUse()) return Status::OK();
  for (size_t i = 0; i < first; i++) {
    VARVE_RETURN_IF_ERROR(ReadSections(numbers[i], &sections_));
  }
  return Status::OK();
}

Status UpdateReader::MoveTo(uint64_t number) {
  std::unique_ptr<wal::LogTail> tail;
  VARVE_RETURN_IF_ERROR(files_.Open(number, &tail));
  VARVE_RETURN_IF_ERROR(files_.View(number, &view_, &settled_));
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
  return std::min(tail_->number(), sections_.OldestLog());
}

UpdateReader::Met UpdateReader::Next(Update* update) {
  for (;;) {
    Slice record;
    // Records within the last look come first.
    const bool at_hand = looked_ && tail_->Next(End(), &record) == TailMet::kRecord;
    if (!at_hand) {
      const Met met = Look(&record);
      if (met == Met::kGap) return Gap(limit_, may_be_lost_, update);
      if (met != Met::kBatch) return met;
    }
    switch (Judge(record, update)) {
      case Verdict::kGive:
        return Met::kBatch;
      case Verdict::kSkip:
        break;
      case Verdict::kNotYet:
        tail_->PutBack();
        looked_ = false;
        if (at_hand) break;
        if (next_ > limit_) return Met::kNothing;
        // All visible records would have come before this one.
        return Gap(limit_, may_be_lost_, update);
      case Verdict::kGap:
        tail_->PutBack();
        if (!damage_.ok()) return Fail(damage_);
        return Gap(update->first - 1, may_be_lost_, update);
      case Verdict::kFailed:
        return Met::kFailed;
    }
  }
}

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

UpdateReader::Met UpdateReader::Look(Slice* record) {
  const DbState& state = engine_->state;
  const OpenCall call(&engine_->lifecycle);
  if (!call.inside()) return Fail(engine_->lifecycle.CheckOpen());
  if (tail_ == nullptr) {
    Status s = Begin();
    if (!s.ok()) return Fail(std::move(s));
  }
  for (;;) {
    limit_ = state.versions->last_sequence();
    const Status s = settled_ ? Status::OK() : files_.View(tail_->number(), &view_, &settled_);
    if (!s.ok()) return Fail(s);
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
    if (options_.durable_only && End() < view_.bytes) return Met::kNothing;
    if (view_.current) return Missing(met);
    if (met == TailMet::kBad) damage_ = tail_->status();
    const Met next = GoOn(met == TailMet::kBad || tail_->offset() < view_.bytes);
    if (next != Met::kBatch) return next;
  }
}

UpdateReader::Met UpdateReader::GoOn(bool damaged) {
  uint64_t next = 0;
  Status s = files_.After(tail_->number(), &next);
  if (!s.ok()) return Fail(std::move(s));
  if (next == 0) {
    const bool ends_here = engine_->context.read_only() && next_ <= limit_;
    return ends_here ? Met::kGap : Met::kNothing;
  }
  left_log_ = tail_->number();
  left_end_ = tail_->offset();
  // The last log of an earlier opening may have lost its end.
  left_whole_ = !damaged && !may_be_lost_ && !view_.recovered;
  may_be_lost_ = true;  // The next log may say that this was the end.
  s = MoveTo(next);
  return s.ok() ? Met::kBatch : Fail(std::move(s));
}

// Nothing can be read where the current log goes on. kGap: the visible numbers are in no log.
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

bool UpdateReader::TakePredecessor(const Slice& record) {
  PredecessorLog before;
  if (!ParsePredecessorRecord(record, &before)) return false;
  const bool is_left = before.number == left_log_ && before.bytes == left_end_;
  if (is_left && left_whole_) may_be_lost_ = false;
  return true;
}

UpdateReader::Verdict UpdateReader::Judge(const Slice& record, Update* update) {
  bool has_marks = false;
  status_ = CheckBatchStructure(record, &has_marks);
  if (!status_.ok()) return Verdict::kFailed;
  Slice batch = record;
  if (has_marks) {
    status_ = AssembleSections(record, &batch);
    if (!status_.ok()) return Verdict::kFailed;
  }
  const uint32_t count = DecodeFixed32(batch.data() + 8);
  update->first = DecodeFixed64(batch.data());
  update->last = update->first + count - 1;
  update->batch = batch;
  update->log = OldestLogNeeded();
  if (count == 0 && TakePredecessor(record)) return Verdict::kSkip;
  if (update->first == 0) {
    status_ = Status::Corruption("log " + std::to_string(tail_->number()) + ", before offset " +
                                 std::to_string(tail_->offset()) + ": a batch without a number");
    return Verdict::kFailed;
  }
  if (update->last > limit_) return Verdict::kNotYet;
  const bool passed = update->last < next_ && (count != 0 || behind_);
  const bool empty = batch.size() == kBatchHeaderBytes;
  if (!passed && !empty && update->first > next_) return Verdict::kGap;
  if (has_marks) sections_.Apply(record, tail_->number());
  // Numbers missing behind it in the same log were not logged.
  if (passed && count != 0) may_be_lost_ = false;
  if (passed || empty) return Verdict::kSkip;
  next_ = update->last + 1;
  behind_ = false;
  may_be_lost_ = false;
  damage_ = Status::OK();
  return Verdict::kGive;
}

Status UpdateReader::AssembleSections(const Slice& record, Slice* batch) {
  std::string missing;
  Status s = sections_.Assemble(record, tail_->timestamp_sizes(), &assembled_, &missing);
  if (s.IsNotFound()) {
    // A record before the position does not matter.
    if (DecodeFixed64(record.data()) < next_ && behind_) {
      assembled_.assign(record.data(), kBatchHeaderBytes);
      EncodeFixed32(assembled_.data() + 8, 0);
      *batch = Slice(assembled_);
      return Status::OK();
    }
    VARVE_RETURN_IF_ERROR(SearchEarlierLogs(missing));
    s = sections_.Assemble(record, tail_->timestamp_sizes(), &assembled_, &missing);
  }
  *batch = Slice(assembled_);
  return s;
}

Status UpdateReader::SearchEarlierLogs(const std::string& name) {
  std::vector<uint64_t> numbers;
  VARVE_RETURN_IF_ERROR(files_.List(&numbers));
  SectionMemory earlier;
  for (uint64_t number : numbers) {
    if (number >= tail_->number()) break;
    VARVE_RETURN_IF_ERROR(ReadSections(number, &earlier));
  }
  if (sections_.TakeFrom(&earlier, name)) return Status::OK();
  return Status::NotFound("two-phase commit: the log in which the transaction '" + ShownName(name) +
                          "' was prepared is not there any more");
}

Status UpdateReader::ReadSections(uint64_t number, SectionMemory* sections) const {
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
    if (CheckBatchStructure(record, &has_marks).ok() && has_marks) sections->Apply(record, number);
  }
  return Status::OK();
}

}  // namespace varve
