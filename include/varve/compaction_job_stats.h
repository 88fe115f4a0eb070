// SPDX-License-Identifier: Apache-2.0
#pragma once

// Statistics of one compaction, for listeners (CompactionJobInfo::stats). A subcompaction has its
// own: its records, output files, bytes written and CPU time; the other fields keep their
// defaults.

#include <cstddef>
#include <cstdint>
#include <string>

#include "varve/export.h"

namespace varve {

// The counters, without identity: the structure that holds them says which compaction they are
// from.
struct VARVE_EXPORT CompactionJobStats {
  // Sets all fields to their defaults.
  void Reset() { *this = CompactionJobStats(); }

  // Adds counters; keeps the smallest and the largest key prefix.
  void Add(const CompactionJobStats& stats);

  // Wall time of the compaction in microseconds.
  uint64_t elapsed_micros = 0;
  // CPU time in microseconds of all threads that took part.
  uint64_t cpu_micros = 0;

  // False if num_input_records is a lower bound. It is always true here, unless Add() was given a
  // false one.
  bool has_accurate_num_input_records = true;
  // Entries read from the inputs, range deletions included.
  uint64_t num_input_records = 0;
  // Values read from blob files, to copy them into new ones or for a compaction filter.
  uint64_t num_blobs_read = 0;
  // Tables that the compaction took, on all levels.
  size_t num_input_files = 0;
  // Tables that were moved to the output level as they are.
  size_t num_input_files_trivially_moved = 0;
  // Inputs that were in the output level before.
  size_t num_input_files_at_output_level = 0;
  // Always 0: no input is left out before it is read.
  size_t num_filtered_input_files = 0;
  size_t num_filtered_input_files_at_output_level = 0;

  // Entries written, and table files that hold them; both 0 if all entries were dropped.
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

  // Bytes of table files, compressed. For files that are moved, both are their size.
  uint64_t total_input_bytes = 0;
  // Bytes read from blob files.
  uint64_t total_blob_bytes_read = 0;
  // Bytes of the tables that were written, compressed.
  uint64_t total_output_bytes = 0;
  // Bytes of the blob files that were written.
  uint64_t total_output_bytes_blob = 0;
  // Always 0, as no input is left out before it is read.
  uint64_t total_skipped_input_bytes = 0;

  // Entries that were dropped, but for those that a compaction filter dropped: hidden by newer
  // ones, within deleted ranges, deletions without need, and merged operands. A subcompaction
  // counts the first of these only.
  uint64_t num_records_replaced = 0;
  // Keys and values of the inputs before compression, as their tables' properties say.
  uint64_t total_input_raw_key_bytes = 0;
  uint64_t total_input_raw_value_bytes = 0;
  // Deletions of keys and ranges in the inputs.
  uint64_t num_input_deletion_records = 0;
  // Always 0: they are counted by COMPACTION_KEY_DROP_OBSOLETE. A compaction that meets a corrupt
  // key fails.
  uint64_t num_expired_deletion_records = 0;
  uint64_t num_corrupt_keys = 0;

  // Nanoseconds in calls of the file system for the outputs: writing, starting write-back, syncing,
  // and reserving space.
  uint64_t file_write_nanos = 0;
  uint64_t file_range_sync_nanos = 0;
  uint64_t file_fsync_nanos = 0;
  uint64_t file_prepare_write_nanos = 0;

  // Always empty.
  static constexpr size_t kMaxPrefixLength = 8;
  std::string smallest_output_key_prefix;
  std::string largest_output_key_prefix;

  // Always 0: a SingleDelete without a matching Put is not counted here.
  uint64_t num_single_del_fallthru = 0;
  uint64_t num_single_del_mismatch = 0;
};

}  // namespace varve
