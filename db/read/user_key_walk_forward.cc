// SPDX-License-Identifier: Apache-2.0

// The forward moves of a walk over user keys.
//
// PassForward looks at one entry after the other until it finds one to be shown:
//
//     of the key passed over (kHidden)   skipped: a newer entry of the key has decided
//     beyond the bound or the prefix     the walk is over
//     too new for the reader (kRecent)   skipped; older entries of the key may be visible
//     a live value, or an entity         shown
//     a merge operand                    MergeForward: the key's operands decide
//     a deletion, or covered             skipped, and with it all older entries of the key
//
// Each skipped entry costs some of the budget, and may open a shorter way, tried in this order: the
// end of the range tombstone (LeaveCovered), the end of a run that an earlier reader has found
// (LeaveTombstoneRun), a seek to the next key (ReseekForward).

#include "db/read/user_key_walk.h"

namespace varve {

// Leaves the shown entry, remembers its key as passed_key_, and goes on until an entry of another
// key can be shown. The key is copied before the source moves, as key_ points into the source, and
// operands are released only after the move, as key_ may point into them.
void UserKeyWalk::Next() {
  VARVE_ASSERT(valid_ && status_.ok());
  StartMove();
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

void UserKeyWalk::TurnForward() {
  backward_ = false;
  ForgetDetours();
  passed_key_.Assign(key_);
  SeekSource(passed_key_.slice(), Place::kLast);
  value_pin_.Reset();
}

// Moves from the source's position to the first live key, and shows it. `passing` says why entries
// of passed_key_ are skipped; kNothing: passed_key_ means nothing yet. A refused entry, a spent
// budget or an error of the source fails the walk, and nothing is shown.
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
      if (visibility_.IsVisible(*batch_.at)) [[likely]] {
        const Verdict verdict = Judge(key, trailer);
        if (verdict == Verdict::kLive) [[likely]] {
          Show(*batch_.at);
          valid_ = true;
          return;
        }
        if (verdict == Verdict::kReference) {
          Show(*batch_.at);
          (void)ShowReference(ExtractUserKey(batch_.at->key()), Slice(), batch_.at->value());
          return;
        }
        if (verdict == Verdict::kEntity) {
          Show(*batch_.at);
          return ShowEntity(batch_.at->value());
        }
        if (verdict == Verdict::kOperand) return MergeForward();
        if (verdict == Verdict::kRefused) return;
        counters.deleted++;
        covered = verdict == Verdict::kCovered;
        passing = Passing::kHidden;
      } else {
        counters.recent++;
        covered = visibility_.has_timestamps() && visibility_.has_tombstones() &&
                  visibility_.IsCovered(key, trailer);
        passing = Passing::kRecent;
      }
      if (!same) {
        passed_key_.Assign(key);
        run = 0;
      }
    }
    if (!(covered ? SpendTimeOnly() : Spend())) return;
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

// Seeks past the entries to be ignored because of `passing`. Returns false if that would not lead
// beyond the current entry, whose trailer is given. The walk may have failed.
bool UserKeyWalk::ReseekForward(Passing passing, uint64_t trailer) {
  const Place place = passing == Passing::kHidden ? Place::kLast : Place::kVisible;
  SetTarget(passed_key_.slice(), place);
  if (visibility_.has_timestamps() ? icmp_->Compare(batch_.at->key(), target_) >= 0
                                   : trailer <= ExtractTrailer(target_)) {
    return false;
  }
  if (!MayReseek()) return true;
  counters.reseeks++;
  source_->Seek(target_);
  TakePlace();
  return true;
}

}  // namespace varve
