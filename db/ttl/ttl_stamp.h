// SPDX-License-Identifier: Apache-2.0
#pragma once

// A stamp is the time of writing at the end of every value and merge operand of a database with
// lifetimes: four bytes, little-endian, unsigned seconds since 1970. RocksDB's DBWithTTL stores the
// same.
//
//      value "abc" written at 1700000000:    61 62 63 | 00 f1 53 65
//
// An entry expires by the time of its reader: it is hidden from reads when stamp + ttl lies before
// that time, and dropped by a compaction later. Nothing is written at the moment of expiry.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>

#include "varve/slice.h"
#include "varve/status.h"

#include "util/coding/fixed.h"

namespace varve {

inline constexpr size_t kStampBytes = 4;
// A second in May 2013, when the format was introduced. A value whose last four bytes are an
// earlier time was written without a stamp.
inline constexpr uint32_t kEarliestStamp = 1368146402;

// Splits a stored value into the user's value and its stamp. Returns false if the bytes do not end
// with a stamp; the results are undefined then.
[[nodiscard]] inline bool SplitStamp(const Slice& stored, Slice* value, uint32_t* stamp) {
  if (stored.size() < kStampBytes) return false;
  *value = Slice(stored.data(), stored.size() - kStampBytes);
  *stamp = DecodeFixed<uint32_t>(value->data() + value->size());
  return *stamp >= kEarliestStamp;
}

// Appends the stamp to the value.
inline void AppendStamp(std::string* value, uint32_t stamp) {
  const size_t size = value->size();
  value->resize(size + kStampBytes);
  EncodeFixed<uint32_t>(value->data() + size, stamp);
}

// True if an entry with this stamp is expired at `now`: its lifetime of `ttl` seconds has ended
// before. A lifetime that is not positive never ends.
[[nodiscard]] inline bool IsExpired(uint32_t stamp, int32_t ttl, uint32_t now) {
  return ttl > 0 && uint64_t{stamp} + static_cast<uint64_t>(ttl) < now;
}

// Returns the error for reading a value without a stamp.
inline Status NoStamp(const std::string& family) {
  return Status::Corruption(
      "DBWithTTL",
      "a value in column family " + family +
          " does not end with a time of writing, as it was not written through "
          "DBWithTTL; write or delete its key, or open the database without lifetimes");
}

// Holds a copy of a value with its stamp appended. Copies of up to 512 bytes need no allocation.
// Thread safety: none.
class StampedValue {
 public:
  StampedValue(const Slice& value, uint32_t stamp) : size_(value.size() + kStampBytes) {
    char* bytes = inline_;
    if (size_ > sizeof(inline_)) {
      heap_ = std::make_unique_for_overwrite<char[]>(size_);
      bytes = heap_.get();
    }
    if (!value.empty()) std::memcpy(bytes, value.data(), value.size());
    EncodeFixed<uint32_t>(bytes + value.size(), stamp);
  }
  StampedValue(const StampedValue&) = delete;
  StampedValue& operator=(const StampedValue&) = delete;

  // Returns value and stamp; valid as long as this object.
  [[nodiscard]] Slice slice() const {
    return Slice(heap_ == nullptr ? inline_ : heap_.get(), size_);
  }

 private:
  const size_t size_;
  char inline_[512];
  std::unique_ptr<char[]> heap_;
};

}  // namespace varve
