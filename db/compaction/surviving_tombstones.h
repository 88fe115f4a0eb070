// SPDX-License-Identifier: Apache-2.0
#pragma once

// The range tombstones that a flush or a compaction writes: those of all inputs together, in
// fragments, with the sequence numbers that some reader needs, cut to each output file's range.

#include <memory>
#include <vector>

#include "db/compaction/deeper_levels.h"
#include "util/key/range_tombstone.h"

namespace varve {

// Thread safety: none. Slices given out point into the object or are the caller's bounds.
class SurvivingTombstones {
 public:
  struct Piece {
    Slice begin;
    Slice end;  // exclusive
    SequenceNumber sequence = 0;
  };

  // `lists`: of all inputs, clipped to their files. A null `deeper`: anything may exist deeper,
  // unless bottommost.
  SurvivingTombstones(const std::vector<std::shared_ptr<const FragmentedTombstones>>& lists,
                      const InternalKeyComparator& icmp, std::vector<SequenceNumber> snapshots,
                      bool bottommost, const DeeperLevels* deeper);

  bool empty() const { return all_ == nullptr || all_->empty(); }
  // All inputs' tombstones as one list; null when there are none.
  const std::shared_ptr<const FragmentedTombstones>& all() const { return all_; }

  // What a file that reaches over [lower, upper) of user keys has to hold: ascending, at one begin
  // the newest first. Null: unbounded.
  std::vector<Piece> Within(const Slice* lower, const Slice* upper) const;

 private:
  const InternalKeyComparator icmp_;
  const std::vector<SequenceNumber> snapshots_;
  const bool bottommost_;
  const DeeperLevels* const deeper_;
  std::shared_ptr<const FragmentedTombstones> all_;
};

}  // namespace varve
