// SPDX-License-Identifier: Apache-2.0
#pragma once

// Where in a tree tables from outside belong, as a pure function: as deep as they can be without
// anything older above them, and whether they need a number in the order of writes.

#include <cstddef>
#include <vector>

#include "varve/options.h"

#include "db/compaction/input_span.h"
#include "db/compaction/plan.h"
#include "db/ingest/replaced_range.h"
#include "db/version/version.h"

namespace varve {

// All of one hold of the DB mutex.
struct PlacementGround {
  const InternalKeyComparator* icmp = nullptr;
  const Version* version = nullptr;
  const std::vector<const CompactionPlan*>* running = nullptr;
  CompactionStyle style = kCompactionStyleLevel;
  int base_level = 1;                       // levels above it, but for L0, are kept empty
  bool all_need_it = false;                 // a snapshot must not see the tables, say
  const ReplacedRange* replaced = nullptr;  // tables in it count as gone; null: there is none
};

// One table to be placed.
struct TableToPlace {
  KeyRange range;
  bool in_memory = false;  // a memtable has something in the range
};

// The tables of one ingestion into one family: a later one is newer. What can be known of them
// beforehand is found out once, without a lock, so that placing them takes little time.
struct TablesToPlace {
  std::vector<TableToPlace> tables;
  // From here on set by Arrange.
  std::vector<size_t> in_key_order;  // by the smallest key
  // Tables that overlap, or are joined by others that overlap both, are one cluster. Oldest first.
  std::vector<std::vector<size_t>> clusters;
  KeyRange hull;  // of all of them

  void Arrange(const InternalKeyComparator& icmp);
  // Whether any two tables overlap.
  [[nodiscard]] bool any_overlap() const { return clusters.size() < tables.size(); }
};

struct TablePlace {
  int level = 0;
  bool stopped = false;         // by something that is there
  bool overlaps = false;        // that, or another of the tables
  bool needs_sequence = false;  // that, or the ground asks for it
};

// A table goes to the deepest level above which, and in which, nothing is in its range: neither a
// file, by its bounds, nor what a compaction under way is about to put there. What stopped it
// further down is older than the table, which then needs a number. So do all of them if any two
// overlap: these go into levels above each other, or to L0, in their order.
std::vector<TablePlace> PlaceTables(const PlacementGround& ground, const TablesToPlace& tables);

}  // namespace varve
