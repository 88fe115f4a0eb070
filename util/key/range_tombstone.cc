// SPDX-License-Identifier: Apache-2.0

// Implements cutting keys into fragments at the bounds of tombstones, and looking keys up in them.
//
//    tombstones    [a ........ f) 7         [m .. p) 9
//                       [c .......... h) 5
//    bounds        a    c      f      h      m      p
//    fragments     | 7  | 7,5  | 5    | none | 9    |
//
// Tombstones are sorted by sequence number, and their position in that order is their rank, so
// that comparing ranks compares ages. Bounds are sorted once, and equal ones are stored once. A
// look-up is a binary search among bounds, which yields the fragment; newest_ of the fragment
// answers readers of the latest state at once. Only where tombstones overlap is there a tree for
// readers of older snapshots (MakeTree).
//
// Space is linear in the number of tombstones, not in the number of pairs of tombstones and
// fragments, which a list for each fragment would need.

#include "util/key/range_tombstone.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "util/base/assert.h"
#include "util/base/canary.h"

namespace varve {

std::shared_ptr<const FragmentedTombstones> FragmentedTombstones::Build(
    std::span<const RangeTombstone> input, const InternalKeyComparator& comparator) {
  std::vector<Tombstone> tombstones;
  tombstones.reserve(input.size());
  for (const RangeTombstone& t : input) tombstones.push_back({t.start, t.end, t.seq, t.timestamp});
  return Build(std::move(tombstones), comparator);
}

// The order of the steps matters: ranks need the tombstones sorted, extents get their indexes in
// SetBounds, and SetNewest reads both.
std::shared_ptr<const FragmentedTombstones> FragmentedTombstones::Build(
    std::vector<Tombstone> input, const InternalKeyComparator& comparator) {
  std::erase_if(input, [&comparator](const Tombstone& t) {
    return comparator.CompareKey(t.start, t.end) >= 0;
  });
  if (comparator.timestamp_size() != 0) [[unlikely]] {
    // The tombstones of tables without timestamps have none: all count as the oldest.
    for (Tombstone& t : input) {
      if (t.timestamp.empty()) t.timestamp = comparator.user_comparator()->GetMinTimestamp();
    }
  }
  std::sort(input.begin(), input.end(), [&comparator](const Tombstone& a, const Tombstone& b) {
    if (a.seq != b.seq) return a.seq < b.seq;
    return comparator.timestamp_size() != 0 &&
           comparator.CompareTimestamp(a.timestamp, b.timestamp) < 0;
  });
  std::shared_ptr<FragmentedTombstones> result(new FragmentedTombstones(comparator));
  if (input.empty()) return result;
  result->TakeTombstones(input);
  result->SetBounds(input);
  result->SetNewest();
  return result;
}

void FragmentedTombstones::TakeTombstones(const std::vector<Tombstone>& input) {
  const bool has_timestamps = comparator_.timestamp_size() != 0;
  seqs_.reserve(input.size());
  extents_.resize(input.size());
  timestamps_.reserve(input.size() * comparator_.timestamp_size());
  for (const Tombstone& t : input) {
    seqs_.push_back(t.seq);
    if (!has_timestamps) [[likely]]
      continue;
    VARVE_ASSERT(t.timestamp.size() == comparator_.timestamp_size());
    const size_t before = seqs_.size() - 1;
    if (before > 0 &&
        comparator_.CompareTimestamp(timestamp(static_cast<Rank>(before - 1)), t.timestamp) > 0) {
      timestamps_ascend_ = false;
    }
    timestamps_.append(t.timestamp.data(), t.timestamp.size());
  }
}

// Sorts all starts and ends together and numbers the different ones; each end then knows its number
// through `place`. The first pass counts, so that the second one appends to memory that was
// reserved.
void FragmentedTombstones::SetBounds(const std::vector<Tombstone>& input) {
  struct End {
    Slice key;
    uint32_t* place;  // Receives the index of the bound.
  };
  std::vector<End> ends;
  ends.reserve(2 * input.size());
  size_t bytes = 0;
  for (size_t i = 0; i < input.size(); i++) {
    ends.push_back({input[i].start, &extents_[i].first});
    ends.push_back({input[i].end, &extents_[i].end});
  }
  std::sort(ends.begin(), ends.end(), [this](const End& a, const End& b) {
    return comparator_.CompareKey(a.key, b.key) < 0;
  });
  size_t count = 0;
  const Slice* last = nullptr;
  for (End& end : ends) {
    if (last == nullptr || !comparator_.EqualKey(*last, end.key)) {
      last = &end.key;
      count++;
      bytes += end.key.size();
    }
    *end.place = static_cast<uint32_t>(count - 1);
  }
  bytes_.reserve(bytes);
  bounds_.reserve(count + 1);
  for (const End& end : ends) {
    if (*end.place + size_t{1} == bounds_.size()) continue;
    bounds_.push_back(bytes_.size());
    bytes_.append(end.key.data(), end.key.size());
  }
  bounds_.push_back(bytes_.size());
  newest_.assign(count - 1, kNone);
}

void FragmentedTombstones::SetNewest() {
  // Number of tombstones that cover a fragment, minus that of the fragment before it.
  std::vector<int64_t> steps(size() + 1);
  for (const Extent& extent : extents_) {
    steps[extent.first]++;
    steps[extent.end]--;
  }
  int64_t covering = 0;
  for (const int64_t step : steps) {
    covering += step;
    if (covering > 1) return MakeTree();
  }
  // Nothing overlaps, so this visits each fragment once at most.
  for (Rank rank = 0; rank < extents_.size(); rank++) {
    for (uint32_t i = extents_[rank].first; i < extents_[rank].end; i++) newest_[i] = rank;
  }
}

// This is the walk of a bottom-up segment tree: at each level at most one node at either side
// sticks out of its parent, and is visited; what remains is whole parents.
template <typename Visit>
void FragmentedTombstones::ForEachNode(const Extent& extent, Visit visit) const {
  size_t first = extent.first + size();
  size_t end = extent.end + size();
  for (; first < end; first /= 2, end /= 2) {
    if (first % 2 == 1) visit(first++);
    if (end % 2 == 1) visit(--end);
  }
}

// Counts the ranks of each node, turns the counts into positions, and fills them in from the newest
// rank down, which leaves every node sorted newest first.
void FragmentedTombstones::MakeTree() {
  const size_t nodes = 2 * size();
  node_begin_.assign(nodes + 1, 0);
  for (const Extent& extent : extents_) {
    ForEachNode(extent, [this](size_t node) { node_begin_[node + 1]++; });
  }
  for (size_t node = 0; node < nodes; node++) node_begin_[node + 1] += node_begin_[node];
  node_ranks_.resize(node_begin_.back());
  std::vector<size_t> filled(node_begin_.begin(), node_begin_.end() - 1);
  for (size_t i = extents_.size(); i > 0; i--) {
    ForEachNode(extents_[i - 1],
                [&](size_t node) { node_ranks_[filled[node]++] = static_cast<Rank>(i - 1); });
  }
  // Proceeds from the root down, as if a node's newest tombstone were its children's too.
  std::vector<Rank> newest(nodes, kNone);
  for (size_t node = 1; node < nodes; node++) {
    const Rank above = newest[node / 2];
    Rank own = kNone;
    if (node_begin_[node] < node_begin_[node + 1]) own = node_ranks_[node_begin_[node]];
    if (own == kNone || (above != kNone && above > own)) own = above;
    newest[node] = own;
  }
  std::copy(newest.begin() + static_cast<ptrdiff_t>(size()), newest.end(), newest_.begin());
}

FragmentedTombstones::Fragment FragmentedTombstones::fragment(size_t index) const {
  const Rank rank = newest_[index];
  return {bound(index), bound(index + 1), rank != kNone, rank == kNone ? 0 : seqs_[rank]};
}

FragmentedTombstones::Tombstone FragmentedTombstones::tombstone(size_t index) const {
  const Extent& extent = extents_[index];
  return {bound(extent.first), bound(extent.end), seqs_[index],
          timestamp(static_cast<Rank>(index))};
}

std::vector<FragmentedTombstones::Tombstone> FragmentedTombstones::InKeyOrder() const {
  std::vector<size_t> order(tombstone_count());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [this](size_t a, size_t b) {
    if (extents_[a].first != extents_[b].first) return extents_[a].first < extents_[b].first;
    return IsBefore(a, b);
  });
  std::vector<Tombstone> result;
  result.reserve(order.size());
  for (const size_t index : order) result.push_back(tombstone(index));
  return result;
}

bool FragmentedTombstones::IsBefore(size_t a, size_t b) const {
  if (comparator_.timestamp_size() != 0) {
    const int order = comparator_.CompareTimestamp(timestamp(static_cast<Rank>(a)),
                                                   timestamp(static_cast<Rank>(b)));
    if (order != 0) return order > 0;
  }
  return a > b;
}

size_t FragmentedTombstones::MemoryUsage() const {
  return sizeof(*this) + bytes_.capacity() + timestamps_.capacity() +
         bounds_.capacity() * sizeof(size_t) + newest_.capacity() * sizeof(Rank) +
         seqs_.capacity() * sizeof(SequenceNumber) + extents_.capacity() * sizeof(Extent) +
         node_begin_.capacity() * sizeof(size_t) + node_ranks_.capacity() * sizeof(Rank);
}

size_t FragmentedTombstones::LowerBound(const Slice& key) const {
  size_t low = 0;
  size_t high = size();
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    const int order = comparator_.CompareKey(bound(middle + 1), key);
    if (VARVE_CANARY(kRangeEndInclusive) ? order < 0 : order <= 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

bool FragmentedTombstones::CoversAnyOf(const Slice* begin, const Slice* end) const {
  for (size_t i = begin == nullptr ? 0 : LowerBound(*begin); i < size(); i++) {
    if (end != nullptr && comparator_.CompareKey(bound(i), *end) > 0) return false;
    if (newest_[i] != kNone) return true;
  }
  return false;
}

// Ranks ascend by sequence number. Where timestamps ascend with them, both limits cut off the
// newest ranks, and one number says which; else each candidate's timestamp is compared on its own.
FragmentedTombstones::Rank FragmentedTombstones::VisibleRanks(SequenceNumber snapshot,
                                                              const TimestampLimit& limit) const {
  const auto end = std::upper_bound(seqs_.begin(), seqs_.end(), snapshot);
  auto visible = static_cast<Rank>(end - seqs_.begin());
  if (comparator_.timestamp_size() == 0 || !timestamps_ascend_) return visible;
  Rank low = 0;
  while (low < visible) {
    const Rank middle = low + (visible - low) / 2;
    if (IsWithin(middle, limit)) {
      low = middle + 1;
    } else {
      visible = middle;
    }
  }
  return visible;
}

bool FragmentedTombstones::IsWithin(Rank rank, const TimestampLimit& limit) const {
  const int order = comparator_.CompareTimestamp(timestamp(rank), limit.timestamp);
  return limit.inclusive ? order <= 0 : order < 0;
}

FragmentedTombstones::Rank FragmentedTombstones::FindVisible(size_t fragment,
                                                             SequenceNumber snapshot,
                                                             const TimestampLimit& limit) const {
  const bool has_timestamps = comparator_.timestamp_size() != 0;
  if (has_timestamps && limit.timestamp.empty()) return kNone;
  const Rank newest = newest_[fragment];
  if (newest == kNone) return kNone;
  if (seqs_[newest] <= snapshot && (!has_timestamps || IsWithin(newest, limit))) [[likely]]
    return newest;
  // Without a tree no tombstones overlap, so the fragment has no other one.
  if (node_ranks_.empty()) return kNone;
  // The tombstones of a fragment are those of its leaf and of the nodes above it, newest first in
  // each: the first visible one of each node is a candidate.
  const Rank visible = VisibleRanks(snapshot, limit);
  // If timestamps ascend with sequence numbers, VisibleRanks has applied the limit.
  const bool limit_applied = !has_timestamps || timestamps_ascend_;
  Rank found = kNone;
  for (size_t node = fragment + size(); node > 0; node /= 2) {
    const auto end = node_ranks_.begin() + static_cast<ptrdiff_t>(node_begin_[node + 1]);
    auto it = node_ranks_.begin() + static_cast<ptrdiff_t>(node_begin_[node]);
    it = std::partition_point(it, end, [visible](Rank rank) { return rank >= visible; });
    while (it != end && !limit_applied && !IsWithin(*it, limit)) ++it;
    if (it != end && (found == kNone || *it > found)) found = *it;
  }
  return found;
}

SequenceNumber FragmentedTombstones::NewestVisible(size_t fragment, SequenceNumber snapshot,
                                                   const TimestampLimit& limit,
                                                   Slice* timestamp_of) const {
  const Rank rank = FindVisible(fragment, snapshot, limit);
  if (rank == kNone) return 0;
  if (timestamp_of != nullptr) *timestamp_of = timestamp(rank);
  return seqs_[rank];
}

SequenceNumber FragmentedTombstones::OldestAbove(size_t fragment, SequenceNumber floor) const {
  Rank found = newest_[fragment];
  if (found == kNone || seqs_[found] <= floor) return 0;
  if (node_ranks_.empty()) return seqs_[found];
  const auto above =
      static_cast<Rank>(std::upper_bound(seqs_.begin(), seqs_.end(), floor) - seqs_.begin());
  for (size_t node = fragment + size(); node > 0; node /= 2) {
    const auto begin = node_ranks_.begin() + static_cast<ptrdiff_t>(node_begin_[node]);
    const auto end = node_ranks_.begin() + static_cast<ptrdiff_t>(node_begin_[node + 1]);
    // Newest first, so the last rank that is still above the floor is the oldest one above it.
    const auto it = std::partition_point(begin, end, [above](Rank rank) { return rank >= above; });
    if (it != begin) found = std::min(found, *(it - 1));
  }
  return seqs_[found];
}

SequenceNumber FragmentedTombstones::MaxCoveringSeq(const Slice& key, SequenceNumber snapshot,
                                                    const TimestampLimit& limit,
                                                    Slice* timestamp_of) const {
  const size_t index = LowerBound(key);
  if (index == size() || newest_[index] == kNone) return 0;
  // Fragments are adjacent, so only a key before the first of them lies in none although LowerBound
  // has found one.
  if (index == 0 && comparator_.CompareKey(bound(0), key) > 0) return 0;
  return NewestVisible(index, snapshot, limit, timestamp_of);
}

std::shared_ptr<const FragmentedTombstones> FragmentedTombstones::Clip(
    std::shared_ptr<const FragmentedTombstones> whole, const Slice* lower, const Slice* upper) {
  if (whole->empty()) return whole;
  const InternalKeyComparator& comparator = whole->comparator_;
  const auto before = [&](const Slice& a, const Slice& b) {
    return comparator.CompareKey(a, b) < 0;
  };
  const bool cuts_front = lower != nullptr && before(whole->bound(0), *lower);
  const bool cuts_back = upper != nullptr && before(*upper, whole->bound(whole->size()));
  if (!cuts_front && !cuts_back) return whole;

  // The slices of the parts point into `whole`, which lives until Build has copied them, and into
  // the bounds of the caller.
  std::vector<Tombstone> parts;
  for (size_t i = 0; i < whole->tombstone_count(); i++) {
    Tombstone part = whole->tombstone(i);
    if (cuts_front && before(part.start, *lower)) part.start = *lower;
    if (cuts_back && before(*upper, part.end)) part.end = *upper;
    if (before(part.start, part.end)) parts.push_back(part);
  }
  return Build(std::move(parts), comparator);
}

void TombstoneSet::Add(std::shared_ptr<const FragmentedTombstones> tombstones, const Slice* lower,
                       const Slice* upper) {
  if (tombstones == nullptr) return;
  std::shared_ptr<const FragmentedTombstones> clipped =
      FragmentedTombstones::Clip(std::move(tombstones), lower, upper);
  if (clipped->empty()) return;
  Known& known = this->known();
  // The two vectors must keep one length, also if one of them finds no memory.
  known.positions.reserve(lists_.size() + 1);
  lists_.push_back(std::move(clipped));
  known.positions.push_back(0);
  known.interval_valid = false;
  if (lists_.size() > kMaxLists) MergeSmallLists();
}

void TombstoneSet::Clear() {
  lists_.clear();
  if (known_ == nullptr) return;
  known_->positions.clear();
  known_->covering.clear();
  known_->interval_valid = false;
  known_->has_low = false;
  known_->has_high = false;
}

TombstoneSet::Known& TombstoneSet::known() {
  if (known_ == nullptr) known_ = std::make_unique<Known>();
  return *known_;
}

void TombstoneSet::SetTimestampLimit(const TimestampLimit& limit) {
  Known& known = this->known();
  known.limit_timestamp.assign(limit.timestamp.data(), limit.timestamp.size());
  known.limit = {known.limit_timestamp, limit.inclusive};
  known.answer_valid = false;
}

// Merges the smaller half of the lists, so that each tombstone is merged O(log n) times altogether.
// Everything that may find no memory is made in local variables, and stored once it exists, so that
// lists_ and known_->positions always have one length.
void TombstoneSet::MergeSmallLists() {
  auto lists = lists_;
  std::sort(lists.begin(), lists.end(), [](const auto& a, const auto& b) {
    return a->tombstone_count() > b->tombstone_count();
  });
  std::vector<FragmentedTombstones::Tombstone> tombstones;
  for (size_t at = kMaxLists / 2; at < lists.size(); at++) {
    const FragmentedTombstones& list = *lists[at];
    for (size_t i = 0; i < list.tombstone_count(); i++) tombstones.push_back(list.tombstone(i));
  }
  auto merged = FragmentedTombstones::Build(std::move(tombstones), comparator_);
  lists.resize(kMaxLists / 2);
  lists.push_back(std::move(merged));
  lists_ = std::move(lists);
  known_->positions.assign(lists_.size(), 0);
}

bool TombstoneSet::InKnownInterval(const Slice& key) const {
  const Known& known = *known_;
  return known.interval_valid && (!known.has_high || comparator_.CompareKey(key, known.high) < 0) &&
         (!known.has_low || comparator_.CompareKey(key, known.low) >= 0);
}

SequenceNumber TombstoneSet::Lookup(const Slice& key, SequenceNumber snapshot) {
  Known& known = *known_;
  if (!InKnownInterval(key)) MoveTo(key);
  if (known.answer_valid && known.answer_snapshot == snapshot) return known.answer;
  SequenceNumber newest = 0;
  for (const Covering& covering : known.covering) {
    newest =
        std::max(newest, covering.list->NewestVisible(covering.fragment, snapshot, known.limit));
  }
  known.answer_valid = true;
  known.answer_snapshot = snapshot;
  known.answer = newest;
  return newest;
}

bool TombstoneSet::HideTogether(const Slice& first, const Slice& last, bool last_is_exclusive,
                                SequenceNumber newest) {
  Slice at = first;
  for (int i = 0; i < kFragmentsTogether; i++) {
    if (Lookup(at, reader_) <= newest) return false;
    // Where something covers keys, the answer changes at or before its end.
    const int order = comparator_.CompareKey(known_->high, last);
    if (order > 0 || (order == 0 && last_is_exclusive)) return true;
    at = known_->high;
  }
  return false;
}

// Finds the key's fragment in each list, and the largest interval around the key within which none
// of the lists changes fragment:
//
//   list 1    ... |---------- f ----------| ...
//   list 2    ......... |----- g -----| .......
//   interval            [low      high)           covering = {f, g} as far as covered
void TombstoneSet::MoveTo(const Slice& key) {
  Known& known = *known_;
  known.interval_valid = false;  // A comparator may throw.
  known.covering.clear();
  known.answer_valid = false;
  known.has_low = false;
  known.has_high = false;
  for (size_t i = 0; i < lists_.size(); i++) {
    const FragmentedTombstones& list = *lists_[i];
    const size_t position = Reposition(list, known.positions[i], key);
    known.positions[i] = position;
    if (position < list.size()) {
      const FragmentedTombstones::Fragment next = list.fragment(position);
      // The key is before the first fragment, or in it.
      if (position == 0 && comparator_.CompareKey(next.start, key) > 0) {
        LowerHigh(next.start);
        continue;
      }
      if (next.covered) known.covering.push_back({&list, position});
      RaiseLow(next.start);
      LowerHigh(next.end);
      continue;
    }
    RaiseLow(list.bound(list.size()));
  }
  known.interval_valid = true;
}

// Tries the fragment of the last key and its neighbours, in at most four comparisons; scans nearly
// always end there.
size_t TombstoneSet::Reposition(const FragmentedTombstones& list, size_t position,
                                const Slice& key) const {
  const auto ends_after_key = [&](size_t index) {
    return comparator_.CompareKey(list.bound(index + 1), key) > 0;
  };
  if (position < list.size() && !ends_after_key(position)) {
    if (position + 1 == list.size() || ends_after_key(position + 1)) return position + 1;
    return list.LowerBound(key);
  }
  if (position == 0 || !ends_after_key(position - 1)) return position;
  if (position == 1 || !ends_after_key(position - 2)) return position - 1;
  return list.LowerBound(key);
}

void TombstoneSet::RaiseLow(const Slice& boundary) {
  Known& known = *known_;
  if (known.has_low && comparator_.CompareKey(boundary, known.low) <= 0) return;
  known.low = boundary;
  known.has_low = true;
}

void TombstoneSet::LowerHigh(const Slice& boundary) {
  Known& known = *known_;
  if (known.has_high && comparator_.CompareKey(boundary, known.high) >= 0) return;
  known.high = boundary;
  known.has_high = true;
}

}  // namespace varve
