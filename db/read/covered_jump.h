// SPDX-License-Identifier: Apache-2.0
#pragma once

// Skips what a range tombstone covers, by one move of the source to the tombstone's end (backward,
// its start), instead of a step for each entry.

#include <cstdint>
#include <string>

#include "util/iter/internal_iterator.h"
#include "util/key/internal_key.h"
#include "util/key/range_tombstone.h"

namespace varve {

// In a damaged table keys may be out of order, and lead back to where a jump was made; a walk that
// jumped from there again would never end. So jumps of one direction only go forward.
//
// Thread safety: none. Lifetime: comparator and tombstones must outlive it.
class CoveredJump {
 public:
  enum class Result : uint8_t {
    kNone,        // nothing was moved
    kBeyond,      // the source is after the place (backward, before it), or not Valid
    kBeside,      // sorted runs were moved, but not the one with the entry at the place
    kOutOfOrder,  // keys are out of order: the walk has to fail
  };
  // The position of the walk, and how it may continue.
  struct Place {
    Slice key;       // has no timestamp; a tombstone may be over it
    Slice internal;  // the entry's at the place; backward, all entries to come are up to it
    bool backward = false;
    const Slice* bound = nullptr;  // the jump ends there at the latest; null: no bound
  };

  void Init(const InternalKeyComparator* icmp, TombstoneSet* tombstones) {
    icmp_ = icmp;
    tombstones_ = tombstones;
  }
  // Must be called before the walk turns or begins anew.
  void Forget() {
    from_.clear();
    further_ = 0;
  }

  // Skips the entries between the place and the end of the tombstone over its key that are older
  // than the tombstone, for a reader at the sequence number: in those of the source's sorted runs
  // that have no newer entry there. Requires that the source is at the place.
  [[nodiscard]] Result Leave(InternalIterator* source, const Place& place, SequenceNumber reader);

 private:
  // Maximum number of adjacent tombstones that one jump takes together.
  static constexpr uint32_t kFurtherMax = 63;

  // Returns kBeyond if the place lies beyond the last one.
  [[nodiscard]] Result Onward(const Place& place) const;
  void FindEnd(const Place& place, SequenceNumber covering, SequenceNumber reader);

  const InternalKeyComparator* icmp_ = nullptr;
  TombstoneSet* tombstones_ = nullptr;
  std::string from_;  // the last place in this direction; empty: none
  std::string to_;
  // If jumps follow each other, as over the tombstones of a log that is trimmed, each takes more
  // tombstones together.
  uint32_t further_ = 0;
};

}  // namespace varve
