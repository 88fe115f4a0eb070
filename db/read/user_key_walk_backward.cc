// SPDX-License-Identifier: Apache-2.0

// The backward moves of a walk over user keys.
//
// Backward, a key's oldest entry comes first, and the newest visible one, which decides, last:
//
//     PassBackward           takes one key after the other, until one can be shown
//       FindNewestVisible    steps over the key's entries from the oldest on, saving each visible
//                            one, until an entry is too new or another key begins
//       SeekNewestVisible    does that with two seeks, once reseek_after_ steps were not enough
//
// After each key the source is before all entries of it, on those of the key before. So what is
// shown, key and value, has to be copied or pinned before the source leaves it (SaveValue).

#include "db/read/user_key_walk.h"

namespace varve {

namespace {

// Up to this size a copy is cheaper than asking for a pin.
constexpr size_t kCopyBytesMax = 1024;

// Stands for "no entry".
constexpr uint64_t kNoTrailer = UINT64_MAX;

// True if the entry has a value, an entity or a reference to a value.
bool HasValue(uint64_t trailer) {
  const ValueType type = UnpackType(trailer);
  return type == kTypeValue || type == kTypeBlobIndex || type == kTypeWideColumnEntity;
}

}  // namespace

void UserKeyWalk::Prev() {
  VARVE_ASSERT(valid_ && status_.ok());
  StartMove();
  if (!backward_) [[unlikely]]
    TurnBackward();
  ForgetMerge();
  FindBackward();
}

void UserKeyWalk::TurnBackward() {
  backward_ = true;
  ForgetDetours();
  passed_key_.Assign(key_);
  SeekSourceForPrev(passed_key_.slice(), Place::kFirst);
}

// Moves from the source's position back to the first live key, and shows it. If a key has no
// visible entry, or is deleted, the one before it is next. A refused entry, a spent budget or an
// error of the source fails the walk, and nothing is shown.
void UserKeyWalk::PassBackward() {
  valid_ = false;
  while (status_.ok() && AtEntry()) {
    const Slice key = icmp_->KeyOf(batch_.at->key());
    if (BeyondStart(key)) return;
    passed_key_.Assign(key);
    if (detours_ != nullptr) [[unlikely]]
      detours_->progress.PassKey();
    key_kept_ = pins_ && source_->IsKeyPinned();
    key_ = key_kept_ ? key : passed_key_.slice();
    uint64_t trailer = kNoTrailer;
    if (!FindNewestVisible(&trailer)) return;
    if (trailer == kNoTrailer) {
      // With timestamps a covered entry is not visible (EntryVisibility), so the tombstone over
      // such a key is left here. Trailer 0 asks for a tombstone of any sequence number.
      if (visibility_.has_timestamps() && AtEntry() &&
          visibility_.IsCovered(passed_key_.slice(), 0))
        (void)LeaveCovered();
      continue;
    }
    const Verdict verdict = Judge(passed_key_.slice(), trailer);
    if (verdict == Verdict::kRefused) return;
    if (verdict == Verdict::kOperand) return MergeBackward();
    if (verdict == Verdict::kEntity) return ShowEntity(value_);
    if (verdict == Verdict::kReference) {
      (void)ShowReference(passed_key_.slice(), timestamp_, value_);
      return;
    }
    if (verdict == Verdict::kLive) {
      valid_ = true;
      return;
    }
    counters.deleted++;
    const bool covered = verdict == Verdict::kCovered;
    if (!(covered ? SpendTimeOnly() : Spend())) return;
    // It does not matter if the next entry is reached by a seek or by a step.
    if (covered && AtEntry() && LeaveCovered()) continue;
    if (MayLeaveTombstoneRun()) (void)LeaveTombstoneRun();
  }
  if (status_.ok()) EndOfSource();
}

// Called with the source on the oldest entry of passed_key_: leaves it before all of them, and
// keeps trailer and value of the newest visible one. Leaves *trailer unchanged if none is visible.
// Returns false if the walk has failed.
bool UserKeyWalk::FindNewestVisible(uint64_t* trailer) {
  VARVE_ASSERT(backward_ && AtEntry());
  uint64_t run = 0;
  do {
    const uint64_t present = ExtractTrailer(batch_.at->key());
    const bool visible = visibility_.IsVisible(*batch_.at);
    // With timestamps, entries written later may come after ones written earlier.
    if (!visible && (!visibility_.has_timestamps() || visibility_.IsOfLaterTime(*batch_.at)))
      return PassTooNew();
    if (++run > reseek_after_) return SeekNewestVisible(trailer);
    if (run > 1 || !visible) {
      (visible ? counters.hidden : counters.recent)++;
      if (!(visibility_.IsCovered(passed_key_.slice(), present) ? SpendTimeOnly() : Spend()))
        return false;
    }
    if (visible) {
      *trailer = present;
      if (visibility_.has_timestamps()) KeepTimestamp(*batch_.at);
      if (HasValue(present)) SaveValue();
    }
    Step();
  } while (AtEntry() && SameAsPassed(*batch_.at));
  if (AtEntry() || source_->status().ok()) return true;
  // An entry that could not be read may have been newer.
  EndOfSource();
  return false;
}

// Finds by a seek what FindNewestVisible would find by many steps.
bool UserKeyWalk::SeekNewestVisible(uint64_t* trailer) {
  counters.reseeks++;
  // Newer entries are skipped without being counted.
  run_watch_.MissEntries();
  if (GoToVisible(*trailer)) {
    *trailer = ExtractTrailer(batch_.at->key());
    if (visibility_.has_timestamps()) KeepTimestamp(*batch_.at);
    if (HasValue(*trailer)) SaveValue();
  } else if (!status_.ok()) {
    return false;
  }
  return ReseekBackward();
}

// Moves to the newest visible entry of passed_key_. Returns false if the walk has failed, or if
// there is no such entry. `stepped_on` is the trailer of a visible entry of the key that the walk
// has stepped on before, or kNoTrailer: if there was one, that the seek finds none fails the walk,
// unless a tombstone covers that entry.
bool UserKeyWalk::GoToVisible(uint64_t stepped_on) {
  SeekSource(passed_key_.slice(), Place::kVisible);
  // A version that was written later may have an older timestamp.
  while (visibility_.has_timestamps() && AtEntry() && PassedKeyIs(*batch_.at) &&
         !visibility_.IsVisible(*batch_.at)) {
    (void)batch_.TakeOne(source_.get(), /*forward=*/true);
  }
  if (AtEntry() && PassedKeyIs(*batch_.at)) return true;
  // A seek may skip an entry that a step has found, if the tombstone over it has become known
  // since.
  const bool may_miss =
      stepped_on == kNoTrailer || visibility_.IsCovered(passed_key_.slice(), stepped_on);
  if (may_miss && source_->status().ok()) return false;
  Fail(source_->status().ok()
           ? Status::Corruption("iterator: a seek did not find an entry that a step had found")
           : source_->status());
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

// Sets value_ to the current entry's value, in memory that stays when the source moves on: pinned
// for good by pin_data, pinned until the next move if it is large, otherwise copied.
void UserKeyWalk::SaveValue() {
  VARVE_ASSERT(backward_ && AtEntry());
  const Slice value = batch_.at->value();
  value_ = value;
  value_kept_ = pins_ && SourceIsHere() && source_->IsValuePinned();
  if (value_kept_) return;
  if (value.size() > kCopyBytesMax && SourceIsHere()) {
    if (source_->IsValuePinned()) return;
    value_pin_.Reset();
    if (source_->PinValue(&value_pin_)) return;
  }
  saved_value_.assign(value.data(), value.size());
  value_ = saved_value_;
}

}  // namespace varve
