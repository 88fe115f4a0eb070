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
  KeyWords(KeyOrder order, const Slice& prefix)
      : order_(order), prefix_(prefix.data(), prefix.size()) {}

  [[nodiscard]] uint64_t Of(const Slice& user_key) const {
    switch (order_) {
      case KeyOrder::kBytewise:
        return BehindPrefix(user_key);
      case KeyOrder::kReverseBytewise:
        return ~BehindPrefix(user_key);
      case KeyOrder::kCustom:
        break;
    }
    return 0;
  }
  [[nodiscard]] const std::string& prefix() const { return prefix_; }

 private:
  // Never descends while keys ascend: keys before and behind those that have the prefix share the
  // least and the largest word.
  [[nodiscard]] uint64_t BehindPrefix(const Slice& user_key) const {
    const size_t n = prefix_.size();
    if (n == 0) return KeyWord(user_key, 0);
    if (user_key.starts_with(prefix_)) [[likely]]
      return KeyWord(user_key, n);
    return CompareBytes(user_key, prefix_) < 0 ? 0 : ~uint64_t{0};
  }

  const KeyOrder order_;
  const std::string prefix_;
};

}  // namespace varve
