// SPDX-License-Identifier: Apache-2.0
#pragma once

// Makes sure that a walk's own seeks lead onward, so that every walk ends.

#include <string>

#include "varve/slice.h"

#include "util/key/internal_key.h"

namespace varve {

// Keys may be out of order in a damaged table. From a key that is too far in the walk's direction,
// a seek would lead back to entries that the walk has seen, and then to that key again, without
// end. So each seek of one direction must go beyond the last one.
//
// Leaps move the tables of a source alone. Memtable entries before a leap's target come first, and
// may ask for the same leap, or for a shorter one, without damage.
//
// Thread safety: none. Lifetime: the comparator must outlive it.
class SeekProgress {
 public:
  void Init(const InternalKeyComparator* icmp) { icmp_ = icmp; }
  // Must be called before the walk turns or begins anew.
  void Forget() {
    seek_target_.clear();
    leap_target_.clear();
    is_at_seek_ = false;
  }
  // Must be called when a walk backward comes to another key. Until then it may repeat a seek: it
  // looks for the key's newest visible entry, and then for the key before.
  void PassKey() { is_at_seek_ = false; }

  // Notes a seek of the whole source to an internal key. Returns false if it does not lead onward.
  [[nodiscard]] bool Seek(const Slice& target, bool backward) {
    if (!LeadsOnward(seek_target_, target, backward, is_at_seek_)) return false;
    seek_target_.assign(target.data(), target.size());
    leap_target_.clear();
    is_at_seek_ = backward;
    return true;
  }
  // Notes a leap of the tables to an internal key; returns false if they have been moved as far.
  [[nodiscard]] bool Leap(const Slice& target, bool backward) {
    if (!LeadsOnward(leap_target_, target, backward, /*may_repeat=*/false)) return false;
    leap_target_.assign(target.data(), target.size());
    return true;
  }

 private:
  // True if the target is beyond the last one in the walk's direction, or there was none, or, with
  // may_repeat, if it is the same.
  [[nodiscard]] bool LeadsOnward(const std::string& last, const Slice& target, bool backward,
                                 bool may_repeat) const {
    if (last.empty()) return true;
    const int order = icmp_->Compare(target, last);
    return order == 0 ? may_repeat : (order < 0) == backward;
  }

  const InternalKeyComparator* icmp_ = nullptr;
  // Targets of the last seek in this direction, and of the last leap after it; empty: none.
  std::string seek_target_;
  std::string leap_target_;
  bool is_at_seek_ = false;  // the last seek began at the key where the walk is
};

}  // namespace varve
