// SPDX-License-Identifier: Apache-2.0

// Defines names of reasons, and sums of compaction statistics, for listeners.

#include <algorithm>
#include <array>
#include <cstddef>

#include "varve/compaction_job_stats.h"
#include "varve/listener.h"

#include "util/base/declared_names.h"

namespace varve {

const char* GetCompactionReasonString(CompactionReason reason) {
  constexpr auto& kNames =
      kEnumeratorNames<CompactionReason, static_cast<size_t>(CompactionReason::kNumOfReasons)>;
  const auto number = static_cast<size_t>(reason);
  return number < kNames.size() ? kNames[number].data() + 1 : "Invalid";  // Without the k.
}

// The names are words, and a few are not those of the enumerators.
const char* GetFlushReasonString(FlushReason reason) {
  static constexpr std::array kNames = {"Other Reasons",
                                        "Get Live Files",
                                        "Shut down",
                                        "External File Ingestion",
                                        "Manual Compaction",
                                        "Write Buffer Manager",
                                        "Write Buffer Full",
                                        "Test",
                                        "Delete Files",
                                        "Auto Compaction",
                                        "Manual Flush",
                                        "Error Recovery",
                                        "Error Recovery Retry Flush",
                                        "WAL Full",
                                        "Catch Up After Error Recovery",
                                        "Memtable Max Range Deletions"};
  static_assert(kNames.size() == static_cast<size_t>(FlushReason::kMemtableMaxRangeDeletions) + 1);
  const auto number = static_cast<size_t>(reason);
  return number < kNames.size() ? kNames[number] : "Invalid";
}

void CompactionJobStats::Add(const CompactionJobStats& stats) {
  elapsed_micros += stats.elapsed_micros;
  cpu_micros += stats.cpu_micros;
  has_accurate_num_input_records &= stats.has_accurate_num_input_records;
  num_input_records += stats.num_input_records;
  num_blobs_read += stats.num_blobs_read;
  num_input_files += stats.num_input_files;
  num_input_files_trivially_moved += stats.num_input_files_trivially_moved;
  num_input_files_at_output_level += stats.num_input_files_at_output_level;
  num_filtered_input_files += stats.num_filtered_input_files;
  num_filtered_input_files_at_output_level += stats.num_filtered_input_files_at_output_level;
  num_output_records += stats.num_output_records;
  num_output_files += stats.num_output_files;
  num_output_files_blob += stats.num_output_files_blob;
  is_remote_compaction |= stats.is_remote_compaction;
  total_input_bytes += stats.total_input_bytes;
  total_blob_bytes_read += stats.total_blob_bytes_read;
  total_output_bytes += stats.total_output_bytes;
  total_output_bytes_blob += stats.total_output_bytes_blob;
  total_skipped_input_bytes += stats.total_skipped_input_bytes;
  num_records_replaced += stats.num_records_replaced;
  total_input_raw_key_bytes += stats.total_input_raw_key_bytes;
  total_input_raw_value_bytes += stats.total_input_raw_value_bytes;
  num_input_deletion_records += stats.num_input_deletion_records;
  num_expired_deletion_records += stats.num_expired_deletion_records;
  num_corrupt_keys += stats.num_corrupt_keys;
  file_write_nanos += stats.file_write_nanos;
  file_range_sync_nanos += stats.file_range_sync_nanos;
  file_fsync_nanos += stats.file_fsync_nanos;
  file_prepare_write_nanos += stats.file_prepare_write_nanos;
  // An empty prefix means that nothing was written, so it must not win as the smallest.
  if (smallest_output_key_prefix.empty() ||
      (!stats.smallest_output_key_prefix.empty() &&
       stats.smallest_output_key_prefix < smallest_output_key_prefix)) {
    smallest_output_key_prefix = stats.smallest_output_key_prefix;
  }
  largest_output_key_prefix = std::max(largest_output_key_prefix, stats.largest_output_key_prefix);
  num_single_del_fallthru += stats.num_single_del_fallthru;
  num_single_del_mismatch += stats.num_single_del_mismatch;
}

}  // namespace varve
