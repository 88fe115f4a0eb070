// SPDX-License-Identifier: Apache-2.0
#pragma once

// BatchRanges indexes the range deletions of one column family in a batch.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "varve/slice.h"

#include "util/key/internal_key.h"
#include "util/key/range_tombstone.h"

namespace varve {

// Offsets of records serve as sequence numbers. The newest deletions are searched one by one; when
// they are many, all are cut into disjoint fragments, as reads of the database do it
// (FragmentedTombstones).
//
// Thread safety: none. Lifetime: the batch's bytes may move, but their string outlives this object.
// Cost: a look-up takes O(log n) comparisons, and one for each of the newest deletions.
class BatchRanges {
 public:
  // The newest deletion that covers a key, and bounds within which that holds. Keys and bounds are
  // user keys without timestamps.
  struct Cover {
    uint32_t offset = 0;  // 0: none covers it.
    Slice start;          // Inclusive.
    Slice end;            // Exclusive.
  };

  BatchRanges(const std::string* batch, const InternalKeyComparator& icmp)
      : batch_(batch), icmp_(icmp) {}

  // Adds a record, which must come after all others.
  void Add(uint32_t offset) { offsets_.push_back(offset); }
  // Removes the records from `offset` on.
  void RollBack(size_t offset) noexcept;
  void Clear() noexcept { RollBack(0); }
  // Requires that there are no records.
  void SetComparator(const InternalKeyComparator& icmp) { icmp_ = icmp; }

  [[nodiscard]] bool empty() const { return offsets_.empty(); }
  // Returns the cover of a key. The slices are valid until the next change.
  [[nodiscard]] Cover CoverOf(const Slice& key);

 private:
  // The newest deletions are searched one by one until they are more than this and those in older_
  // together; then Build is due.
  static constexpr size_t kFewMax = 16;

  // Returns the deletion at an offset of the batch, with the offset as its sequence number.
  [[nodiscard]] FragmentedTombstones::Tombstone TombstoneAt(uint32_t offset) const;
  // Puts all deletions into older_.
  void Build();

  const std::string* batch_;
  InternalKeyComparator icmp_;
  std::vector<uint32_t> offsets_;  // Ascending.
  size_t built_ = 0;               // This many of them are in older_.
  // The first built_ deletions, cut into disjoint fragments.
  std::shared_ptr<const FragmentedTombstones> older_;
};

}  // namespace varve
