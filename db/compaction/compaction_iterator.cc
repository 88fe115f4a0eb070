// SPDX-License-Identifier: Apache-2.0

// Implements one pass over the merged input of a flush or a compaction.

#include "db/compaction/compaction_iterator.h"

#include <exception>
#include <utility>

#include "util/base/assert.h"
#include "util/base/canary.h"
#include "util/env/info_log.h"
#include "util/metrics/statistics.h"
#include "util/sync/give_way.h"

namespace varve {

namespace {

// Number of entries that may pass before a cancellation is noticed.
constexpr uint32_t kEntriesPerPoll = 512;

}  // namespace

void CompactionCounts::Add(const CompactionCounts& other) {
  entries_in += other.entries_in;
  entries_out += other.entries_out;
  dropped_hidden += other.dropped_hidden;
  dropped_covered += other.dropped_covered;
  dropped_expired += other.dropped_expired;
  expired_deletions += other.expired_deletions;
  expired_tombstones += other.expired_tombstones;
  dropped_by_filter += other.dropped_by_filter;
  merged += other.merged;
  failed_merges += other.failed_merges;
  single_delete_mismatches += other.single_delete_mismatches;
  skipped |= other.skipped;
  jumped |= other.jumped;
}

Status MakeCompactionFilter(CompactionFilterFactory* factory,
                            const CompactionFilter::Context& context,
                            std::unique_ptr<CompactionFilter>* filter) {
  if (factory == nullptr) return Status::OK();
  const auto threw = [factory](const char* what) {
    return Status::Aborted(std::string("compaction filter factory ") + factory->Name() + " threw",
                           what);
  };
  try {
    if (!factory->ShouldFilterTableFileCreation(context.reason)) return Status::OK();
    *filter = factory->CreateCompactionFilter(context);
  } catch (const std::exception& e) {
    return threw(e.what());
  } catch (...) {
    return threw("");
  }
  return Status::OK();
}

CompactionIterator::CompactionIterator(InternalIterator* input, TombstoneSet* tombstones,
                                       const CompactionIteratorOptions& options)
    : input_(input),
      tombstones_(tombstones),
      options_(options),
      rules_({options_.snapshots, options_.bottommost, options_.conflict_check_floor}),
      has_tombstones_(tombstones != nullptr && !tombstones->empty()),
      timestamp_bytes_(options.icmp->timestamp_size()) {
  VARVE_ASSERT(std::ranges::is_sorted(options_.snapshots));
  jump_.Init(options_.icmp, tombstones_);
  LimitToPast();
  if (options_.merge.has_operator() || options_.filter != nullptr) {
    collected_ = std::make_unique<MergeCollector>(&options_.merge);
  }
}

void CompactionIterator::Start(const Slice* begin) {
  VARVE_ASSERT(!has_key_ && !valid_);
  if (options_.filter != nullptr && !options_.filter->IgnoreSnapshots()) {
    Fail(Status::NotSupported("CompactionFilter::IgnoreSnapshots",
                              std::string("false is not supported: ") + options_.filter->Name()));
    return;
  }
  if (begin == nullptr) {
    input_.SeekToFirst();
  } else {
    input_.Seek(options_.icmp->FirstInternalKey(*begin).Encode());
  }
  FindNext();
}

CompactionIterator::Step CompactionIterator::Fail(Status status) {
  VARVE_ASSERT(!status.ok());
  status_ = std::move(status);
  valid_ = false;
  return Step::kStop;
}

void CompactionIterator::FindNext() {
  valid_ = false;
  while (input_.Valid()) {
    GiveWay::Step();
    if (until_poll_-- == 0) [[unlikely]] {
      until_poll_ = kEntriesPerPoll;
      if (Cancelled()) return;
    }
    const Slice key = input_.key();
    if (timestamp_bytes_ != 0 && Trims(key)) [[unlikely]] {
      counts_.dropped_hidden++;
      Advance();
      continue;
    }
    if (!TakeKey(key)) return;
    const uint64_t trailer = last_trailer_;
    in_place_ = true;
    switch (JudgeEntry(UnpackSequence(trailer), UnpackType(trailer))) {
      case Step::kEmit:
        is_newest_ = false;
        counts_.entries_out++;
        valid_ = true;
        return;
      case Step::kDropped:
        is_newest_ = false;
        if (in_place_) Advance();
        break;
      case Step::kUnseen:
        break;
      case Step::kStop:
        return;
    }
  }
  status_ = input_.status();
}

bool CompactionIterator::TakeKey(const Slice& key) {
  if (key.size() < kInternalKeyTrailerBytes + timestamp_bytes_) [[unlikely]] {
    Fail(key.size() < kInternalKeyTrailerBytes
             ? DescribeBadInternalKey(key, "compaction input")
             : Status::Corruption("compaction input", "a key is shorter than its timestamp"));
    return false;
  }
  const uint64_t trailer = ExtractTrailer(key);
  if (!IsEntryType(static_cast<uint8_t>(trailer))) [[unlikely]] {
    Fail(DescribeBadInternalKey(key, "compaction input"));
    return false;
  }
  const Slice new_key = options_.icmp->KeyOf(key);
  const int order = has_key_ ? options_.icmp->CompareKey(new_key, key_without_timestamp()) : 1;
  if (order > 0) [[likely]] {
    if (IsBeyondEnd(key)) return false;
    has_key_ = true;
    starts_user_key_ = true;
    StartKey(key);
  } else if (order < 0 || !TakeVersion(key, trailer)) {
    Fail(Status::Corruption("compaction input is not in the order of comparator",
                            options_.icmp->user_comparator()->Name()));
    return false;
  }
  last_trailer_ = trailer;
  return true;
}

void CompactionIterator::StartKey(const Slice& key) {
  key_.assign(key.data(), key.size());
  is_newest_ = true;
  rules_.StartKey();
  if (timestamp_bytes_ == 0) [[likely]]
    return;
  const Slice timestamp = options_.icmp->TimestampOf(ExtractUserKey(key));
  last_timestamp_.assign(timestamp.data(), timestamp.size());
  in_past_ = InPast(timestamp);
}

bool CompactionIterator::TakeVersion(const Slice& key, uint64_t trailer) {
  if (timestamp_bytes_ == 0) [[likely]]
    return trailer <= last_trailer_;
  const Slice timestamp = options_.icmp->TimestampOf(ExtractUserKey(key));
  const int order = options_.icmp->CompareTimestamp(timestamp, last_timestamp_);
  if (order > 0 || (order == 0 && trailer > last_trailer_)) return false;
  if (order != 0 && !in_past_) {
    StartKey(key);
    return true;
  }
  last_timestamp_.assign(timestamp.data(), timestamp.size());
  key_.replace(key_without_timestamp().size(), timestamp_bytes_, timestamp.data(),
               timestamp.size());
  return true;
}

bool CompactionIterator::InPast(const Slice& timestamp) const {
  return !options_.history.full_history_ts_low.empty() &&
         options_.icmp->CompareTimestamp(timestamp, options_.history.full_history_ts_low) < 0;
}

bool CompactionIterator::Trims(const Slice& key) const {
  const size_t tail = kInternalKeyTrailerBytes + timestamp_bytes_;
  if (options_.history.trim_ts.empty() || key.size() < tail || IsBeyondEnd(key)) {
    return false;
  }
  const Slice timestamp = options_.icmp->TimestampOf(ExtractUserKey(key));
  return options_.icmp->CompareTimestamp(timestamp, options_.history.trim_ts) > 0;
}

bool CompactionIterator::IsOlder(const Slice& internal_key) const {
  if (!options_.icmp->EqualKey(options_.icmp->KeyOf(internal_key), key_without_timestamp()))
    return false;
  return !KeepsHistory() ||
         options_.icmp->TimestampOf(ExtractUserKey(internal_key)) == Slice(last_timestamp_);
}

// Limits tombstones to those before full_history_ts_low: readers as of a time between an entry and
// its tombstone still see the entry.
void CompactionIterator::LimitToPast() {
  if (timestamp_bytes_ == 0 || !has_tombstones_) return;
  tombstones_->SetTimestampLimit({options_.history.full_history_ts_low, /*inclusive=*/false});
}

// Considers the tombstones that readers as of the current timestamp or a later one see.
SequenceNumber CompactionIterator::CoveringSeqOfMoment(size_t stripe) {
  tombstones_->SetTimestampLimit({last_timestamp_, /*inclusive=*/true});
  const SequenceNumber newest =
      tombstones_->MaxCoveringSeq(key_without_timestamp(), rules_.StripeTop(stripe));
  LimitToPast();
  return newest;
}

// Considers tombstones of all timestamps: some readers of an entry do not see what a later
// tombstone covers below it; others do.
SequenceNumber CompactionIterator::CoveringSeqOfAnyTime(SequenceNumber newest) {
  const Slice latest = options_.icmp->user_comparator()->GetMaxTimestamp();
  tombstones_->SetTimestampLimit({latest, /*inclusive=*/true});
  const SequenceNumber covering = tombstones_->MaxCoveringSeq(key_without_timestamp(), newest);
  LimitToPast();
  return covering;
}

CompactionIterator::Step CompactionIterator::JudgeEntry(SequenceNumber sequence, ValueType type) {
  const size_t stripe = rules_.StripeOf(sequence);
  // If older timestamps may be read too, a SingleDelete hides them as a Delete does. But under a
  // newer value it is not hidden as a Delete is: its own value may lie deeper, at an older
  // timestamp, and would reappear once a later SingleDelete is dropped together with the newer
  // value.
  const bool single_delete =
      type == kTypeSingleDeletion &&
      (!KeepsHistory() || (rules_.BuriedByValue(stripe) && !VARVE_CANARY(kForgetBuriedDelete)));
  const bool deletes = type == kTypeDeletionWithTimestamp || type == kTypeSingleDeletion;
  const ValueType judged = deletes ? kTypeDeletion : type;
  const bool in_stripe_only =
      timestamp_bytes_ != 0 && has_tombstones_ && CoveringSeqOfAnyTime(kMaxSequenceNumber) != 0;
  if (!single_delete &&
      (in_stripe_only ? rules_.HidesInStripe(stripe, judged) : rules_.Hides(stripe, judged))) {
    counts_.dropped_hidden++;
    return Step::kDropped;
  }
  if (has_tombstones_ && CoveringSeq(stripe) > sequence) {
    counts_.dropped_covered++;
    if (stripe == 0 || VARVE_CANARY(kJumpOverSnapshot)) {
      if (WantsJump()) return LeaveCovered(stripe);
    }
    return Step::kDropped;
  }
  if (single_delete) [[unlikely]]
    return JudgeSingleDelete(sequence, stripe);
  if (type == kTypeMerge) [[unlikely]]
    return JudgeMerge(sequence, stripe);
  if (rules_.Judge(stripe, judged, [this] { return MayExistDeeper(); }) !=
      DropRules::Verdict::kKeep) {
    counts_.dropped_expired++;
    counts_.expired_deletions++;
    return Step::kDropped;
  }
  value_ = input_.value();
  SetTrailer(sequence, type);
  if (options_.filter != nullptr && is_newest_ && !KeepsHistory() &&
      (type == kTypeValue || type == kTypeWideColumnEntity)) [[unlikely]] {
    const Step step = AskFilter(sequence, type, stripe);
    if (step != Step::kEmit) return step;
  }
  SetLastTrailer(stripe, sequence, UnpackType(ExtractTrailer(key_)));
  return Step::kEmit;
}

bool CompactionIterator::WantsJump() {
  if (options_.covered_before_jump == 0 || timestamp_bytes_ != 0) return false;
  const char* const until = tombstones_->NextBoundary()->data();
  if (until != covered_until_) {
    covered_until_ = until;
    if (counts_.entries_out != out_at_jump_) covered_here_ = 0;
  }
  return ++covered_here_ >= options_.covered_before_jump && input_.NextMoves();
}

// An entry older than a tombstone of stripe 0, which all readers see, is of that stripe, too.
CompactionIterator::Step CompactionIterator::LeaveCovered(size_t stripe) {
  VARVE_ASSERT(timestamp_bytes_ == 0 && has_tombstones_);  // Invariant 8.
  CoveredJump::Place place;
  place.key = key_without_timestamp();
  place.internal = input_.key();
  place.bound = options_.end;
  switch (jump_.Leave(input_.source(), place, rules_.StripeTop(stripe))) {
    case CoveredJump::Result::kNone:
      covered_here_ = 0;
      out_at_jump_ = UINT64_MAX;
      break;
    case CoveredJump::Result::kBeyond:
      counts_.entries_in++;
      counts_.jumped = true;
      out_at_jump_ = counts_.entries_out;
      input_.TakePlace();
      in_place_ = false;
      break;
    case CoveredJump::Result::kBeside:
      counts_.jumped = true;
      covered_here_ = 0;
      out_at_jump_ = UINT64_MAX;
      input_.TakePlace();
      break;
    case CoveredJump::Result::kOutOfOrder:
      return Fail(Status::Corruption("compaction input is not in the order of comparator",
                                     options_.icmp->user_comparator()->Name()));
  }
  return Step::kDropped;
}

DropRules::Follower CompactionIterator::PeekFollower() const {
  DropRules::Follower next;
  if (!input_.Valid() || input_.key().size() < kInternalKeyTrailerBytes) return next;
  if (!IsOlder(input_.key())) return next;
  next.present = true;
  next.sequence = ExtractSequence(input_.key());
  next.type = ExtractValueType(input_.key());
  if (next.type == kTypeDeletionWithTimestamp) next.type = kTypeDeletion;
  return next;
}

CompactionIterator::Step CompactionIterator::JudgeSingleDelete(SequenceNumber sequence,
                                                               size_t stripe) {
  SetTrailer(sequence, kTypeSingleDeletion);
  value_ = Slice();
  Advance();
  in_place_ = false;
  const DropRules::Follower next = PeekFollower();
  // A failed input may hold the value that belongs to this entry, so nothing can be decided.
  if (!input_.Valid() && !input_.status().ok()) return Fail(input_.status());
  switch (rules_.JudgeSingleDelete(sequence, stripe, next, [this] { return MayExistDeeper(); })) {
    case DropRules::Verdict::kKeep:
      input_is_ahead_ = true;
      return Step::kEmit;
    case DropRules::Verdict::kHidden:
      if (next.present && next.type == kTypeSingleDeletion) counts_.single_delete_mismatches++;
      counts_.dropped_hidden++;
      return Step::kDropped;
    case DropRules::Verdict::kExpired:
      counts_.dropped_expired++;
      counts_.expired_deletions++;
      return Step::kDropped;
    case DropRules::Verdict::kDropPair:
      counts_.dropped_expired += 2;
      last_trailer_ = ExtractTrailer(input_.key());
      Advance();
      return Step::kDropped;
    case DropRules::Verdict::kKeepPair:
      input_is_ahead_ = true;
      empties_next_ = true;
      return Step::kEmit;
    case DropRules::Verdict::kBroken:
      break;
  }
  counts_.single_delete_mismatches++;
  if (options_.checks.enforce_single_del_contracts) {
    std::string which;
    if (options_.checks.allow_data_in_errors)
      which = " (0x" + key_without_timestamp().ToString(/*hex=*/true) + ")";
    return Fail(Status::Corruption(
        "SingleDelete of a key" + which + " that was deleted by Delete before",
        "use one kind of deletion for a key, or turn enforce_single_del_contracts off"));
  }
  counts_.dropped_hidden++;  // the Delete beneath deletes more
  return Step::kDropped;
}

CompactionIterator::Step CompactionIterator::JudgeMerge(SequenceNumber sequence, size_t stripe) {
  if (collected_ == nullptr) {
    // A repeated entry counts as one operand.
    if (!is_newest_ && ExtractTrailer(key_) == last_trailer_) {
      counts_.dropped_hidden++;
      return Step::kDropped;
    }
    value_ = input_.value();
    SetTrailer(sequence, kTypeMerge);
    return Step::kEmit;
  }
  const SequenceNumber covered = SeparatingSeq(sequence, stripe);
  if (options_.filter == nullptr && StandsAlone() && !collected_->wants_single_operand()) {
    return JudgeLoneOperand(sequence, stripe, covered);
  }
  in_place_ = false;
  DropRules::Follower next;
  const Step step = CollectOperands(stripe, covered, &next);
  if (step != Step::kEmit) {
    collected_->Start();  // the collected operands must not come out later
    return step;
  }
  const size_t operands = collected_->size();
  // A filter removed all of them: the entry beneath is now the key's newest.
  if (operands == 0) return Step::kUnseen;

  if (operand_stays_) {
    collected_->Leave();
  } else {
    const MergeCollector::Base base = BaseOf(next, stripe, covered);
    const Slice base_value = base == MergeCollector::Base::kValue ? input_.value() : Slice();
    const Status s = collected_->Merge(key_without_timestamp(), base, base_value);
    if (!s.ok()) NoteFailedMerge(s);
  }
  counts_.merged += operands - collected_->size();
  if (collected_->type() == kTypeValue) rules_.BecameValue(stripe);
  input_is_ahead_ = collected_->Take(&sequence, &value_);
  SetLastTrailer(stripe, sequence, collected_->type());
  return Step::kEmit;
}

void CompactionIterator::NoteFailedMerge(const Status& s) {
  if (counts_.failed_merges++ > 0) return;
  LogWarn(options_.info_log, "%s; operands stay as they are", s.ToString().c_str());
}

bool CompactionIterator::StandsAlone() const {
  const BatchEntry* const next = input_.Ahead();
  return next != nullptr && next->key_size >= kInternalKeyTrailerBytes &&
         (next->same_key == SameKey::kNo || !IsOlder(next->key()));
}

// Fast path for keys with one operand each: nothing is collected.
CompactionIterator::Step CompactionIterator::JudgeLoneOperand(SequenceNumber sequence,
                                                              size_t stripe,
                                                              SequenceNumber covered) {
  value_ = input_.value();
  SetTrailer(sequence, kTypeMerge);
  const bool mergeable =
      options_.merge.has_operator() &&
      BaseOf(DropRules::Follower(), stripe, covered) == MergeCollector::Base::kNone;
  if (!mergeable) return Step::kEmit;
  Slice result;
  const Status s = collected_->MergeAlone(key_without_timestamp(), value_, &result);
  if (!s.ok()) {
    NoteFailedMerge(s);
    return Step::kEmit;
  }
  value_ = result;
  rules_.BecameValue(stripe);
  SetLastTrailer(stripe, sequence, kTypeValue);
  return Step::kEmit;
}

// Collects from the operand at the input to the last one of the stripe. Sets *next to the key's
// entry after them. Returns kDropped if the key needs no further entries.
CompactionIterator::Step CompactionIterator::CollectOperands(size_t stripe, SequenceNumber covered,
                                                             DropRules::Follower* next) {
  const bool filtered =
      options_.filter != nullptr && rules_.NoSnapshotSees(stripe) && !KeepsHistory();
  collected_->Start();
  operand_stays_ = false;
  for (;;) {
    VARVE_ASSERT(UnpackType(last_trailer_) == kTypeMerge);
    value_ = input_.value();
    if (!filtered) {
      collected_->Add(UnpackSequence(last_trailer_), value_);
    } else {
      const Step step = FilterOperand();
      if (step == Step::kEmit) collected_->AddCopy(UnpackSequence(last_trailer_), value_);
      if (step == Step::kDropped || step == Step::kStop) return step;
    }
    for (bool again = true; again;) {
      if (input_.NextMoves()) collected_->Own();
      Advance();
      *next = PeekFollower();
      if (!next->present || next->type != kTypeMerge || next->sequence < covered ||
          rules_.StripeOf(next->sequence) != stripe) {
        return Step::kEmit;
      }
      // A repeated entry counts as one operand.
      again = ExtractTrailer(input_.key()) == last_trailer_;
      if (again) counts_.dropped_hidden++;
    }
    if (ExtractTrailer(input_.key()) > last_trailer_) return Step::kEmit;  // TakeKey reports it
    last_trailer_ = ExtractTrailer(input_.key());
    if (until_poll_-- == 0) {
      until_poll_ = kEntriesPerPoll;
      if (Cancelled()) return Step::kStop;
    }
  }
}

MergeCollector::Base CompactionIterator::BaseOf(const DropRules::Follower& next, size_t stripe,
                                                SequenceNumber covered) {
  using Base = MergeCollector::Base;
  if (next.present && next.sequence >= covered && rules_.StripeOf(next.sequence) == stripe) {
    switch (next.type) {
      case kTypeValue:
        return Base::kValue;
      case kTypeDeletion:
      case kTypeSingleDeletion:
        return Base::kNone;
      default:
        return Base::kUnknown;
    }
  }
  // With timestamps, there may be versions that are not covered, or not for all readers.
  if (timestamp_bytes_ == 0 && covered != 0 && rules_.StripeOf(covered) == stripe) {
    return Base::kNone;
  }
  return !next.present && !MayExistDeeper() ? Base::kNone : Base::kUnknown;
}

bool CompactionIterator::EmitCollected() {
  SequenceNumber sequence = 0;
  if (collected_ == nullptr || !collected_->Take(&sequence, &value_)) return false;
  SetTrailer(sequence, collected_->type());
  counts_.entries_out++;
  return true;
}

bool CompactionIterator::EmitEmptied() {
  if (!empties_next_) return false;
  empties_next_ = false;
  input_is_ahead_ = false;
  valid_ = TakeKey(input_.key());
  if (!valid_) return true;
  value_ = Slice();
  SetTrailer(UnpackSequence(last_trailer_), kTypeValue);
  counts_.entries_out++;
  return true;
}

CompactionFilter::Decision CompactionIterator::CallFilter(CompactionFilter::ValueType type) {
  filter_value_.clear();
  skip_until_.clear();
  const TickerTimer timer(options_.statistics, FILTER_OPERATION_TOTAL_TIME, kExceptTimeForMutex);
  try {
    return options_.filter->FilterV2(options_.filter_level, key_without_timestamp(), type, value_,
                                     &filter_value_, &skip_until_);
  } catch (const std::exception& e) {
    Fail(Status::Aborted(std::string("compaction filter ") + options_.filter->Name() + " threw",
                         e.what()));
  } catch (...) {
    Fail(Status::Aborted(std::string("compaction filter ") + options_.filter->Name() + " threw"));
  }
  return CompactionFilter::Decision::kUndetermined;
}

// Returns kUnseen if the operand is dropped; kDropped if all other entries of the key, and
// following keys, are dropped too.
CompactionIterator::Step CompactionIterator::FilterOperand() {
  using Decision = CompactionFilter::Decision;
  const Decision decision = CallFilter(CompactionFilter::kMergeOperand);
  if (!status_.ok()) return Step::kStop;
  switch (decision) {
    case Decision::kKeep:
      return Step::kEmit;
    case Decision::kChangeValue:
      value_ = Slice(filter_value_);
      return Step::kEmit;
    case Decision::kRemove:
    case Decision::kPurge:
      return RemoveOperand();
    case Decision::kRemoveAndSkipUntil:
      if (!MaySkip()) return Step::kEmit;
      if (KeepsEvidence()) return RemoveOperand();
      counts_.dropped_by_filter += collected_->size();
      SkipUntil();
      return Step::kDropped;
    default:
      return Refuse(decision);
  }
}

// Keeps conflict evidence for readers that ask if the key was changed. Later compactions call the
// filter again, so the operand is not merged with others meanwhile.
CompactionIterator::Step CompactionIterator::RemoveOperand() {
  if (UnpackSequence(last_trailer_) > options_.conflict_check_floor) {
    operand_stays_ = true;
    return Step::kEmit;
  }
  counts_.dropped_by_filter++;
  return Step::kUnseen;
}

CompactionIterator::Step CompactionIterator::AskFilter(SequenceNumber sequence, ValueType type,
                                                       size_t stripe) {
  using Decision = CompactionFilter::Decision;
  const Decision decision = CallFilter(type == kTypeValue ? CompactionFilter::kValue
                                                          : CompactionFilter::kWideColumnEntity);
  if (!status_.ok()) return Step::kStop;
  switch (decision) {
    case Decision::kKeep:
      return Step::kEmit;
    case Decision::kRemove:
    case Decision::kPurge:
      return RemoveByFilter(
          sequence, decision == Decision::kPurge ? kTypeSingleDeletion : kTypeDeletion, stripe);
    case Decision::kChangeValue:
      value_ = Slice(filter_value_);
      if (type == kTypeWideColumnEntity) SetTrailer(sequence, kTypeValue);
      return Step::kEmit;
    case Decision::kRemoveAndSkipUntil:
      if (!MaySkip()) return Step::kEmit;
      // Skipped entries leave no conflict evidence, so the filter is called for each key.
      if (KeepsEvidence()) return RemoveByFilter(sequence, kTypeDeletion, stripe);
      SkipUntil();
      return Step::kDropped;
    default:
      return Refuse(decision);
  }
}

CompactionIterator::Step CompactionIterator::Refuse(CompactionFilter::Decision decision) {
  if (decision == CompactionFilter::Decision::kIOError) {
    return Fail(
        Status::IOError("compaction filter reported an I/O error", options_.filter->Name()));
  }
  return Fail(Status::NotSupported(
      "decision " + std::to_string(static_cast<int>(decision)) + " of a compaction filter",
      options_.filter->Name()));
}

CompactionIterator::Step CompactionIterator::RemoveByFilter(SequenceNumber sequence,
                                                            ValueType marker, size_t stripe) {
  value_ = Slice();
  if (rules_.BecameDeletion(stripe, [this] { return MayExistDeeper(); }) !=
      DropRules::Verdict::kKeep) {
    counts_.dropped_by_filter++;
    return Step::kDropped;
  }
  // The entry written in its place counts as written; an entry counts once.
  if (VARVE_CANARY(kFilterCountsTwice)) counts_.dropped_by_filter++;
  SetTrailer(sequence, marker);
  return Step::kEmit;
}

bool CompactionIterator::MaySkip() const {
  return options_.icmp->CompareKey(skip_until_, key_without_timestamp()) > 0;
}

void CompactionIterator::SkipUntil() {
  VARVE_ASSERT(MaySkip());
  counts_.dropped_by_filter++;
  counts_.entries_in++;
  counts_.skipped = true;
  input_.Seek(options_.icmp->FirstInternalKey(skip_until_).Encode());
  in_place_ = false;
}

bool CompactionIterator::MayExistDeeper() {
  // An entry that is read as of an older timestamp exists.
  if (KeepsHistory()) return true;
  if (options_.bottommost || VARVE_CANARY(kDropTombstoneEarly)) return false;
  return options_.deeper == nullptr || options_.deeper->MayHold(key_without_timestamp());
}

bool CompactionIterator::Cancelled() {
  Status why = options_.cancel.Check();
  if (why.ok()) return false;
  Fail(std::move(why));
  return true;
}

void CompactionIterator::SetTrailer(SequenceNumber sequence, ValueType type) {
  VARVE_ASSERT(key_.size() >= kInternalKeyTrailerBytes + timestamp_bytes_);
  EncodeFixed64(key_.data() + key_.size() - kInternalKeyTrailerBytes,
                PackSequenceAndType(sequence, type));
}

void CompactionIterator::SetLastTrailer(size_t stripe, SequenceNumber sequence, ValueType type) {
  const size_t judged = VARVE_CANARY(kZeroUnderSnapshot) ? 0 : stripe;
  // A tombstone with a later timestamp may have been written earlier: it must not cover the entry.
  const bool zero =
      rules_.MayZero(judged, type) && !KeepsHistory() &&
      (timestamp_bytes_ == 0 || !has_tombstones_ || CoveringSeqOfAnyTime(kMaxSequenceNumber) == 0);
  VARVE_ASSERT(!zero || (options_.bottommost && judged == 0));  // Invariant 4.
  SetTrailer(zero ? 0 : sequence, type);
  if (!zero || timestamp_bytes_ == 0) [[likely]]
    return;
  const Slice oldest = options_.icmp->user_comparator()->GetMinTimestamp();
  key_.replace(key_without_timestamp().size(), timestamp_bytes_, oldest.data(), oldest.size());
}

}  // namespace varve
