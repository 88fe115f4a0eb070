// SPDX-License-Identifier: Apache-2.0

// Sorting, merging and searching slots of (key word, name).

#include "memtable/sorted_entries.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace varve {

std::string SortedEntries::CommonPrefix(const SortedEntries* before,
                                        std::span<const EntryRef> added,
                                        const InternalKeyComparator& icmp,
                                        const EntryArena& arena) {
  if (!BytesDecide(icmp.order()) || added.empty()) return "";
  const auto key_of = [&](EntryRef ref) {
    return icmp.KeyOf(MemEntry::At(arena.At(ref))->internal_key());
  };
  const Slice first = before != nullptr ? Slice(before->words_.prefix()) : key_of(added[0]);
  size_t n = first.size();
  for (const EntryRef ref : added) {
    const Slice key = key_of(ref);
    if (!key.starts_with(Slice(first.data(), n))) n = first.difference_offset(key);
  }
  return std::string(first.data(), n);
}

std::shared_ptr<const SortedEntries> SortedEntries::Merge(const SortedEntries* before,
                                                          std::span<const EntryRef> added,
                                                          const InternalKeyComparator& icmp,
                                                          const EntryArena& arena) {
  if (before != nullptr && before->size() == 0) before = nullptr;
  const std::string prefix = CommonPrefix(before, added, icmp, arena);
  const std::shared_ptr<SortedEntries> made(new SortedEntries(icmp, arena, prefix));
  const auto slot_of = [&](EntryRef ref) { return made->SlotOf(ref); };
  const auto is_before = [&](const Slot& a, const Slot& b) { return made->IsBefore(a, b); };
  std::vector<Slot> fresh(added.size());
  std::transform(added.begin(), added.end(), fresh.begin(), slot_of);
  std::sort(fresh.begin(), fresh.end(), is_before);
  if (before == nullptr) {
    made->slots_ = std::move(fresh);
    return made;
  }
  made->slots_.reserve(before->size() + fresh.size());
  const auto merge = [&](const std::vector<Slot>& old) {
    std::merge(old.begin(), old.end(), fresh.begin(), fresh.end(), std::back_inserter(made->slots_),
               is_before);
  };
  if (prefix == before->words_.prefix()) {
    merge(before->slots_);
    return made;
  }
  // Behind a shorter prefix the words are others, and the order is the same.
  std::vector<Slot> old = before->slots_;
  for (Slot& slot : old) slot = slot_of(slot.ref);
  merge(old);
  return made;
}

bool SortedEntries::IsBefore(const Slot& a, const Slot& b) const {
  if (a.word != b.word) return a.word < b.word;
  return icmp_.Compare(EntryAt(a.ref)->internal_key(), EntryAt(b.ref)->internal_key()) < 0;
}

int SortedEntries::Compare(const Slot& slot, uint64_t word, const Slice& user_key,
                           uint64_t trailer) const {
  if (slot.word != word) return slot.word < word ? -1 : 1;
  const Slice key = EntryAt(slot.ref)->internal_key();
  const int order = icmp_.CompareUserKey(ExtractUserKey(key), user_key);
  if (order != 0) return order;
  return InternalKeyComparator::CompareTrailers(ExtractTrailer(key), trailer);
}

size_t SortedEntries::CountBefore(const Slice& user_key, uint64_t trailer) const {
  const uint64_t word = words_.Of(user_key);
  const auto end = std::partition_point(slots_.begin(), slots_.end(), [&](const Slot& slot) {
    return Compare(slot, word, user_key, trailer) < 0;
  });
  return static_cast<size_t>(end - slots_.begin());
}

size_t SortedEntries::CountThrough(const Slice& user_key, uint64_t trailer) const {
  const uint64_t word = words_.Of(user_key);
  const auto end = std::partition_point(slots_.begin(), slots_.end(), [&](const Slot& slot) {
    return Compare(slot, word, user_key, trailer) <= 0;
  });
  return static_cast<size_t>(end - slots_.begin());
}

}  // namespace varve
