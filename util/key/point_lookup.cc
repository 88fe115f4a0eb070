// SPDX-License-Identifier: Apache-2.0
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

void PointLookup::NoteLast(const Slice& timestamp) {
  out_of_order_ |= has_last_ && icmp_->CompareTimestamp(timestamp, last_timestamp()) > 0;
  has_last_ = true;
  memcpy(LastTimestamp(), timestamp.data(), as_of_.size());
}

void PointLookup::Restart() {
  LeaveKeysWithoutTimestamp();
  state_ = State::kSearching;
  status_ = Status::OK();
  covering_seq_ = found_seq_ = 0;
  deferred_ = has_last_ = out_of_order_ = false;
  if (timestamp_ != nullptr) timestamp_->clear();
  if (operands_ != nullptr && operands_->wants_value) {
    MergeOperands::Release(std::exchange(operands_, nullptr));
    value_ = result_;
  } else if (operands_ != nullptr) {
    operands_->DropAll();
  }
  if (value_ != nullptr) value_->Reset();
}

// Adds the next older operand and returns true if the operator or the caller wants no more.
[[gnu::noinline]] bool PointLookup::OfferOperand(const Slice& value, ValuePin* pin) {
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
      Fail(merger.Full(key(), nullptr, {}, &no_buffer, &no_result));
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

void PointLookup::CoverWith(const FragmentedTombstones& tombstones) {
  if (ignores_tombstones_ && !VARVE_CANARY(kCoverThoughIgnored)) return;
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
    // Later entries may have been written later, with an older timestamp.
    if (icmp_ != nullptr) return false;
    state_ = State::kDeleted;
    return true;
  }
  switch (static_cast<ValueType>(trailer & 0xff)) {
    case kTypeValue:
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
      return true;
    case kTypeDeletion:
    case kTypeSingleDeletion:
    case kTypeDeletionWithTimestamp:
      state_ = State::kDeleted;
      return true;
    case kTypeMerge:
      return OfferOperand(value, pin);
    case kTypeBlobIndex:
      Fail(Status::NotSupported("reading a blob reference: enable_blob_files is not supported"));
      return true;
    case kTypeWideColumnEntity:
      Fail(Status::NotSupported("reading a wide-column entity is not supported"));
      return true;
    default:
      Fail(Status::Corruption("entry of unknown type " + std::to_string(trailer & 0xff)));
      return true;
  }
}

}  // namespace varve
