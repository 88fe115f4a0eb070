// SPDX-License-Identifier: Apache-2.0
#pragma once

// Range tombstones: deletions of all keys in [start, end) that are older than a sequence number,
// cut into pieces that do not overlap so that a key finds its tombstone by binary search.

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

// Deletes every entry with a key in [start, end), which are without timestamps, and a sequence
// number below `seq`. A tombstone with start >= end deletes nothing.
//
// With timestamps, only readers as of `timestamp` or later see it. What is newer in the sequence is
// not older in time, so sequence numbers alone tell what a tombstone deletes.
struct RangeTombstone {
  std::string start;
  std::string end;
  SequenceNumber seq = 0;
  std::string timestamp = {};  // empty without timestamps
};

// The timestamps of the tombstones that are asked about: up to one, or only those before it. Means
// nothing where there are no timestamps; where there are, the empty one is before all of them.
struct TimestampLimit {
  Slice timestamp;
  bool inclusive = true;
};

// A set of range tombstones, and the fragments into which their bounds cut the keys: within one of
// them no tombstone begins or ends. Fragments touch, and those between tombstones have none.
//
// The newest tombstone of each fragment is kept with it, which is what readers of the present ask
// for. Where tombstones overlap, those for readers of the past hang in a tree over the fragments: a
// node has the tombstones that cover all of its fragments but not all of its parent's, newest
// first. So a tombstone is in O(log n) nodes, however many others it overlaps, and a reader looks
// through the nodes above one fragment.
//
// Thread safety: immutable; may be shared between threads.
// Cost: building takes O(n log n) comparisons and steps; space for the bounds, and where tombstones
//   overlap O(log n) numbers of four bytes each. A look-up takes O(log n) comparisons, one of a
//   past state O(log^2 n) steps more. (With timestamps that do not ascend with the sequence numbers
//   it may be a step for each tombstone.)
class FragmentedTombstones {
 public:
  // Slices live as long as the FragmentedTombstones.
  struct Tombstone {
    Slice start;  // inclusive
    Slice end;    // exclusive
    SequenceNumber seq = 0;
    Slice timestamp;  // empty without timestamps
  };
  struct Fragment {
    Slice start;  // inclusive
    Slice end;    // exclusive
    bool covered = false;
    SequenceNumber newest = 0;  // of the tombstones that cover it; 0 if none does
  };
  // Of fragments, by index.
  struct Extent {
    uint32_t first;
    uint32_t end;  // exclusive
  };

  // Tombstones may come in any order and overlap in any way. Slices need not outlive the call.
  static std::shared_ptr<const FragmentedTombstones> Build(std::vector<Tombstone> input,
                                                           const InternalKeyComparator& comparator);
  static std::shared_ptr<const FragmentedTombstones> Build(std::span<const RangeTombstone> input,
                                                           const InternalKeyComparator& comparator);

  [[nodiscard]] bool empty() const { return extents_.empty(); }
  // Of the fragments.
  [[nodiscard]] size_t size() const { return newest_.size(); }
  [[nodiscard]] Fragment fragment(size_t index) const;
  [[nodiscard]] size_t tombstone_count() const { return extents_.size(); }
  // Ascending by sequence number, then timestamp.
  [[nodiscard]] Tombstone tombstone(size_t index) const;
  [[nodiscard]] const Extent& extent(size_t index) const { return extents_[index]; }
  // In the order of their internal keys, as tables hold them: by start, newest first.
  [[nodiscard]] std::vector<Tombstone> InKeyOrder() const;
  // Whether tombstone `a` comes before `b` among internal keys, if both have the same start.
  [[nodiscard]] bool IsBefore(size_t a, size_t b) const;
  // Where fragment `index` begins, or the one before it ends; index <= size(), not empty().
  [[nodiscard]] Slice bound(size_t index) const {
    return Slice(bytes_.data() + bounds_[index], bounds_[index + 1] - bounds_[index]);
  }
  // Largest and smallest sequence number anywhere; 0 if empty.
  [[nodiscard]] SequenceNumber max_seq() const { return seqs_.empty() ? 0 : seqs_.back(); }
  [[nodiscard]] SequenceNumber min_seq() const { return seqs_.empty() ? 0 : seqs_.front(); }
  [[nodiscard]] const InternalKeyComparator& comparator() const { return comparator_; }
  [[nodiscard]] size_t MemoryUsage() const;

  // The largest sequence number <= snapshot of a tombstone within the limit that covers the key; 0
  // if none. *timestamp, which may be null, becomes that tombstone's.
  [[nodiscard]] SequenceNumber MaxCoveringSeq(const Slice& key, SequenceNumber snapshot,
                                              const TimestampLimit& limit = {},
                                              Slice* timestamp = nullptr) const;
  // The same for all keys of a fragment.
  [[nodiscard]] SequenceNumber NewestVisible(size_t fragment, SequenceNumber snapshot,
                                             const TimestampLimit& limit,
                                             Slice* timestamp = nullptr) const;
  // The smallest sequence number above `floor` of a tombstone that covers the fragment; 0 if none.
  [[nodiscard]] SequenceNumber OldestAbove(size_t fragment, SequenceNumber floor) const;
  // Whether a tombstone covers any key from `begin` to `end`, inclusive; null: no bound.
  [[nodiscard]] bool CoversAnyOf(const Slice* begin, const Slice* end) const;

  // Index of the first fragment that ends after `key`: the one that holds it, if any does; size()
  // if there is none.
  [[nodiscard]] size_t LowerBound(const Slice& key) const;

  // The tombstones within [lower, upper); a null bound is no bound. May return this set itself,
  // which is why the caller passes the pointer that owns it.
  static std::shared_ptr<const FragmentedTombstones> Clip(
      std::shared_ptr<const FragmentedTombstones> whole, const Slice* lower, const Slice* upper);

 private:
  // A tombstone's place among all, by sequence number.
  using Rank = uint32_t;
  static constexpr Rank kNone = UINT32_MAX;

  explicit FragmentedTombstones(const InternalKeyComparator& comparator)
      : comparator_(comparator) {}

  void TakeTombstones(const std::vector<Tombstone>& input);
  void SetBounds(const std::vector<Tombstone>& input);
  void SetNewest();
  // Calls visit(node) for the nodes that hold a tombstone with that extent.
  template <typename Visit>
  void ForEachNode(const Extent& extent, Visit visit) const;
  void MakeTree();
  // Those of the tombstones that a reader at `snapshot`, and as of `limit`, may see are the ranks
  // below the result.
  [[nodiscard]] Rank VisibleRanks(SequenceNumber snapshot, const TimestampLimit& limit) const;
  [[nodiscard]] bool IsWithin(Rank rank, const TimestampLimit& limit) const;
  [[nodiscard]] Rank FindVisible(size_t fragment, SequenceNumber snapshot,
                                 const TimestampLimit& limit) const;
  [[nodiscard]] Slice timestamp(Rank rank) const {
    const size_t bytes = comparator_.timestamp_size();
    return Slice(timestamps_.data() + rank * bytes, bytes);
  }

  InternalKeyComparator comparator_;
  std::string bytes_;           // the bounds, ascending
  std::vector<size_t> bounds_;  // where each begins, and where the last one ends
  std::vector<Rank> newest_;    // of each fragment, or kNone
  // By rank.
  std::vector<SequenceNumber> seqs_;
  std::vector<Extent> extents_;
  std::string timestamps_;  // all of one size
  bool timestamps_ascend_ = true;
  // Fragment i is node size() + i, and the parent of node i is node i / 2: as it is with a heap.
  // The tombstones of node i are node_ranks_[node_begin_[i], node_begin_[i + 1]), newest first.
  // Empty where no two tombstones overlap.
  std::vector<size_t> node_begin_;
  std::vector<Rank> node_ranks_;
};

// All range tombstones that an iterator or a compaction has met, asked about one key after
// another.
//
// It remembers between which boundaries the last answer holds, so that keys close together, in
// either direction, cost one or two comparisons. Many small lists are merged as they come, so that
// a move to another place costs no more with a thousand files than with a few.
//
// Thread safety: none; one per iterator. Cost: one that is empty is small, and allocates nothing.
class TombstoneSet {
 public:
  explicit TombstoneSet(const InternalKeyComparator& comparator) : comparator_(comparator) {}
  TombstoneSet(const TombstoneSet&) = delete;
  TombstoneSet& operator=(const TombstoneSet&) = delete;

  // Adds tombstones, as far as they lie in [lower, upper) of user keys; a null bound is no bound.
  // Bounds need not outlive the call. A null list adds nothing.
  void Add(std::shared_ptr<const FragmentedTombstones> tombstones, const Slice* lower = nullptr,
           const Slice* upper = nullptr);
  void Clear();
  // Those beyond it are as if they were not there. None are, in column families with timestamps,
  // before this was called.
  void SetTimestampLimit(const TimestampLimit& limit);

  // Who HidesAll speaks of; nobody before this was called.
  void SetReader(SequenceNumber snapshot) { reader_ = snapshot; }

  [[nodiscard]] bool empty() const { return lists_.empty(); }

  // Whether tombstones that the reader sees and that are newer than `newest` cover all keys from
  // `first` to `last`. May say no where it takes many of them together.
  [[nodiscard]] bool HidesAll(const Slice& first, const Slice& last, bool last_is_exclusive,
                              SequenceNumber newest) {
    if (lists_.empty() || reader_ <= newest) [[likely]]
      return false;
    return HideTogether(first, last, last_is_exclusive, newest);
  }

  // The largest sequence number <= snapshot of a tombstone that covers the key; 0 if none.
  [[nodiscard]] SequenceNumber MaxCoveringSeq(const Slice& key, SequenceNumber snapshot) {
    if (lists_.empty()) [[likely]]
      return 0;
    return Lookup(key, snapshot);
  }

  // The first key after the one asked about last at which the answer may change; null if
  // there is none. Requires: a call of MaxCoveringSeq since the last Add or Clear, while not
  // empty(). Valid until the next call of a non-const method.
  [[nodiscard]] const Slice* NextBoundary() const {
    return known_->has_high ? &known_->high : nullptr;
  }
  // The same backward: the first key, up to the one asked about, from which on the answer holds.
  [[nodiscard]] const Slice* PrevBoundary() const {
    return known_->has_low ? &known_->low : nullptr;
  }

  // What was added: the same tombstones, though not always in the same lists.
  [[nodiscard]] const std::vector<std::shared_ptr<const FragmentedTombstones>>& lists() const {
    return lists_;
  }

 private:
  // More lists than this are merged.
  static constexpr size_t kMaxLists = 8;
  // HidesAll looks at so many neighbouring fragments with different answers.
  static constexpr int kFragmentsTogether = 8;

  // What covers a key, of one list.
  struct Covering {
    const FragmentedTombstones* list;
    size_t fragment;
  };

  // What look-ups know and remember.
  struct Known {
    // Per list, LowerBound of the keys in the interval.
    std::vector<size_t> positions;
    // Every key in [low, high) is covered by the same fragments, those of `covering`. A missing
    // side is unbounded. Slices point into the lists.
    bool interval_valid = false;
    // What was found in that interval last, if anything was since it was entered.
    bool answer_valid = false;
    bool has_low = false;
    bool has_high = false;
    SequenceNumber answer_snapshot = 0;
    SequenceNumber answer = 0;
    Slice low;
    Slice high;
    std::vector<Covering> covering;
    std::string limit_timestamp;
    TimestampLimit limit;  // points into the one above
  };

  Known& known();
  SequenceNumber Lookup(const Slice& key, SequenceNumber snapshot);
  bool HideTogether(const Slice& first, const Slice& last, bool last_is_exclusive,
                    SequenceNumber newest);
  [[nodiscard]] bool InKnownInterval(const Slice& key) const;
  void MoveTo(const Slice& key);
  // LowerBound, tried near the list's last position first.
  [[nodiscard]] size_t Reposition(const FragmentedTombstones& list, size_t position,
                                  const Slice& key) const;
  void RaiseLow(const Slice& boundary);
  void LowerHigh(const Slice& boundary);
  void MergeSmallLists();

  InternalKeyComparator comparator_;
  // Non-empty, clipped.
  std::vector<std::shared_ptr<const FragmentedTombstones>> lists_;
  SequenceNumber reader_ = 0;
  // Null until there is a list or a limit: most iterators meet no tombstone.
  std::unique_ptr<Known> known_;
};

}  // namespace varve
