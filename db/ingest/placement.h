// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finds where in a tree ingested tables belong, as a pure function: as deep as they can be without
// older data above them, and whether they need a number in the order of writes.

#include <cstddef>
#include <vector>

#include "varve/options.h"

#include "db/compaction/input_span.h"
#include "db/compaction/plan.h"
#include "db/ingest/replaced_range.h"
#include "db/version/version.h"

namespace varve {

// Holds the inputs, all of one hold of the DB mutex.
struct PlacementGround {
  const InternalKeyComparator* icmp = nullptr;
  const Version* version = nullptr;
  const std::vector<const CompactionPlan*>* running = nullptr;
  CompactionStyle style = kCompactionStyleLevel;
  int base_level = 1;                       // Levels above it, but for L0, are kept empty.
  bool all_need_it = false;                 // All tables get numbers, wherever they go.
  bool behind = false;                      // They go beneath all data, into a reserved level.
  const ReplacedRange* replaced = nullptr;  // Tables in it count as removed; null: no range.
};

// Describes one table to be placed.
struct TableToPlace {
  KeyRange range;
  bool in_memory = false;  // A memtable overlaps the range.
};

// The tables of one ingestion into one family: a later one is newer. Facts that can be known
// beforehand are computed once, without a lock, so that placing takes little time.
struct TablesToPlace {
  std::vector<TableToPlace> tables;
  // Arrange sets the following members.
  std::vector<size_t> in_key_order;  // By the smallest key.
  // A cluster has tables that overlap, directly or through others. Oldest first.
  std::vector<std::vector<size_t>> clusters;
  KeyRange hull;  // Covers all of them.

  void Arrange(const InternalKeyComparator& icmp);
  // True if any two tables overlap.
  [[nodiscard]] bool any_overlap() const { return clusters.size() < tables.size(); }
};

// The place that PlaceTables has found for one table.
struct TablePlace {
  int level = 0;
  bool stopped = false;         // Existing data stopped it.
  bool overlaps = false;        // It was stopped, or overlaps another of the tables.
  bool needs_sequence = false;  // It overlaps, or the ground asks for it.
};

// Places each table at the deepest level at which, and above which, nothing overlaps its range:
// neither a file, by its bounds, nor the output of a running compaction. The data that stopped it
// further down is older than the table, which then needs a number. All tables need one if any two
// overlap: these go into levels above each other, or to L0, in their order. A level that the
// version reserves takes the tables of a ground that is `behind`, and no other: `stopped` is then
// true for one that overlaps a file there.
std::vector<TablePlace> PlaceTables(const PlacementGround& ground, const TablesToPlace& tables);

}  // namespace varve
