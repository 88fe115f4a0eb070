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
    Slice timestamp;  // empty without timestamps
  };
  // As in CompactionIteratorOptions.
  struct History {
    std::string full_history_ts_low;
    std::string trim_ts;
  };

  // `lists`: of all inputs, clipped to their files. A null `deeper`: anything may exist deeper,
  // unless bottommost.
  SurvivingTombstones(const std::vector<std::shared_ptr<const FragmentedTombstones>>& lists,
                      const InternalKeyComparator& icmp, std::vector<SequenceNumber> snapshots,
                      bool bottommost, const DeeperLevels* deeper, const History& history = {});

  bool empty() const { return all_ == nullptr || all_->empty(); }
  // All inputs' tombstones as one list; null when there are none.
  const std::shared_ptr<const FragmentedTombstones>& all() const { return all_; }

  // What a file that reaches over [lower, upper) of keys has to hold: ascending, at one begin
  // the newest first. Null: unbounded.
  std::vector<Piece> Within(const Slice* lower, const Slice* upper) const;

 private:
  // As if it had never been written.
  [[nodiscard]] bool Trims(const Slice& timestamp) const;
  // Moves those whose timestamps are asked for from `seqs`, newest first, to `*kept`.
  std::vector<SequenceNumber> TakeHistory(std::span<const SequenceNumber> seqs,
                                          std::vector<SequenceNumber>* kept) const;

  const InternalKeyComparator icmp_;
  const std::vector<SequenceNumber> snapshots_;
  const bool bottommost_;
  const DeeperLevels* const deeper_;
  const History history_;
  std::shared_ptr<const FragmentedTombstones> all_;
};

}  // namespace varve
