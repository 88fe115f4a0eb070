// SPDX-License-Identifier: Apache-2.0
#pragma once

// Chooses the levels of ingested tables, as a pure function: the deepest ones without older data
// above the tables. Also decides which tables need a sequence number.

#include <cstddef>
#include <vector>

#include "varve/options.h"

#include "db/compaction/input_span.h"
#include "db/compaction/plan.h"
#include "db/ingest/replaced_range.h"
#include "db/version/version.h"

namespace varve {

// The state of the family that placement depends on, read in one hold of the DB mutex. Pointers are
// borrowed, and not null without a remark.
struct PlacementGround {
  const InternalKeyComparator* icmp = nullptr;
  const Version* version = nullptr;
  const std::vector<const CompactionPlan*>* running = nullptr;
  CompactionStyle style = kCompactionStyleLevel;
  int base_level = 1;                       // Levels between L0 and it are kept empty.
  bool all_need_it = false;                 // All tables need a sequence number.
  bool behind = false;                      // Uses the level that cf_allow_ingest_behind reserves.
  const ReplacedRange* replaced = nullptr;  // Ignores tables in it; may be null.
};

// Describes one table to be placed.
struct TableToPlace {
  KeyRange range;
  bool in_memory = false;  // A memtable overlaps the range.
};

// The tables of one ingestion into one family; a later one is newer. Arrange computes what does not
// depend on the family's state beforehand, without a lock.
struct TablesToPlace {
  std::vector<TableToPlace> tables;
  // Arrange sets the following members.
  std::vector<size_t> in_key_order;  // By the smallest key.
  // Each cluster has tables that overlap, directly or through others, the oldest first.
  std::vector<std::vector<size_t>> clusters;
  KeyRange hull;  // The smallest range that covers all tables.

  void Arrange(const InternalKeyComparator& icmp);
  // Returns true if any two tables overlap.
  [[nodiscard]] bool any_overlap() const { return clusters.size() < tables.size(); }
};

// The place that PlaceTables has found for one table.
struct TablePlace {
  int level = 0;
  bool stopped = false;         // Existing data keeps it from going deeper.
  bool overlaps = false;        // `stopped`, or some tables overlap.
  bool needs_sequence = false;  // `overlaps`, or all_need_it is set.
};

// Places each table at the deepest level at which, and above which, nothing overlaps its range:
// neither a file, by its bounds, nor the output of a running compaction. If existing data keeps a
// table from going deeper, that data is older, and the table needs a sequence number. If any two
// tables overlap, all of them need one, and a newer table is placed above the older ones that it
// overlaps, or with them in L0. With ground.behind, all tables are placed in the reserved last
// level, and `stopped` is set for those that overlap a file there; otherwise that level is not
// used.
std::vector<TablePlace> PlaceTables(const PlacementGround& ground, const TablesToPlace& tables);

}  // namespace varve
