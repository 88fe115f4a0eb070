// SPDX-License-Identifier: Apache-2.0
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

bool OlderVersionWalk::OfferAfter(const Slice& internal_key) {
  const uint64_t trailer = ExtractTrailer(internal_key);
  if (operand_cache_ != nullptr) {
    head_ = next_list_ = operand_cache_->Find(lookup_->key(), lookup_->hash());
    // A read at an older snapshot begins below the newest lists.
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

// All entries between one of the key and the leaf's last one are the key's if the last one is.
bool OlderVersionWalk::AllAreOfKey() const {
  if (leaf_.count == 0) return false;
  const MemEntry* const last = list_.EntryAt(leaf_.slots[leaf_.count - 1].offset);
  return icmp_.EqualKey(icmp_.KeyOf(last->internal_key()), lookup_->key());
}

OlderVersionWalk::Outcome OlderVersionWalk::OfferLeaf() {
  const bool all = AllAreOfKey();
  // In this case there may be many more.
  if (all && leaf_.next != nullptr) list_.PrefetchAfter(leaf_.next);
  // No entry has this trailer.
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
      if (builds_ && (lookup_->IsWholeAt(trailer) || VARVE_CANARY(kListAcrossHoles))) {
        builds_ = builder_.Passed(trailer, lookup_->operands()->slices());
      }
    } else if (lookup_->Offer(trailer, value, nullptr)) {
      return Outcome::kOver;
    }
  }
  return Outcome::kNextLeaf;
}

bool OlderVersionWalk::TakeLists() {
  VARVE_ASSERT(next_list_ != nullptr && at_ < leaf_.count);
  Publish(next_list_);
  const OperandList* list = next_list_;
  uint64_t oldest = 0;
  bool more = true;
  while (more && list != nullptr) {
    if (!lookup_->TakeOperands(list->oldest, list->values)) break;
    oldest = list->oldest;
    more = list->adjoins;
    list = list->older;
  }
  // A list that a tombstone covers, in part or whole, is not usable, nor is what lies below it.
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
