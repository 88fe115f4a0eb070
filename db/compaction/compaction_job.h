// SPDX-License-Identifier: Apache-2.0
#pragma once

// Executes a plan: merges the inputs, drops entries that no reader can need, writes the outputs.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "varve/compaction_filter.h"
#include "varve/metadata.h"

#include "db/compaction/cancel_flags.h"
#include "db/compaction/entry_checks.h"
#include "db/compaction/history_bounds.h"
#include "db/compaction/plan.h"
#include "db/compaction/table_output.h"
#include "db/version/table_cache.h"
#include "db/version/version_edit.h"

namespace varve {

// A range of keys that one thread compacts.
struct Subcompaction {
  size_t index = 0;  // within the job
  bool over = false;
  // The members below are set when it is over.
  Status status;
  CompactionJobStats stats;
};

struct CompactionContext {
  const InternalKeyComparator* icmp = nullptr;
  std::shared_ptr<const ColumnFamilyOptions> options;
  std::shared_ptr<TableCache> table_cache;
  std::vector<SequenceNumber> snapshots;                     // ascending, as of the job's start
  SequenceNumber conflict_check_floor = kMaxSequenceNumber;  // see DropRules::Options
  HistoryBounds history;
  TableOutputContext output;
  TableBuildOptions build;                    // template; file number and times are set per output
  std::function<uint64_t()> new_file_number;  // may be called from any thread
  CancelFlags cancel;
  Statistics* statistics = nullptr;
  Logger* info_log = nullptr;
  Env* env = nullptr;  // provides threads for sub-compactions
  std::string family_name;
  EntryChecks checks;
  // Called on the sub-compaction's thread when it begins and when it is over; may be null. Must not
  // throw.
  std::function<void(const Subcompaction&)> on_subcompaction;
};

struct CompactionResult {
  std::vector<NewFile> outputs;  // their level is the plan's output level
  std::vector<TableProperties> output_properties;
  // Bytes of the input tables, and the part of them that was read: if a range tombstone covers many
  // entries, these are skipped, but counted as dropped entries.
  uint64_t bytes_in = 0;
  uint64_t bytes_read = 0;
  uint64_t bytes_written = 0;
  uint64_t entries_in = 0;
  uint64_t entries_out = 0;
  uint64_t entries_dropped_obsolete = 0;
  uint64_t entries_dropped_by_filter = 0;
  uint32_t subcompactions = 1;
  uint64_t micros = 0;
  uint64_t cpu_micros = 0;
  FileWriteTimes file_times;  // set with TableOutputContext::time_files
};

// Runs a compaction. No lock is held or needed. On an error every output file is removed. Not
// called for trivial moves.
Status RunCompaction(const CompactionPlan& plan, const CompactionContext& context,
                     CompactionResult* result);

// Fills in the edit that installs the result: inputs deleted, outputs added (or moved).
void FillCompactionEdit(const CompactionPlan& plan, const CompactionResult& result,
                        VersionEdit* edit);

}  // namespace varve
