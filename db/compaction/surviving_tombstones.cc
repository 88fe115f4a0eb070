// SPDX-License-Identifier: Apache-2.0

// Joining the inputs' tombstones, and cutting them to files.

#include "db/compaction/surviving_tombstones.h"

#include <utility>

#include "db/compaction/drop_rules.h"

namespace varve {

SurvivingTombstones::SurvivingTombstones(
    const std::vector<std::shared_ptr<const FragmentedTombstones>>& lists,
    const InternalKeyComparator& icmp, std::vector<SequenceNumber> snapshots, bool bottommost,
    const DeeperLevels* deeper)
    : icmp_(icmp), snapshots_(std::move(snapshots)), bottommost_(bottommost), deeper_(deeper) {
  if (lists.empty()) return;
  if (lists.size() == 1) {
    all_ = lists.front();
    return;
  }
  std::vector<RangeTombstone> tombstones;
  for (const auto& list : lists) {
    for (size_t i = 0; i < list->size(); i++) {
      const FragmentedTombstones::Fragment fragment = list->fragment(i);
      for (const SequenceNumber sequence : fragment.seqs) {
        tombstones.push_back({fragment.start.ToString(), fragment.end.ToString(), sequence});
      }
    }
  }
  all_ = FragmentedTombstones::Build(tombstones, icmp_);
}

std::vector<SurvivingTombstones::Piece> SurvivingTombstones::Within(const Slice* lower,
                                                                    const Slice* upper) const {
  std::vector<Piece> pieces;
  if (empty()) return pieces;
  for (size_t i = lower == nullptr ? 0 : all_->LowerBound(*lower); i < all_->size(); i++) {
    const FragmentedTombstones::Fragment fragment = all_->fragment(i);
    Slice begin = fragment.start;
    Slice end = fragment.end;
    if (lower != nullptr && icmp_.CompareUserKey(begin, *lower) < 0) begin = *lower;
    if (upper != nullptr && icmp_.CompareUserKey(*upper, end) < 0) end = *upper;
    if (icmp_.CompareUserKey(begin, end) >= 0) break;
    const bool may_exist_deeper =
        !bottommost_ && (deeper_ == nullptr || deeper_->MayHoldRange(begin, end));
    KeepNeededTombstones(fragment.seqs, snapshots_, may_exist_deeper, [&](SequenceNumber sequence) {
      pieces.push_back({begin, end, sequence});
    });
  }
  return pieces;
}

}  // namespace varve
