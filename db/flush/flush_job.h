// SPDX-License-Identifier: Apache-2.0
#pragma once

// Writes frozen memtables of one column family as one L0 table.

#include <memory>
#include <vector>

#include "varve/compaction_filter.h"

#include "db/compaction/entry_checks.h"
#include "db/compaction/table_output.h"
#include "memtable/memtable.h"

namespace varve {

struct FlushInput {
  std::vector<std::shared_ptr<MemTable>> memtables;          // oldest first, frozen
  std::vector<SequenceNumber> snapshots;                     // ascending
  SequenceNumber conflict_check_floor = kMaxSequenceNumber;  // see DropRules::Options
  std::string full_history_ts_low;                           // see HistoryBounds
  std::shared_ptr<const ColumnFamilyOptions> options;
  const InternalKeyComparator* icmp = nullptr;
  TableOutputContext output;
  TableBuildOptions build;  // file_number, identity and so on are filled in by the caller
  Logger* info_log = nullptr;
  EntryChecks checks;
};

struct FlushResult {
  bool wrote_file = false;  // false: the input was empty, or every entry was dropped
  NewFile file;             // level 0
  TableProperties properties;
  uint64_t entries_in = 0;       // point entries
  uint64_t entries_dropped = 0;  // of them
  // If the table stores no timestamps: a timestamp greater than every one flushed, as timestamps
  // cannot be distinguished any more. Otherwise empty.
  std::string full_history_ts_low;
};

// Runs a flush. No lock is held or needed. On an error no file is left behind. Entries that no
// snapshot can see are dropped by the rules of compaction (tombstones stay).
Status RunFlush(const FlushInput& input, FlushResult* result);

}  // namespace varve
