// SPDX-License-Identifier: Apache-2.0
#include "db/read/user_key_walk.h"

#include <utility>

namespace varve {

namespace {

// Up to here a copy is cheaper than asking for a pin.
constexpr size_t kCopyBytesMax = 1024;

}  // namespace

void UserKeyWalk::Init(const Settings& settings, TombstoneSet* tombstones) {
  const ReadOptions& options = *settings.options;
  icmp_ = settings.icmp;
  tombstones_ = tombstones;
  lower_ = options.iterate_lower_bound;
  upper_ = options.iterate_upper_bound;
  extractor_ = settings.prefix_extractor;
  pins_ = options.pin_data;
  reseek_after_ = settings.reseek_after;
  budget_ =
      options.max_skippable_internal_keys == 0 ? UINT64_MAX : options.max_skippable_internal_keys;
}

void UserKeyWalk::SetSource(std::unique_ptr<InternalIterator> source) {
  StartSeek();
  source_ = std::move(source);
}

void UserKeyWalk::SetSequence(SequenceNumber sequence) {
  StartSeek();
  sequence_ = sequence;
}

void UserKeyWalk::Fail(Status status) {
  valid_ = false;
  status_ = std::move(status);
}

bool UserKeyWalk::IsKeyPinned() const {
  return valid_ && pins_ && (backward_ ? key_kept_ : source_->IsKeyPinned());
}

bool UserKeyWalk::IsValuePinned() const {
  return valid_ && pins_ && (backward_ ? value_kept_ : source_->IsValuePinned());
}

void UserKeyWalk::StartSeek() {
  valid_ = false;
  backward_ = false;
  has_prefix_ = false;
  status_ = Status::OK();
  budget_left_ = budget_;
  value_pin_.Reset();
}

void UserKeyWalk::SeekSource(const Slice& user_key, SequenceNumber sequence, ValueType type) {
  target_.clear();
  AppendInternalKey(&target_, user_key, sequence, type);
  source_->Seek(target_);
}

void UserKeyWalk::SeekSourceForPrev(const Slice& user_key, SequenceNumber sequence,
                                    ValueType type) {
  target_.clear();
  AppendInternalKey(&target_, user_key, sequence, type);
  source_->SeekForPrev(target_);
}

bool UserKeyWalk::InPrefix(const Slice& user_key) const {
  return extractor_->InDomain(user_key) && extractor_->Transform(user_key) == Slice(prefix_);
}

void UserKeyWalk::SetPrefixOf(const Slice& user_key) {
  if (extractor_ == nullptr || !extractor_->InDomain(user_key)) return;
  const Slice prefix = extractor_->Transform(user_key);
  prefix_.assign(prefix.data(), prefix.size());
  has_prefix_ = true;
}

void UserKeyWalk::SeekToFirst() {
  StartSeek();
  if (lower_ != nullptr) {
    SeekSource(*lower_, kMaxSequenceNumber, kValueTypeForSeek);
  } else {
    source_->SeekToFirst();
  }
  FindForward(Passing::kNothing);
  if (valid_) SetPrefixOf(key_);
}

void UserKeyWalk::SeekToLast() {
  StartSeek();
  backward_ = true;
  if (upper_ != nullptr) {
    SeekSourceForPrev(*upper_, kMaxSequenceNumber, kValueTypeForSeek);
  } else {
    source_->SeekToLast();
  }
  FindBackward();
  if (valid_) SetPrefixOf(key_);
}

void UserKeyWalk::Seek(const Slice& target) {
  StartSeek();
  SetPrefixOf(target);
  const bool clamps = lower_ != nullptr && icmp_->CompareUserKey(target, *lower_) < 0;
  SeekSource(clamps ? *lower_ : target, sequence_, kValueTypeForSeek);
  FindForward(Passing::kNothing);
}

void UserKeyWalk::SeekForPrev(const Slice& target) {
  StartSeek();
  SetPrefixOf(target);
  backward_ = true;
  if (upper_ != nullptr && icmp_->CompareUserKey(target, *upper_) >= 0) {
    SeekSourceForPrev(*upper_, kMaxSequenceNumber, kValueTypeForSeek);
  } else {
    SeekSourceForPrev(target, 0, kValueTypeForSeekForPrev);
  }
  FindBackward();
}

void UserKeyWalk::EndOfSource() {
  valid_ = false;
  status_ = source_->status();
}

bool UserKeyWalk::Overspent() {
  budget_left_ = 0;
  Fail(Status::Incomplete(
      "iterator: passed over more entries than max_skippable_internal_keys allows"));
  return false;
}

UserKeyWalk::Verdict UserKeyWalk::RefuseType(uint64_t trailer) {
  switch (UnpackType(trailer)) {
    case kTypeMerge:
      Fail(Status::NotSupported(
          "iterator: met a merge operand; merge_operator is not supported by this version"));
      break;
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

// What the newest visible entry of a key means. All tombstones that may cover it have been added:
// every source has been asked for its place around the key.
inline UserKeyWalk::Verdict UserKeyWalk::Judge(const Slice& user_key, uint64_t trailer) {
  if (tombstones_->MaxCoveringSeq(user_key, sequence_) > UnpackSequence(trailer)) [[unlikely]] {
    return Verdict::kDeleted;
  }
  switch (UnpackType(trailer)) {
    [[likely]] case kTypeValue : return Verdict::kLive;
    case kTypeDeletion:
    case kTypeSingleDeletion:
    case kTypeDeletionWithTimestamp:
      return Verdict::kDeleted;
    default:
      return RefuseType(trailer);
  }
}

// Seeks past the entries that `passing` tells to ignore. False when that would not lead beyond the
// present entry, whose trailer is given.
bool UserKeyWalk::ReseekForward(Passing passing, uint64_t trailer) {
  const bool hidden = passing == Passing::kHidden;
  const SequenceNumber sequence = hidden ? 0 : sequence_;
  const ValueType type = hidden ? kValueTypeForSeekForPrev : kValueTypeForSeek;
  if (trailer <= PackSequenceAndType(sequence, type)) return false;
  counters.reseeks++;
  SeekSource(passed_key_.slice(), sequence, type);
  return true;
}

// From the source's place on to the first live key. `passing` says what is known of passed_key_.
void UserKeyWalk::FindForward(Passing passing) {
  uint64_t run = 0;  // entries of passed_key_ passed over by single steps
  while (source_->Valid()) {
    const Slice user_key = ExtractUserKey(source_->key());
    const uint64_t trailer = ExtractTrailer(source_->key());
    const bool same =
        passing != Passing::kNothing && icmp_->EqualUserKey(user_key, passed_key_.slice());
    if (same && passing == Passing::kHidden) {
      counters.hidden++;
    } else {
      if (BeyondEnd(user_key)) {
        valid_ = false;
        return;
      }
      if (UnpackSequence(trailer) <= sequence_) [[likely]] {
        const Verdict verdict = Judge(user_key, trailer);
        if (verdict == Verdict::kLive) [[likely]] {
          key_ = user_key;
          value_ = source_->value();
          valid_ = true;
          return;
        }
        if (verdict == Verdict::kFailed) return;
        counters.deleted++;
        passing = Passing::kHidden;
      } else {
        counters.recent++;
        passing = Passing::kRecent;
      }
      if (!same) {
        passed_key_.Assign(user_key);
        run = 0;
      }
    }
    if (!Spend()) return;
    if (++run > reseek_after_ && ReseekForward(passing, trailer)) {
      run = 0;
      continue;
    }
    source_->Next();
  }
  EndOfSource();
}

void UserKeyWalk::TurnForward() {
  backward_ = false;
  passed_key_.Assign(key_);
  SeekSource(passed_key_.slice(), 0, kValueTypeForSeekForPrev);
  value_pin_.Reset();
}

void UserKeyWalk::TurnBackward() {
  backward_ = true;
  passed_key_.Assign(key_);
  source_->Prev();
  (void)PassBackward();
}

void UserKeyWalk::ReseekBackward() {
  counters.reseeks++;
  SeekSourceForPrev(passed_key_.slice(), kMaxSequenceNumber, kValueTypeForSeek);
}

// Passes over what is left of passed_key_. False when the budget is spent.
bool UserKeyWalk::PassBackward() {
  uint64_t run = 0;
  while (source_->Valid() &&
         icmp_->EqualUserKey(ExtractUserKey(source_->key()), passed_key_.slice())) {
    if (ExtractSequence(source_->key()) > sequence_) {
      counters.recent++;
    } else {
      counters.hidden++;
    }
    if (!Spend()) return false;
    if (++run > reseek_after_) {
      ReseekBackward();
    } else {
      source_->Prev();
    }
  }
  return true;
}

void UserKeyWalk::SaveValue() {
  const Slice value = source_->value();
  value_ = value;
  value_kept_ = pins_ && source_->IsValuePinned();
  if (value_kept_) return;
  if (value.size() > kCopyBytesMax) {
    if (source_->IsValuePinned()) return;
    value_pin_.Reset();
    if (source_->PinValue(&value_pin_)) return;
  }
  saved_value_.assign(value.data(), value.size());
  value_ = saved_value_;
}

// Finds by a seek what FindNewestVisible would find by many steps.
bool UserKeyWalk::SeekNewestVisible(uint64_t* trailer) {
  counters.reseeks++;
  SeekSource(passed_key_.slice(), sequence_, kValueTypeForSeek);
  if (!source_->Valid() ||
      !icmp_->EqualUserKey(ExtractUserKey(source_->key()), passed_key_.slice())) {
    Fail(source_->status().ok()
             ? Status::Corruption("iterator: a seek did not find an entry that a step had found")
             : source_->status());
    return false;
  }
  *trailer = ExtractTrailer(source_->key());
  if (UnpackType(*trailer) == kTypeValue) SaveValue();
  SeekSourceForPrev(passed_key_.slice(), kMaxSequenceNumber, kValueTypeForSeek);
  return true;
}

// The source stands on the oldest entry of passed_key_: leaves it before the visible ones, with the
// newest one's trailer and value kept. The trailer is left alone when none is visible. False when
// the walk has failed.
bool UserKeyWalk::FindNewestVisible(uint64_t* trailer) {
  uint64_t run = 0;
  do {
    const uint64_t present = ExtractTrailer(source_->key());
    if (UnpackSequence(present) > sequence_) return true;
    if (++run > reseek_after_) return SeekNewestVisible(trailer);
    if (run > 1) {
      counters.hidden++;
      if (!Spend()) return false;
    }
    *trailer = present;
    if (UnpackType(present) == kTypeValue) SaveValue();
    source_->Prev();
  } while (source_->Valid() &&
           icmp_->EqualUserKey(ExtractUserKey(source_->key()), passed_key_.slice()));
  if (source_->Valid() || source_->status().ok()) return true;
  // What could not be read may have been newer.
  EndOfSource();
  return false;
}

// From the source's place back to the first live key.
void UserKeyWalk::FindBackward() {
  constexpr uint64_t kNone = UINT64_MAX;
  valid_ = false;
  while (status_.ok() && source_->Valid()) {
    const Slice user_key = ExtractUserKey(source_->key());
    if (BeyondStart(user_key)) return;
    passed_key_.Assign(user_key);
    key_kept_ = pins_ && source_->IsKeyPinned();
    key_ = key_kept_ ? user_key : passed_key_.slice();
    uint64_t trailer = kNone;
    if (!FindNewestVisible(&trailer)) return;
    // What is left of the key is too new.
    if (!PassBackward()) return;
    if (trailer == kNone) continue;
    const Verdict verdict = Judge(passed_key_.slice(), trailer);
    if (verdict == Verdict::kFailed) return;
    if (verdict == Verdict::kLive) {
      valid_ = true;
      return;
    }
    counters.deleted++;
    if (!Spend()) return;
  }
  if (status_.ok()) EndOfSource();
}

}  // namespace varve
