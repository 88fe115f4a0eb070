// SPDX-License-Identifier: Apache-2.0

// Joins the inputs' tombstones, and cuts them to stripes and files.

#include "db/compaction/surviving_tombstones.h"

#include <algorithm>
#include <queue>
#include <utility>

#include "util/base/assert.h"

namespace varve {

SurvivingTombstones::SurvivingTombstones(
    const std::vector<std::shared_ptr<const FragmentedTombstones>>& lists,
    const InternalKeyComparator& icmp, std::vector<SequenceNumber> snapshots, bool bottommost,
    const DeeperLevels* deeper, const HistoryBounds& history, bool leaves_out)
    : icmp_(icmp),
      snapshots_(std::move(snapshots)),
      bottommost_(bottommost),
      deeper_(deeper),
      history_(history),
      leaves_out_(leaves_out) {
  if (lists.empty()) return;
  // A single list can be shared, unless some of it is trimmed, or it is of a table without
  // timestamps and must be converted to this family's comparator.
  const bool as_they_are = lists.size() == 1 && history_.trim_ts.empty() &&
                           lists.front()->comparator().timestamp_size() == icmp_.timestamp_size();
  if (as_they_are) {
    all_ = lists.front();
  } else {
    std::vector<FragmentedTombstones::Tombstone> tombstones;
    for (const auto& list : lists) {
      for (size_t i = 0; i < list->tombstone_count(); i++) {
        const FragmentedTombstones::Tombstone tombstone = list->tombstone(i);
        if (!Trims(tombstone.timestamp)) tombstones.push_back(tombstone);
      }
    }
    all_ = FragmentedTombstones::Build(std::move(tombstones), icmp_);
  }
  CutAll();
}

bool SurvivingTombstones::Trims(const Slice& timestamp) const {
  return !history_.trim_ts.empty() && !timestamp.empty() &&
         icmp_.CompareTimestamp(timestamp, history_.trim_ts) > 0;
}

bool SurvivingTombstones::KeepsHistory(const Slice& timestamp) const {
  return icmp_.timestamp_size() != 0 &&
         (history_.full_history_ts_low.empty() ||
          icmp_.CompareTimestamp(timestamp, history_.full_history_ts_low) >= 0);
}

size_t SurvivingTombstones::StripeOf(SequenceNumber sequence) const {
  return static_cast<size_t>(std::lower_bound(snapshots_.begin(), snapshots_.end(), sequence) -
                             snapshots_.begin());
}

// Collects the tombstones of one stripe after the other and cuts each stripe by itself. Those that
// some reader may still ask about by timestamp are kept whole. reach_ then tells Within which parts
// it may pass over.
void SurvivingTombstones::CutAll() {
  // Stripes ascend with sequence numbers, and so do tombstones.
  std::vector<uint32_t> stripe;
  size_t stripe_number = 0;
  const auto cut = [&] {
    std::sort(stripe.begin(), stripe.end(), [this](uint32_t a, uint32_t b) {
      return all_->extent(a).first < all_->extent(b).first;
    });
    CutStripe(stripe, /*expires=*/stripe_number == 0);
    stripe.clear();
  };
  for (uint32_t i = 0; i < all_->tombstone_count(); i++) {
    const FragmentedTombstones::Tombstone tombstone = all_->tombstone(i);
    // Readers as of older timestamps do not see it, so it neither hides others nor expires.
    if (KeepsHistory(tombstone.timestamp)) {
      const FragmentedTombstones::Extent& extent = all_->extent(i);
      parts_.push_back({extent.first, extent.end, i, /*expires=*/false});
      continue;
    }
    const size_t number = StripeOf(tombstone.seq);
    if (number != stripe_number) cut();
    stripe_number = number;
    stripe.push_back(i);
  }
  cut();
  std::sort(parts_.begin(), parts_.end(),
            [this](const Part& a, const Part& b) { return IsBefore(a, b); });
  reach_.reserve(parts_.size());
  uint32_t reach = 0;
  for (const Part& part : parts_) {
    reach = std::max(reach, part.end);
    reach_.push_back(reach);
  }
}

// Walks over all places where a tombstone begins or ends. Between two of them the newest of those
// that have begun and not ended makes a part. Tombstones are numbered by ascending sequence
// number, so the largest index is the newest.
void SurvivingTombstones::CutStripe(const std::vector<uint32_t>& tombstones, bool expires) {
  std::vector<uint32_t> bounds;
  bounds.reserve(2 * tombstones.size());
  for (const uint32_t t : tombstones) {
    bounds.push_back(all_->extent(t).first);
    bounds.push_back(all_->extent(t).end);
  }
  std::sort(bounds.begin(), bounds.end());
  bounds.erase(std::unique(bounds.begin(), bounds.end()), bounds.end());
  // Tombstones that have begun, the newest on top. One that has ended is removed when it gets to
  // the top.
  std::priority_queue<uint32_t> begun;
  auto next = tombstones.begin();
  for (size_t i = 0; i + 1 < bounds.size(); i++) {
    // Only the newest tombstone of a stripe counts at each key, as every reader of the stripe sees
    // it.
    while (!begun.empty() && all_->extent(begun.top()).end <= bounds[i]) begun.pop();
    for (; next != tombstones.end() && all_->extent(*next).first == bounds[i]; ++next) {
      begun.push(*next);
    }
    if (!begun.empty()) AddPart({bounds[i], bounds[i + 1], begun.top(), expires});
  }
}

// Adds a part, and joins parts that are separated only by the bound of another tombstone.
void SurvivingTombstones::AddPart(const Part& part) {
  VARVE_ASSERT(part.first < part.end);
  if (!parts_.empty()) {
    Part& last = parts_.back();
    const FragmentedTombstones::Tombstone a = all_->tombstone(last.tombstone);
    const FragmentedTombstones::Tombstone b = all_->tombstone(part.tombstone);
    if (last.end == part.first && a.seq == b.seq && a.timestamp == b.timestamp) {
      last.end = part.end;
      return;
    }
  }
  parts_.push_back(part);
}

bool SurvivingTombstones::IsBefore(const Part& a, const Part& b) const {
  if (a.first != b.first) return a.first < b.first;
  // Files that store no timestamps have begins in the order of sequence numbers alone, the newest
  // first, which is the tombstone with the largest index.
  return leaves_out_ ? a.tombstone > b.tombstone : all_->IsBefore(a.tombstone, b.tombstone);
}

// Takes the parts that overlap the file, cuts them to its bounds, sorts them again, as the cut may
// make begins equal, and leaves out those that have nothing left to delete.
std::vector<SurvivingTombstones::Piece> SurvivingTombstones::Within(const Slice* lower,
                                                                    const Slice* upper,
                                                                    uint64_t* expired) const {
  std::vector<Piece> pieces;
  if (empty()) return pieces;
  VARVE_ASSERT(reach_.size() == parts_.size());
  // Parts end at the end of a fragment: only those that end after `lower` reach into the file.
  const size_t passed = lower == nullptr ? 0 : all_->LowerBound(*lower);
  std::vector<Part> parts;
  const auto from =
      static_cast<size_t>(std::upper_bound(reach_.begin(), reach_.end(), passed) - reach_.begin());
  for (size_t i = from; i < parts_.size(); i++) {
    const Part& part = parts_[i];
    if (upper != nullptr && icmp_.CompareKey(all_->bound(part.first), *upper) >= 0) break;
    if (part.end <= passed) continue;
    parts.push_back(part);
    // The part begins with the file, even if it began before.
    parts.back().first = std::max(part.first, static_cast<uint32_t>(passed));
  }
  std::stable_sort(parts.begin(), parts.end(),
                   [this](const Part& a, const Part& b) { return IsBefore(a, b); });
  for (const Part& part : parts) {
    const FragmentedTombstones::Tombstone tombstone = all_->tombstone(part.tombstone);
    Piece piece{all_->bound(part.first), all_->bound(part.end), tombstone.seq, tombstone.timestamp};
    if (lower != nullptr && icmp_.CompareKey(piece.begin, *lower) < 0) piece.begin = *lower;
    if (upper != nullptr && icmp_.CompareKey(*upper, piece.end) < 0) piece.end = *upper;
    // All readers see the tombstone, and nothing is left that it could delete.
    if (part.expires && !MayExistDeeper(piece)) {
      if (expired != nullptr) ++*expired;
      continue;
    }
    pieces.push_back(piece);
  }
  return pieces;
}

bool SurvivingTombstones::MayExistDeeper(const Piece& piece) const {
  return !bottommost_ && (deeper_ == nullptr || deeper_->MayHoldRange(piece.begin, piece.end));
}

}  // namespace varve
