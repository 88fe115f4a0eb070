// SPDX-License-Identifier: Apache-2.0
#pragma once

// Internal keys: a user key followed by eight bytes that hold sequence << 8 | type.
//
// They sort by user key ascending, then by those eight bytes descending, so that the newest entry
// of a key comes first and, at one sequence number, the larger type.
//
// Under a comparator with timestamps a user key ends with one, and of the versions of a key the
// largest timestamp comes first. "Key" alone means the user key without it.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "varve/comparator.h"
#include "varve/slice.h"
#include "varve/status.h"
#include "varve/types.h"

#include "util/base/assert.h"
#include "util/coding/fixed.h"
#include "util/metrics/perf_counters.h"

namespace varve {

// Kinds of entries. The numbers are stored, in logs as tags and in tables as part of keys.
enum ValueType : uint8_t {
  kTypeDeletion = 0x00,
  kTypeValue = 0x01,
  kTypeMerge = 0x02,
  kTypeLogData = 0x03,               // log only
  kTypeColumnFamilyDeletion = 0x04,  // log only
  kTypeColumnFamilyValue = 0x05,     // log only
  kTypeColumnFamilyMerge = 0x06,     // log only
  kTypeSingleDeletion = 0x07,
  kTypeColumnFamilySingleDeletion = 0x08,  // log only
  kTypeBeginPrepareXID = 0x09,             // log only
  kTypeEndPrepareXID = 0x0A,               // log only
  kTypeCommitXID = 0x0B,                   // log only
  kTypeRollbackXID = 0x0C,                 // log only
  kTypeNoop = 0x0D,                        // log only
  kTypeColumnFamilyRangeDeletion = 0x0E,   // log only
  kTypeRangeDeletion = 0x0F,               // in tables only in the range-deletion block
  kTypeColumnFamilyBlobIndex = 0x10,       // log only
  kTypeBlobIndex = 0x11,
  kTypeBeginPersistedPrepareXID = 0x12,  // log only
  kTypeBeginUnprepareXID = 0x13,         // log only
  kTypeDeletionWithTimestamp = 0x14,
  kTypeCommitXIDAndTimestamp = 0x15,  // log only
  kTypeWideColumnEntity = 0x16,
  kTypeColumnFamilyWideColumnEntity = 0x17,  // log only
  kTypeValuePreferredSeqno = 0x18,
  kTypeColumnFamilyValuePreferredSeqno = 0x19,  // log only
  kTypeMaxValid,                                // one past the largest number in use
  kTypeMax = 0x7F,                              // never stored
};

// With these and a sequence number, the internal key sorts before (after) every entry of its user
// key that has this sequence number.
inline constexpr ValueType kValueTypeForSeek = kTypeValuePreferredSeqno;
inline constexpr ValueType kValueTypeForSeekForPrev = kTypeDeletion;

// Sequence numbers have 56 bits.
inline constexpr SequenceNumber kMaxSequenceNumber = (uint64_t{1} << 56) - 1;
inline constexpr size_t kInternalKeyTrailerBytes = 8;

// True for the types that may stand in the key of a memtable or table entry.
[[nodiscard]] constexpr bool IsEntryType(uint8_t type) {
  constexpr uint32_t kEntryTypes = 1u << kTypeDeletion | 1u << kTypeValue | 1u << kTypeMerge |
                                   1u << kTypeSingleDeletion | 1u << kTypeRangeDeletion |
                                   1u << kTypeBlobIndex | 1u << kTypeDeletionWithTimestamp |
                                   1u << kTypeWideColumnEntity | 1u << kTypeValuePreferredSeqno;
  return type < 32 && (kEntryTypes >> type & 1) != 0;
}

[[nodiscard]] constexpr uint64_t PackSequenceAndType(SequenceNumber sequence, ValueType type) {
  return sequence << 8 | type;
}

[[nodiscard]] constexpr SequenceNumber UnpackSequence(uint64_t trailer) {
  return trailer >> 8;
}
[[nodiscard]] constexpr ValueType UnpackType(uint64_t trailer) {
  return static_cast<ValueType>(trailer & 0xff);
}

// An internal key taken apart. user_key points into what was parsed.
struct ParsedInternalKey {
  Slice user_key;
  SequenceNumber sequence = kMaxSequenceNumber;
  ValueType type = kTypeDeletion;

  ParsedInternalKey() = default;
  ParsedInternalKey(const Slice& key, SequenceNumber seq, ValueType value_type)
      : user_key(key), sequence(seq), type(value_type) {}

  // Sequence, type and size of the key, with the key in hex only if asked for.
  [[nodiscard]] std::string DebugString(bool show_key) const;
};

// Requires: internal_key.size() >= 8, as for every key that ParseInternalKey accepted.
[[nodiscard]] inline Slice ExtractUserKey(const Slice& internal_key) {
  VARVE_ASSERT(internal_key.size() >= kInternalKeyTrailerBytes);
  return Slice(internal_key.data(), internal_key.size() - kInternalKeyTrailerBytes);
}

[[nodiscard]] inline uint64_t ExtractTrailer(const Slice& internal_key) {
  VARVE_ASSERT(internal_key.size() >= kInternalKeyTrailerBytes);
  return DecodeFixed64(internal_key.data() + internal_key.size() - kInternalKeyTrailerBytes);
}

[[nodiscard]] inline SequenceNumber ExtractSequence(const Slice& internal_key) {
  return UnpackSequence(ExtractTrailer(internal_key));
}

[[nodiscard]] inline ValueType ExtractValueType(const Slice& internal_key) {
  return UnpackType(ExtractTrailer(internal_key));
}

// Takes a boundary or separator apart: those may hold types that no entry has. False if the key
// is shorter than its trailer.
[[nodiscard]] inline bool ParseBoundaryKey(const Slice& internal_key, ParsedInternalKey* result) {
  if (internal_key.size() < kInternalKeyTrailerBytes) return false;
  const uint64_t trailer = ExtractTrailer(internal_key);
  result->user_key = ExtractUserKey(internal_key);
  result->sequence = UnpackSequence(trailer);
  result->type = UnpackType(trailer);
  return true;
}

// Takes the key of an entry apart. False if it is too short or its type is none that an entry may
// have; DescribeBadInternalKey then says which.
[[nodiscard]] inline bool ParseInternalKey(const Slice& internal_key, ParsedInternalKey* result) {
  return ParseBoundaryKey(internal_key, result) && IsEntryType(result->type);
}

// Corruption that says what is wrong with a key that ParseInternalKey refused. `where` names the
// file and the place in it. The key's bytes are not shown.
[[nodiscard]] Status DescribeBadInternalKey(const Slice& internal_key, const Slice& where);

// Appends to *dst.
void AppendInternalKey(std::string* dst, const ParsedInternalKey& key);
void AppendInternalKey(std::string* dst, const Slice& user_key, SequenceNumber sequence,
                       ValueType type);

// The eight bytes of `user_key` from offset `skip` on, its key prefix, as a big-endian number, zero
// where the key has ended. Among keys that share their first `skip` bytes this never orders two
// keys against their byte order; equal prefixes decide nothing.
[[nodiscard]] inline uint64_t KeyPrefix(const Slice& user_key, size_t skip) {
  const size_t size = user_key.size();
  if (size >= skip + 8) [[likely]]
    return DecodeBigEndian64(user_key.data() + skip);
  if (size <= skip) return 0;
  const size_t n = size - skip;
  if (size >= 8) {
    return DecodeBigEndian64(user_key.data() + size - 8) << (8 * (8 - n));
  }
  uint64_t prefix = 0;
  for (size_t i = 0; i < n; i++) {
    prefix |= uint64_t{static_cast<unsigned char>(user_key.data()[skip + i])} << (56 - 8 * i);
  }
  return prefix;
}

// Unsigned byte order, the shorter first when one is a prefix of the other; <0, 0 or >0.
[[nodiscard]] inline int CompareBytes(const Slice& a, const Slice& b) {
  const char* pa = a.data();
  const char* pb = b.data();
  size_t n = a.size() < b.size() ? a.size() : b.size();
  if (n >= 8) [[likely]] {
    const uint64_t wa = DecodeFixed64(pa);
    const uint64_t wb = DecodeFixed64(pb);
    if (wa != wb) return ByteSwap(wa) < ByteSwap(wb) ? -1 : 1;
    pa += 8;
    pb += 8;
    n -= 8;
  }
  const int order = n == 0 ? 0 : std::memcmp(pa, pb, n);
  if (order != 0) return order;
  return a.size() < b.size() ? -1 : (a.size() > b.size() ? 1 : 0);
}

// Keys of usual size take a few loads, where a call costs more than the comparison.
[[nodiscard]] inline bool EqualBytes(const Slice& a, const Slice& b) {
  const size_t n = a.size();
  if (n != b.size()) return false;
  if (n < 8 || n > 16) return n == 0 || std::memcmp(a.data(), b.data(), n) == 0;
  const uint64_t first = DecodeFixed64(a.data()) ^ DecodeFixed64(b.data());
  const uint64_t last = DecodeFixed64(a.data() + n - 8) ^ DecodeFixed64(b.data() + n - 8);
  return (first | last) == 0;
}

// Which code compares user keys.
enum class KeyOrder : uint8_t {
  kBytewise,              // BytewiseComparator(), inlined
  kBytewiseU64Ts,         // BytewiseComparatorWithU64Ts(), inlined
  kReverseBytewise,       // ReverseBytewiseComparator(), inlined
  kReverseBytewiseU64Ts,  // ReverseBytewiseComparatorWithU64Ts(), inlined
  kCustom,                // anything else, by a call
};

// Whether keys without timestamps are in the order of their bytes.
[[nodiscard]] constexpr bool IsForward(KeyOrder order) {
  return order <= KeyOrder::kBytewiseU64Ts;
}
// Whether keys are in the order of their bytes, or the reverse, and equal only if those are.
[[nodiscard]] constexpr bool BytesDecide(KeyOrder order) {
  return order != KeyOrder::kCustom;
}
[[nodiscard]] constexpr bool IsReverse(KeyOrder order) {
  return order == KeyOrder::kReverseBytewise || order == KeyOrder::kReverseBytewiseU64Ts;
}

// Without its last `n` bytes; a user key from a file may have fewer.
[[nodiscard]] inline Slice WithoutTail(const Slice& user_key, size_t n) {
  return Slice(user_key.data(), user_key.size() - std::min(n, user_key.size()));
}

// A timestamp that is cut off counts as the oldest.
[[nodiscard]] inline uint64_t U64TsOf(const Slice& timestamp) {
  return timestamp.size() == sizeof(uint64_t) ? DecodeFixed64(timestamp.data()) : 0;
}

class InternalKey;

// Of a built-in comparator with timestamps: the one that orders its keys without them. Null for
// others.
[[nodiscard]] const Comparator* ComparatorWithoutTimestamp(const Comparator* comparator);

// Orders internal keys by a user's comparator.
//
// Thread safety: may be used by many threads, as the user's comparator may.
// Lifetime: the user's comparator outlives it. Cheap to copy.
class InternalKeyComparator {
 public:
  explicit InternalKeyComparator(const Comparator* user_comparator);

  [[nodiscard]] const Comparator* user_comparator() const { return user_comparator_; }
  [[nodiscard]] KeyOrder order() const { return order_; }
  // Bytes of timestamp at the end of every user key; 0 for most comparators.
  [[nodiscard]] size_t timestamp_size() const { return timestamp_size_; }

  // The two parts of a user key. A damaged one may have no timestamp, which counts as empty.
  [[nodiscard]] Slice WithoutTimestamp(const Slice& user_key) const {
    return WithoutTail(user_key, timestamp_size_);
  }
  // Of an internal key.
  [[nodiscard]] Slice KeyOf(const Slice& internal_key) const {
    return WithoutTimestamp(ExtractUserKey(internal_key));
  }
  [[nodiscard]] Slice KeyOf(const InternalKey& internal_key) const;
  // What no entry of the key comes before.
  [[nodiscard]] InternalKey FirstInternalKey(const Slice& key) const;
  // User keys that no version of the key comes before, or after.
  [[nodiscard]] std::string FirstUserKey(const Slice& key) const {
    return key.ToString() + user_comparator_->GetMaxTimestamp().ToString();
  }
  [[nodiscard]] std::string LastUserKey(const Slice& key) const {
    return key.ToString() + user_comparator_->GetMinTimestamp().ToString();
  }
  [[nodiscard]] Slice TimestampOf(const Slice& user_key) const {
    const size_t key_bytes = WithoutTail(user_key, timestamp_size_).size();
    return Slice(user_key.data() + key_bytes, user_key.size() - key_bytes);
  }

  // User keys, with their timestamps.
  [[nodiscard]] int CompareUserKey(const Slice& a, const Slice& b) const {
    CountUserKeyComparison();
    if (order_ == KeyOrder::kBytewise) [[likely]]
      return CompareBytes(a, b);
    if (order_ == KeyOrder::kReverseBytewise) return CompareBytes(b, a);
    return BytesDecide(order_) ? CompareWithU64Ts(a, b) : user_comparator_->Compare(a, b);
  }

  // Keys, without timestamps.
  [[nodiscard]] int CompareKey(const Slice& a, const Slice& b) const {
    CountUserKeyComparison();
    if (IsForward(order_)) [[likely]]
      return CompareBytes(a, b);
    return BytesDecide(order_) ? CompareBytes(b, a)
                               : user_comparator_->CompareWithoutTimestamp(a, false, b, false);
  }
  [[nodiscard]] bool EqualKey(const Slice& a, const Slice& b) const {
    CountUserKeyComparison();
    if (BytesDecide(order_)) [[likely]]
      return EqualBytes(a, b);
    return EqualByUser(a, b);
  }
  // Order of timestamps, the older first.
  [[nodiscard]] int CompareTimestamp(const Slice& a, const Slice& b) const {
    if (!BytesDecide(order_)) return user_comparator_->CompareTimestamp(a, b);
    const uint64_t ts_a = U64TsOf(a);
    const uint64_t ts_b = U64TsOf(b);
    return ts_a < ts_b ? -1 : (ts_a > ts_b ? 1 : 0);
  }

  // Internal keys; both at least 8 bytes long.
  [[nodiscard]] int Compare(const Slice& a, const Slice& b) const {
    const int order = CompareUserKey(ExtractUserKey(a), ExtractUserKey(b));
    if (order != 0) return order;
    return CompareTrailers(ExtractTrailer(a), ExtractTrailer(b));
  }

  [[nodiscard]] int Compare(const ParsedInternalKey& a, const ParsedInternalKey& b) const {
    const int order = CompareUserKey(a.user_key, b.user_key);
    if (order != 0) return order;
    return CompareTrailers(PackSequenceAndType(a.sequence, a.type),
                           PackSequenceAndType(b.sequence, b.type));
  }

  // The larger trailer, which is the newer entry, comes first.
  [[nodiscard]] static constexpr int CompareTrailers(uint64_t a, uint64_t b) {
    return a > b ? -1 : (a < b ? 1 : 0);
  }

 private:
  [[nodiscard]] int CompareWithU64Ts(const Slice& a, const Slice& b) const;
  [[nodiscard]] bool EqualByUser(const Slice& a, const Slice& b) const;

  const Comparator* user_comparator_;
  size_t timestamp_size_;
  KeyOrder order_;
};

// An internal key that owns its bytes. A default-constructed one is empty and means "none".
class InternalKey {
 public:
  InternalKey() = default;
  InternalKey(const Slice& user_key, SequenceNumber sequence, ValueType type) {
    Set(user_key, sequence, type);
  }

  void Set(const Slice& user_key, SequenceNumber sequence, ValueType type) {
    rep_.clear();
    AppendInternalKey(&rep_, user_key, sequence, type);
  }
  // Takes bytes as they were stored. False, leaving the key empty, if they are too short.
  [[nodiscard]] bool DecodeFrom(const Slice& encoded);
  void Clear() { rep_.clear(); }

  [[nodiscard]] bool empty() const { return rep_.empty(); }
  [[nodiscard]] Slice Encode() const { return Slice(rep_); }
  // These require !empty().
  [[nodiscard]] Slice user_key() const { return ExtractUserKey(rep_); }
  [[nodiscard]] SequenceNumber sequence() const { return ExtractSequence(rep_); }
  [[nodiscard]] ValueType type() const { return ExtractValueType(rep_); }

  // Bytewise equality, not the comparator's.
  friend bool operator==(const InternalKey& a, const InternalKey& b) { return a.rep_ == b.rep_; }

 private:
  std::string rep_;
};

inline Slice InternalKeyComparator::KeyOf(const InternalKey& internal_key) const {
  return KeyOf(internal_key.Encode());
}

inline InternalKey InternalKeyComparator::FirstInternalKey(const Slice& key) const {
  return InternalKey(FirstUserKey(key), kMaxSequenceNumber, kValueTypeForSeek);
}

}  // namespace varve
