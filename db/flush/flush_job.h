// SPDX-License-Identifier: Apache-2.0
#pragma once

// Writes immutable memtables of one column family as one L0 table, and large values into blob
// files.

#include <functional>
#include <memory>
#include <vector>

#include "varve/compaction_filter.h"

#include "db/compaction/entry_checks.h"
#include "db/compaction/table_output.h"
#include "db/version/blob_file_facts.h"
#include "memtable/memtable.h"

namespace varve {

class BlobCache;

// Everything that a flush needs. Nothing in it is guarded by the DB mutex.
struct FlushInput {
  std::vector<std::shared_ptr<MemTable>> memtables;          // oldest first, immutable
  std::vector<SequenceNumber> snapshots;                     // ascending
  SequenceNumber conflict_check_floor = kMaxSequenceNumber;  // see DropRules::Options
  std::string full_history_ts_low;                           // see HistoryBounds
  std::shared_ptr<const ColumnFamilyOptions> options;
  const InternalKeyComparator* icmp = nullptr;
  TableOutputContext output;
  TableBuildOptions build;  // file_number, identity and so on are filled in by the caller
  // Returns the number of a new blob file; may be called from any thread. Null: values stay in the
  // table whatever the options say.
  std::function<uint64_t()> new_blob_file_number;
  const BlobCache* blob_cache = nullptr;  // gets the values of blob files; null: none does
  Logger* info_log = nullptr;
  EntryChecks checks;
};

// The table of a flush, if there is one, and counts.
struct FlushResult {
  bool wrote_file = false;  // false: the input was empty, or every entry was dropped
  NewFile file;             // level 0
  TableProperties properties;
  std::vector<BlobFileFacts> blob_files;  // the table refers to each
  uint64_t entries_in = 0;                // point entries
  uint64_t entries_dropped = 0;           // of them
  // If the table stores no timestamps: a timestamp greater than every one flushed, as timestamps
  // cannot be distinguished any more. Otherwise empty.
  std::string full_history_ts_low;
};

// Writes the table in the calling thread; must be called without locks. On success the files are
// durable, and unknown to any version until the caller applies an edit. On an error no file is left
// behind, and the memtables stay as they are. Entries that no reader can see are dropped by the
// rules of compaction; tombstones stay. After an error *result is unspecified. MemoryLimit: there
// is no memory. Aborted: user code threw. Corruption: the number of entries is not what the
// memtables counted, or a memtable has a damaged entry. Otherwise the errors of writing files.
Status RunFlush(const FlushInput& input, FlushResult* result);

}  // namespace varve
