// SPDX-License-Identifier: Apache-2.0
#pragma once

// The range deletions of one column family in a batch.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "varve/slice.h"

#include "util/key/internal_key.h"
#include "util/key/range_tombstone.h"

namespace varve {

// The offset of a record stands for a sequence number. The newest deletions are looked through one
// by one; when they are many, all are put into the form that readers of databases use.
//
// Thread safety: none. Lifetime: the batch's bytes may move, their string outlives this.
// Cost: a look-up takes O(log n) comparisons, and some for the newest deletions.
class BatchRanges {
 public:
  // What covers a key: the newest deletion, and bounds within which that is so.
  struct Cover {
    uint32_t offset = 0;  // 0: nothing does
    Slice start;          // inclusive
    Slice end;            // exclusive
  };

  BatchRanges(const std::string* batch, const InternalKeyComparator& icmp)
      : batch_(batch), icmp_(icmp) {}

  // A record after all that are there.
  void Add(uint32_t offset) { offsets_.push_back(offset); }
  // Forgets those from `offset` on.
  void RollBack(size_t offset) noexcept;
  void Clear() noexcept { RollBack(0); }
  // Of an empty one.
  void SetComparator(const InternalKeyComparator& icmp) { icmp_ = icmp; }

  [[nodiscard]] bool empty() const { return offsets_.empty(); }
  // The slices are valid until the next change.
  [[nodiscard]] Cover CoverOf(const Slice& key);

 private:
  static constexpr size_t kFewMax = 16;

  [[nodiscard]] FragmentedTombstones::Tombstone TombstoneAt(uint32_t offset) const;
  void Build();

  const std::string* batch_;
  InternalKeyComparator icmp_;
  std::vector<uint32_t> offsets_;  // ascending
  size_t built_ = 0;               // so many of them are in `older_`
  std::shared_ptr<const FragmentedTombstones> older_;
};

}  // namespace varve
