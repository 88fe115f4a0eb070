// SPDX-License-Identifier: Apache-2.0
#include "db/ingest/placement.h"

#include <algorithm>
#include <numeric>

#include "util/base/assert.h"

namespace varve {

namespace {

// Returns true if a file of the level, or a running compaction that writes to it, overlaps the
// range. A running compaction counts with the range of its inputs, since its outputs are not known
// yet.
bool IsTaken(const PlacementGround& ground, int level, const KeyRange& range) {
  const LevelFiles& files = ground.version->level(level);
  const auto stays = [&](const FileMetaData& file) {
    return ground.replaced == nullptr || !ground.replaced->Covers(*ground.icmp, file);
  };
  if (level == 0) {
    const auto overlaps = [&](const FileRef& file) {
      return RangeOf(*ground.icmp, *file).Overlaps(*ground.icmp, range) && stays(*file);
    };
    if (std::ranges::any_of(files.files(), overlaps)) return true;
  } else if (!files.empty()) {
    size_t at = files.Find(ground.icmp->FirstInternalKey(range.smallest).Encode());
    for (; at < files.size(); at++) {
      const Slice smallest = ground.icmp->KeyOf(files[at]->smallest);
      if (ground.icmp->CompareKey(smallest, range.largest) > 0) break;
      if (stays(*files[at])) return true;
    }
  }
  return std::ranges::any_of(*ground.running, [&](const CompactionPlan* plan) {
    return plan->output_level == level &&
           RangeOf(*ground.icmp, *plan).Overlaps(*ground.icmp, range);
  });
}

// Returns a flag for each level: true if nothing in it overlaps the hull of the tables. In such a
// level the tables need not be looked up one by one.
std::vector<bool> FreeLevels(const PlacementGround& ground, const KeyRange& hull) {
  std::vector<bool> free;
  for (int level = 0; level < ground.version->num_levels(); level++) {
    free.push_back(!IsTaken(ground, level, hull));
  }
  return free;
}

// Places one table regardless of the others: goes down from L0 as long as nothing overlaps, and
// returns the last level that may hold tables. Levels between L0 and base_level are skipped, as
// dynamic levels keep them empty; FIFO uses only L0.
TablePlace Place(const PlacementGround& ground, const std::vector<bool>& free_levels,
                 const TableToPlace& table) {
  if (table.in_memory) return {.level = 0, .stopped = true, .overlaps = true};
  TablePlace place;
  for (int level = 0; level < ground.version->usable_levels(); level++) {
    if (!free_levels[static_cast<size_t>(level)] && IsTaken(ground, level, table.range)) {
      place.stopped = place.overlaps = true;
      break;
    }
    const bool may_hold =
        level == 0 || (level >= ground.base_level && ground.style != kCompactionStyleFIFO);
    if (may_hold) place.level = level;
  }
  return place;
}

// Moves each table of the cluster above every older one that it overlaps, or to L0.
void PutAbove(const PlacementGround& ground, const TablesToPlace& tables,
              const std::vector<size_t>& cluster, std::vector<TablePlace>* places) {
  for (size_t i = 1; i < cluster.size(); i++) {
    TablePlace& place = (*places)[cluster[i]];
    for (size_t older = i; older-- > 0 && place.level > 0;) {
      const KeyRange& range = tables.tables[cluster[older]].range;
      if (!range.Overlaps(*ground.icmp, tables.tables[cluster[i]].range)) continue;
      int above = std::max((*places)[cluster[older]].level - 1, 0);
      if (above < ground.base_level) above = 0;
      place.level = std::min(place.level, above);
    }
  }
}

// Places all tables in the reserved last level.
std::vector<TablePlace> PlaceBehind(const PlacementGround& ground, const TablesToPlace& tables) {
  VARVE_ASSERT(ground.version->reserves_last_level());
  std::vector<TablePlace> places;
  places.reserve(tables.tables.size());
  const int last = ground.version->num_levels() - 1;
  for (const TableToPlace& table : tables.tables) {
    TablePlace& place = places.emplace_back();
    place.level = last;
    place.stopped = place.overlaps = IsTaken(ground, last, table.range);
  }
  return places;
}

}  // namespace

// Finds the clusters in one pass in key order: a table belongs to the last cluster if it overlaps
// the range that this covers so far.
void TablesToPlace::Arrange(const InternalKeyComparator& icmp) {
  in_key_order.resize(tables.size());
  std::iota(in_key_order.begin(), in_key_order.end(), size_t{0});
  std::ranges::sort(in_key_order, [&](size_t a, size_t b) {
    return icmp.CompareKey(tables[a].range.smallest, tables[b].range.smallest) < 0;
  });
  clusters.clear();
  hull = KeyRange();
  KeyRange last;
  for (const size_t i : in_key_order) {
    const KeyRange& range = tables[i].range;
    if (clusters.empty() || !last.Overlaps(icmp, range)) {
      clusters.emplace_back();
      last = KeyRange();
    }
    last.Include(icmp, range);
    hull.Include(icmp, range);
    clusters.back().push_back(i);
  }
  for (std::vector<size_t>& cluster : clusters) std::ranges::sort(cluster);
}

std::vector<TablePlace> PlaceTables(const PlacementGround& ground, const TablesToPlace& tables) {
  if (ground.behind) return PlaceBehind(ground, tables);
  const std::vector<bool> free_levels = FreeLevels(ground, tables.hull);
  std::vector<TablePlace> places;
  places.reserve(tables.tables.size());
  for (const TableToPlace& table : tables.tables) {
    places.push_back(Place(ground, free_levels, table));
  }
  for (const std::vector<size_t>& cluster : tables.clusters) {
    if (cluster.size() > 1) PutAbove(ground, tables, cluster, &places);
  }
  for (TablePlace& place : places) {
    place.overlaps |= tables.any_overlap();
    place.needs_sequence = place.overlaps || ground.all_need_it;
  }
  VARVE_ASSERT(places.size() == tables.tables.size());
  return places;
}

}  // namespace varve
