// SPDX-License-Identifier: Apache-2.0
#pragma once

// Holds the hashes that filters are built from, and walks them for their builders.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>

#include "util/sync/give_way.h"

namespace varve {

// Bytes at the end of every filter block that describe it.
inline constexpr size_t kFilterMetadataBytes = 5;

// Stored in pieces: a vector of a large table's hashes would hold them twice whenever it grows.
using FilterHashes = std::deque<uint64_t>;

// Calls set(hash) for each hash until it returns false, with the memory that place(hash) names
// already prefetched. Returns false if set() did. Background jobs let other threads run from time
// to time meanwhile (GiveWay).
template <typename PlaceFn, typename SetFn>
bool ForEachPrefetched(const FilterHashes& hashes, PlaceFn place, SetFn set) {
  constexpr std::ptrdiff_t kAhead = 8;
  auto ahead = hashes.begin();
  const auto end = hashes.end();
  const auto first_ahead = hashes.begin() + std::min(kAhead, end - hashes.begin());
  for (; ahead != first_ahead; ++ahead) __builtin_prefetch(place(*ahead), 1);
  constexpr size_t kPerStep = 64;
  size_t until_step = kPerStep;
  for (auto now = hashes.begin(); now != end; ++now) {
    if (--until_step == 0) [[unlikely]] {
      until_step = kPerStep;
      GiveWay::Step();
    }
    if (ahead != end) __builtin_prefetch(place(*ahead++), 1);
    if (!set(*now)) return false;
  }
  return true;
}

}  // namespace varve
