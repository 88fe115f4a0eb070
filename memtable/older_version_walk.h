// SPDX-License-Identifier: Apache-2.0
#pragma once

// The part of a point read that goes on below a key's newest visible entry, which was an operand.

#include <cstdint>

#include "memtable/blocked_skip_list.h"
#include "memtable/operand_cache.h"
#include "util/key/internal_key.h"
#include "util/key/point_lookup.h"

namespace varve {

// Thread safety: none. Lifetime: everything that it is made of outlives it.
class OlderVersionWalk {
 public:
  // `lists` take up to `list_bytes_max` bytes.
  OlderVersionWalk(const BlockedSkipList& list, const InternalKeyComparator& icmp,
                   OperandCache* lists, size_t list_bytes_max, PointLookup* lookup);
  OlderVersionWalk(const OlderVersionWalk&) = delete;
  OlderVersionWalk& operator=(const OlderVersionWalk&) = delete;

  // Offers the lookup all entries of its key after `internal_key`, which is one. True when the
  // search is over.
  bool OfferAfter(const Slice& internal_key);

 private:
  enum class Outcome : uint8_t { kNextLeaf, kMoved, kOver, kEndOfKey };

  void GoAfter(const Slice& user_key, uint64_t trailer);
  Outcome OfferLeaf();
  [[nodiscard]] bool AllAreOfKey() const;
  // At the first operand of next_list_, whose values the lookup takes.
  bool TakeLists();
  // Makes the operands that were passed known to other readers. `reached`: the list after them.
  void Publish(const OperandList* reached);

  const BlockedSkipList& list_;
  const InternalKeyComparator& icmp_;
  OperandCache* const operand_cache_;  // null: this read has no use for them
  const size_t list_bytes_max_;
  PointLookup* const lookup_;
  const OperandList* head_ = nullptr;       // the key's newest list
  const OperandList* next_list_ = nullptr;  // the next one that the walk will come to
  bool builds_ = false;
  OperandListBuilder builder_;
  uint32_t at_ = 0;
  BlockedSkipList::LeafCopy leaf_;
};

}  // namespace varve
