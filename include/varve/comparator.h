// SPDX-License-Identifier: Apache-2.0
#pragma once
//
// Comparator defines the total order of user keys. Its name is stored with the data, and a column
// family can be opened only with a comparator of that name.
//
//   class LongestFirst : public varve::Comparator {
//    public:
//     const char* Name() const override { return "LongestFirst"; }
//     int Compare(const varve::Slice& a, const varve::Slice& b) const override {
//       if (a.size() != b.size()) return a.size() > b.size() ? -1 : 1;
//       return a.compare(b);
//     }
//     void FindShortestSeparator(std::string*, const varve::Slice&) const override {}
//     void FindShortSuccessor(std::string*) const override {}
//   };

#include <cstddef>
#include <cstdint>
#include <string>

#include "varve/customizable.h"
#include "varve/export.h"
#include "varve/slice.h"
#include "varve/status.h"

namespace varve {

struct ConfigOptions;

/// The part of Comparator that only orders keys.
class CompareInterface {
 public:
  virtual ~CompareInterface() = default;

  /// Returns <0, 0 or >0 if `a` sorts before, equal to or after `b`.
  virtual int Compare(const Slice& a, const Slice& b) const = 0;
};

/// Defines the order of the keys of a column family. A database stores the name and refuses to open
/// with a comparator of another name.
///
/// Must be thread-safe, must not throw, and must never change its order once data is stored under
/// its name. With timestamp_size() > 0 every key that a function gets, unless its comment says
/// otherwise, is a user key that ends with a timestamp of that many bytes, and of two keys that
/// differ only in it, the one with the larger timestamp sorts first.
class VARVE_EXPORT Comparator : public CompareInterface, public Customizable {
 public:
  Comparator() = default;
  /// `ts_sz`: bytes of the timestamp at the end of each key; 0: none.
  explicit Comparator(size_t ts_sz) : timestamp_size_(ts_sz) {}
  Comparator(const Comparator&) = default;
  Comparator& operator=(const Comparator&) = default;
  ~Comparator() override = default;

  /// Sets *comp to a built-in or registered comparator by name, which is never destroyed; to null
  /// for "" and "nullptr". NotSupported for an unknown name.
  static Status CreateFromString(const ConfigOptions& opts, const std::string& id,
                                 const Comparator** comp);
  static const char* Type() { return "Comparator"; }

  /// Names starting with "leveldb." or "rocksdb." are reserved.
  const char* Name() const override = 0;

  /// Returns the result of Compare() == 0, possibly faster.
  virtual bool Equal(const Slice& a, const Slice& b) const { return Compare(a, b) == 0; }

  /// If *start < limit, may shorten *start to a key in [*start, limit). Leaving it unchanged is
  /// correct; shortening makes indexes smaller.
  virtual void FindShortestSeparator(std::string* start, const Slice& limit) const = 0;

  /// May shorten *key to a key that does not sort before the original one. Leaving it unchanged is
  /// correct.
  virtual void FindShortSuccessor(std::string* key) const = 0;

  /// True only if s < t and no key of the same length is between them. False is always safe.
  virtual bool IsSameLengthImmediateSuccessor(const Slice& /*s*/, const Slice& /*t*/) const {
    return false;
  }

  /// False promises that keys are equal only if their bytes are, so that hashes can represent keys.
  /// If true, the engine uses no hashes of its own, but filters of tables (filter_policy.h) and
  /// locks of TransactionDB still compare bytes.
  virtual bool CanKeysWithDifferentByteContentsBeEqual() const { return true; }

  /// Returns the innermost comparator of a wrapper.
  virtual const Comparator* GetRootComparator() const { return this; }

  size_t timestamp_size() const { return timestamp_size_; }

  /// Return bounds of all timestamps, with their size, in buffers that are never freed. The
  /// defaults are bytes of 0xff, and of 0, which suit timestamps of up to 64 bytes ordered as
  /// numbers or bytes. Empty without timestamps.
  VARVE_EXPORT virtual Slice GetMaxTimestamp() const;
  VARVE_EXPORT virtual Slice GetMinTimestamp() const;
  /// Returns a readable timestamp for messages; empty unless overridden.
  virtual std::string TimestampToString(const Slice& /*timestamp*/) const { return ""; }

  /// Compares two timestamps; the smaller one is older. Returns 0 without timestamps.
  virtual int CompareTimestamp(const Slice& /*ts1*/, const Slice& /*ts2*/) const { return 0; }

  int CompareWithoutTimestamp(const Slice& a, const Slice& b) const {
    return CompareWithoutTimestamp(a, /*a_has_ts=*/true, b, /*b_has_ts=*/true);
  }
  /// Compares the keys without timestamps. Each flag tells if that argument ends with a timestamp.
  /// A comparator with timestamps must override it.
  virtual int CompareWithoutTimestamp(const Slice& a, bool /*a_has_ts*/, const Slice& b,
                                      bool /*b_has_ts*/) const {
    return Compare(a, b);
  }
  /// True if the keys are equal apart from their timestamps, which both have.
  virtual bool EqualWithoutTimestamp(const Slice& a, const Slice& b) const {
    return CompareWithoutTimestamp(a, /*a_has_ts=*/true, b, /*b_has_ts=*/true) == 0;
  }

 private:
  size_t timestamp_size_ = 0;
};

// The built-in orders. The objects are never destroyed; the caller must not delete them.

/// Compares unsigned bytes; a prefix sorts before its extensions. The default.
VARVE_EXPORT const Comparator* BytewiseComparator();
/// Exact reverse of BytewiseComparator().
VARVE_EXPORT const Comparator* ReverseBytewiseComparator();

/// Are like the two above, for keys that end with a little-endian 64-bit timestamp. Of versions of
/// one key, the newest sorts first.
VARVE_EXPORT const Comparator* BytewiseComparatorWithU64Ts();
VARVE_EXPORT const Comparator* ReverseBytewiseComparatorWithU64Ts();

/// Sets *int_ts to the number in the 8 bytes of `ts`. InvalidArgument if `ts` has another size.
VARVE_EXPORT Status DecodeU64Ts(const Slice& ts, uint64_t* int_ts);
/// Stores the 8 bytes in `*ts_buf` and returns a slice of it.
VARVE_EXPORT Slice EncodeU64Ts(uint64_t ts, std::string* ts_buf);
/// Return the largest and the smallest 64-bit timestamp, in buffers that are never freed.
VARVE_EXPORT Slice MaxU64Ts();
VARVE_EXPORT Slice MinU64Ts();

}  // namespace varve
