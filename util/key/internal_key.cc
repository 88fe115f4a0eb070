// SPDX-License-Identifier: Apache-2.0

// Encoding, description and comparator recognition of internal keys.

#include "util/key/internal_key.h"

namespace varve {
namespace {

KeyOrder OrderOf(const Comparator* comparator) {
  if (comparator == BytewiseComparator()) return KeyOrder::kBytewise;
  if (comparator == ReverseBytewiseComparator()) return KeyOrder::kReverseBytewise;
  return KeyOrder::kCustom;
}

}  // namespace

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
  assert(sequence <= kMaxSequenceNumber);
  dst->reserve(dst->size() + user_key.size() + kInternalKeyTrailerBytes);
  dst->append(user_key.data(), user_key.size());
  PutFixed64(dst, PackSequenceAndType(sequence, type));
}

InternalKeyComparator::InternalKeyComparator(const Comparator* user_comparator)
    : user_comparator_(user_comparator),
      timestamp_size_(user_comparator->timestamp_size()),
      order_(OrderOf(user_comparator)) {}

bool InternalKey::DecodeFrom(const Slice& encoded) {
  rep_.clear();
  if (encoded.size() < kInternalKeyTrailerBytes) return false;
  rep_.assign(encoded.data(), encoded.size());
  return true;
}

}  // namespace varve
