// SPDX-License-Identifier: Apache-2.0
#pragma once

// Integers in the order of keys: most comparisons of a search need no key.

#include <cstdint>
#include <string>

#include "varve/slice.h"

#include "util/key/internal_key.h"

namespace varve {

// Words ascend with keys, whatever the prefix; equal words decide nothing. Under a comparator of
// the user all words are 0.
//
// Thread safety: immutable.
class KeyWords {
 public:
  // `prefix`: what most keys begin with; words are taken behind it.
  KeyWords(const InternalKeyComparator& icmp, const Slice& prefix)
      : order_(icmp.order()),
        timestamp_size_(icmp.timestamp_size()),
        prefix_(prefix.data(), prefix.size()) {}

  // Of a key with its timestamp, which has no part in the word.
  [[nodiscard]] uint64_t Of(const Slice& user_key) const {
    const Slice key = WithoutTail(user_key, timestamp_size_);
    if (IsForward(order_)) [[likely]]
      return BehindPrefix(key);
    return BytesDecide(order_) ? ~BehindPrefix(key) : 0;
  }
  [[nodiscard]] const std::string& prefix() const { return prefix_; }

 private:
  // Never descends while keys ascend: keys before and behind those that have the prefix share the
  // least and the largest word.
  [[nodiscard]] uint64_t BehindPrefix(const Slice& key) const {
    const size_t n = prefix_.size();
    if (n == 0) return KeyWord(key, 0);
    if (key.starts_with(prefix_)) [[likely]]
      return KeyWord(key, n);
    return CompareBytes(key, prefix_) < 0 ? 0 : ~uint64_t{0};
  }

  const KeyOrder order_;
  const size_t timestamp_size_;
  const std::string prefix_;
};

}  // namespace varve
