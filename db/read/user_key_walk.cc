// SPDX-License-Identifier: Apache-2.0
#include "db/read/user_key_walk.h"

#include <utility>

#include "util/base/assert.h"
#include "util/base/canary.h"
#include "util/key/prefix_answer.h"

namespace varve {

namespace {

// Up to this size a copy is cheaper than asking for a pin.
constexpr size_t kCopyBytesMax = 1024;

// Number of entries skipped in one move before the first check of the clock and of tombstone runs,
// and between later checks.
constexpr uint64_t kSkipsBeforeLook = 64;
constexpr uint64_t kSkipsPerLook = 1024;

// Minimum number of entries of a tombstone run that is worth remembering.
constexpr uint64_t kTombstoneRunEntriesMin = 1024;

// Stands for "no entry".
constexpr uint64_t kNoTrailer = UINT64_MAX;

}  // namespace

void UserKeyWalk::Init(const Settings& settings, TombstoneSet* tombstones) {
  const ReadOptions& options = *settings.options;
  icmp_ = settings.icmp;
  tombstones_ = tombstones;
  lower_ = options.iterate_lower_bound;
  upper_ = options.iterate_upper_bound;
  // A jump needs the block at its end, while the entries in between may not lead there.
  jumps_ = options.read_tier != kBlockCacheTier;
  extractor_ = settings.prefix_extractor;
  pins_ = options.pin_data;
  reseek_after_ = settings.reseek_after;
  tailing_ = options.tailing;
  has_timestamps_ = icmp_->timestamp_size() != 0;
  as_of_ = has_timestamps_ ? *options.timestamp : Slice();
  merger_ = settings.merger;
  statistics_ = settings.statistics;
  budget_ = options.max_skippable_internal_keys == 0
                ? kBudgetMax
                : std::min(options.max_skippable_internal_keys, kBudgetMax);
  clock_ = settings.clock;
  deadline_micros_ = static_cast<uint64_t>(options.deadline.count());
  first_slice_ = deadline_micros_ != 0 ? kSkipsPerLook : UINT64_MAX;
}

void UserKeyWalk::SkipTombstoneRuns(TombstoneRuns* ranges, uint64_t super_version) {
  tombstone_runs_ = ranges;
  super_version_ = super_version;
  if (ranges != nullptr) first_slice_ = kSkipsBeforeLook;
}

void UserKeyWalk::SetSource(std::unique_ptr<InternalIterator> source) {
  VARVE_ASSERT(source != nullptr);
  StartSeek();
  source_ = std::move(source);
}

void UserKeyWalk::SetSequence(SequenceNumber sequence) {
  StartSeek();
  sequence_ = sequence;
  tombstones_->SetReader(sequence);
}

void UserKeyWalk::Fail(Status status) {
  VARVE_ASSERT(!status.ok());
  valid_ = false;
  plain_end_ = nullptr;
  status_ = std::move(status);
}

bool UserKeyWalk::IsKeyPinned() const {
  return valid_ && pins_ && (backward_ || is_past_ ? key_kept_ : source_->IsKeyPinned());
}

bool UserKeyWalk::IsValuePinned() const {
  return valid_ && pins_ && !merged_ && (backward_ ? value_kept_ : source_->IsValuePinned());
}

void UserKeyWalk::StartSeek() {
  valid_ = false;
  backward_ = false;
  has_prefix_ = false;
  batch_.Forget();
  plain_end_ = nullptr;
  ForgetSeeks();
  if (!status_.ok()) [[unlikely]]
    status_ = Status::OK();
  GetBudget();
  value_pin_.Reset();
  ForgetMerge();
}

void UserKeyWalk::ForgetMerge() {
  if (!merged_) [[likely]]
    return;
  merged_ = false;
  is_past_ = false;
  merging_->operands.Clear();
}

bool UserKeyWalk::TooLateToSeek() {
  if (deadline_micros_ == 0) [[likely]]
    return false;
  StartSeek();
  return !InTime();
}

bool UserKeyWalk::InTime() {
  VARVE_ASSERT(clock_ != nullptr && deadline_micros_ != 0);
  if (clock_->NowMicros() < deadline_micros_) return true;
  Fail(Status::TimedOut("iterator: the deadline has passed"));
  return false;
}

void UserKeyWalk::SetTarget(const Slice& key, Place place) {
  const Comparator& order = *icmp_->user_comparator();
  Slice timestamp;
  SequenceNumber sequence = 0;
  switch (place) {
    case Place::kFirst:
      if (has_timestamps_) timestamp = order.GetMaxTimestamp();
      sequence = kMaxSequenceNumber;
      break;
    case Place::kVisible:
      timestamp = as_of_;
      sequence = sequence_;
      break;
    case Place::kLast:
      if (has_timestamps_) timestamp = order.GetMinTimestamp();
      break;
  }
  target_.assign(key.data(), key.size());
  AppendInternalKey(&target_, timestamp, sequence,
                    place == Place::kLast ? kValueTypeForSeekForPrev : kValueTypeForSeek);
}

void UserKeyWalk::SeekSource(const Slice& key, Place place) {
  SetTarget(key, place);
  source_->Seek(target_);
  TakePlace();
}

void UserKeyWalk::SeekSourceForPrev(const Slice& key, Place place) {
  SetTarget(key, place);
  source_->SeekForPrev(target_);
  TakePlace();
}

void UserKeyWalk::TakePlace() {
  batch_.TakePlace(*source_);
  MeasurePlain();
}

void UserKeyWalk::TakeBatch() {
  batch_.Refill(source_.get(), !backward_, BatchEntriesMax());
  MeasurePlain();
}

void UserKeyWalk::MeasurePlain() {
  plain_end_ = nullptr;
  // If the source is after the key that is shown, its current entry is the next to be shown.
  if (batch_.at == batch_.end || is_past_ || has_prefix_ || has_timestamps_ || tailing_ ||
      !tombstones_->empty())
    return;
  const Slice last = ExtractUserKey(batch_.end[-1].key());
  if (backward_ ? !BeyondStart(last) : !BeyondEnd(last)) plain_end_ = batch_.end;
}

bool UserKeyWalk::InPrefix(const Slice& key) {
  Slice prefix;
  const PrefixAnswer answer = AskPrefix(*extractor_, key, &prefix);
  if (answer == PrefixAnswer::kThrew) Fail(Status::Aborted("the prefix extractor threw"));
  return answer == PrefixAnswer::kPrefix && prefix == Slice(prefix_);
}

bool UserKeyWalk::SetPrefixOf(const Slice& key) {
  if (extractor_ == nullptr) return true;
  Slice prefix;
  const PrefixAnswer answer = AskPrefix(*extractor_, key, &prefix);
  if (answer == PrefixAnswer::kThrew) Fail(Status::Aborted("the prefix extractor threw"));
  if (answer != PrefixAnswer::kPrefix) return answer == PrefixAnswer::kNone;
  prefix_.assign(prefix.data(), prefix.size());
  has_prefix_ = true;
  return true;
}

// Sets the prefix after a move that names none: the first key shown does.
void UserKeyWalk::StayInPrefix() {
  if (valid_ && SetPrefixOf(key_)) MeasurePlain();
}

void UserKeyWalk::SeekToFirst() {
  StartSeek();
  if (lower_ != nullptr) {
    SeekSource(*lower_, Place::kFirst);
  } else {
    source_->SeekToFirst();
    TakePlace();
  }
  FindForward(Passing::kNothing);
  StayInPrefix();
}

void UserKeyWalk::SeekToLast() {
  StartSeek();
  backward_ = true;
  if (upper_ != nullptr) {
    SeekSourceForPrev(*upper_, Place::kFirst);
  } else {
    source_->SeekToLast();
    TakePlace();
  }
  FindBackward();
  StayInPrefix();
}

void UserKeyWalk::Seek(const Slice& target) {
  StartSeek();
  if (!SetPrefixOf(target)) return;
  const bool clamps = lower_ != nullptr && icmp_->CompareKey(target, *lower_) < 0;
  SeekSource(clamps ? *lower_ : target, Place::kVisible);
  FindForward(Passing::kNothing);
}

void UserKeyWalk::SeekForPrev(const Slice& target) {
  StartSeek();
  if (!SetPrefixOf(target)) return;
  backward_ = true;
  if (upper_ != nullptr && icmp_->CompareKey(target, *upper_) >= 0) {
    SeekSourceForPrev(*upper_, Place::kFirst);
  } else {
    SeekSourceForPrev(target, Place::kLast);
  }
  FindBackward();
}

void UserKeyWalk::GoOnAfter(const Slice& key, bool in_prefix) {
  StartSeek();
  passed_key_.Assign(key);
  if (in_prefix && !SetPrefixOf(passed_key_.slice())) return;
  SeekSource(passed_key_.slice(), Place::kLast);
  FindForward(Passing::kHidden);
}

void UserKeyWalk::GoOnBefore(const Slice& key, bool in_prefix) {
  StartSeek();
  if (in_prefix && !SetPrefixOf(key)) return;
  backward_ = true;
  SeekSourceForPrev(key, Place::kFirst);
  FindBackward();
}

void UserKeyWalk::EndOfSource() {
  valid_ = false;
  status_ = source_->status();
}

bool UserKeyWalk::SpendMore() {
  VARVE_ASSERT(budget_left_ == 0);
  if (budget_rest_ == 0) {
    Fail(Status::Incomplete(
        "iterator: passed over more entries than max_skippable_internal_keys allows"));
    return false;
  }
  if (deadline_micros_ != 0 && !InTime()) return false;
  budget_left_ = std::min(budget_rest_, kSkipsPerLook) - 1;
  budget_rest_ -= budget_left_ + 1;
  slice_ended_ = tombstone_runs_ != nullptr;
  return true;
}

bool UserKeyWalk::VisibleInTime(const BatchEntry& entry, SequenceNumber sequence) const {
  return !IsOfLaterTime(entry) &&
         tombstones_->MaxCoveringSeq(icmp_->KeyOf(entry.key()), sequence_) <= sequence;
}

// Keys may be out of order in a damaged table. From a key that is too far in the walk's direction,
// a seek would lead back to entries that the walk has seen, and then to that key again, without
// end.
bool UserKeyWalk::MayReseek() {
  Detours& detours = this->detours();
  if (!detours.reseek_target.empty()) {
    const int order = icmp_->Compare(target_, detours.reseek_target);
    const bool again = order == 0 && reseeks_here_;
    if (!again && (backward_ ? order >= 0 : order <= 0)) {
      FailOutOfOrder();
      return false;
    }
  }
  detours.reseek_target = target_;
  reseeks_here_ = backward_;
  detours.leap_target.clear();
  return true;
}

// Only tables leap. Memtable entries before the target come first, and may lie in a range that ends
// at the target, too, or before.
bool UserKeyWalk::LeapsFurther() {
  std::string& last = detours().leap_target;
  if (!last.empty()) {
    const int order = icmp_->Compare(target_, last);
    if (backward_ ? order >= 0 : order <= 0) return false;
  }
  last = target_;
  return true;
}

bool UserKeyWalk::LeaveTombstoneRun() {
  VARVE_ASSERT(tombstone_runs_ != nullptr && slice_ended_);
  slice_ended_ = false;
  const Slice key = passed_key_.slice();
  if (!in_tombstone_run_) {
    Detours& tombstone_run = detours();
    tombstone_run.tombstone_run_key.assign(key.data(), key.size());
    tombstone_run.tombstone_run_start = counters.passed();
    tombstone_run.tombstone_run_start_recent = counters.recent;
    in_tombstone_run_ = true;
  }
  std::string begin;
  std::string end;
  const TombstoneRuns::Moment moment{sequence_, super_version_};
  if (!jumps_ || !tombstone_runs_->Find(key, moment, &begin, &end)) return false;
  // The walk that found the range may have gone beyond this walk's bounds, outside of which it must
  // not read.
  if (backward_) {
    if (lower_ != nullptr && icmp_->CompareKey(begin, *lower_) < 0) {
      SetTarget(*lower_, Place::kFirst);
    } else {
      SetTarget(begin, Place::kLast);
    }
    if (!LeapsFurther()) return false;
    source_->SeekTablesForPrev(target_);
  } else {
    const bool ends_before = upper_ != nullptr && icmp_->CompareKey(end, *upper_) > 0;
    SetTarget(ends_before ? *upper_ : Slice(end), Place::kFirst);
    if (!LeapsFurther()) return false;
    source_->SeekTables(target_);
  }
  TakePlace();
  return true;
}

bool UserKeyWalk::LeaveCovered() {
  // The source itself must be where the walk is.
  if (!jumps_ || batch_.at + 1 != batch_.end) return false;
  CoveredJump::Place place;
  place.key = passed_key_.slice();
  place.backward = backward_;
  place.bound = backward_ ? lower_ : upper_;
  if (backward_) SetTarget(place.key, Place::kFirst);
  place.internal = backward_ ? Slice(target_) : batch_.at->key();
  switch (detours().jump.Leave(source_.get(), place, sequence_)) {
    case CoveredJump::Result::kNone:
      return false;
    case CoveredJump::Result::kBeyond:
      TakePlace();
      return true;
    case CoveredJump::Result::kBeside:
      TakePlace();
      Step();
      return true;
    case CoveredJump::Result::kOutOfOrder:
      break;
  }
  FailOutOfOrder();
  return true;
}

// The message has no key, as allow_data_in_errors is not known here.
void UserKeyWalk::FailOutOfOrder() {
  Fail(Status::Corruption("iterator: keys are out of order around one of " +
                          std::to_string(passed_key_.slice().size()) + " bytes"));
}

void UserKeyWalk::CloseTombstoneRun() {
  VARVE_ASSERT(in_tombstone_run_ && detours_ != nullptr);
  in_tombstone_run_ = false;
  const Detours& tombstone_run = *detours_;
  if (counters.passed() - tombstone_run.tombstone_run_start < kTombstoneRunEntriesMin ||
      counters.recent != tombstone_run.tombstone_run_start_recent) {
    return;
  }
  const Slice from(tombstone_run.tombstone_run_key);
  const Slice to = valid_ ? key_ : passed_key_.slice();
  tombstone_runs_->Add(backward_ ? to : from, backward_ ? from : to, {sequence_, super_version_});
}

UserKeyWalk::Verdict UserKeyWalk::RefuseType(uint64_t trailer) {
  switch (UnpackType(trailer)) {
    case kTypeBlobIndex:
      Fail(
          Status::NotSupported("iterator: met a blob reference; enable_blob_files is not "
                               "supported by this version"));
      break;
    case kTypeWideColumnEntity:
      Fail(
          Status::NotSupported("iterator: met a wide-column entity, which this version does not "
                               "support"));
      break;
    default:
      Fail(Status::Corruption("iterator: met an entry of unknown type " +
                              std::to_string(trailer & 0xff)));
      break;
  }
  return Verdict::kFailed;
}

// Judges the newest visible entry of a key. All tombstones that may cover it have been added: every
// source has been positioned around the key.
inline UserKeyWalk::Verdict UserKeyWalk::Judge(const Slice& key, uint64_t trailer) {
  if (tombstones_->MaxCoveringSeq(key, sequence_) > UnpackSequence(trailer)) [[unlikely]] {
    return Verdict::kCovered;
  }
  switch (UnpackType(trailer)) {
    [[likely]] case kTypeValue : return Verdict::kLive;
    case kTypeDeletion:
    case kTypeSingleDeletion:
    case kTypeDeletionWithTimestamp:
      return Verdict::kDeleted;
    case kTypeMerge:
      return Verdict::kOperand;
    default:
      return RefuseType(trailer);
  }
}

// Seeks past the entries to be ignored because of `passing`. Returns false if that would not lead
// beyond the current entry, whose trailer is given. The walk may have failed.
bool UserKeyWalk::ReseekForward(Passing passing, uint64_t trailer) {
  const Place place = passing == Passing::kHidden ? Place::kLast : Place::kVisible;
  SetTarget(passed_key_.slice(), place);
  if (has_timestamps_ ? icmp_->Compare(batch_.at->key(), target_) >= 0
                      : trailer <= ExtractTrailer(target_)) {
    return false;
  }
  if (!MayReseek()) return true;
  counters.reseeks++;
  source_->Seek(target_);
  TakePlace();
  return true;
}

void UserKeyWalk::Next() {
  VARVE_ASSERT(valid_ && status_.ok());
  GetBudget();
  if (backward_) [[unlikely]] {
    TurnForward();
  } else if (is_past_) {
    passed_key_.Assign(key_);
    is_past_ = false;
    MeasurePlain();
  } else {
    passed_key_.Assign(key_);
    Step();
  }
  ForgetMerge();
  FindForward(Passing::kHidden);
}

void UserKeyWalk::Prev() {
  VARVE_ASSERT(valid_ && status_.ok());
  GetBudget();
  if (!backward_) [[unlikely]]
    TurnBackward();
  ForgetMerge();
  FindBackward();
}

// Moves from the source's position to the first live key. `passing` says what is known of
// passed_key_.
void UserKeyWalk::PassForward(Passing passing) {
  uint64_t run = 0;  // number of entries of passed_key_ skipped by single steps
  bool covered = false;
  while (AtEntry()) {
    const Slice key = icmp_->KeyOf(batch_.at->key());
    const uint64_t trailer = ExtractTrailer(batch_.at->key());
    const bool same = passing != Passing::kNothing && SameAsPassed(*batch_.at);
    if (same && passing == Passing::kHidden) {
      counters.hidden++;
    } else {
      if (BeyondEnd(key)) {
        valid_ = false;
        return;
      }
      if (Visible(*batch_.at)) [[likely]] {
        const Verdict verdict = Judge(key, trailer);
        if (verdict == Verdict::kLive) [[likely]] {
          ShowWithTimestamp(*batch_.at);
          valid_ = true;
          return;
        }
        if (verdict == Verdict::kOperand) return MergeForward();
        if (verdict == Verdict::kFailed) return;
        counters.deleted++;
        covered = verdict == Verdict::kCovered;
        passing = Passing::kHidden;
      } else {
        counters.recent++;
        covered = has_timestamps_ && !tombstones_->empty() && IsCovered(key, trailer);
        passing = Passing::kRecent;
      }
      if (!same) {
        passed_key_.Assign(key);
        run = 0;
      }
    }
    if (!(covered ? SpendNone() : Spend())) return;
    if ((covered && LeaveCovered()) || (MayLeaveTombstoneRun() && LeaveTombstoneRun()) ||
        (++run > reseek_after_ && ReseekForward(passing, trailer))) {
      if (!status_.ok()) return;
      run = 0;
      continue;
    }
    Step();
  }
  EndOfSource();
}

void UserKeyWalk::TurnForward() {
  backward_ = false;
  ForgetSeeks();
  passed_key_.Assign(key_);
  SeekSource(passed_key_.slice(), Place::kLast);
  value_pin_.Reset();
}

void UserKeyWalk::TurnBackward() {
  backward_ = true;
  ForgetSeeks();
  passed_key_.Assign(key_);
  SeekSourceForPrev(passed_key_.slice(), Place::kFirst);
}

// Moves the source before all entries of passed_key_. Returns false if the walk has failed: in a
// damaged table such a seek may find an entry that is not before them, and a walk that accepted it
// would never end.
bool UserKeyWalk::ReseekBackward() {
  SetTarget(passed_key_.slice(), Place::kFirst);
  if (!MayReseek()) return false;
  source_->SeekForPrev(target_);
  TakePlace();
  if (!AtEntry()) return true;
  if (icmp_->CompareKey(icmp_->KeyOf(batch_.at->key()), passed_key_.slice()) < 0) return true;
  Fail(Status::Corruption("iterator: a seek to before a key found one that is not"));
  return false;
}

// Skips an entry of passed_key_ that is too new (by its timestamp, if there are any), on which the
// source is, and the rest of the key, which is newer still. Returns false if the budget is spent.
bool UserKeyWalk::PassTooNew() {
  VARVE_ASSERT(backward_ && AtEntry());
  uint64_t run = 0;
  do {
    counters.recent++;
    if (!Spend()) return false;
    if (++run > reseek_after_) {
      counters.reseeks++;
      return ReseekBackward();
    }
    Step();
  } while (AtEntry() && SameAsPassed(*batch_.at));
  return true;
}

void UserKeyWalk::SaveValue() {
  VARVE_ASSERT(backward_ && AtEntry());
  const Slice value = batch_.at->value();
  value_ = value;
  const bool source_is_here = batch_.at + 1 == batch_.end;
  value_kept_ = pins_ && source_is_here && source_->IsValuePinned();
  if (value_kept_) return;
  if (value.size() > kCopyBytesMax && source_is_here) {
    if (source_->IsValuePinned()) return;
    value_pin_.Reset();
    if (source_->PinValue(&value_pin_)) return;
  }
  saved_value_.assign(value.data(), value.size());
  value_ = saved_value_;
}

// Moves to the newest visible entry of passed_key_. Returns false if the walk has failed, or there
// is no such entry. The latter is a failure if an entry with the trailer `stepped_on` has been
// seen, unless it is covered.
bool UserKeyWalk::GoToVisible(uint64_t stepped_on) {
  SeekSource(passed_key_.slice(), Place::kVisible);
  // A version that was written later may have an older timestamp.
  while (has_timestamps_ && AtEntry() && PassedKeyIs(*batch_.at) && !Visible(*batch_.at)) {
    (void)batch_.TakeOne(source_.get(), /*forward=*/true);
  }
  if (AtEntry() && PassedKeyIs(*batch_.at)) return true;
  // A seek may skip an entry that a step has found, if the tombstone over it has become known
  // since.
  const bool may_miss = stepped_on == kNoTrailer || IsCovered(passed_key_.slice(), stepped_on);
  if (may_miss && source_->status().ok()) return false;
  Fail(source_->status().ok()
           ? Status::Corruption("iterator: a seek did not find an entry that a step had found")
           : source_->status());
  return false;
}

// Finds by a seek what FindNewestVisible would find by many steps.
bool UserKeyWalk::SeekNewestVisible(uint64_t* trailer) {
  counters.reseeks++;
  // Newer entries are skipped without being counted.
  if (in_tombstone_run_) detours_->tombstone_run_start_recent = kNotAllSeen;
  if (GoToVisible(*trailer)) {
    *trailer = ExtractTrailer(batch_.at->key());
    if (has_timestamps_) KeepTimestamp(*batch_.at);
    if (UnpackType(*trailer) == kTypeValue) SaveValue();
  } else if (!status_.ok()) {
    return false;
  }
  return ReseekBackward();
}

// Called with the source on the oldest entry of passed_key_: leaves it before all of them, and
// keeps trailer and value of the newest visible one. Leaves *trailer unchanged if none is visible.
// Returns false if the walk has failed.
bool UserKeyWalk::FindNewestVisible(uint64_t* trailer) {
  VARVE_ASSERT(backward_ && AtEntry());
  uint64_t run = 0;
  do {
    const uint64_t present = ExtractTrailer(batch_.at->key());
    const bool visible = Visible(*batch_.at);
    // With timestamps, entries written later may come after ones written earlier.
    if (!visible && (!has_timestamps_ || IsOfLaterTime(*batch_.at))) return PassTooNew();
    if (++run > reseek_after_) return SeekNewestVisible(trailer);
    if (run > 1 || !visible) {
      (visible ? counters.hidden : counters.recent)++;
      if (!(IsCovered(passed_key_.slice(), present) ? SpendNone() : Spend())) return false;
    }
    if (visible) {
      *trailer = present;
      if (has_timestamps_) KeepTimestamp(*batch_.at);
      if (UnpackType(present) == kTypeValue) SaveValue();
    }
    Step();
  } while (AtEntry() && SameAsPassed(*batch_.at));
  if (AtEntry() || source_->status().ok()) return true;
  // An entry that could not be read may have been newer.
  EndOfSource();
  return false;
}

// Moves from the source's position back to the first live key.
void UserKeyWalk::PassBackward() {
  valid_ = false;
  while (status_.ok() && AtEntry()) {
    const Slice key = icmp_->KeyOf(batch_.at->key());
    if (BeyondStart(key)) return;
    passed_key_.Assign(key);
    reseeks_here_ = false;
    key_kept_ = pins_ && source_->IsKeyPinned();
    key_ = key_kept_ ? key : passed_key_.slice();
    uint64_t trailer = kNoTrailer;
    if (!FindNewestVisible(&trailer)) return;
    if (trailer == kNoTrailer) {
      if (has_timestamps_ && AtEntry() && IsCovered(passed_key_.slice(), 0)) (void)LeaveCovered();
      continue;
    }
    const Verdict verdict = Judge(passed_key_.slice(), trailer);
    if (verdict == Verdict::kFailed) return;
    if (verdict == Verdict::kOperand) return MergeBackward();
    if (verdict == Verdict::kLive) {
      valid_ = true;
      return;
    }
    counters.deleted++;
    const bool covered = verdict == Verdict::kCovered;
    if (!(covered ? SpendNone() : Spend())) return;
    // It does not matter if the next entry is reached by a seek or by a step.
    if (covered && AtEntry() && LeaveCovered()) continue;
    if (MayLeaveTombstoneRun()) (void)LeaveTombstoneRun();
  }
  if (status_.ok()) EndOfSource();
}

}  // namespace varve
