// SPDX-License-Identifier: Apache-2.0
#pragma once

// A range of a family whose contents an ingestion takes away in the moment in which its tables come
// into sight (IngestExternalFileArg::atomic_replace_range).
//
// Whole tables go, so none may reach over an edge of the range: then nothing is done. What
// memtables have in it is flushed first, and goes as tables.

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

// User keys without timestamps; both limits, or neither: all of the family.
class ReplacedRange {
 public:
  // InvalidArgument: it has one limit, or ends before it begins.
  static Status Make(const InternalKeyComparator& icmp, const RangeOpt& range,
                     std::optional<ReplacedRange>* result);

  // Whether all of the table is in the range.
  [[nodiscard]] bool Covers(const InternalKeyComparator& icmp, const TableFacts& table) const;
  [[nodiscard]] bool Overlaps(const InternalKeyComparator& icmp, const TableFacts& table) const;
  // Whether the memtable has anything in it.
  Status LookInto(const InternalKeyComparator& icmp, const MemTable& mem, bool* any) const;

  // The version's tables that go, with their levels: those in the range whose epoch is below
  // `epochs_end`. InvalidArgument, naming it: such a table is in the range and outside of it.
  Status FindTables(const Version& version, uint64_t epochs_end,
                    std::vector<std::pair<int, FileRef>>* tables) const;

 private:
  ReplacedRange() = default;

  bool everything_ = false;
  std::string start_;  // inclusive
  std::string limit_;  // exclusive
};

}  // namespace varve
