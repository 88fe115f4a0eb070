// SPDX-License-Identifier: Apache-2.0
#include "db/blob/byte_ranges.h"

#include <algorithm>
#include <iterator>

#include "util/base/assert.h"
#include "util/base/canary.h"

namespace varve {

// The new range swallows all that it overlaps or touches.
void ByteRanges::Add(const ByteRange& range) {
  VARVE_ASSERT(range.begin <= range.end);
  if (range.begin >= range.end) return;
  uint64_t begin = range.begin;
  uint64_t end = range.end;
  auto at = ranges_.upper_bound(begin);
  if (at != ranges_.begin() && std::prev(at)->second >= begin) --at;
  while (at != ranges_.end() && at->first <= end) {
    begin = std::min(begin, at->first);
    end = std::max(end, at->second);
    at = ranges_.erase(at);
  }
  ranges_.emplace_hint(at, begin, end);
}

void ByteRanges::Add(const ByteRanges& other) {
  for (const auto& [begin, end] : other.ranges_) Add({begin, end});
}

// Bytes of a range that stay before and behind those that go become ranges of their own.
void ByteRanges::Remove(const ByteRange& range) {
  VARVE_ASSERT(range.begin <= range.end);
  if (range.begin >= range.end) return;
  auto at = ranges_.upper_bound(range.begin);
  if (at != ranges_.begin() && std::prev(at)->second > range.begin) --at;
  while (at != ranges_.end() && at->first < range.end) {
    const ByteRange old = {at->first, at->second};
    at = ranges_.erase(at);
    if (old.begin < range.begin) ranges_.emplace_hint(at, old.begin, range.begin);
    if (old.end > range.end) at = ranges_.emplace_hint(at, range.end, old.end);
  }
}

void ByteRanges::Remove(const ByteRanges& other) {
  for (const auto& [begin, end] : other.ranges_) Remove({begin, end});
}

// Rounds inwards, so that no byte outside of the range is in a block.
ByteRanges ByteRanges::WholeBlocks(uint64_t block) const {
  VARVE_ASSERT(block != 0 && (block & (block - 1)) == 0);
  ByteRanges whole;
  for (const auto& [begin, end] : ranges_) {
    // 0, unless a test build plants the bug of rounding outwards (util/base/canary.h).
    const uint64_t outwards = VARVE_CANARY(kHoleOverNeighbour) ? block - 1 : 0;
    const uint64_t first = (begin + (block - 1) - outwards) & ~(block - 1);
    const uint64_t last = (end + outwards) & ~(block - 1);
    if (first < last) whole.Add({first, last});
  }
  return whole;
}

std::vector<ByteRange> ByteRanges::List() const {
  std::vector<ByteRange> list;
  list.reserve(ranges_.size());
  for (const auto& [begin, end] : ranges_) list.push_back({begin, end});
  return list;
}

}  // namespace varve
