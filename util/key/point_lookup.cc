// SPDX-License-Identifier: Apache-2.0

// The state of a search, and how entries change it:
//
//     kSearching --value, entity--> kFound        after operands: it is their base, kMerging
//                --deletion-------> kDeleted      after operands: they have no base
//                --reference------> kReference    after operands: it is their base, kMerging
//                --operand--------> kSearching    it is collected; kMerging if no more are wanted
//                --cannot be read-> kFailed
//
// An entry that a range tombstone found earlier covers counts as a deletion; with timestamps as
// absent, because an entry after it may have a newer sequence number and an older timestamp.
//
// A small value is copied; a larger one is pinned where it lies, if its source can (ValuePin).
// In an Epoch::Guard no operand is taken, as the operator would run for as long as it likes: the
// lookup notes that it was put off, and the source offers the block again under a reference.

#include "util/key/point_lookup.h"

#include <cstring>

#include "util/base/canary.h"
#include "util/coding/fixed.h"
#include "util/coding/hash.h"
#include "util/key/merge_caller.h"
#include "util/key/range_tombstone.h"
#include "util/sync/epoch.h"

namespace varve {

namespace {

// Up to this size a copy is cheaper than a pin's reference count, and leaves the block evictable.
constexpr size_t kCopyBytesMax = 256;

}  // namespace

void PointLookup::Free() {
  if (buffer_ != inline_) delete[] buffer_;
  if (operands_ != nullptr) MergeOperands::Release(operands_);
}

void PointLookup::ComputeHash() const {
  hash_ = KeyHash64(buffer_, key_bytes_);
  hashed_ = true;
}

// The buffer and its two targets; key() and the last timestamp stay where they are:
//
//   with       | key | timestamp of read | trailer | last timestamp |
//   without    | key | trailer | ...
//
// The trailer takes the place of the timestamp, which Leave restores from as_of_.
void PointLookup::EnterKeysWithoutTimestamp() {
  if (icmp_ == nullptr || in_keys_without_timestamp_) return;
  in_keys_without_timestamp_ = true;
  size_ = key_bytes_ + kInternalKeyTrailerBytes;
  EncodeFixed64(buffer_ + key_bytes_, PackSequenceAndType(snapshot_, kValueTypeForSeek));
}

void PointLookup::LeaveKeysWithoutTimestamp() {
  if (!in_keys_without_timestamp_) return;
  in_keys_without_timestamp_ = false;
  size_ = key_bytes_ + as_of_.size() + kInternalKeyTrailerBytes;
  memcpy(buffer_ + key_bytes_, as_of_.data(), as_of_.size());
  EncodeFixed64(buffer_ + size_ - kInternalKeyTrailerBytes,
                PackSequenceAndType(snapshot_, kValueTypeForSeek));
}

// Stores the timestamp for the caller; for a merge, that of the newest operand.
void PointLookup::Report(const Slice& timestamp) {
  if (timestamp_ == nullptr || operands_ != nullptr) return;
  const Slice& shown = timestamp.empty() ? icmp_->user_comparator()->GetMinTimestamp() : timestamp;
  timestamp_->assign(shown.data(), shown.size());
}

bool PointLookup::SeesTimestampOf(const Slice& user_key, uint64_t trailer) {
  const Slice timestamp = in_keys_without_timestamp_ ? icmp_->user_comparator()->GetMinTimestamp()
                                                     : icmp_->TimestampOf(user_key);
  if (icmp_->CompareTimestamp(timestamp, as_of_) > 0) return false;
  // A covered entry does not decide the result.
  if (UnpackSequence(trailer) >= covering_seq_) {
    Report(timestamp);
    NoteLast(timestamp);
  }
  return true;
}

// Sources come newest first; an entry whose timestamp is newer than that of the entry before shows
// that their timestamps do not follow the order of sources.
void PointLookup::NoteLast(const Slice& timestamp) {
  out_of_order_ |= has_last_ && icmp_->CompareTimestamp(timestamp, last_timestamp()) > 0;
  has_last_ = true;
  memcpy(LastTimestamp(), timestamp.data(), as_of_.size());
}

// Sets back all that the search has found, and keeps what the caller has asked for: so the list of
// CollectInto stays, and value_ stays null.
void PointLookup::Restart() {
  LeaveKeysWithoutTimestamp();
  state_ = State::kSearching;
  status_ = Status::OK();
  covering_seq_ = found_seq_ = 0;
  deferred_ = has_last_ = out_of_order_ = base_is_reference_ = false;
  is_entity_ = false;
  if (timestamp_ != nullptr) timestamp_->clear();
  if (operands_ != nullptr && operands_->wants_value) {
    MergeOperands::Release(std::exchange(operands_, nullptr));
    value_ = result_;
  } else if (operands_ != nullptr) {
    operands_->DropAll();
  }
  if (value_ != nullptr) value_->Reset();
}

// Adds the next older operand. Returns true if the search of this source ends: the operator or the
// caller wants no more operands, the lookup has failed, or the operand is put off (deferred_).
[[gnu::noinline]] bool PointLookup::OfferOperand(const Slice& value, ValuePin* pin) {
  // The operand's block may go when the epoch ends, and the operator could run for long: the caller
  // searches the block again while it holds a reference.
  if (Epoch::Inside()) {
    deferred_ = true;
    return true;
  }
  if (operands_ == nullptr) {
    if (merger_ == nullptr || !merger_->has_operator()) {
      std::string no_buffer;
      Slice no_result;
      const MergeCaller none;
      const MergeCaller& merger = merger_ != nullptr ? *merger_ : none;
      ValueForm plain = ValueForm::kPlain;
      // Full makes the error of a missing operator, with the name of the family's earlier one.
      Fail(merger.Full(key(), nullptr, {}, &no_buffer, &no_result, &plain));
      return true;
    }
    operands_ = MergeOperands::Acquire();
    value_ = nullptr;
  }
  operands_->Add(value, pin);
  bool enough = false;
  if (operands_->wants_value) {
    enough = merger_->ShouldMerge(operands_->slices());
  } else if (operands_->continue_callback != nullptr) {
    try {
      enough = !(*operands_->continue_callback)(operands_->slices().back());
    } catch (...) {
      Fail(Status::Aborted("GetMergeOperands: continue_cb threw"));
      return true;
    }
  }
  if (enough) state_ = State::kMerging;
  return enough;
}

// Ends the search with a value, or with the base of operands.
[[gnu::always_inline]] inline void PointLookup::TakeValue(const Slice& value, ValuePin* pin) {
  state_ = State::kFound;
  if (value_ != nullptr) {
    Cleanable* const share =
        pin != nullptr && value.size() > kCopyBytesMax ? pin->Renew() : nullptr;
    if (share != nullptr) {
      value_->PinSlice(value, share);
    } else {
      value_->PinSelf(value);
    }
  } else if (operands_ != nullptr) {
    operands_->AddBase(value, pin);
    state_ = State::kMerging;
  }
}

// Takes the whole entity if that was asked for, or is to be merged; otherwise what plain reads see.
[[gnu::noinline]] bool PointLookup::OfferEntity(const Slice& entity, ValuePin* pin) {
  Slice shown = entity;
  if (operands_ != nullptr && operands_->wants_value) {
    operands_->SetBaseIsEntity();
  } else if (wants_entity_) {
    is_entity_ = true;
  } else if (const Status s = DefaultColumnOf(entity, &shown); !s.ok()) {
    Fail(Status::CopyAppendMessage(s, "; ", "of key " + key().ToString(/*hex=*/true)));
    return true;
  }
  TakeValue(shown, pin);
  if (VARVE_CANARY(kDefaultColumnAbsent) && shown.empty()) state_ = State::kDeleted;
  return true;
}

void PointLookup::CoverWith(const FragmentedTombstones& tombstones) {
  if (ignores_tombstones_ && !VARVE_CANARY(kCoverThoughIgnored)) return;
  // Nothing in the list can be newer than the tombstone that covers the key already.
  if (tombstones.max_seq() <= covering_seq_) return;
  Slice timestamp;
  const SequenceNumber seq =
      tombstones.MaxCoveringSeq(key(), snapshot_, TimestampLimit{as_of_, true}, &timestamp);
  if (seq > covering_seq_ && icmp_ != nullptr) Report(timestamp);
  CoverWith(seq);
}

bool PointLookup::Offer(uint64_t trailer, const Slice& value, ValuePin* pin) {
  const SequenceNumber seq = trailer >> 8;
  found_seq_ = seq;
  if (seq < covering_seq_) {
    // With timestamps, a later entry may have a newer sequence number, so the search goes on.
    if (icmp_ != nullptr) return false;
    // Without, every later entry is older still. Operands that were found are merged without a
    // base.
    state_ = State::kDeleted;
    return true;
  }
  switch (static_cast<ValueType>(trailer & 0xff)) {
    case kTypeValue:
      TakeValue(value, pin);
      return true;
    case kTypeDeletion:
    case kTypeSingleDeletion:
    case kTypeDeletionWithTimestamp:
      state_ = State::kDeleted;
      return true;
    case kTypeMerge:
      return OfferOperand(value, pin);
    case kTypeBlobIndex:
      state_ = State::kReference;
      if (value_ != nullptr) {
        value_->PinSelf(value);
      } else if (operands_ != nullptr) {
        operands_->AddBase(value, pin);
        base_is_reference_ = true;
        state_ = State::kMerging;
      }
      return true;
    case kTypeWideColumnEntity:
      return OfferEntity(value, pin);
    default:
      Fail(Status::Corruption("entry of unknown type " + std::to_string(trailer & 0xff)));
      return true;
  }
}

}  // namespace varve
