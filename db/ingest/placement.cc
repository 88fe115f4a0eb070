// SPDX-License-Identifier: Apache-2.0
#include "db/ingest/placement.h"

#include <algorithm>
#include <numeric>

#include "util/base/assert.h"

namespace varve {

namespace {

// Whether anything that is in the level, or about to be, lies in the range.
bool IsTaken(const PlacementGround& ground, int level, const KeyRange& range) {
  const LevelFiles& files = ground.version->level(level);
  if (level == 0) {
    const auto overlaps = [&](const FileRef& file) {
      return RangeOf(*ground.icmp, *file).Overlaps(*ground.icmp, range);
    };
    if (std::ranges::any_of(files.files(), overlaps)) return true;
  } else if (!OverlappingSpan(files, *ground.icmp, &range.smallest, &range.largest).empty()) {
    return true;
  }
  return std::ranges::any_of(*ground.running, [&](const CompactionPlan* plan) {
    return plan->output_level == level &&
           RangeOf(*ground.icmp, *plan).Overlaps(*ground.icmp, range);
  });
}

TablePlace Place(const PlacementGround& ground, const TableToPlace& table) {
  if (table.in_memory) return {.level = 0, .stopped = true, .overlaps = true};
  TablePlace place;
  for (int level = 0; level < ground.version->num_levels(); level++) {
    if (IsTaken(ground, level, table.range)) {
      place.stopped = place.overlaps = true;
      break;
    }
    const bool may_hold =
        level == 0 || (level >= ground.base_level && ground.style != kCompactionStyleFIFO);
    if (may_hold) place.level = level;
  }
  return place;
}

// Tables in key order, by index.
std::vector<size_t> InKeyOrder(const InternalKeyComparator& icmp,
                               const std::vector<TableToPlace>& tables) {
  std::vector<size_t> order(tables.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::sort(order, [&](size_t a, size_t b) {
    return icmp.CompareKey(tables[a].range.smallest, tables[b].range.smallest) < 0;
  });
  return order;
}

}  // namespace

bool AnyOverlap(const InternalKeyComparator& icmp, const std::vector<TableToPlace>& tables) {
  const std::vector<size_t> order = InKeyOrder(icmp, tables);
  for (size_t i = 1; i < order.size(); i++) {
    const Slice& end = tables[order[i - 1]].range.largest;
    if (icmp.CompareKey(end, tables[order[i]].range.smallest) >= 0) return true;
  }
  return false;
}

std::vector<TablePlace> PlaceTables(const PlacementGround& ground,
                                    const std::vector<TableToPlace>& tables) {
  std::vector<TablePlace> places;
  places.reserve(tables.size());
  for (const TableToPlace& table : tables) places.push_back(Place(ground, table));
  if (AnyOverlap(*ground.icmp, tables)) {
    // Strictly above every older one that it overlaps, unless both are in L0.
    for (size_t i = 0; i < tables.size(); i++) {
      places[i].overlaps = true;
      for (size_t older = 0; older < i; older++) {
        if (!tables[older].range.Overlaps(*ground.icmp, tables[i].range)) continue;
        int above = std::max(places[older].level - 1, 0);
        if (above < ground.base_level) above = 0;
        places[i].level = std::min(places[i].level, above);
      }
    }
  }
  for (TablePlace& place : places) place.needs_sequence = place.overlaps || ground.all_need_it;
  VARVE_ASSERT(places.size() == tables.size());
  return places;
}

}  // namespace varve
