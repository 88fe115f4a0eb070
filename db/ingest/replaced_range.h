// SPDX-License-Identifier: Apache-2.0
#pragma once

// A key range of a family whose contents an ingestion removes in the moment in which its tables
// become visible (IngestExternalFileArg::atomic_replace_range).
//
// Only whole tables are removed, so the ingestion is refused if a table extends across a limit of
// the range. Memtables with entries in the range are flushed first.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "varve/range.h"
#include "varve/status.h"

#include "db/version/version.h"
#include "memtable/memtable.h"

namespace varve {

// Has user keys without timestamps as limits, or no limits, which means the whole family.
class ReplacedRange {
 public:
  // Sets *result to the range. InvalidArgument: only one limit is set, or start is not before
  // limit.
  static Status Make(const InternalKeyComparator& icmp, const RangeOpt& range,
                     std::optional<ReplacedRange>* result);

  // Return true if the whole table, or some key in its bounds, is in the range.
  [[nodiscard]] bool Covers(const InternalKeyComparator& icmp, const TableFacts& table) const;
  [[nodiscard]] bool Overlaps(const InternalKeyComparator& icmp, const TableFacts& table) const;
  // Sets *any to true if the memtable has an entry or tombstone in the range, and leaves it
  // otherwise, as it is called for several memtables in turn.
  Status LookInto(const InternalKeyComparator& icmp, const MemTable& mem, bool* any) const;

  // Sets *tables to the version's tables in the range whose epochs are below `epochs_end`, with
  // their levels; a table with a larger epoch is newer than the ingested ones, and stays.
  // InvalidArgument: such a table is only partly in the range.
  Status FindTables(const Version& version, uint64_t epochs_end,
                    std::vector<std::pair<int, FileRef>>* tables) const;

 private:
  ReplacedRange() = default;

  bool everything_ = false;
  std::string start_;  // Inclusive.
  std::string limit_;  // Exclusive.
};

}  // namespace varve
