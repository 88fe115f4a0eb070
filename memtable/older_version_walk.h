// SPDX-License-Identifier: Apache-2.0
#pragma once

// Implements the part of a point read that continues below a key's newest visible entry, a merge
// operand.

#include <cstdint>

#include "memtable/blocked_skip_list.h"
#include "memtable/operand_cache.h"
#include "util/key/internal_key.h"
#include "util/key/point_lookup.h"

namespace varve {

// Goes through the older versions of a lookup's key in a blocked skip list, and offers them to the
// lookup. Merge operands for which there is a list (operand_cache.h) are taken as a whole list.
//
// Thread safety: none. Lifetime: the constructor's arguments outlive it.
class OlderVersionWalk {
 public:
  // Makes a walk in `list` for one lookup. `lists` are the memtable's lists of operands, which the
  // walk uses and adds to, up to `list_bytes_max` bytes; null: there are none.
  OlderVersionWalk(const BlockedSkipList& list, const InternalKeyComparator& icmp,
                   OperandCache* lists, size_t list_bytes_max, PointLookup* lookup);
  OlderVersionWalk(const OlderVersionWalk&) = delete;
  OlderVersionWalk& operator=(const OlderVersionWalk&) = delete;

  // Offers the lookup all entries of its key that come after `internal_key`, which is that of an
  // entry of the key. Returns true if the search is over.
  bool OfferAfter(const Slice& internal_key);

 private:
  // The result of a leaf: the key goes on to the right, the walk was moved by lists, the search is
  // over, or no entry of the key is left.
  enum class Outcome : uint8_t { kNextLeaf, kMoved, kOver, kEndOfKey };

  // Moves to the first entry after this version of the key.
  void GoAfter(const Slice& user_key, uint64_t trailer);
  // Offers the entries of leaf_ from at_ on.
  Outcome OfferLeaf();
  // True if all entries of leaf_ from at_ on are known to be of the key.
  [[nodiscard]] bool AllAreOfKey() const;
  // Makes the lookup take the values of next_list_, at whose first operand the walk is.
  bool TakeLists();
  // Publishes the passed operands to other readers. `reached` is the list after them.
  void Publish(const OperandList* reached);

  const BlockedSkipList& list_;
  const InternalKeyComparator& icmp_;
  OperandCache* const operand_cache_;  // Null if this read cannot use it.
  const size_t list_bytes_max_;
  PointLookup* const lookup_;
  const OperandList* head_ = nullptr;       // The key's newest list.
  const OperandList* next_list_ = nullptr;  // The next list that the walk will reach.
  // True if the walk makes lists for other readers.
  bool builds_ = false;
  OperandListBuilder builder_;
  // The slot of leaf_ at which the walk is.
  uint32_t at_ = 0;
  BlockedSkipList::LeafCopy leaf_;
};

}  // namespace varve
