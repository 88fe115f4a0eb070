// SPDX-License-Identifier: Apache-2.0
#include "util/key/point_lookup.h"

#include <cstring>

#include "util/coding/fixed.h"
#include "util/coding/hash.h"

namespace varve {

namespace {

// Up to here a copy is cheaper than a pin's reference count, and leaves the block evictable.
constexpr size_t kCopyBytesMax = 256;

}  // namespace

PointLookup::PointLookup(const Slice& user_key, SequenceNumber snapshot, PinnableSlice* value)
    : snapshot_(snapshot), value_(value), size_(user_key.size() + 8) {
  buffer_ = size_ <= kInlineBytes ? inline_ : new char[size_];
  memcpy(buffer_, user_key.data(), user_key.size());
  EncodeFixed64(buffer_ + user_key.size(), PackSequenceAndType(snapshot, kValueTypeForSeek));
}

PointLookup::~PointLookup() {
  if (buffer_ != inline_) delete[] buffer_;
}

void PointLookup::ComputeHash() const {
  hash_ = KeyHash64(buffer_, size_ - 8);
  hashed_ = true;
}

bool PointLookup::Offer(uint64_t trailer, const Slice& value, Cleanable* pin) {
  const SequenceNumber seq = trailer >> 8;
  found_seq_ = seq;
  if (seq < covering_seq_) {
    state_ = State::kDeleted;
    return true;
  }
  switch (static_cast<ValueType>(trailer & 0xff)) {
    case kTypeValue:
      state_ = State::kFound;
      if (value_ != nullptr) {
        if (pin != nullptr && value.size() > kCopyBytesMax) {
          value_->PinSlice(value, pin);
        } else {
          value_->PinSelf(value);
        }
      }
      return true;
    case kTypeDeletion:
    case kTypeSingleDeletion:
    case kTypeDeletionWithTimestamp:
      state_ = State::kDeleted;
      return true;
    case kTypeMerge:
      Fail(Status::NotSupported(
          "reading a merge operand: merge_operator is not supported by this version"));
      return true;
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
