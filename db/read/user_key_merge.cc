// SPDX-License-Identifier: Apache-2.0

// The merging part of a walk over user keys: collects the operands of one key, without copying, and
// shows the operator's result.

#include <utility>

#include "db/read/user_key_walk.h"
#include "util/base/assert.h"

namespace varve {

namespace {

const MergeCaller kNoMerger;

}  // namespace

// The key is kept first, because collecting operands may move the source off its entries; which
// bytes key_ may point to is known only afterwards (is_past_).
void UserKeyWalk::MergeForward() {
  const Slice key = icmp_->KeyOf(batch_.at->key());
  passed_key_.Assign(key);
  key_kept_ = pins_ && source_->IsKeyPinned();
  if (key_kept_) key_ = key;
  if (visibility_.has_timestamps()) KeepTimestamp(*batch_.at);
  if (!CollectOperands()) return;
  if (is_past_) {
    if (!key_kept_) key_ = passed_key_.slice();
  } else {
    key_ = icmp_->KeyOf(batch_.at->key());
  }
  valid_ = MergeOperandsNow();
}

// The position of the key's newest visible entry was not kept, so it is searched again. Afterwards
// the operands are pinned and the source is moved before the key's entries, as the walk goes
// backward; only then the operator is called.
void UserKeyWalk::MergeBackward() {
  // The walk has judged the operand and found no tombstone over it. The largest sequence number
  // says so: no tombstone can excuse that the seek finds no entry.
  if (!GoToVisible(PackSequenceAndType(kMaxSequenceNumber, kTypeMerge))) return;
  const bool collected = CollectOperands();
  // If the source is after the operands, all of them are pinned already.
  const bool behind = std::exchange(is_past_, false);
  if (!collected) return;
  if (!behind) merging_->Pin(source_.get());
  if (!ReseekBackward()) return;
  valid_ = MergeOperandsNow();
}

// Collects the operands of passed_key_ from the source's position to the base or to the end of the
// key. Leaves the source on the last entry that belongs to it or, with is_past_, on the next one.
// Returns false if the walk has failed.
bool UserKeyWalk::CollectOperands() {
  VARVE_ASSERT(AtEntry());
  if (merging_ == nullptr) merging_ = std::make_unique<MergedValue>();
  merging_->Begin();
  is_past_ = false;
  for (;;) {
    const BatchEntry* const first = batch_.at;
    batch_.at = LastOfOperands(first);
    merging_->Add({first, batch_.at + 1});
    bool more = StepInKey();
    // With timestamps an older version may be invisible, if it was written after the reader's
    // sequence number, or is covered.
    while (visibility_.has_timestamps() && more && !visibility_.IsVisible(*batch_.at))
      more = StepInKey();
    if (!more) break;
    const uint64_t trailer = ExtractTrailer(batch_.at->key());
    switch (Judge(passed_key_.slice(), trailer)) {
      case Verdict::kOperand:
        break;
      case Verdict::kLive:
        merging_->AddBase(batch_.at->value());
        return true;
      case Verdict::kEntity:
        merging_->AddEntity(batch_.at->value());
        return true;
      case Verdict::kReference: {
        Slice base;
        if (!ReadReference(ExtractUserKey(batch_.at->key()), Slice(), batch_.at->value(), &base)) {
          return false;
        }
        merging_->AddBase(base);
        return true;
      }
      case Verdict::kDeleted:
      case Verdict::kCovered:
        return true;
      case Verdict::kRefused:
        return false;
    }
  }
  return status_.ok();
}

// Steps to the next entry of passed_key_. Returns false if there is none.
bool UserKeyWalk::StepInKey() {
  if (batch_.at + 1 == batch_.end) [[unlikely]]
    return MoveOverOperands();
  if (!SameAsPassed(batch_.at[1])) return false;
  batch_.at++;
  return true;
}

// Returns the last of the operands in the batch, from the operand `at` on, that are known to be of
// one key and under no tombstone. With timestamps, each entry has to be checked.
const BatchEntry* UserKeyWalk::LastOfOperands(const BatchEntry* at) const {
  if (visibility_.has_timestamps() || visibility_.has_tombstones()) return at;
  while (at + 1 != batch_.end && at[1].same_key == SameKey::kYes &&
         UnpackType(ExtractTrailer(at[1].key())) == kTypeMerge) {
    at++;
  }
  return at;
}

// Moves to the entry after the batch, which may not exist. Returns false if it is not one of
// passed_key_.
bool UserKeyWalk::MoveOverOperands() {
  merging_->Pin(source_.get());
  const bool found = batch_.Refill(source_.get(), /*forward=*/true, BatchEntriesMax());
  // The walk may be on an entry that it has not shown, so plain steps are not allowed.
  plain_end_ = nullptr;
  if (!found) {
    // An entry that could not be read may have been an operand.
    Status s = source_->status();
    if (!s.ok()) Fail(std::move(s));
    is_past_ = true;
    return false;
  }
  is_past_ = !SameAsPassed(*batch_.at);
  return !is_past_;
}

bool UserKeyWalk::MergeOperandsNow() {
  VARVE_ASSERT(status_.ok());
  ValueForm form = ValueForm::kPlain;
  Status s = merging_->Merge(merger_ != nullptr ? *merger_ : kNoMerger, passed_key_.slice(),
                             statistics_, &value_, &form);
  if (!s.ok()) {
    FailAtEntry(std::move(s));
  } else if (form == ValueForm::kEntity) {
    ShowEntity(value_);
  }
  return status_.ok();
}

}  // namespace varve
