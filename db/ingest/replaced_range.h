// SPDX-License-Identifier: Apache-2.0
#pragma once

// A range of a family whose contents an ingestion removes at the moment in which its tables become
// visible (IngestExternalFileArg::atomic_replace_range).
//
// Whole tables are removed, so none may cross an edge of the range: then nothing is done. Entries
// of memtables in the range are flushed first, and removed as tables.

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

// Holds user keys without timestamps; both limits, or neither: all of the family.
class ReplacedRange {
 public:
  // Makes the range. InvalidArgument: it has one limit, or does not end after it begins.
  static Status Make(const InternalKeyComparator& icmp, const RangeOpt& range,
                     std::optional<ReplacedRange>* result);

  // True if all of the table is in the range.
  [[nodiscard]] bool Covers(const InternalKeyComparator& icmp, const TableFacts& table) const;
  [[nodiscard]] bool Overlaps(const InternalKeyComparator& icmp, const TableFacts& table) const;
  // Sets *any if the memtable has an entry or tombstone in the range.
  Status LookInto(const InternalKeyComparator& icmp, const MemTable& mem, bool* any) const;

  // Finds the version's tables to remove, with their levels: those in the range whose epoch is
  // below `epochs_end`. InvalidArgument, naming it: such a table is partly in the range.
  Status FindTables(const Version& version, uint64_t epochs_end,
                    std::vector<std::pair<int, FileRef>>* tables) const;

 private:
  ReplacedRange() = default;

  bool everything_ = false;
  std::string start_;  // Inclusive.
  std::string limit_;  // Exclusive.
};

}  // namespace varve
