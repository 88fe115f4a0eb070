// SPDX-License-Identifier: Apache-2.0
#pragma once

// Statistics of one compaction, for listeners (CompactionJobInfo::stats). Those of a subcompaction
// (SubcompactionJobInfo::stats) have only its records, output files, bytes written and CPU time,
// and is_manual_compaction; the other fields keep their defaults.

#include <cstddef>
#include <cstdint>
#include <string>

#include "varve/export.h"

namespace varve {

// Counters of a compaction or subcompaction. The structure that contains them identifies it.
struct VARVE_EXPORT CompactionJobStats {
  // Sets all fields to their defaults.
  void Reset() { *this = CompactionJobStats(); }

  // Adds the counters of `stats`, and keeps the smaller and the larger key prefix.
  void Add(const CompactionJobStats& stats);

  // Wall time of the compaction in microseconds.
  uint64_t elapsed_micros = 0;
  // CPU time in microseconds of all its threads.
  uint64_t cpu_micros = 0;

  // False if num_input_records is only a lower bound. True for all compactions of this library.
  bool has_accurate_num_input_records = true;
  // Entries read from the inputs, range deletions included.
  uint64_t num_input_records = 0;
  // Values read from blob files, to copy them into new ones or for a compaction filter.
  uint64_t num_blobs_read = 0;
  // Input tables of all levels.
  size_t num_input_files = 0;
  // Input tables that were moved to the output level without being rewritten.
  size_t num_input_files_trivially_moved = 0;
  // Input tables of the output level.
  size_t num_input_files_at_output_level = 0;
  // Always 0, as all inputs are read.
  size_t num_filtered_input_files = 0;
  size_t num_filtered_input_files_at_output_level = 0;

  // Entries and table files written; both are 0 if all entries were dropped. If tables were moved,
  // they count as output files.
  uint64_t num_output_records = 0;
  size_t num_output_files = 0;
  // Blob files that the compaction wrote.
  size_t num_output_files_blob = 0;

  // True if all tables of the column family are inputs.
  bool is_full_compaction = false;
  // True if a call asked for the compaction.
  bool is_manual_compaction = false;
  // Always false, as compactions run in this process.
  bool is_remote_compaction = false;

  // Size of the input tables in bytes, as stored in their files.
  uint64_t total_input_bytes = 0;
  // Bytes read from blob files.
  uint64_t total_blob_bytes_read = 0;
  // Size of the output tables in bytes, including moved ones.
  uint64_t total_output_bytes = 0;
  // Size of the written blob files in bytes.
  uint64_t total_output_bytes_blob = 0;
  // Always 0, as all inputs are read.
  uint64_t total_skipped_input_bytes = 0;

  // Entries that were dropped, except by a compaction filter: those hidden by newer ones or within
  // deleted ranges, deletions that were not needed any more, and merged operands. A subcompaction
  // counts only entries hidden by newer ones.
  uint64_t num_records_replaced = 0;
  // Bytes of keys and of values in the inputs before compression, according to the tables'
  // properties.
  uint64_t total_input_raw_key_bytes = 0;
  uint64_t total_input_raw_value_bytes = 0;
  // Deletions of keys and ranges in the inputs.
  uint64_t num_input_deletion_records = 0;
  // Always 0: dropped deletions are counted by the ticker COMPACTION_KEY_DROP_OBSOLETE, and a
  // compaction that reads a corrupt key fails.
  uint64_t num_expired_deletion_records = 0;
  uint64_t num_corrupt_keys = 0;

  // Time in nanoseconds that calls of the file system took for the outputs: writing, starting
  // write-back, syncing, and reserving space.
  uint64_t file_write_nanos = 0;
  uint64_t file_range_sync_nanos = 0;
  uint64_t file_fsync_nanos = 0;
  uint64_t file_prepare_write_nanos = 0;

  // Always empty.
  static constexpr size_t kMaxPrefixLength = 8;
  std::string smallest_output_key_prefix;
  std::string largest_output_key_prefix;

  // Always 0: a SingleDelete without a matching Put is not counted.
  uint64_t num_single_del_fallthru = 0;
  uint64_t num_single_del_mismatch = 0;
};

}  // namespace varve
