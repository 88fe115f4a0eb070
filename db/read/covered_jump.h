// SPDX-License-Identifier: Apache-2.0
#pragma once

// How a walk leaves what a range tombstone covers: by one move of its source to the tombstone's end
// (backward, its start), instead of a step for each entry.

#include <cstdint>
#include <string>

#include "util/iter/internal_iterator.h"
#include "util/key/internal_key.h"
#include "util/key/range_tombstone.h"

namespace varve {

// In a damaged table keys may be out of order, and lead back to where a jump was made; a walk that
// jumped from there again would never end. So jumps of one direction only go on.
//
// Thread safety: none. Lifetime: comparator and tombstones outlive it.
class CoveredJump {
 public:
  enum class Result : uint8_t {
    kNone,        // nothing was moved
    kBeyond,      // the source stands after the place (before it), or is not Valid
    kBeside,      // sorted runs were moved, but the entry at the place itself is of one that stays
    kOutOfOrder,  // keys are: the walk has to fail
  };
  // Where the walk stands, and how it may go on.
  struct Place {
    Slice key;       // without timestamp, where a tombstone may be
    Slice internal;  // of the entry at the place; backward, all entries to come are up to there
    bool backward = false;
    const Slice* bound = nullptr;  // the jump ends there at the latest; null: none
  };

  void Init(const InternalKeyComparator* icmp, TombstoneSet* tombstones) {
    icmp_ = icmp;
    tombstones_ = tombstones;
  }
  // Before the walk turns, or begins anew.
  void Forget() {
    from_.clear();
    further_ = 0;
  }

  // Leaves out what lies between the place and the end of the tombstone over its key, and is older
  // than that, for a reader at the sequence number: as far as the source's sorted runs have nothing
  // there that is as new. The source has to stand where the walk does.
  [[nodiscard]] Result Leave(InternalIterator* source, const Place& place, SequenceNumber reader);

 private:
  // The most tombstones, touching each other, that one jump takes together.
  static constexpr uint32_t kFurtherMax = 63;

  // Whether the place lies beyond the last one; kBeyond: it does.
  [[nodiscard]] Result Onward(const Place& place) const;
  void FindEnd(const Place& place, SequenceNumber covering, SequenceNumber reader);

  const InternalKeyComparator* icmp_ = nullptr;
  TombstoneSet* tombstones_ = nullptr;
  std::string from_;  // the last place in this direction; empty: none
  std::string to_;
  // Where jump follows jump, as over the tombstones of a log that is trimmed, each takes more of
  // them together.
  uint32_t further_ = 0;
};

}  // namespace varve
