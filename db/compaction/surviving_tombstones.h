// SPDX-License-Identifier: Apache-2.0
#pragma once

// The range tombstones that a flush or a compaction writes: those of all inputs together that some
// reader needs, cut to each output file's range.
//
// No reader can tell two tombstones of one stripe (drop_rules.h) apart but by the newer one. So
// each stripe's are cut into pieces that do not overlap, the newest of the stripe over each key.
// Pieces of different stripes overlap. There are at most twice as many pieces as tombstones;
// cutting all of them wherever one begins or ends would make the square.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "db/compaction/deeper_levels.h"
#include "db/compaction/history_bounds.h"
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
  // `lists`: of all inputs, clipped to their files. A null `deeper`: anything may exist deeper,
  // unless bottommost. leaves_out: the files will hold no timestamps.
  SurvivingTombstones(const std::vector<std::shared_ptr<const FragmentedTombstones>>& lists,
                      const InternalKeyComparator& icmp, std::vector<SequenceNumber> snapshots,
                      bool bottommost, const DeeperLevels* deeper,
                      const HistoryBounds& history = {}, bool leaves_out = false);

  bool empty() const { return all_ == nullptr || all_->empty(); }
  // All inputs' tombstones as one list; null when there are none.
  const std::shared_ptr<const FragmentedTombstones>& all() const { return all_; }

  // What a file that reaches over [lower, upper) of keys has to hold, in the order of internal
  // keys. Null: unbounded. *expired, if it is not null, grows by those that delete nothing any
  // more.
  std::vector<Piece> Within(const Slice* lower, const Slice* upper,
                            uint64_t* expired = nullptr) const;

 private:
  // A part of one tombstone: from one bound of all_ to another.
  struct Part {
    uint32_t first;
    uint32_t end;
    uint32_t tombstone;
    bool expires;  // goes where nothing deeper is left to delete
  };

  // As if it had never been written.
  [[nodiscard]] bool Trims(const Slice& timestamp) const;
  // Whether readers may ask for the state as of its timestamp.
  [[nodiscard]] bool KeepsHistory(const Slice& timestamp) const;
  [[nodiscard]] size_t StripeOf(SequenceNumber sequence) const;
  void CutAll();
  // Tombstones of one stripe, ascending by start: into parts_.
  void CutStripe(const std::vector<uint32_t>& tombstones, bool expires);
  void AddPart(const Part& part);
  [[nodiscard]] bool IsBefore(const Part& a, const Part& b) const;
  [[nodiscard]] bool MayExistDeeper(const Piece& piece) const;

  const InternalKeyComparator icmp_;
  const std::vector<SequenceNumber> snapshots_;
  const bool bottommost_;
  const DeeperLevels* const deeper_;
  const HistoryBounds history_;
  const bool leaves_out_;
  std::shared_ptr<const FragmentedTombstones> all_;
  std::vector<Part> parts_;      // in the order of internal keys
  std::vector<uint32_t> reach_;  // by part: the largest end up to there
};

}  // namespace varve
