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

// A set of range tombstones in fragments: sorted, non-overlapping ranges, each with the distinct
// sequence numbers of the tombstones that cover it, newest first.
//
// Fragments that touch and have the same sequence numbers are joined.
//
// Thread safety: immutable; may be shared between threads.
// Cost: building takes O(n log n) comparisons, and space for one number per fragment and
//   tombstone that covers it.
class FragmentedTombstones {
 public:
  // `seqs` is never empty; slices and spans live as long as the FragmentedTombstones.
  struct Fragment {
    Slice start;                           // inclusive
    Slice end;                             // exclusive
    std::span<const SequenceNumber> seqs;  // descending
  };

  // Tombstones may come in any order and overlap in any way.
  static std::shared_ptr<const FragmentedTombstones> Build(std::span<const RangeTombstone> input,
                                                           const InternalKeyComparator& comparator);

  [[nodiscard]] bool empty() const { return fragments_.empty(); }
  [[nodiscard]] size_t size() const { return fragments_.size(); }
  [[nodiscard]] Fragment fragment(size_t index) const;
  // Number of (fragment, sequence number) pairs: the tombstones that a table of them holds.
  [[nodiscard]] size_t tombstone_count() const { return seqs_.size(); }
  // Largest and smallest sequence number anywhere; 0 if empty.
  [[nodiscard]] SequenceNumber max_seq() const { return max_seq_; }
  [[nodiscard]] SequenceNumber min_seq() const { return min_seq_; }
  [[nodiscard]] const InternalKeyComparator& comparator() const { return comparator_; }
  [[nodiscard]] size_t MemoryUsage() const;
  // Of the tombstone with that sequence number, which is one of a fragment's. Empty without
  // timestamps.
  [[nodiscard]] Slice timestamp(SequenceNumber seq) const;

  // The largest sequence number <= snapshot of a tombstone within the limit that covers the key; 0
  // if none.
  [[nodiscard]] SequenceNumber MaxCoveringSeq(const Slice& key, SequenceNumber snapshot,
                                              const TimestampLimit& limit = {}) const;

  // Index of the first fragment that ends after `key`: the one that covers it, or else the next
  // one; size() if there is none.
  [[nodiscard]] size_t LowerBound(const Slice& key) const;
  // Index of the first fragment that starts after `key`; size() if there is none.
  [[nodiscard]] size_t UpperBound(const Slice& key) const;

  // Largest entry of `seqs`, a fragment's, that is <= snapshot and within the limit; 0 if none.
  [[nodiscard]] SequenceNumber NewestVisible(std::span<const SequenceNumber> seqs,
                                             SequenceNumber snapshot,
                                             const TimestampLimit& limit) const;

  // The tombstones within [lower, upper); a null bound is no bound. May return this set itself,
  // which is why the caller passes the pointer that owns it.
  static std::shared_ptr<const FragmentedTombstones> Clip(
      std::shared_ptr<const FragmentedTombstones> whole, const Slice* lower, const Slice* upper);

 private:
  // Ranges of bytes_ and seqs_. A fragment's start may share the bytes of its neighbour's end.
  struct Entry {
    size_t start_pos;
    size_t start_len;
    size_t end_pos;
    size_t end_len;
    size_t seq_begin;
    size_t seq_end;
  };

  // Sequence numbers and the timestamps that belong to them, ascending.
  using Timestamps = std::vector<std::pair<SequenceNumber, std::string>>;

  explicit FragmentedTombstones(const InternalKeyComparator& comparator)
      : comparator_(comparator) {}

  [[nodiscard]] Slice StartOf(const Entry& e) const {
    return Slice(bytes_.data() + e.start_pos, e.start_len);
  }
  [[nodiscard]] Slice EndOf(const Entry& e) const {
    return Slice(bytes_.data() + e.end_pos, e.end_len);
  }
  void AppendBytes(const Slice& key, size_t* pos, size_t* len);
  // Appends a fragment after all others; joins it with the last one if they touch and agree.
  void Append(const Slice& start, const Slice& end, std::span<const SequenceNumber> seqs);

  InternalKeyComparator comparator_;
  std::string bytes_;
  std::vector<SequenceNumber> seqs_;
  Timestamps timestamps_;  // empty without timestamps
  std::vector<Entry> fragments_;
  SequenceNumber max_seq_ = 0;
  SequenceNumber min_seq_ = 0;
};

// All range tombstones that an iterator or a compaction has met, asked about one key after
// another.
//
// It remembers between which boundaries the last answer holds, so that keys close together, in
// either direction, cost one or two comparisons. Many small lists are merged as they come, so that
// a move to another place costs no more with a thousand files than with a few.
//
// Thread safety: none; one per iterator.
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

  [[nodiscard]] bool empty() const { return lists_.empty(); }

  // The largest sequence number <= snapshot of a tombstone that covers the key; 0 if none.
  [[nodiscard]] SequenceNumber MaxCoveringSeq(const Slice& key, SequenceNumber snapshot) {
    if (lists_.empty()) [[likely]]
      return 0;
    return Lookup(key, snapshot);
  }

  // True if an entry is deleted for a reader at `snapshot`.
  [[nodiscard]] bool ShouldDelete(const ParsedInternalKey& key, SequenceNumber snapshot) {
    return MaxCoveringSeq(comparator_.WithoutTimestamp(key.user_key), snapshot) > key.sequence;
  }

  // The first key after the one asked about last at which the answer may change; null if
  // there is none. Requires: a call of MaxCoveringSeq since the last Add or Clear, while not
  // empty(). Valid until the next call of a non-const method.
  [[nodiscard]] const Slice* NextBoundary() const { return has_high_ ? &high_ : nullptr; }

  // What was added: the same tombstones, though not always in the same lists.
  [[nodiscard]] const std::vector<std::shared_ptr<const FragmentedTombstones>>& lists() const {
    return lists_;
  }

 private:
  // More lists than this are merged.
  static constexpr size_t kMaxLists = 8;

  // What covers a key, of one list.
  struct Covering {
    const FragmentedTombstones* list;
    std::span<const SequenceNumber> seqs;
  };

  SequenceNumber Lookup(const Slice& key, SequenceNumber snapshot);
  [[nodiscard]] bool InCachedInterval(const Slice& key) const;
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
  // Per list, LowerBound of the keys in the cached interval.
  std::vector<size_t> positions_;
  // Every key in [low_, high_) is covered by the same fragments, those of covering_. A missing
  // side is unbounded. Slices and spans point into the lists.
  bool cache_valid_ = false;
  bool has_low_ = false;
  bool has_high_ = false;
  Slice low_;
  Slice high_;
  std::vector<Covering> covering_;
  std::string limit_timestamp_;
  TimestampLimit limit_;  // points into the one above
};

}  // namespace varve
