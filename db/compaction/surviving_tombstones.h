// SPDX-License-Identifier: Apache-2.0
#pragma once

// Selects the range tombstones that a flush or a compaction writes: those of all inputs together
// that a reader may need, cut to each output file's range.
//
// Every reader sees only the newer of two tombstones in one stripe (drop_rules.h). So each stripe's
// tombstones are cut into disjoint pieces, each from the newest tombstone over its keys. Pieces of
// different stripes overlap. There are at most twice as many pieces as tombstones; cutting all
// tombstones wherever any of them begins or ends would make a quadratic number of pieces.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "db/compaction/deeper_levels.h"
#include "db/compaction/history_bounds.h"
#include "util/key/range_tombstone.h"

namespace varve {

// Thread safety: none. Returned slices point into the object or are the caller's bounds.
class SurvivingTombstones {
 public:
  // A tombstone as a file gets it, cut to the file's range. The ends are keys without timestamps.
  struct Piece {
    Slice begin;
    Slice end;  // exclusive
    SequenceNumber sequence = 0;
    Slice timestamp;  // empty if there are no timestamps
  };
  // `lists` has the tombstones of all inputs, clipped to their files. `deeper` is borrowed; if it
  // is null, anything may exist deeper, unless `bottommost` is true. `leaves_out` is true if the
  // files to be written store no timestamps.
  SurvivingTombstones(const std::vector<std::shared_ptr<const FragmentedTombstones>>& lists,
                      const InternalKeyComparator& icmp, std::vector<SequenceNumber> snapshots,
                      bool bottommost, const DeeperLevels* deeper,
                      const HistoryBounds& history = {}, bool leaves_out = false);

  bool empty() const { return all_ == nullptr || all_->empty(); }
  // Returns all inputs' tombstones as one list; null if there are none.
  const std::shared_ptr<const FragmentedTombstones>& all() const { return all_; }

  // Returns the pieces that a file over [lower, upper) must hold, in the order of internal keys.
  // The bounds are keys without timestamps; null: unbounded. Adds to *expired, if it is not null,
  // the number of tombstones without effect.
  std::vector<Piece> Within(const Slice* lower, const Slice* upper,
                            uint64_t* expired = nullptr) const;

 private:
  // A part of one tombstone: from one bound of all_ to another.
  struct Part {
    uint32_t first;
    uint32_t end;
    uint32_t tombstone;
    bool expires;  // dropped if there is nothing deeper to delete
  };

  // True if the tombstone is treated as never written.
  [[nodiscard]] bool Trims(const Slice& timestamp) const;
  // True if readers may ask for the state as of its timestamp.
  [[nodiscard]] bool KeepsHistory(const Slice& timestamp) const;
  // Returns the number of snapshots that do not see the sequence number, as DropRules counts
  // stripes.
  [[nodiscard]] size_t StripeOf(SequenceNumber sequence) const;
  // Fills parts_: in each stripe only the newest tombstone over a key is needed.
  void CutAll();
  // Cuts the tombstones of one stripe, ascending by start, into parts_.
  void CutStripe(const std::vector<uint32_t>& tombstones, bool expires);
  // Adds a part of the current stripe.
  void AddPart(const Part& part);
  // True if the part comes first in the order of internal keys.
  [[nodiscard]] bool IsBefore(const Part& a, const Part& b) const;
  // True if a deeper level may hold a key of the piece.
  [[nodiscard]] bool MayExistDeeper(const Piece& piece) const;

  const InternalKeyComparator icmp_;
  const std::vector<SequenceNumber> snapshots_;
  const bool bottommost_;
  const DeeperLevels* const deeper_;
  const HistoryBounds history_;
  const bool leaves_out_;
  // All tombstones as one list; null if there are none.
  std::shared_ptr<const FragmentedTombstones> all_;
  std::vector<Part> parts_;      // in the order of internal keys
  std::vector<uint32_t> reach_;  // per part: the largest end up to it
};

}  // namespace varve
