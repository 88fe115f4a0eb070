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
// jumped from there again would never end. So each jump must begin beyond the one before it, as
// seen in the walk's direction.
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
  // The position of the walk, and how far it may continue.
  struct Place {
    Slice key;  // the user key that a tombstone may cover, without timestamp
    // The internal key at the place. Forward it is that of the source's current entry; backward no
    // entry to come is larger.
    Slice internal;
    bool backward = false;
    // A user key without timestamp, at which the jump ends at the latest; null: no bound.
    const Slice* bound = nullptr;
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

  // If a tombstone that the reader at this sequence number sees covers place.key, moves sorted runs
  // of the source to the tombstone's end (backward, its start): those whose entries up to there are
  // all older than the tombstone. Other runs stay, as they may have live entries on the way.
  // Requires that the source is Valid, at the place. place.internal may be invalid afterwards.
  [[nodiscard]] Result Leave(InternalIterator* source, const Place& place, SequenceNumber reader);

 private:
  // Maximum number of adjacent tombstones that one jump takes together.
  static constexpr uint32_t kFurtherMax = 63;

  // Returns kBeyond if a jump from the place is allowed, kNone if the last jump began at this
  // entry, kOutOfOrder if the place lies before it.
  [[nodiscard]] Result Onward(const Place& place) const;
  // Sets to_ to the target of a jump over the tombstone with the sequence number `covering`.
  void FindEnd(const Place& place, SequenceNumber covering, SequenceNumber reader);

  const InternalKeyComparator* icmp_ = nullptr;
  TombstoneSet* tombstones_ = nullptr;
  std::string from_;  // the last place in this direction; empty: none
  std::string to_;
  // Number of tombstones behind the first one that the next jump may take together with it. It
  // grows while jumps follow each other, as over the tombstones of a log that is trimmed.
  uint32_t further_ = 0;
};

}  // namespace varve
