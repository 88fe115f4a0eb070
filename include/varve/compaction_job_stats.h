// SPDX-License-Identifier: Apache-2.0
#pragma once

// Statistics of one compaction, for listeners.

#include <cstddef>
#include <cstdint>
#include <string>

#include "varve/export.h"

namespace varve {

struct VARVE_EXPORT CompactionJobStats {
  // Sets all fields to their defaults.
  void Reset() { *this = CompactionJobStats(); }

  // Adds counters; keeps the smallest and the largest key prefix.
  void Add(const CompactionJobStats& stats);

  uint64_t elapsed_micros = 0;
  uint64_t cpu_micros = 0;

  bool has_accurate_num_input_records = true;  // False: num_input_records is a lower bound.
  uint64_t num_input_records = 0;
  uint64_t num_blobs_read = 0;
  size_t num_input_files = 0;
  size_t num_input_files_trivially_moved = 0;
  size_t num_input_files_at_output_level = 0;
  size_t num_filtered_input_files = 0;
  size_t num_filtered_input_files_at_output_level = 0;

  uint64_t num_output_records = 0;
  size_t num_output_files = 0;
  size_t num_output_files_blob = 0;

  bool is_full_compaction = false;
  bool is_manual_compaction = false;
  bool is_remote_compaction = false;

  uint64_t total_input_bytes = 0;
  uint64_t total_blob_bytes_read = 0;
  uint64_t total_output_bytes = 0;
  uint64_t total_output_bytes_blob = 0;
  uint64_t total_skipped_input_bytes = 0;

  uint64_t num_records_replaced = 0;  // Dropped, as a newer version hides them.
  uint64_t total_input_raw_key_bytes = 0;
  uint64_t total_input_raw_value_bytes = 0;
  uint64_t num_input_deletion_records = 0;
  uint64_t num_expired_deletion_records = 0;  // Tombstones dropped with nothing below.
  uint64_t num_corrupt_keys = 0;

  uint64_t file_write_nanos = 0;
  uint64_t file_range_sync_nanos = 0;
  uint64_t file_fsync_nanos = 0;
  uint64_t file_prepare_write_nanos = 0;

  // First bytes of the smallest and largest keys written.
  static constexpr size_t kMaxPrefixLength = 8;
  std::string smallest_output_key_prefix;
  std::string largest_output_key_prefix;

  uint64_t num_single_del_fallthru = 0;  // Reached the last level without a Put.
  uint64_t num_single_del_mismatch = 0;  // Followed by a record other than a Put.
};

}  // namespace varve
