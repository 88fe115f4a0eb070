// SPDX-License-Identifier: Apache-2.0
#pragma once

// Decides where a walk over user keys ends: at the bounds of its options, or with a prefix.

#include <string>

#include "varve/slice.h"
#include "varve/slice_transform.h"

#include "util/key/internal_key.h"

namespace varve {

// A prefix, once set, ends the walk on both sides. Every key is a user key without timestamp.
//
// Thread safety: none. Lifetime: comparator, bounds and extractor must outlive it. Errors: if the
// user's extractor throws, the key counts as beyond the end, and threw() is true until Restart.
class WalkBounds {
 public:
  // Sets the bounds, user keys without timestamps or null, and the extractor, which is null unless
  // walks end with their prefix.
  void Init(const InternalKeyComparator* icmp, const Slice* lower, const Slice* upper,
            const SliceTransform* extractor) {
    icmp_ = icmp;
    lower_ = lower;
    upper_ = upper;
    extractor_ = extractor;
  }
  // Must be called before each walk: it has no prefix yet.
  void Restart() {
    has_prefix_ = false;
    threw_ = false;
  }

  // Makes the walk end with the prefix of `key`; the walk goes on without one if there is no
  // extractor or the key is not in its domain. Returns false if the extractor threw.
  [[nodiscard]] bool SetPrefixOf(const Slice& key);

  // True if a forward walk ends before the key: it is at the upper bound, or beyond the prefix.
  [[nodiscard]] bool IsBeyondEnd(const Slice& key) {
    return IsAtUpper(key) || (has_prefix_ && !InPrefix(key));
  }
  // Does the same for a backward walk and the lower bound.
  [[nodiscard]] bool IsBeyondStart(const Slice& key) {
    return IsBelowLower(key) || (has_prefix_ && !InPrefix(key));
  }
  // True if the key is before the lower bound.
  [[nodiscard]] bool IsBelowLower(const Slice& key) const {
    return lower_ != nullptr && icmp_->CompareKey(key, *lower_) < 0;
  }
  // True if the key is the upper bound, which is exclusive, or after it.
  [[nodiscard]] bool IsAtUpper(const Slice& key) const {
    return upper_ != nullptr && icmp_->CompareKey(key, *upper_) >= 0;
  }
  [[nodiscard]] const Slice* lower() const { return lower_; }
  [[nodiscard]] const Slice* upper() const { return upper_; }
  [[nodiscard]] bool has_prefix() const { return has_prefix_; }
  [[nodiscard]] bool threw() const { return threw_; }

 private:
  // True if the key has the prefix. An exception of the extractor counts as false.
  [[nodiscard]] bool InPrefix(const Slice& key);

  const InternalKeyComparator* icmp_ = nullptr;
  // User keys without timestamps; null: no bound.
  const Slice* lower_ = nullptr;
  const Slice* upper_ = nullptr;
  const SliceTransform* extractor_ = nullptr;
  bool has_prefix_ = false;
  // True if the extractor has thrown since Restart.
  bool threw_ = false;
  std::string prefix_;
};

}  // namespace varve
