// SPDX-License-Identifier: Apache-2.0
#pragma once

// An internal key is a user key followed by eight bytes that hold sequence << 8 | type. It is what
// memtables and tables are sorted by, so it is the most compared object of the engine; comparisons
// are inlined for the built-in orders.
//
//    user key "k1" | sequence 12, value          stored as k 1 | 01 0c 00 00 00 00 00 00
//    user key "k1" | sequence 7, deletion        older versions of a key sort after newer ones
//    user key "k2" | sequence 9, value
// Internal keys sort by user key ascending, then by those eight bytes descending, so that the
// newest entry of a key comes first and, at one sequence number, the larger type.
//
// Under a comparator with timestamps a user key ends with a timestamp, and the version of a key
// with the largest timestamp comes first. "Key" alone means the user key without it.

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

// The kinds of entries. The numbers are stored: in logs as tags, in tables as part of keys.
enum ValueType : uint8_t {
  // These are the deletion of a key without a timestamp, a value, and an operand of a merge.
  kTypeDeletion = 0x00,
  kTypeValue = 0x01,
  kTypeMerge = 0x02,
  // A log-data record has no key and no sequence number. The next three are the first three types
  // in a family other than the default one: the family's id follows the tag.
  kTypeLogData = 0x03,               // log only
  kTypeColumnFamilyDeletion = 0x04,  // log only
  kTypeColumnFamilyValue = 0x05,     // log only
  kTypeColumnFamilyMerge = 0x06,     // log only
  // Deletes a key that was written at most once since it was last deleted.
  kTypeSingleDeletion = 0x07,
  kTypeColumnFamilySingleDeletion = 0x08,  // log only
  // Marks of two-phase commit: the updates of a prepared transaction stand between a begin and an
  // end mark, and a later record commits the transaction or rolls it back.
  kTypeBeginPrepareXID = 0x09,  // log only
  kTypeEndPrepareXID = 0x0A,    // log only
  kTypeCommitXID = 0x0B,        // log only
  kTypeRollbackXID = 0x0C,      // log only
  // Changes nothing; RocksDB's WRITE_PREPARED ends batches with it.
  kTypeNoop = 0x0D,                       // log only
  kTypeColumnFamilyRangeDeletion = 0x0E,  // log only
  // The value of a range deletion is the end of its range, which is not deleted.
  kTypeRangeDeletion = 0x0F,          // in tables only in the range-deletion block
  kTypeColumnFamilyBlobIndex = 0x10,  // log only
  // The value is a reference into a blob file.
  kTypeBlobIndex = 0x11,
  // These begin a prepared transaction of RocksDB's WRITE_PREPARED and WRITE_UNPREPARED.
  kTypeBeginPersistedPrepareXID = 0x12,  // log only
  kTypeBeginUnprepareXID = 0x13,         // log only
  // Deletes a key under a comparator with timestamps, as of its own timestamp.
  kTypeDeletionWithTimestamp = 0x14,
  // Commits a transaction, whose entries get a timestamp.
  kTypeCommitXIDAndTimestamp = 0x15,  // log only
  // The value is a list of columns (util/key/entity.h).
  kTypeWideColumnEntity = 0x16,
  kTypeColumnFamilyWideColumnEntity = 0x17,  // log only
  // A put with a write time (RocksDB's TimedPut), which is not supported.
  kTypeValuePreferredSeqno = 0x18,
  kTypeColumnFamilyValuePreferredSeqno = 0x19,  // log only
  kTypeMaxValid,                                // one past the largest number in use
  kTypeMax = 0x7F,                              // never stored
};

// An internal key with one of these types and a sequence number sorts before (after) every entry of
// its user key that has this sequence number.
inline constexpr ValueType kValueTypeForSeek = kTypeValuePreferredSeqno;
inline constexpr ValueType kValueTypeForSeekForPrev = kTypeDeletion;

// Sequence numbers have 56 bits.
inline constexpr SequenceNumber kMaxSequenceNumber = (uint64_t{1} << 56) - 1;
inline constexpr size_t kInternalKeyTrailerBytes = 8;

// True for the types that the key of a memtable or table entry may have.
[[nodiscard]] constexpr bool IsEntryType(uint8_t type) {
  constexpr uint32_t kEntryTypes = 1u << kTypeDeletion | 1u << kTypeValue | 1u << kTypeMerge |
                                   1u << kTypeSingleDeletion | 1u << kTypeRangeDeletion |
                                   1u << kTypeBlobIndex | 1u << kTypeDeletionWithTimestamp |
                                   1u << kTypeWideColumnEntity | 1u << kTypeValuePreferredSeqno;
  return type < 32 && (kEntryTypes >> type & 1) != 0;
}

// Returns the trailer of an entry. Requires that the sequence number has at most 56 bits.
[[nodiscard]] constexpr uint64_t PackSequenceAndType(SequenceNumber sequence, ValueType type) {
  return sequence << 8 | type;
}

// Return the parts of a trailer.
[[nodiscard]] constexpr SequenceNumber UnpackSequence(uint64_t trailer) {
  return trailer >> 8;
}
[[nodiscard]] constexpr ValueType UnpackType(uint64_t trailer) {
  return static_cast<ValueType>(trailer & 0xff);
}

// The parts of an internal key. user_key points into the parsed bytes.
struct ParsedInternalKey {
  // Includes the timestamp, if the comparator has timestamps.
  Slice user_key;
  SequenceNumber sequence = kMaxSequenceNumber;
  ValueType type = kTypeDeletion;

  ParsedInternalKey() = default;
  ParsedInternalKey(const Slice& key, SequenceNumber seq, ValueType value_type)
      : user_key(key), sequence(seq), type(value_type) {}

  // Returns sequence, type and size of the key as text, with the key in hex only if `show_key`.
  [[nodiscard]] std::string DebugString(bool show_key) const;
};

// Return the parts of an internal key. Requires internal_key.size() >= 8, which holds for every
// key that ParseInternalKey accepted.
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

// Parses a boundary or separator, which may hold types that no entry has. Returns false, and leaves
// *result, if the key is shorter than its trailer.
[[nodiscard]] inline bool ParseBoundaryKey(const Slice& internal_key, ParsedInternalKey* result) {
  if (internal_key.size() < kInternalKeyTrailerBytes) return false;
  const uint64_t trailer = ExtractTrailer(internal_key);
  result->user_key = ExtractUserKey(internal_key);
  result->sequence = UnpackSequence(trailer);
  result->type = UnpackType(trailer);
  return true;
}

// Parses the key of an entry. Returns false if the key is too short or no entry may have its type;
// DescribeBadInternalKey then says which, and *result must not be used.
[[nodiscard]] inline bool ParseInternalKey(const Slice& internal_key, ParsedInternalKey* result) {
  return ParseBoundaryKey(internal_key, result) && IsEntryType(result->type);
}

// Returns a Corruption that describes a key which ParseInternalKey rejected. `where` names the file
// and the position in it. The key's bytes are not shown.
[[nodiscard]] Status DescribeBadInternalKey(const Slice& internal_key, const Slice& where);

// Append an internal key to *dst.
void AppendInternalKey(std::string* dst, const ParsedInternalKey& key);
void AppendInternalKey(std::string* dst, const Slice& user_key, SequenceNumber sequence,
                       ValueType type);

// Returns the key prefix of `user_key`: its eight bytes from offset `skip` on as a big-endian
// number, zero-padded after the end of the key. Among keys that share their first `skip` bytes,
// different prefixes order two keys as their bytes do; equal prefixes decide nothing.
[[nodiscard]] inline uint64_t KeyPrefix(const Slice& user_key, size_t skip) {
  const size_t size = user_key.size();
  if (size >= skip + 8) [[likely]]
    return DecodeBigEndian64(user_key.data() + skip);
  if (size <= skip) return 0;
  const size_t n = size - skip;
  // The last eight bytes of the key are loaded, as a load from `skip` on would go beyond its end;
  // the shift removes those before `skip`.
  if (size >= 8) {
    return DecodeBigEndian64(user_key.data() + size - 8) << (8 * (8 - n));
  }
  uint64_t prefix = 0;
  for (size_t i = 0; i < n; i++) {
    prefix |= uint64_t{static_cast<unsigned char>(user_key.data()[skip + i])} << (56 - 8 * i);
  }
  return prefix;
}

// Compares in unsigned byte order, the shorter first if one is a prefix of the other; returns <0, 0
// or >0.
[[nodiscard]] inline int CompareBytes(const Slice& a, const Slice& b) {
  const char* pa = a.data();
  const char* pb = b.data();
  size_t n = a.size() < b.size() ? a.size() : b.size();
  if (n >= 8) [[likely]] {
    const uint64_t wa = DecodeFixed64(pa);
    const uint64_t wb = DecodeFixed64(pb);
    // The first byte in memory is the lowest of the loaded word, so that the words are compared
    // with their bytes reversed.
    if (wa != wb) return ByteSwap(wa) < ByteSwap(wb) ? -1 : 1;
    pa += 8;
    pb += 8;
    n -= 8;
  }
  const int order = n == 0 ? 0 : std::memcmp(pa, pb, n);
  if (order != 0) return order;
  return a.size() < b.size() ? -1 : (a.size() > b.size() ? 1 : 0);
}

// True if both have the same bytes. Keys of usual size are compared with a few loads, because a
// call would cost more than the comparison.
[[nodiscard]] inline bool EqualBytes(const Slice& a, const Slice& b) {
  const size_t n = a.size();
  if (n != b.size()) return false;
  if (n < 8 || n > 16) return n == 0 || std::memcmp(a.data(), b.data(), n) == 0;
  // The two loads overlap for keys of fewer than 16 bytes, so that they cover every byte.
  const uint64_t first = DecodeFixed64(a.data()) ^ DecodeFixed64(b.data());
  const uint64_t last = DecodeFixed64(a.data() + n - 8) ^ DecodeFixed64(b.data() + n - 8);
  return (first | last) == 0;
}

// Selects the code that compares user keys.
enum class KeyOrder : uint8_t {
  kBytewise,              // BytewiseComparator(), inlined
  kBytewiseU64Ts,         // BytewiseComparatorWithU64Ts(), inlined
  kReverseBytewise,       // ReverseBytewiseComparator(), inlined
  kReverseBytewiseU64Ts,  // ReverseBytewiseComparatorWithU64Ts(), inlined
  kCustom,                // any other, by a virtual call
};

// True if keys without timestamps are ordered by their bytes, ascending.
[[nodiscard]] constexpr bool IsForward(KeyOrder order) {
  return order <= KeyOrder::kBytewiseU64Ts;
}
// True if keys are ordered by their bytes, ascending or descending, and equal only if their bytes
// are.
[[nodiscard]] constexpr bool BytesDecide(KeyOrder order) {
  return order != KeyOrder::kCustom;
}
// True if keys without timestamps are ordered by their bytes, descending.
[[nodiscard]] constexpr bool IsReverse(KeyOrder order) {
  return order == KeyOrder::kReverseBytewise || order == KeyOrder::kReverseBytewiseU64Ts;
}

// Returns the key without its last `n` bytes; a user key from a file may have fewer.
[[nodiscard]] inline Slice WithoutTail(const Slice& user_key, size_t n) {
  return Slice(user_key.data(), user_key.size() - std::min(n, user_key.size()));
}

// Decodes a timestamp. A truncated one counts as the oldest.
[[nodiscard]] inline uint64_t U64TsOf(const Slice& timestamp) {
  return timestamp.size() == sizeof(uint64_t) ? DecodeFixed64(timestamp.data()) : 0;
}

class InternalKey;

// Returns the comparator that orders the keys of a built-in comparator with timestamps without
// them; null for other comparators.
[[nodiscard]] const Comparator* ComparatorWithoutTimestamp(const Comparator* comparator);

// Orders internal keys by a user's comparator.
//
// Thread safety: may be used by many threads, as the user's comparator may. Lifetime: the user's
// comparator outlives it. It is cheap to copy.
class InternalKeyComparator {
 public:
  explicit InternalKeyComparator(const Comparator* user_comparator);

  // Returns the user's comparator.
  [[nodiscard]] const Comparator* user_comparator() const { return user_comparator_; }
  // Returns how user keys are compared; constant.
  [[nodiscard]] KeyOrder order() const { return order_; }
  // Returns the bytes of the timestamp at the end of every user key; 0 for most comparators.
  [[nodiscard]] size_t timestamp_size() const { return timestamp_size_; }

  // Returns the user key without its timestamp (TimestampOf returns the timestamp). A damaged key
  // may have no timestamp, which counts as empty.
  [[nodiscard]] Slice WithoutTimestamp(const Slice& user_key) const {
    return WithoutTail(user_key, timestamp_size_);
  }
  // Return the key of an internal key, without its timestamp.
  [[nodiscard]] Slice KeyOf(const Slice& internal_key) const {
    return WithoutTimestamp(ExtractUserKey(internal_key));
  }
  [[nodiscard]] Slice KeyOf(const InternalKey& internal_key) const;
  // Returns an internal key that sorts before every entry of the key, which is given without a
  // timestamp.
  [[nodiscard]] InternalKey FirstInternalKey(const Slice& bare_key) const;
  // Return the first (last) user key that a version of the key can have: the key, given without a
  // timestamp, with the largest (smallest) timestamp.
  [[nodiscard]] std::string FirstUserKey(const Slice& bare_key) const {
    return bare_key.ToString() + user_comparator_->GetMaxTimestamp().ToString();
  }
  [[nodiscard]] std::string LastUserKey(const Slice& bare_key) const {
    return bare_key.ToString() + user_comparator_->GetMinTimestamp().ToString();
  }
  // Returns the timestamp at the end of a user key; empty if there is none.
  [[nodiscard]] Slice TimestampOf(const Slice& user_key) const {
    const size_t key_bytes = WithoutTail(user_key, timestamp_size_).size();
    return Slice(user_key.data() + key_bytes, user_key.size() - key_bytes);
  }

  // Compares user keys with their timestamps; of two versions of a key, that with the larger
  // timestamp comes first.
  [[nodiscard]] int CompareUserKey(const Slice& a, const Slice& b) const {
    CountUserKeyComparison();
    if (order_ == KeyOrder::kBytewise) [[likely]]
      return CompareBytes(a, b);
    if (order_ == KeyOrder::kReverseBytewise) return CompareBytes(b, a);
    return BytesDecide(order_) ? CompareWithU64Ts(a, b) : user_comparator_->Compare(a, b);
  }

  // Compares keys without timestamps.
  [[nodiscard]] int CompareKey(const Slice& a, const Slice& b) const {
    CountUserKeyComparison();
    if (IsForward(order_)) [[likely]]
      return CompareBytes(a, b);
    return BytesDecide(order_) ? CompareBytes(b, a)
                               : user_comparator_->CompareWithoutTimestamp(a, false, b, false);
  }
  // True if two keys, given without timestamps, are equal.
  [[nodiscard]] bool EqualKey(const Slice& a, const Slice& b) const {
    CountUserKeyComparison();
    if (BytesDecide(order_)) [[likely]]
      return EqualBytes(a, b);
    return EqualByUser(a, b);
  }
  // Compares timestamps, the older first.
  [[nodiscard]] int CompareTimestamp(const Slice& a, const Slice& b) const {
    if (!BytesDecide(order_)) return user_comparator_->CompareTimestamp(a, b);
    const uint64_t ts_a = U64TsOf(a);
    const uint64_t ts_b = U64TsOf(b);
    return ts_a < ts_b ? -1 : (ts_a > ts_b ? 1 : 0);
  }

  // Compares internal keys. Requires that both are at least 8 bytes long.
  [[nodiscard]] int Compare(const Slice& a, const Slice& b) const {
    const int order = CompareUserKey(ExtractUserKey(a), ExtractUserKey(b));
    if (order != 0) return order;
    return CompareTrailers(ExtractTrailer(a), ExtractTrailer(b));
  }

  // Compares parsed internal keys.
  [[nodiscard]] int Compare(const ParsedInternalKey& a, const ParsedInternalKey& b) const {
    const int order = CompareUserKey(a.user_key, b.user_key);
    if (order != 0) return order;
    return CompareTrailers(PackSequenceAndType(a.sequence, a.type),
                           PackSequenceAndType(b.sequence, b.type));
  }

  // Orders the larger trailer, which is the newer entry, first.
  [[nodiscard]] static constexpr int CompareTrailers(uint64_t a, uint64_t b) {
    return a > b ? -1 : (a < b ? 1 : 0);
  }

 private:
  // Compares under a built-in comparator with timestamps of eight bytes: by key, then the newer
  // first.
  [[nodiscard]] int CompareWithU64Ts(const Slice& a, const Slice& b) const;
  // Asks the user's comparator.
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

  // Replaces the key.
  void Set(const Slice& user_key, SequenceNumber sequence, ValueType type) {
    rep_.clear();
    AppendInternalKey(&rep_, user_key, sequence, type);
  }
  // Copies stored bytes. Returns false, leaving the key empty, if they are too short.
  [[nodiscard]] bool DecodeFrom(const Slice& encoded);
  // Makes the key empty.
  void Clear() { rep_.clear(); }

  [[nodiscard]] bool empty() const { return rep_.empty(); }
  // Returns the stored bytes; valid until the next change.
  [[nodiscard]] Slice Encode() const { return Slice(rep_); }
  // These require !empty().
  [[nodiscard]] Slice user_key() const { return ExtractUserKey(rep_); }
  [[nodiscard]] SequenceNumber sequence() const { return ExtractSequence(rep_); }
  [[nodiscard]] ValueType type() const { return ExtractValueType(rep_); }

  // True if the bytes are equal; the comparator is not asked.
  friend bool operator==(const InternalKey& a, const InternalKey& b) { return a.rep_ == b.rep_; }

 private:
  // The user key, then the trailer; empty: none.
  std::string rep_;
};

inline Slice InternalKeyComparator::KeyOf(const InternalKey& internal_key) const {
  return KeyOf(internal_key.Encode());
}

inline InternalKey InternalKeyComparator::FirstInternalKey(const Slice& bare_key) const {
  return InternalKey(FirstUserKey(bare_key), kMaxSequenceNumber, kValueTypeForSeek);
}

}  // namespace varve
