// SPDX-License-Identifier: Apache-2.0

// This file has what both directions of a walk share: seeks, what is shown, and the ways to leave
// many entries at once. The moves are in user_key_walk_forward.cc and user_key_walk_backward.cc,
// merging in user_key_merge.cc.
//
//     StartSeek        forgets position, error and pins
//     SeekSource       puts the source at the first entry that may be shown
//     FindForward      steps over what is deleted, hidden or too new, until an entry can be shown
//     FindBackward     does the same towards smaller keys
//
// Invariants
// 1. A walk that has failed (Fail) shows nothing and makes no plain step until the next seek.
// 2. plain_end_ is set only if a step up to it needs no other test than the two of NextPlain: is
//    the next entry of another key, and is it a visible value? That is so only if there are no
//    timestamps, no range tombstones, no prefix, no tailing, and nothing of the shown entry that a
//    step would have to release (a value in a blob file, the columns of an entity, merged
//    operands). Whatever adds one of these sets it to null, or measures anew (MeasurePlain).
// 3. Jumps do not read beyond the bounds: a tombstone run or a range tombstone may reach farther
//    than this walk may, so their targets are cut to the bounds.
// 4. A source whose keys do not ascend cannot make a walk run for ever: seeks and jumps within one
//    move must lead onward (SeekProgress, CoveredJump), or the walk fails with Corruption.
// 5. Members that few walks need (Detours, Kept, MergedValue) are allocated at their first use.

#include "db/read/user_key_walk.h"

#include <utility>

#include "db/blob/blob_reference.h"
#include "util/key/entity.h"

namespace varve {

void UserKeyWalk::Init(const Settings& settings, TombstoneSet* tombstones) {
  const ReadOptions& options = *settings.options;
  icmp_ = settings.icmp;
  visibility_.Init(icmp_, tombstones, options.timestamp);
  bounds_.Init(icmp_, options.iterate_lower_bound, options.iterate_upper_bound,
               settings.prefix_extractor);
  budget_.Init(options.max_skippable_internal_keys, settings.clock,
               static_cast<uint64_t>(options.deadline.count()));
  // A jump reads the block where it ends, which may not be in the cache even if the walk's bounds
  // end before it; without I/O that would fail a walk that single steps complete.
  jumps_ = options.read_tier != kBlockCacheTier;
  pins_ = options.pin_data;
  reseek_after_ = settings.reseek_after;
  tailing_ = options.tailing;
  merger_ = settings.merger;
  statistics_ = settings.statistics;
  if (kept_ != nullptr) kept_->blobs.reset();
  if (settings.blobs != nullptr) {
    kept().blobs = std::make_unique<WalkBlobs>(options, settings.blobs, *settings.version);
  }
}

void UserKeyWalk::SkipTombstoneRuns(TombstoneRuns* ranges, uint64_t super_version) {
  run_watch_.Use(ranges, super_version);
  budget_.LookBetweenSlices(run_watch_.on());
}

void UserKeyWalk::SetSource(std::unique_ptr<InternalIterator> source) {
  VARVE_ASSERT(source != nullptr);
  StartSeek();
  source_ = std::move(source);
}

void UserKeyWalk::SetSequence(SequenceNumber sequence) {
  StartSeek();
  visibility_.SetSequence(sequence);
}

void UserKeyWalk::Fail(Status status) {
  VARVE_ASSERT(!status.ok());
  valid_ = false;
  plain_end_ = nullptr;
  status_ = std::move(status);
}

void UserKeyWalk::FailAtEntry(Status status) {
  kept().failed_key = (IsMerged() ? passed_key_.slice() : key_).ToString();
  Fail(std::move(status));
}

bool UserKeyWalk::TakeFailedKey(std::string* key) {
  if (kept_ == nullptr || !kept_->failed_key.has_value()) return false;
  *key = std::move(*kept_->failed_key);
  kept_->failed_key.reset();
  return true;
}

bool UserKeyWalk::IsKeyPinned() const {
  return valid_ && pins_ && (backward_ || is_past_ ? key_kept_ : source_->IsKeyPinned());
}

bool UserKeyWalk::IsValuePinned() const {
  return valid_ && pins_ && !IsMerged() && !IsFromBlob() &&
         (backward_ ? value_kept_ : source_->IsValuePinned());
}

// Forgets everything of the position before, so a seek also leads out of an error. The source is
// not moved, and is on no known place until the caller seeks in it.
void UserKeyWalk::StartSeek() {
  valid_ = false;
  backward_ = false;
  bounds_.Restart();
  batch_.Forget();
  plain_end_ = nullptr;
  ForgetDetours();
  if (!status_.ok()) [[unlikely]] {
    status_ = Status::OK();
    if (kept_ != nullptr) kept_->failed_key.reset();
  }
  StartMove();
  value_pin_.Reset();
  ForgetMerge();
  if (blobs() != nullptr) [[unlikely]]
    blobs()->Restart();
}

// Releases what the shown entry has besides bytes of the source, which kept plain steps off;
// MeasurePlain may allow them again.
void UserKeyWalk::ForgetMerge() {
  if (IsFromBlob()) [[unlikely]] {
    blobs()->Forget();
    MeasurePlain();
  }
  if (IsEntity()) [[unlikely]] {
    kept_->shows_entity = false;
    MeasurePlain();
  }
  if (!IsMerged()) [[likely]]
    return;
  is_past_ = false;
  merging_->Clear();
}

// Plain steps are turned off first: they would move on without releasing the value.
bool UserKeyWalk::ReadReference(const Slice& user_key, const Slice& timestamp, const Slice& encoded,
                                Slice* value) {
  plain_end_ = nullptr;
  if (blobs() == nullptr) {
    BlobReference reference;
    Status s = BlobReference::DecodeInDatabase(encoded, &reference);
    if (s.ok()) s = Status::Corruption(reference.ToString(), "the version has no blob files");
    FailAtEntry(Status::CopyAppendMessage(
        s, "; ", "met by an iterator, at a key of " + std::to_string(user_key.size()) + " bytes"));
    return false;
  }
  blobs()->Keep(user_key, timestamp, encoded);
  Status s = ReadBlob(value);
  if (!s.ok()) FailAtEntry(std::move(s));
  return status_.ok();
}

// Passes to WalkBlobs those entries of the batch that the walk reaches next and that are within its
// bounds, as it may read their values ahead. Forward, the walk is on the shown entry, so they begin
// one later; backward, or if it is past the entry, it is on the first of them already.
Status UserKeyWalk::ReadBlob(Slice* value) {
  const BatchEntry* first = batch_.at;
  const BatchEntry* last = batch_.at;
  if (AtEntry() && blobs()->LooksAhead() && !tailing_ && !bounds_.has_prefix()) {
    if (!backward_ && !is_past_) first++;
    last = first;
    while (last != batch_.end && ExtractUserKey(last->key()).size() >= icmp_->timestamp_size()) {
      const Slice key = icmp_->KeyOf(last->key());
      if (backward_ ? bounds_.IsBelowLower(key) : bounds_.IsAtUpper(key)) break;
      last++;
    }
  }
  return blobs()->Read({first, last}, sequence(), value);
}

// With allow_unprepared_value only the reference is kept, and PrepareValue reads the value.
bool UserKeyWalk::ShowReference(const Slice& user_key, const Slice& timestamp,
                                const Slice& encoded) {
  if (blobs() != nullptr && blobs()->lazy()) {
    plain_end_ = nullptr;
    blobs()->Keep(user_key, timestamp, encoded);
    value_ = Slice();
    valid_ = true;
    return true;
  }
  valid_ = ReadReference(user_key, timestamp, encoded, &value_);
  return valid_;
}

bool UserKeyWalk::PrepareValue() {
  VARVE_ASSERT(valid_ && status_.ok());
  if (!IsFromBlob() || IsMerged()) [[likely]]
    return true;
  Status s = ReadBlob(&value_);
  if (!s.ok()) FailAtEntry(std::move(s));
  return valid_;
}

// Plain steps are turned off first: they would leave the columns of this entity in place.
void UserKeyWalk::ShowEntity(const Slice& entity) {
  plain_end_ = nullptr;
  WideColumns& columns = kept().columns;
  if (const Status s = DecodeEntity(entity, &columns); !s.ok()) {
    FailAtEntry(
        Status::CopyAppendMessage(s, "; ", "met by an iterator, of key " + key_.ToString(true)));
    return;
  }
  const bool has_default = !columns.empty() && columns.front().name() == kDefaultWideColumnName;
  value_ = has_default ? columns.front().value() : Slice();
  kept_->shows_entity = true;
  valid_ = true;
}

const WideColumns& UserKeyWalk::columns() {
  VARVE_ASSERT(valid_);
  WideColumns& columns = kept().columns;
  if (!kept_->shows_entity) columns.assign(1, WideColumn(kDefaultWideColumnName, value_));
  return columns;
}

bool UserKeyWalk::TooLateToSeek() {
  if (!budget_.TooLate()) [[likely]]
    return false;
  StartSeek();
  Fail(SkipBudget::RefusalOfTime());
  return true;
}

// A seek of the source may open tables, which add their tombstones; so the place is measured only
// afterwards.
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

// Sets up to where in the batch steps may be plain. The last entry of the batch is compared with
// the bound: if it is within, all are.
void UserKeyWalk::MeasurePlain() {
  plain_end_ = nullptr;
  // A plain step would not release what belongs to the shown entry.
  if (IsEntity() || IsFromBlob()) [[unlikely]]
    return;
  // If the source is after the key that is shown, its current entry is the next to be shown.
  if (!AtEntry() || is_past_ || tailing_ || bounds_.has_prefix() || visibility_.has_timestamps() ||
      visibility_.has_tombstones())
    return;
  const Slice last = ExtractUserKey(batch_.end[-1].key());
  if (backward_ ? !BeyondStart(last) : !BeyondEnd(last)) plain_end_ = batch_.end;
}

void UserKeyWalk::CheckExtractor() {
  if (bounds_.threw()) Fail(Status::Aborted("the prefix extractor threw"));
}

void UserKeyWalk::KeepTimestamp(const BatchEntry& entry) {
  VARVE_ASSERT(visibility_.has_timestamps());
  const Slice timestamp = visibility_.TimestampOf(entry);
  kept().timestamp.assign(timestamp.data(), timestamp.size());
  timestamp_ = kept_->timestamp;
}

// Sets the prefix after SeekToFirst and SeekToLast, which name no key: the key that they show sets
// it.
void UserKeyWalk::StayInPrefix() {
  if (valid_ && SetPrefixOf(key_)) MeasurePlain();
}

void UserKeyWalk::SeekToFirst() {
  StartSeek();
  if (bounds_.lower() != nullptr) {
    SeekSource(*bounds_.lower(), Place::kFirst);
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
  // The bound is exclusive: the walk begins before all its versions.
  if (bounds_.upper() != nullptr) {
    SeekSourceForPrev(*bounds_.upper(), Place::kFirst);
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
  SeekSource(bounds_.IsBelowLower(target) ? *bounds_.lower() : target, Place::kVisible);
  FindForward(Passing::kNothing);
}

void UserKeyWalk::SeekForPrev(const Slice& target) {
  StartSeek();
  if (!SetPrefixOf(target)) return;
  backward_ = true;
  if (bounds_.IsAtUpper(target)) {
    SeekSourceForPrev(*bounds_.upper(), Place::kFirst);
  } else {
    SeekSourceForPrev(target, Place::kLast);
  }
  FindBackward();
}

// Used when the source is replaced by a newer one while a walk is under way (a refreshed iterator):
// the walk continues behind a key that it has shown already.
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

UserKeyWalk::Detours& UserKeyWalk::detours() {
  if (detours_ == nullptr) {
    detours_ = std::make_unique<Detours>();
    detours_->progress.Init(icmp_);
    detours_->jump.Init(icmp_, visibility_.tombstones());
  }
  return *detours_;
}

bool UserKeyWalk::MayReseek() {
  if (detours().progress.Seek(target_, backward_)) return true;
  FailOutOfOrder();
  return false;
}

// The message has no key, as allow_data_in_errors is not known here.
void UserKeyWalk::FailOutOfOrder() {
  Fail(Status::Corruption("iterator: keys are out of order around one of " +
                          std::to_string(passed_key_.slice().size()) + " bytes"));
}

// Called at intervals while the walk passes deleted entries. Another reader may have found out that
// the tables have no live key up to some key; the tables are then moved there by a seek, while the
// memtables stay where they are, because they may have newer entries.
bool UserKeyWalk::LeaveTombstoneRun() {
  budget_.TakeSliceEnd();
  const Slice key = passed_key_.slice();
  run_watch_.Begin(key, counters);
  std::string begin;
  std::string end;
  if (!jumps_ || !run_watch_.Find(key, sequence(), &begin, &end)) return false;
  // The walk that found the run may have gone beyond this walk's bounds, outside of which it must
  // not read.
  if (backward_) {
    if (bounds_.IsBelowLower(begin)) {
      SetTarget(*bounds_.lower(), Place::kFirst);
    } else {
      SetTarget(begin, Place::kLast);
    }
  } else {
    SetTarget(bounds_.IsAtUpper(end) ? *bounds_.upper() : Slice(end), Place::kFirst);
  }
  if (!detours().progress.Leap(target_, backward_)) return false;
  if (backward_) {
    source_->SeekTablesForPrev(target_);
  } else {
    source_->SeekTables(target_);
  }
  TakePlace();
  return true;
}

void UserKeyWalk::CloseTombstoneRun() {
  run_watch_.End(valid_ ? key_ : passed_key_.slice(), backward_, sequence(), counters);
}

// CoveredJump tells how far the sorted runs moved. If the one with the current entry did not move
// (kBeside), the walk steps over that entry, so that true always means that it is elsewhere.
bool UserKeyWalk::LeaveCovered() {
  if (!jumps_ || !SourceIsHere()) return false;
  CoveredJump::Place place;
  place.key = passed_key_.slice();
  place.backward = backward_;
  place.bound = backward_ ? bounds_.lower() : bounds_.upper();
  if (backward_) SetTarget(place.key, Place::kFirst);
  place.internal = backward_ ? Slice(target_) : batch_.at->key();
  switch (detours().jump.Leave(source_.get(), place, sequence())) {
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

}  // namespace varve
