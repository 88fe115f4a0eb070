// SPDX-License-Identifier: Apache-2.0

// Sorting, merging and searching slots of (key word, name).

#include "memtable/sorted_entries.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <iterator>
#include <numeric>
#include <utility>

namespace varve {

namespace {

// From so many slots on they are spread before they are sorted, this many to a place.
constexpr size_t kSpreadMin = 256;
constexpr size_t kSlotsAPlace = 8;

}  // namespace

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
  made->Sort(&fresh);
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

// Words that are spread over their range go each to about its place in one step, and a sort of the
// few that meet there is left. Where they crowd, that sort does the work, as it would have anyway.
void SortedEntries::Sort(std::vector<Slot>* slots) const {
  const auto is_before = [this](const Slot& a, const Slot& b) { return IsBefore(a, b); };
  const auto by_word = [](const Slot& a, const Slot& b) { return a.word < b.word; };
  const auto [least, largest] = std::minmax_element(slots->begin(), slots->end(), by_word);
  if (slots->size() < kSpreadMin || least->word == largest->word) {
    std::sort(slots->begin(), slots->end(), is_before);
    return;
  }
  const uint64_t base = least->word;
  const auto range_bits = static_cast<int>(std::bit_width(largest->word - base));
  const auto place_bits = static_cast<int>(std::bit_width(slots->size() / kSlotsAPlace));
  const int shift = std::max(0, range_bits - place_bits);
  const auto place_of = [base, shift](const Slot& slot) { return (slot.word - base) >> shift; };
  std::vector<uint32_t> ends(place_of(*largest) + 1);
  for (const Slot& slot : *slots) ends[place_of(slot)]++;
  std::partial_sum(ends.begin(), ends.end(), ends.begin());
  std::vector<Slot> spread(slots->size());
  // From the back, each place fills from its end; its begin is what is left in `ends`.
  for (size_t i = slots->size(); i-- > 0;) spread[--ends[place_of((*slots)[i])]] = (*slots)[i];
  for (size_t place = 0; place < ends.size(); place++) {
    const size_t end = place + 1 == ends.size() ? spread.size() : ends[place + 1];
    std::sort(spread.begin() + ends[place], spread.begin() + static_cast<std::ptrdiff_t>(end),
              is_before);
  }
  slots->swap(spread);
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
