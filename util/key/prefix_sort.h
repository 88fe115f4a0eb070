// SPDX-License-Identifier: Apache-2.0
#pragma once

// SortByPrefix sorts slots that have a key prefix, a number that ascends with keys.
//
//      8-byte prefixes   61 62 63 ...     1. count how often each byte has each value
//                        61 62 7a ...     2. choose so many leading bytes that slots differ in them
//                        61 64 00 ...     3. one pass of radix sort for each of these bytes
//                                         4. sort the runs that agree in them by comparison
//
// A comparison of two keys reads both, which lie anywhere in memory; a pass of radix sort only
// moves slots. Bytes in which all slots agree, as those of a common prefix, cost no pass.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace varve {

// Sorts by `is_before`, whose order must agree with the slots' `prefix` where two differ. Requires
// fewer than 2^32 slots. Throws what is_before throws, and std::bad_alloc.
template <typename Slot, typename IsBefore>
void SortByPrefix(std::vector<Slot>* slots, const IsBefore& is_before) {
  // The counts of all bytes cost more than the comparisons of fewer slots.
  constexpr size_t kRadixMin = 64;
  constexpr size_t kBytes = 8;
  const size_t n = slots->size();
  if (n < kRadixMin) {
    std::sort(slots->begin(), slots->end(), is_before);
    return;
  }
  const auto byte_of = [](const Slot& slot, size_t byte) {
    return slot.prefix >> (8 * byte) & 0xff;
  };
  std::array<std::array<uint32_t, 256>, kBytes> counts{};  // Index 7 is the most significant byte.
  for (const Slot& slot : *slots) {
    for (size_t byte = 0; byte < kBytes; byte++) counts[byte][byte_of(slot, byte)]++;
  }
  const auto distinct = [&](size_t byte) {
    return counts[byte].size() - static_cast<size_t>(std::ranges::count(counts[byte], 0u));
  };
  // Chooses leading bytes, from the most significant one on, until their values could distinguish
  // twice as many slots as there are.
  size_t last = kBytes;
  for (size_t places = 1; last > 0 && places < 2 * n;) {
    places *= distinct(--last);
  }
  std::vector<Slot> other(n);
  for (size_t byte = last; byte < kBytes; byte++) {
    if (distinct(byte) == 1) continue;
    // Turns the counts into the places at which the slots of each value begin.
    uint32_t begin = 0;
    for (uint32_t& count : counts[byte]) {
      const uint32_t of_value = count;
      count = begin;
      begin += of_value;
    }
    // A pass keeps the order of slots that agree in this byte, so that the passes before it count.
    for (const Slot& slot : *slots) other[counts[byte][byte_of(slot, byte)]++] = slot;
    slots->swap(other);
  }
  const auto lead_of = [last](const Slot& slot) { return slot.prefix >> (8 * last); };
  // Slots that agree in the sorted bytes lie side by side now; only these are compared.
  for (auto run = slots->begin(); run != slots->end();) {
    auto end = run + 1;
    while (end != slots->end() && lead_of(*end) == lead_of(*run)) ++end;
    if (end - run > 1) std::sort(run, end, is_before);
    run = end;
  }
}

}  // namespace varve
