// SPDX-License-Identifier: Apache-2.0
#pragma once

// Range tombstones delete all keys in [start, end) that are older than a sequence number. They are
// cut into fragments that do not overlap, so that binary search finds the tombstone of a key.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "varve/slice.h"
#include "varve/types.h"

#include "util/key/internal_key.h"

namespace varve {

// Deletes every entry with a key in [start, end) (bounds without timestamps) and a sequence number
// below `seq`. A tombstone with start >= end deletes nothing.
//
// With timestamps, only readers as of `timestamp` or later see it. An entry with a newer sequence
// number does not have an older timestamp, so sequence numbers alone tell what a tombstone deletes.
struct RangeTombstone {
  std::string start;
  std::string end;
  SequenceNumber seq = 0;
  std::string timestamp = {};  // Empty without timestamps.
};

// Restricts a query to tombstones with timestamps up to one, or only before it. Ignored where there
// are no timestamps; where there are, the empty one is before all of them.
struct TimestampLimit {
  Slice timestamp;
  bool inclusive = true;
};

// A set of range tombstones, and the fragments into which their bounds cut the keys: within a
// fragment no tombstone begins or ends. Fragments are adjacent; one in a gap has no tombstone.
//
// The newest tombstone of each fragment is stored with it for readers of the latest state. Where
// tombstones overlap, those for readers of older snapshots are in a tree over the fragments: a node
// has the tombstones that cover all of its fragments but not all of its parent's, newest first. So
// a tombstone is in O(log n) nodes, however many others it overlaps, and a reader searches the
// nodes above one fragment.
//
// Keys and bounds are user keys without timestamps. Thread safety: immutable; may be shared between
// threads. Cost: building takes O(n log n) comparisons and steps; space for the bounds, and where
// tombstones overlap O(log n) numbers of four bytes each. A look-up takes O(log n) comparisons, and
// one at an old snapshot O(log^2 n) steps more. (If timestamps do not ascend with the sequence
// numbers, it may take a step for each tombstone.)
class FragmentedTombstones {
 public:
  // A tombstone whose slices live as long as the FragmentedTombstones.
  struct Tombstone {
    Slice start;  // Inclusive.
    Slice end;    // Exclusive.
    SequenceNumber seq = 0;
    Slice timestamp;  // Empty without timestamps.
  };
  struct Fragment {
    Slice start;  // Inclusive.
    Slice end;    // Exclusive.
    bool covered = false;
    SequenceNumber newest = 0;  // The newest tombstone that covers it; 0 if none does.
  };
  // A range of fragments, by index.
  struct Extent {
    uint32_t first;
    uint32_t end;  // Exclusive.
  };

  // Build a set. Tombstones may come in any order and overlap. Slices need not outlive the call.
  // Throw std::bad_alloc, and what the comparator throws.
  static std::shared_ptr<const FragmentedTombstones> Build(std::vector<Tombstone> input,
                                                           const InternalKeyComparator& comparator);
  static std::shared_ptr<const FragmentedTombstones> Build(std::span<const RangeTombstone> input,
                                                           const InternalKeyComparator& comparator);

  [[nodiscard]] bool empty() const { return extents_.empty(); }
  // Number of fragments.
  [[nodiscard]] size_t size() const { return newest_.size(); }
  [[nodiscard]] Fragment fragment(size_t index) const;
  [[nodiscard]] size_t tombstone_count() const { return extents_.size(); }
  // Returns a tombstone; they ascend by sequence number, then timestamp.
  [[nodiscard]] Tombstone tombstone(size_t index) const;
  [[nodiscard]] const Extent& extent(size_t index) const { return extents_[index]; }
  // Returns the tombstones in the order of their internal keys, as tables hold them: by start,
  // newest first.
  [[nodiscard]] std::vector<Tombstone> InKeyOrder() const;
  // True if tombstone(a) sorts before tombstone(b) among internal keys. Requires that both have the
  // same start.
  [[nodiscard]] bool IsBefore(size_t a, size_t b) const;
  // Returns the start of fragment `index`, which is the end of the one before it. Requires index <=
  // size() and !empty().
  [[nodiscard]] Slice bound(size_t index) const {
    return Slice(bytes_.data() + bounds_[index], bounds_[index + 1] - bounds_[index]);
  }
  // Largest and smallest sequence number of the tombstones; 0 if empty.
  [[nodiscard]] SequenceNumber max_seq() const { return seqs_.empty() ? 0 : seqs_.back(); }
  [[nodiscard]] SequenceNumber min_seq() const { return seqs_.empty() ? 0 : seqs_.front(); }
  [[nodiscard]] const InternalKeyComparator& comparator() const { return comparator_; }
  // Bytes of heap memory.
  [[nodiscard]] size_t MemoryUsage() const;

  // Returns the largest sequence number <= snapshot of a tombstone within the limit that covers the
  // key; 0 if none. Sets *timestamp, if not null, to that tombstone's, and leaves it if there is
  // none.
  [[nodiscard]] SequenceNumber MaxCoveringSeq(const Slice& key, SequenceNumber snapshot,
                                              const TimestampLimit& limit = {},
                                              Slice* timestamp = nullptr) const;
  // Like MaxCoveringSeq for all keys of a fragment.
  [[nodiscard]] SequenceNumber NewestVisible(size_t fragment, SequenceNumber snapshot,
                                             const TimestampLimit& limit,
                                             Slice* timestamp = nullptr) const;
  // Returns the smallest sequence number above `floor` of a tombstone that covers the fragment; 0
  // if none.
  [[nodiscard]] SequenceNumber OldestAbove(size_t fragment, SequenceNumber floor) const;
  // True if a tombstone covers any key from `begin` to `end`, inclusive; null is no bound.
  [[nodiscard]] bool CoversAnyOf(const Slice* begin, const Slice* end) const;

  // Returns the index of the first fragment that ends after `key`: the one that holds it, if any
  // does; size() if there is none.
  [[nodiscard]] size_t LowerBound(const Slice& key) const;

  // Returns the tombstones clipped to [lower, upper); a null bound is no bound. May return `whole`
  // itself, which is why it takes the owning pointer.
  static std::shared_ptr<const FragmentedTombstones> Clip(
      std::shared_ptr<const FragmentedTombstones> whole, const Slice* lower, const Slice* upper);

 private:
  // A tombstone's index in the order of sequence numbers.
  using Rank = uint32_t;
  static constexpr Rank kNone = UINT32_MAX;

  explicit FragmentedTombstones(const InternalKeyComparator& comparator)
      : comparator_(comparator) {}

  // Fill in the fields, in this order, from tombstones that ascend by sequence number: the sequence
  // numbers and timestamps; the bounds and each tombstone's extent; and the newest tombstone of
  // each fragment, with the tree if tombstones overlap.
  void TakeTombstones(const std::vector<Tombstone>& input);
  void SetBounds(const std::vector<Tombstone>& input);
  void SetNewest();
  // Calls visit(node) for the nodes that hold a tombstone with that extent.
  template <typename Visit>
  void ForEachNode(const Extent& extent, Visit visit) const;
  // Fills in node_begin_, node_ranks_ and newest_, for tombstones that overlap.
  void MakeTree();
  // Returns a rank below which all tombstones lie that a reader at `snapshot`, and as of `limit`,
  // may see.
  [[nodiscard]] Rank VisibleRanks(SequenceNumber snapshot, const TimestampLimit& limit) const;
  // True if the tombstone's timestamp is within the limit.
  [[nodiscard]] bool IsWithin(Rank rank, const TimestampLimit& limit) const;
  // Returns the newest tombstone that covers the fragment and that a reader at `snapshot`, and as
  // of `limit`, sees; kNone if there is none.
  [[nodiscard]] Rank FindVisible(size_t fragment, SequenceNumber snapshot,
                                 const TimestampLimit& limit) const;
  [[nodiscard]] Slice timestamp(Rank rank) const {
    const size_t bytes = comparator_.timestamp_size();
    return Slice(timestamps_.data() + rank * bytes, bytes);
  }

  InternalKeyComparator comparator_;
  std::string bytes_;           // The bounds, ascending.
  std::vector<size_t> bounds_;  // Start of each bound, and the end of the last.
  std::vector<Rank> newest_;    // For each fragment; kNone if uncovered.
  // Properties of the tombstones, by rank.
  std::vector<SequenceNumber> seqs_;
  std::vector<Extent> extents_;
  std::string timestamps_;  // Concatenated; all have one size.
  bool timestamps_ascend_ = true;
  // The tree is laid out like a heap: fragment i is node size() + i, and the parent of node i is
  // node i / 2. The tombstones of node i are node_ranks_[node_begin_[i], node_begin_[i + 1]),
  // newest first. Empty if no two tombstones overlap.
  std::vector<size_t> node_begin_;
  std::vector<Rank> node_ranks_;
};

// All range tombstones that an iterator or a compaction has met, queried for one key after another.
//
// It remembers the interval in which the last answer holds, so that keys close together, in either
// direction, cost one or two comparisons. Many small lists are merged as they are added, so that a
// jump costs no more with a thousand files than with a few.
//
// Keys and bounds are user keys without timestamps. Thread safety: none; one per iterator. Cost: an
// empty set is small and allocates nothing.
class TombstoneSet {
 public:
  explicit TombstoneSet(const InternalKeyComparator& comparator) : comparator_(comparator) {}
  TombstoneSet(const TombstoneSet&) = delete;
  TombstoneSet& operator=(const TombstoneSet&) = delete;

  // Adds tombstones, clipped to [lower, upper); a null bound is no bound. Bounds need not outlive
  // the call. A null list adds nothing.
  void Add(std::shared_ptr<const FragmentedTombstones> tombstones, const Slice* lower = nullptr,
           const Slice* upper = nullptr);
  void Clear();
  // Hides the tombstones beyond the limit. Before the first call, all are hidden in column families
  // with timestamps.
  void SetTimestampLimit(const TimestampLimit& limit);

  // Sets the snapshot of the reader for HidesAll, which returns false before the first call.
  void SetReader(SequenceNumber snapshot) { reader_ = snapshot; }

  [[nodiscard]] bool empty() const { return lists_.empty(); }

  // True if tombstones that the reader sees and that are newer than `newest` cover all keys from
  // `first` to `last`. May return false if that takes many tombstones together.
  [[nodiscard]] bool HidesAll(const Slice& first, const Slice& last, bool last_is_exclusive,
                              SequenceNumber newest) {
    if (lists_.empty() || reader_ <= newest) [[likely]]
      return false;
    return HideTogether(first, last, last_is_exclusive, newest);
  }

  // Returns the largest sequence number <= snapshot of a tombstone that covers the key; 0 if none.
  [[nodiscard]] SequenceNumber MaxCoveringSeq(const Slice& key, SequenceNumber snapshot) {
    if (lists_.empty()) [[likely]]
      return 0;
    return Lookup(key, snapshot);
  }

  // Returns the first key after the last queried one at which the answer may change; null if there
  // is none. Requires a call of MaxCoveringSeq since the last Add or Clear, while not empty().
  // Valid until the next call of a non-const method.
  [[nodiscard]] const Slice* NextBoundary() const {
    return known_->has_high ? &known_->high : nullptr;
  }
  // Like NextBoundary backwards: returns the first key, up to the queried one, from which on the
  // answer holds.
  [[nodiscard]] const Slice* PrevBoundary() const {
    return known_->has_low ? &known_->low : nullptr;
  }

  // Returns the added tombstones, though perhaps in other lists.
  [[nodiscard]] const std::vector<std::shared_ptr<const FragmentedTombstones>>& lists() const {
    return lists_;
  }

 private:
  // More lists than this are merged.
  static constexpr size_t kMaxLists = 8;
  // Number of adjacent fragments with different answers that HidesAll examines.
  static constexpr int kFragmentsTogether = 8;

  // A fragment of one list that covers a key.
  struct Covering {
    const FragmentedTombstones* list;
    size_t fragment;
  };

  // The state that look-ups remember.
  struct Known {
    // LowerBound of the keys in the interval, for each list.
    std::vector<size_t> positions;
    // If set, every key in [low, high) is covered by the same fragments, those of `covering`. A
    // missing side is unbounded. Slices point into the lists.
    bool interval_valid = false;
    // True if `answer` holds the last result in that interval.
    bool answer_valid = false;
    bool has_low = false;
    bool has_high = false;
    SequenceNumber answer_snapshot = 0;
    SequenceNumber answer = 0;
    Slice low;
    Slice high;
    std::vector<Covering> covering;
    std::string limit_timestamp;
    TimestampLimit limit;  // Points into limit_timestamp.
  };

  // Returns *known_, which is made if it is null.
  Known& known();
  // Does the work of MaxCoveringSeq if there are lists.
  SequenceNumber Lookup(const Slice& key, SequenceNumber snapshot);
  // Does the work of HidesAll if the reader may see a tombstone newer than `newest`.
  bool HideTogether(const Slice& first, const Slice& last, bool last_is_exclusive,
                    SequenceNumber newest);
  // True if the key is in [low, high) of *known_, so that `covering` holds for it.
  [[nodiscard]] bool InKnownInterval(const Slice& key) const;
  // Sets the interval and `covering` of *known_ to those of the key.
  void MoveTo(const Slice& key);
  // Returns LowerBound, trying near the list's last position first.
  [[nodiscard]] size_t Reposition(const FragmentedTombstones& list, size_t position,
                                  const Slice& key) const;
  // Shrink the known interval so that it begins, or ends, at the boundary or closer to the key.
  void RaiseLow(const Slice& boundary);
  void LowerHigh(const Slice& boundary);
  // Replaces the smaller half of the lists by one that has their tombstones.
  void MergeSmallLists();

  InternalKeyComparator comparator_;
  // Non-empty, clipped.
  std::vector<std::shared_ptr<const FragmentedTombstones>> lists_;
  SequenceNumber reader_ = 0;
  // Null until there is a list or a limit: most iterators meet no tombstone.
  std::unique_ptr<Known> known_;
};

}  // namespace varve
