// SPDX-License-Identifier: Apache-2.0

// Collects operands without copying what can stay in place. Copies share pieces of 16 KiB; larger
// ones have memory of their own. A thread keeps one collector, with its first piece, from one merge
// to the next, since allocating them would cost more than a short merge.

#include "util/key/merge_operands.h"

#include <cstring>
#include <utility>

namespace varve {

namespace {

constexpr size_t kRoomBytes = 16 << 10;
// Larger copies get memory of their own.
constexpr size_t kSharedRoomBytesMax = 1 << 10;
// A spare object with a larger list is not kept.
constexpr size_t kSpareSlicesMax = 64 << 10;

// One is enough: except in a MultiGet, a thread merges one key at a time.
thread_local std::unique_ptr<MergeOperands> spare;

}  // namespace

MergeOperands* MergeOperands::Acquire() {
  return spare != nullptr ? spare.release() : new MergeOperands();
}

void MergeOperands::Release(MergeOperands* operands) {
  std::unique_ptr<MergeOperands> owned(operands);
  owned->Clear();
  if (spare == nullptr && owned->slices_.capacity() <= kSpareSlicesMax) spare = std::move(owned);
}

void MergeOperands::Clear() {
  DropAll();
  continue_callback = nullptr;
  wants_value = true;
}

void MergeOperands::DropAll() {
  slices_.clear();
  has_base_ = false;
  base_form_ = ValueForm::kPlain;
  in_memtables_ = 0;
  shares_.clear();
  more_room_.clear();
  // The first piece is used anew, so that a thread that merges key after key allocates it once.
  room_ = first_room_.get();
  room_left_ = room_ != nullptr ? kRoomBytes : 0;
}

Slice MergeOperands::KeepOfBlock(const Slice& value, ValuePin* pin) {
  if (value.size() < kSharedBytesMin) return Copy(value);
  const size_t at = slices_.size();
  // One share serves all operands of the block that are added after each other, hence the flag in
  // the pin.
  if (!pin->operands_have_share) {
    Cleanable* const share = pin->Renew();
    if (share == nullptr) return Copy(value);
    share->DelegateCleanupsTo(NewShare());
    pin->operands_have_share = true;
  }
  shares_.back().end = at + 1;
  return value;
}

Cleanable* MergeOperands::NewShare() {
  const size_t at = slices_.size();
  shares_.push_back(Share{at, at, Cleanable()});
  return &shares_.back().cleanable;
}

Cleanable* MergeOperands::ShareOf(size_t i) {
  for (Share& share : shares_) {
    if (share.first <= i && i < share.end) return &share.cleanable;
  }
  return nullptr;
}

void MergeOperands::CopyFrom(size_t first) {
  for (size_t i = first; i < slices_.size(); i++) slices_[i] = Copy(slices_[i]);
  if (has_base_) base_ = Copy(base_);
}

void MergeOperands::CopyFromMemTables(size_t most) {
  // The newest operands lie in memtables. If all of them do, and the base too, in_memtables_ counts
  // the base as one more.
  const size_t n = std::min(in_memtables_, slices_.size());
  for (size_t i = 0; i < n; i++) {
    if (slices_[i].size() > most) slices_[i] = Copy(slices_[i]);
  }
  if (in_memtables_ > slices_.size() && base_.size() > most) base_ = Copy(base_);
}

// Pieces never move, so the slices of earlier copies stay valid.
Slice MergeOperands::Copy(const Slice& value) {
  const size_t n = value.size();
  if (n == 0) return Slice();  // It has an address: null would mean no value.
  char* to;
  if (kCopyMergeOperands || n > kSharedRoomBytesMax) {
    more_room_.push_back(std::make_unique_for_overwrite<char[]>(n));
    to = more_room_.back().get();
  } else {
    if (n > room_left_) {
      std::unique_ptr<char[]> fresh = std::make_unique_for_overwrite<char[]>(kRoomBytes);
      room_ = fresh.get();
      room_left_ = kRoomBytes;
      if (first_room_ == nullptr) {
        first_room_ = std::move(fresh);
      } else {
        more_room_.push_back(std::move(fresh));
      }
    }
    to = std::exchange(room_, room_ + n);
    room_left_ -= n;
  }
  memcpy(to, value.data(), n);
  return Slice(to, n);
}

}  // namespace varve
