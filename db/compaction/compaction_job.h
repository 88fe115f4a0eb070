// SPDX-License-Identifier: Apache-2.0
#pragma once

// Executes a plan: merges the inputs, drops entries that no reader can need, writes the outputs.
//
//      CompactionPlan      which tables, to which level          made under the DB mutex
//          |
//      RunCompaction       one thread per range of keys;         no lock
//          |               new tables, not yet in any version
//      CompactionResult    what was written and counted
//          |
//      FillCompactionEdit  inputs out, outputs in                then VersionSet::LogAndApply
//
// A compaction changes nothing that readers see. Its inputs stay in the version, and its outputs
// are unknown to all until the edit is in force; so it may fail at any point, and a crash leaves at
// most files that no MANIFEST names, which a purge deletes.
//
// The snapshots are those of the job's beginning. A snapshot taken later needs no entry that the
// job may drop: it sees the newest version of each key at its time, and the job keeps that.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "varve/compaction_filter.h"
#include "varve/metadata.h"

#include "db/compaction/cancel_flags.h"
#include "db/compaction/dropped_records.h"
#include "db/compaction/entry_checks.h"
#include "db/compaction/history_bounds.h"
#include "db/compaction/plan.h"
#include "db/compaction/table_output.h"
#include "db/version/blob_file_facts.h"
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

// Everything that a compaction needs besides its plan. Nothing in it is guarded by the DB mutex.
// Pointers are borrowed until RunCompaction returns; `statistics` and `info_log` may be null.
struct CompactionContext {
  const InternalKeyComparator* icmp = nullptr;
  // The options of the job's beginning; a change by SetOptions affects later jobs.
  std::shared_ptr<const ColumnFamilyOptions> options;
  // Opens the inputs.
  std::shared_ptr<TableCache> table_cache;
  std::vector<SequenceNumber> snapshots;                     // ascending, as of the job's start
  SequenceNumber conflict_check_floor = kMaxSequenceNumber;  // see DropRules::Options
  // Says which old versions of keys with timestamps may go.
  HistoryBounds history;
  TableOutputContext output;
  TableBuildOptions build;  // template; file number and times are set per output
  // Returns the number of a new table or blob file; may be called from any thread.
  std::function<uint64_t()> new_file_number;
  // Polled now and then; the job ends with the error of CancelFlags::Check.
  CancelFlags cancel;
  Statistics* statistics = nullptr;
  Logger* info_log = nullptr;
  // Names the family for filters, listeners and messages.
  std::string family_name;
  // Says which oddities of entries end the job.
  EntryChecks checks;
  // Called on the sub-compaction's thread when it begins and when it is over; may be null. Must not
  // throw.
  std::function<void(const Subcompaction&)> on_subcompaction;
};

// The output tables of a compaction, and counts for statistics and listeners.
struct CompactionResult {
  std::vector<NewFile> outputs;  // their level is the plan's output level
  std::vector<TableProperties> output_properties;
  std::vector<BlobFileFacts> blob_files;  // new ones
  std::vector<BlobGarbage> blob_garbage;  // values of old ones that lost their references
  RecordsByFile dropped_records;          // such values, with punch_holes_in_blob_files
  uint64_t blobs_read = 0;
  uint64_t blob_bytes_read = 0;
  // Bytes of the input tables, and the part of them that was read: if a range tombstone covers many
  // entries, these are skipped, but counted as dropped entries.
  uint64_t bytes_in = 0;
  uint64_t bytes_read = 0;
  uint64_t bytes_written = 0;
  // Entries of all inputs, and those that the outputs have.
  uint64_t entries_in = 0;
  uint64_t entries_out = 0;
  uint64_t entries_dropped_obsolete = 0;
  uint64_t entries_dropped_by_filter = 0;
  uint32_t subcompactions = 1;
  // Wall-clock time of the job, and processor time of all its threads.
  uint64_t micros = 0;
  uint64_t cpu_micros = 0;
  FileWriteTimes file_times;  // set with TableOutputContext::time_files
};

// Runs a compaction in the calling thread and in threads that end before the return. Must be called
// without locks; plan and context must not change meanwhile. Requires a plan that is neither a
// trivial move nor a deletion. On success the outputs are durable files that no version knows. On
// an error every output file is removed, and *result is empty. Errors: what reading and writing
// tables returns, Corruption for damaged inputs, and what CancelFlags gives.
Status RunCompaction(const CompactionPlan& plan, const CompactionContext& context,
                     CompactionResult* result);

// Adds to the edit what puts the result in force: inputs deleted, outputs added (or moved). For a
// trivial move or a deletion, which no job runs, `result` is empty.
void FillCompactionEdit(const CompactionPlan& plan, const CompactionResult& result,
                        VersionEdit* edit);

}  // namespace varve
