// SPDX-License-Identifier: Apache-2.0

// The merging part of a walk over user keys: collects the operands of one key, without copying, and
// shows the operator's result.

#include <cassert>
#include <utility>

#include "db/read/user_key_walk.h"
#include "util/base/assert.h"
#include "util/metrics/perf_counters.h"
#include "util/metrics/statistics.h"

namespace varve {

namespace {

const MergeCaller kNoMerger;

}  // namespace

void UserKeyWalk::MergeForward() {
  const Slice key = icmp_->KeyOf(batch_.at->key());
  passed_key_.Assign(key);
  key_kept_ = pins_ && source_->IsKeyPinned();
  if (key_kept_) key_ = key;
  if (has_timestamps_) KeepTimestamp(*batch_.at);
  if (!CollectOperands()) return;
  if (is_past_) {
    if (!key_kept_) key_ = passed_key_.slice();
  } else {
    key_ = icmp_->KeyOf(batch_.at->key());
  }
  valid_ = MergeOperandsNow();
}

// The position of the key's newest visible entry was not kept, so it is searched again.
void UserKeyWalk::MergeBackward() {
  // Nothing covers the operand.
  if (!GoToVisible(PackSequenceAndType(kMaxSequenceNumber, kTypeMerge))) return;
  const bool collected = CollectOperands();
  // If the source is after the operands, all of them are pinned already.
  const bool behind = std::exchange(is_past_, false);
  if (!collected) return;
  if (!behind) PinOperands();
  if (!ReseekBackward()) return;
  valid_ = MergeOperandsNow();
}

// Collects the operands of passed_key_ from the source's position to the base or to the end of the
// key. Leaves the source on the last entry that belongs to it or, with is_past_, on the next one.
// Returns false if the walk has failed.
bool UserKeyWalk::CollectOperands() {
  if (merging_ == nullptr) merging_ = std::make_unique<Merging>();
  MergeOperands& operands = merging_->operands;
  VARVE_ASSERT(AtEntry());
  VARVE_ASSERT(operands.size() == 0);  // ensured by ForgetMerge
  merged_ = true;
  is_past_ = false;
  merging_->pinned = 0;
  for (;;) {
    const BatchEntry* const first = batch_.at;
    batch_.at = LastOfOperands(first);
    operands.AddPinned({first, batch_.at + 1});
    bool more = StepInKey();
    // A version that was written later may have an older timestamp.
    while (has_timestamps_ && more && !Visible(*batch_.at)) more = StepInKey();
    if (!more) break;
    const uint64_t trailer = ExtractTrailer(batch_.at->key());
    if (tombstones_->MaxCoveringSeq(passed_key_.slice(), sequence_) > UnpackSequence(trailer)) {
      return true;
    }
    switch (UnpackType(trailer)) {
      case kTypeMerge:
        break;
      case kTypeValue:
        operands.AddPinnedBase(batch_.at->value());
        return true;
      case kTypeDeletion:
      case kTypeSingleDeletion:
      case kTypeDeletionWithTimestamp:
        return true;
      default:
        (void)RefuseType(trailer);
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
  if (has_timestamps_ || !tombstones_->empty()) return at;
  while (at + 1 != batch_.end && at[1].same_key == SameKey::kYes &&
         UnpackType(ExtractTrailer(at[1].key())) == kTypeMerge) {
    at++;
  }
  return at;
}

// Moves to the entry after the batch, which may not exist. Returns false if it is not one of
// passed_key_.
bool UserKeyWalk::MoveOverOperands() {
  PinOperands();
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

// Must be called before the source moves.
void UserKeyWalk::PinOperands() {
  VARVE_ASSERT(merging_ != nullptr && merging_->pinned <= merging_->operands.size());
  MergeOperands& operands = merging_->operands;
  if (kCopyMergeOperands || !source_->PinBatch(operands.NewShare())) {
    operands.CopyFrom(merging_->pinned);
  }
  merging_->pinned = operands.slices().size();
}

bool UserKeyWalk::MergeOperandsNow() {
  MergeOperands& operands = merging_->operands;
  std::string& buffer = merging_->buffer;
  const size_t n = operands.size();
  VARVE_ASSERT(n > 0 && status_.ok());
  AddPerfCount<&PerfContext::internal_merge_count>(n);
  RecordInHistogram(statistics_, READ_NUM_MERGE_OPERANDS, n);
  if constexpr (kCopyMergeOperands) operands.CopyFrom(merging_->pinned);
  operands.PutOldestFirst();
  const MergeCaller& merger = merger_ != nullptr ? *merger_ : kNoMerger;
  Status s = merger.Full(passed_key_.slice(), operands.base(), operands.slices(), &buffer, &value_);
  if (s.ok()) {
    if constexpr (kCopyMergeOperands) value_ = buffer.assign(value_.data(), value_.size());
    return true;
  }
  Fail(std::move(s));
  return false;
}

}  // namespace varve
