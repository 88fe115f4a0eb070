// SPDX-License-Identifier: Apache-2.0
#pragma once
//
// Comparator: the total order of user keys. Its name is stored with the data, and a column family
// can only be opened by a comparator of that name.

#include <cstddef>
#include <cstdint>
#include <string>

#include "varve/customizable.h"
#include "varve/export.h"
#include "varve/slice.h"
#include "varve/status.h"

namespace varve {

struct ConfigOptions;

class CompareInterface {
 public:
  virtual ~CompareInterface() = default;

  /// <0, 0 or >0 when `a` sorts before, equal to or after `b`.
  virtual int Compare(const Slice& a, const Slice& b) const = 0;
};

/// Must be thread-safe, must not throw, and must never change its order once data is stored under
/// its name. With timestamp_size() > 0 every user key ends with a timestamp of that many bytes, and
/// of two keys that differ only there the one with the larger timestamp sorts first.
class VARVE_EXPORT Comparator : public CompareInterface, public Customizable {
 public:
  Comparator() = default;
  /// `ts_sz`: bytes of timestamp at the end of each key; 0 for none.
  explicit Comparator(size_t ts_sz) : timestamp_size_(ts_sz) {}
  Comparator(const Comparator&) = default;
  Comparator& operator=(const Comparator&) = default;
  ~Comparator() override = default;

  /// Finds a built-in comparator by name; it lives for ever. "" and "nullptr" give null.
  /// NotSupported for an unknown name.
  static Status CreateFromString(const ConfigOptions& opts, const std::string& id,
                                 const Comparator** comp);
  static const char* Type() { return "Comparator"; }

  /// Names starting with "leveldb." or "rocksdb." are reserved.
  const char* Name() const override = 0;

  /// May be faster than Compare() == 0; must agree with it.
  virtual bool Equal(const Slice& a, const Slice& b) const { return Compare(a, b) == 0; }

  /// If *start < limit, may shorten *start to a key in [*start, limit). Doing nothing is correct;
  /// shortening makes indexes smaller.
  virtual void FindShortestSeparator(std::string* start, const Slice& limit) const = 0;

  /// May shorten *key to a key that is not before it. Doing nothing is correct.
  virtual void FindShortSuccessor(std::string* key) const = 0;

  /// True only if no key of the same length lies between s and t, and s < t. False is always safe.
  virtual bool IsSameLengthImmediateSuccessor(const Slice& /*s*/, const Slice& /*t*/) const {
    return false;
  }

  /// False promises that keys are equal only if their bytes are: then hashes may stand for keys. Of
  /// true the engine asks no hash of its own, but filters of tables (filter_policy.h) and the locks
  /// of a TransactionDB go by bytes.
  virtual bool CanKeysWithDifferentByteContentsBeEqual() const { return true; }

  /// What a wrapper wraps, down to the bottom.
  virtual const Comparator* GetRootComparator() const { return this; }

  size_t timestamp_size() const { return timestamp_size_; }

  /// Bounds of all timestamps, of their size, in a buffer that lives for ever. By default bytes of
  /// 0xff, or 0, which suits timestamps of up to 64 bytes in the order of numbers or of bytes.
  /// Empty without timestamps.
  VARVE_EXPORT virtual Slice GetMaxTimestamp() const;
  VARVE_EXPORT virtual Slice GetMinTimestamp() const;
  virtual std::string TimestampToString(const Slice& /*timestamp*/) const { return ""; }

  /// Order of two timestamps, smaller meaning older. 0 without timestamps.
  virtual int CompareTimestamp(const Slice& /*ts1*/, const Slice& /*ts2*/) const { return 0; }

  int CompareWithoutTimestamp(const Slice& a, const Slice& b) const {
    return CompareWithoutTimestamp(a, /*a_has_ts=*/true, b, /*b_has_ts=*/true);
  }
  /// Order of the keys alone. Each flag says whether that argument ends with a timestamp. A
  /// comparator with timestamps must override it.
  virtual int CompareWithoutTimestamp(const Slice& a, bool /*a_has_ts*/, const Slice& b,
                                      bool /*b_has_ts*/) const {
    return Compare(a, b);
  }
  virtual bool EqualWithoutTimestamp(const Slice& a, const Slice& b) const {
    return CompareWithoutTimestamp(a, /*a_has_ts=*/true, b, /*b_has_ts=*/true) == 0;
  }

 private:
  size_t timestamp_size_ = 0;
};

// The built-in orders. The objects live for ever; the caller must not delete them.

/// Unsigned bytes, a prefix before its extensions. The default.
VARVE_EXPORT const Comparator* BytewiseComparator();
/// The exact reverse of BytewiseComparator().
VARVE_EXPORT const Comparator* ReverseBytewiseComparator();

/// The same two for keys that end with a timestamp of 64 bits, little-endian. Newest first.
VARVE_EXPORT const Comparator* BytewiseComparatorWithU64Ts();
VARVE_EXPORT const Comparator* ReverseBytewiseComparatorWithU64Ts();

/// InvalidArgument unless `ts` has exactly 8 bytes.
VARVE_EXPORT Status DecodeU64Ts(const Slice& ts, uint64_t* int_ts);
/// Puts the 8 bytes in `*ts_buf` and returns a slice of it.
VARVE_EXPORT Slice EncodeU64Ts(uint64_t ts, std::string* ts_buf);
/// In buffers that live for ever.
VARVE_EXPORT Slice MaxU64Ts();
VARVE_EXPORT Slice MinU64Ts();

}  // namespace varve
