// SPDX-License-Identifier: Apache-2.0

// Walks from an entry to older versions of its key, and offers them to a look-up. Lists of merge
// operands (OperandCache) that an earlier read has left are taken whole, instead of one entry after
// the other; a walk that takes operands leaves such lists for the next read.
//
//      list      k@90 k@88 k@87 ... k@41 k@40 ... k@3 put
//      operands       [ 88 ... 41 ][ 40 ... 12 ]
//      walk      90   taken whole    taken whole    11 ... 3, entry by entry

#include "memtable/older_version_walk.h"

#include "util/base/assert.h"
#include "util/base/canary.h"

namespace varve {

OlderVersionWalk::OlderVersionWalk(const BlockedSkipList& list, const InternalKeyComparator& icmp,
                                   OperandCache* lists, size_t list_bytes_max, PointLookup* lookup)
    : list_(list),
      icmp_(icmp),
      operand_cache_(lookup->TakesAllOperands() && icmp.timestamp_size() == 0 ? lists : nullptr),
      list_bytes_max_(list_bytes_max),
      lookup_(lookup) {}

// Offers the versions after `internal_key` leaf by leaf, until the lookup is decided or the key's
// entries end. Lists that the walk has built on the way are published at the end, whatever it was.
bool OlderVersionWalk::OfferAfter(const Slice& internal_key) {
  const uint64_t trailer = ExtractTrailer(internal_key);
  if (operand_cache_ != nullptr) {
    head_ = next_list_ = operand_cache_->Find(lookup_->key(), lookup_->hash());
    // A read at an older snapshot begins below the newest lists. It builds none, since new lists
    // are put before the newest (OperandCache::Extend).
    while (next_list_ != nullptr && next_list_->newest >= trailer) next_list_ = next_list_->older;
    builds_ = next_list_ == head_;
  }
  GoAfter(ExtractUserKey(internal_key), trailer);
  Outcome outcome = OfferLeaf();
  while (outcome == Outcome::kNextLeaf || outcome == Outcome::kMoved) {
    if (outcome == Outcome::kNextLeaf) {
      if (leaf_.next == nullptr) break;
      list_.CopyLeaf(leaf_.next, &leaf_);
      at_ = 0;
    }
    outcome = OfferLeaf();
  }
  Publish(nullptr);
  // Everything older than this table is older than its tombstones as well.
  return outcome == Outcome::kOver || lookup_->EndIfCovered();
}

void OlderVersionWalk::GoAfter(const Slice& user_key, uint64_t trailer) {
  const BlockedSkipList::Target target = list_.MakeTarget(user_key, trailer);
  list_.CopyLeafOf(target, &leaf_);
  at_ = list_.CountThrough(leaf_, target);
}

// The walk is behind an entry of the key, and entries are in order. So if the leaf's last entry is
// the key's, all from the walk's place on are.
bool OlderVersionWalk::AllAreOfKey() const {
  if (leaf_.count == 0) return false;
  const MemEntry* const last = list_.EntryAt(leaf_.slots[leaf_.count - 1].offset);
  return icmp_.EqualKey(icmp_.KeyOf(last->internal_key()), lookup_->key());
}

// Offers the key's entries in the copied leaf from at_ on. kMoved: lists were taken instead, and
// the walk is behind them, perhaps in another leaf.
OlderVersionWalk::Outcome OlderVersionWalk::OfferLeaf() {
  const bool all = AllAreOfKey();
  // The key's entries reach the leaf's end, so there may be many more in the next one.
  if (all && leaf_.next != nullptr) list_.PrefetchAfter(leaf_.next);
  // UINT64_MAX: no list is left, and no entry has this trailer.
  const uint64_t list_begins = next_list_ != nullptr ? next_list_->newest : UINT64_MAX;
  for (; at_ < leaf_.count; at_++) {
    Slice value;
    const Slice key = list_.EntryAt(leaf_.slots[at_].offset)->internal_key(&value);
    if (!all && !icmp_.EqualKey(icmp_.KeyOf(key), lookup_->key())) return Outcome::kEndOfKey;
    const uint64_t trailer = ExtractTrailer(key);
    if (trailer == list_begins && TakeLists()) return Outcome::kMoved;
    // A version with an older timestamp may have been written later.
    if (!lookup_->Sees(ExtractUserKey(key), trailer)) continue;
    if (lookup_->TakeOperand(trailer, value)) {
      // Lists have only operands around which no other can appear any more (OperandList).
      if (builds_ && (lookup_->IsWholeAt(trailer) || VARVE_CANARY(kListAcrossHoles))) {
        builds_ = builder_.Passed(trailer, lookup_->operands()->slices());
      }
    } else if (lookup_->Offer(trailer, value, nullptr)) {
      return Outcome::kOver;
    }
  }
  return Outcome::kNextLeaf;
}

// Takes whole lists of operands as long as each adjoins the one before it, and moves the walk
// behind the last one taken. Returns false, without a move, if none could be taken.
bool OlderVersionWalk::TakeLists() {
  VARVE_ASSERT(next_list_ != nullptr && at_ < leaf_.count);
  Publish(next_list_);
  const OperandList* list = next_list_;
  uint64_t oldest = 0;
  bool more = true;
  while (more && list != nullptr) {
    // A tombstone may cover the older half of a list, which entries show and the list does not.
    if (!lookup_->TakeOperands(list->oldest, list->values)) break;
    oldest = list->oldest;
    more = list->adjoins;
    list = list->older;
  }
  // If the loop ended with `more`, a tombstone covers the list, in part or whole: neither that list
  // nor those below it can be taken. Otherwise entries lie before the next list, and come first.
  next_list_ = more ? nullptr : list;
  if (oldest == 0) return false;
  GoAfter(lookup_->key(), oldest);
  return true;
}

void OlderVersionWalk::Publish(const OperandList* reached) {
  if (!builds_) return;
  builds_ = false;
  operand_cache_->Extend(lookup_->key(), lookup_->hash(), head_, builder_.Finish(reached),
                         list_bytes_max_);
}

}  // namespace varve
