// SPDX-License-Identifier: Apache-2.0

// Joining the inputs' tombstones, and cutting them to files.

#include "db/compaction/surviving_tombstones.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "db/compaction/drop_rules.h"

namespace varve {

SurvivingTombstones::SurvivingTombstones(
    const std::vector<std::shared_ptr<const FragmentedTombstones>>& lists,
    const InternalKeyComparator& icmp, std::vector<SequenceNumber> snapshots, bool bottommost,
    const DeeperLevels* deeper, const History& history)
    : icmp_(icmp),
      snapshots_(std::move(snapshots)),
      bottommost_(bottommost),
      deeper_(deeper),
      history_(history) {
  if (lists.empty()) return;
  if (lists.size() == 1 && history_.trim_ts.empty()) {
    all_ = lists.front();
    return;
  }
  std::vector<RangeTombstone> tombstones;
  for (const auto& list : lists) {
    for (size_t i = 0; i < list->size(); i++) {
      const FragmentedTombstones::Fragment fragment = list->fragment(i);
      for (const SequenceNumber sequence : fragment.seqs) {
        if (Trims(list->timestamp(sequence))) continue;
        tombstones.push_back({fragment.start.ToString(), fragment.end.ToString(), sequence,
                              list->timestamp(sequence).ToString()});
      }
    }
  }
  all_ = FragmentedTombstones::Build(tombstones, icmp_);
}

bool SurvivingTombstones::Trims(const Slice& timestamp) const {
  return !history_.trim_ts.empty() && icmp_.CompareTimestamp(timestamp, history_.trim_ts) > 0;
}

std::vector<SequenceNumber> SurvivingTombstones::TakeHistory(
    std::span<const SequenceNumber> seqs, std::vector<SequenceNumber>* kept) const {
  std::vector<SequenceNumber> past;
  for (const SequenceNumber sequence : seqs) {
    const Slice timestamp = all_->timestamp(sequence);
    const bool is_past = !history_.full_history_ts_low.empty() &&
                         icmp_.CompareTimestamp(timestamp, history_.full_history_ts_low) < 0;
    (is_past ? past : *kept).push_back(sequence);
  }
  return past;
}

std::vector<SurvivingTombstones::Piece> SurvivingTombstones::Within(const Slice* lower,
                                                                    const Slice* upper) const {
  std::vector<Piece> pieces;
  if (empty()) return pieces;
  for (size_t i = lower == nullptr ? 0 : all_->LowerBound(*lower); i < all_->size(); i++) {
    const FragmentedTombstones::Fragment fragment = all_->fragment(i);
    Slice begin = fragment.start;
    Slice end = fragment.end;
    if (lower != nullptr && icmp_.CompareKey(begin, *lower) < 0) begin = *lower;
    if (upper != nullptr && icmp_.CompareKey(*upper, end) < 0) end = *upper;
    if (icmp_.CompareKey(begin, end) >= 0) break;
    const bool may_exist_deeper =
        !bottommost_ && (deeper_ == nullptr || deeper_->MayHoldRange(begin, end));
    const auto keep = [&](SequenceNumber sequence) {
      pieces.push_back({begin, end, sequence, all_->timestamp(sequence)});
    };
    if (icmp_.timestamp_size() == 0) [[likely]] {
      KeepNeededTombstones(fragment.seqs, snapshots_, may_exist_deeper, keep);
      continue;
    }
    std::vector<SequenceNumber> kept;
    const std::vector<SequenceNumber> past = TakeHistory(fragment.seqs, &kept);
    KeepNeededTombstones(past, snapshots_, may_exist_deeper,
                         [&kept](SequenceNumber sequence) { kept.push_back(sequence); });
    std::sort(kept.begin(), kept.end(), std::greater<>());
    std::for_each(kept.begin(), kept.end(), keep);
  }
  return pieces;
}

}  // namespace varve
