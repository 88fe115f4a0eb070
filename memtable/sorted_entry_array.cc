// SPDX-License-Identifier: Apache-2.0

// Merges new entries into a sorted array. Slots carry eight bytes of their key behind what all keys
// have in common, so that most comparisons touch no entry.

#include "memtable/sorted_entry_array.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

#include "util/base/assert.h"
#include "util/key/prefix_sort.h"

namespace varve {

std::string SortedEntryArray::CommonPrefix(const SortedEntryArray* before,
                                           std::span<const ArenaOffset> added,
                                           const InternalKeyComparator& icmp,
                                           const EntryArena& arena) {
  // Under any other order, keys do not sort like their bytes.
  if (!BytesDecide(icmp.order()) || added.empty()) return "";
  const auto key_of = [&](ArenaOffset offset) {
    return icmp.KeyOf(MemEntry::At(arena.At(offset))->internal_key());
  };
  const Slice first =
      before != nullptr ? Slice(before->prefixes_.common_prefix()) : key_of(added[0]);
  size_t n = first.size();
  // The common prefix only shrinks: it is what the new keys share with the old one.
  for (const ArenaOffset offset : added) {
    const Slice key = key_of(offset);
    if (!key.starts_with(Slice(first.data(), n))) n = first.difference_offset(key);
  }
  return std::string(first.data(), n);
}

// Computes the common prefix of all keys first, because it determines the slots' prefixes; then
// sorts the added slots, and merges them with the old ones.
std::shared_ptr<const SortedEntryArray> SortedEntryArray::Merge(const SortedEntryArray* before,
                                                                std::span<const ArenaOffset> added,
                                                                const InternalKeyComparator& icmp,
                                                                const EntryArena& arena) {
  if (before != nullptr && before->size() == 0) before = nullptr;
  const std::string common_prefix = CommonPrefix(before, added, icmp, arena);
  const std::shared_ptr<SortedEntryArray> made(new SortedEntryArray(icmp, arena, common_prefix));
  const auto slot_of = [&](ArenaOffset offset) { return made->SlotOf(offset); };
  const auto is_before = [&](const Slot& a, const Slot& b) { return made->IsBefore(a, b); };
  // New entries are sorted alone, so that a small addition to a large table costs one walk over
  // the table, and no sort of it.
  std::vector<Slot> fresh(added.size());
  std::transform(added.begin(), added.end(), fresh.begin(), slot_of);
  SortByPrefix(&fresh, is_before);
  if (before == nullptr) {
    made->slots_ = std::move(fresh);
    return made;
  }
  // The older array is copied, not extended: iterators and other readers may still hold it.
  made->slots_.reserve(before->size() + fresh.size());
  const auto merge = [&](const std::vector<Slot>& old) {
    std::merge(old.begin(), old.end(), fresh.begin(), fresh.end(), std::back_inserter(made->slots_),
               is_before);
  };
  if (common_prefix == before->prefixes_.common_prefix()) {
    // The usual case: the old prefixes are still right, so no old entry is read to compute its own.
    merge(before->slots_);
    return made;
  }
  // A shorter common prefix changes the key prefixes, but not the order.
  std::vector<Slot> old = before->slots_;
  for (Slot& slot : old) slot = slot_of(slot.offset);
  merge(old);
  VARVE_ASSERT(made->size() == before->size() + added.size());
  return made;
}

// Equal prefixes say nothing: the keys may differ after them, or be versions of one key.
bool SortedEntryArray::IsBefore(const Slot& a, const Slot& b) const {
  if (a.prefix != b.prefix) return a.prefix < b.prefix;
  return icmp_.Compare(EntryAt(a.offset)->internal_key(), EntryAt(b.offset)->internal_key()) < 0;
}

int SortedEntryArray::Compare(const Slot& slot, uint64_t prefix, const Slice& user_key,
                              uint64_t trailer) const {
  if (slot.prefix != prefix) return slot.prefix < prefix ? -1 : 1;
  const Slice key = EntryAt(slot.offset)->internal_key();
  const int order = icmp_.CompareUserKey(ExtractUserKey(key), user_key);
  if (order != 0) return order;
  return InternalKeyComparator::CompareTrailers(ExtractTrailer(key), trailer);
}

size_t SortedEntryArray::CountBefore(const Slice& user_key, uint64_t trailer) const {
  const uint64_t prefix = prefixes_.Of(user_key);
  const auto end = std::partition_point(slots_.begin(), slots_.end(), [&](const Slot& slot) {
    return Compare(slot, prefix, user_key, trailer) < 0;
  });
  return static_cast<size_t>(end - slots_.begin());
}

size_t SortedEntryArray::CountThrough(const Slice& user_key, uint64_t trailer) const {
  const uint64_t prefix = prefixes_.Of(user_key);
  const auto end = std::partition_point(slots_.begin(), slots_.end(), [&](const Slot& slot) {
    return Compare(slot, prefix, user_key, trailer) <= 0;
  });
  return static_cast<size_t>(end - slots_.begin());
}

}  // namespace varve
