// SPDX-License-Identifier: Apache-2.0
#pragma once

// Computes key prefixes: eight bytes of a key as an integer, so that most comparisons of a search
// need no key.

#include <cstdint>
#include <string>

#include "varve/slice.h"

#include "util/key/internal_key.h"

namespace varve {

// Computes the key prefixes of one memtable. Key prefixes ascend with keys; equal ones decide
// nothing. Under a comparator of the user all are 0.
//
// Thread safety: immutable.
class KeyPrefixes {
 public:
  // `common_prefix` is the beginning of most keys; the eight bytes are those after it.
  KeyPrefixes(const InternalKeyComparator& icmp, const Slice& common_prefix)
      : order_(icmp.order()),
        timestamp_size_(icmp.timestamp_size()),
        common_prefix_(common_prefix.data(), common_prefix.size()) {}

  // Returns the key prefix of a key with its timestamp, which is not part of the prefix.
  [[nodiscard]] uint64_t Of(const Slice& user_key) const {
    const Slice key = WithoutTail(user_key, timestamp_size_);
    if (IsForward(order_)) [[likely]]
      return AfterCommonPrefix(key);
    return BytesDecide(order_) ? ~AfterCommonPrefix(key) : 0;
  }
  [[nodiscard]] const std::string& common_prefix() const { return common_prefix_; }

 private:
  // Returns the prefix of a key without its timestamp: a number that never descends while keys
  // ascend bytewise, since keys that sort before (after) all with the common prefix share the
  // smallest (largest) number.
  [[nodiscard]] uint64_t AfterCommonPrefix(const Slice& bare_key) const {
    const size_t n = common_prefix_.size();
    if (n == 0) return KeyPrefix(bare_key, 0);
    if (bare_key.starts_with(common_prefix_)) [[likely]]
      return KeyPrefix(bare_key, n);
    return CompareBytes(bare_key, common_prefix_) < 0 ? 0 : ~uint64_t{0};
  }

  const KeyOrder order_;
  const size_t timestamp_size_;
  const std::string common_prefix_;
};

}  // namespace varve
