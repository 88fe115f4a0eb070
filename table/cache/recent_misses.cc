// SPDX-License-Identifier: Apache-2.0
#include "table/cache/recent_misses.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace varve {

namespace {

// Smallest number of places, for caches whose entries are not known yet.
constexpr size_t kTagsMin = 64;

}  // namespace

RecentMisses::~RecentMisses() {
  Tags* tags = tags_.load(std::memory_order_relaxed);
  while (tags != nullptr) delete std::exchange(tags, tags->older);
}

bool RecentMisses::Reserve(size_t entries) {
  if (Holds(entries)) return true;
  std::unique_ptr<Tags> tags(new (std::nothrow) Tags(std::bit_ceil(std::max(entries, kTagsMin))));
  if (tags == nullptr || tags->tags == nullptr) return false;
  // The old array stays linked, because a thread in Repeats may have loaded its address. What it
  // remembers is lost, and blocks must be missed twice again.
  tags->older = tags_.load(std::memory_order_relaxed);
  tags_.store(tags.release(), std::memory_order_release);
  return true;
}

}  // namespace varve
