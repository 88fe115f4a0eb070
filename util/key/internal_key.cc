// SPDX-License-Identifier: Apache-2.0

// Implements encoding and description of internal keys, and recognition of the built-in
// comparators.

#include "util/key/internal_key.h"

#include "util/base/assert.h"
#include "util/base/canary.h"

namespace varve {
namespace {

// Compares addresses: a comparator of the program that has the name of a built-in one may have
// another order, and is called.
KeyOrder OrderOf(const Comparator* comparator) {
  if (comparator == BytewiseComparator()) return KeyOrder::kBytewise;
  if (comparator == ReverseBytewiseComparator()) return KeyOrder::kReverseBytewise;
  if (comparator == BytewiseComparatorWithU64Ts()) return KeyOrder::kBytewiseU64Ts;
  if (comparator == ReverseBytewiseComparatorWithU64Ts()) return KeyOrder::kReverseBytewiseU64Ts;
  return KeyOrder::kCustom;
}

}  // namespace

const Comparator* ComparatorWithoutTimestamp(const Comparator* comparator) {
  switch (OrderOf(comparator)) {
    case KeyOrder::kBytewiseU64Ts:
      return BytewiseComparator();
    case KeyOrder::kReverseBytewiseU64Ts:
      return ReverseBytewiseComparator();
    default:
      return nullptr;
  }
}

std::string ParsedInternalKey::DebugString(bool show_key) const {
  std::string text = show_key ? "0x" + user_key.ToString(/*hex=*/true)
                              : std::to_string(user_key.size()) + "-byte key";
  text += " seq:" + std::to_string(sequence) + " type:" + std::to_string(type);
  return text;
}

Status DescribeBadInternalKey(const Slice& internal_key, const Slice& where) {
  if (internal_key.size() < kInternalKeyTrailerBytes) {
    return Status::Corruption(where, "internal key of " + std::to_string(internal_key.size()) +
                                         " bytes is shorter than its 8-byte trailer");
  }
  const ParsedInternalKey key(ExtractUserKey(internal_key), ExtractSequence(internal_key),
                              ExtractValueType(internal_key));
  return Status::Corruption(where, "internal key of unknown type: " + key.DebugString(false));
}

void AppendInternalKey(std::string* dst, const ParsedInternalKey& key) {
  AppendInternalKey(dst, key.user_key, key.sequence, key.type);
}

void AppendInternalKey(std::string* dst, const Slice& user_key, SequenceNumber sequence,
                       ValueType type) {
  VARVE_ASSERT(sequence <= kMaxSequenceNumber);
  dst->reserve(dst->size() + user_key.size() + kInternalKeyTrailerBytes);
  dst->append(user_key.data(), user_key.size());
  PutFixed64(dst, PackSequenceAndType(sequence, type));
}

InternalKeyComparator::InternalKeyComparator(const Comparator* user_comparator)
    : user_comparator_(user_comparator),
      timestamp_size_(user_comparator->timestamp_size()),
      order_(OrderOf(user_comparator)) {}

// A damaged key without room for a timestamp sorts as an empty key with the oldest timestamp;
// nothing is read before its start.
int InternalKeyComparator::CompareWithU64Ts(const Slice& a, const Slice& b) const {
  const Slice key_a = WithoutTail(a, sizeof(uint64_t));
  const Slice key_b = WithoutTail(b, sizeof(uint64_t));
  const int order = IsReverse(order_) ? CompareBytes(key_b, key_a) : CompareBytes(key_a, key_b);
  if (order != 0) return order;
  const uint64_t ts_a = U64TsOf(TimestampOf(a));
  const uint64_t ts_b = U64TsOf(TimestampOf(b));
  if (VARVE_CANARY(kTimestampsDescending)) return ts_a < ts_b ? -1 : (ts_a > ts_b ? 1 : 0);
  return ts_a > ts_b ? -1 : (ts_a < ts_b ? 1 : 0);
}

bool InternalKeyComparator::EqualByUser(const Slice& a, const Slice& b) const {
  return timestamp_size_ == 0 ? user_comparator_->Equal(a, b)
                              : user_comparator_->CompareWithoutTimestamp(a, false, b, false) == 0;
}

bool InternalKey::DecodeFrom(const Slice& encoded) {
  rep_.clear();
  if (encoded.size() < kInternalKeyTrailerBytes) return false;
  rep_.assign(encoded.data(), encoded.size());
  return true;
}

}  // namespace varve
