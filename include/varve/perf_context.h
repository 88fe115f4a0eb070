// SPDX-License-Identifier: Apache-2.0
#pragma once

// PerfContext counts the cost of the operations of one thread, so that a program can see what a
// single call did: take the calling thread's context, reset it, call, read.
//
//   SetPerfLevel(PerfLevel::kEnableTimeExceptForMutex);
//   get_perf_context()->Reset();
//   db->Get(...);
//   printf("%s\n", get_perf_context()->ToString(true).c_str());
//
// Every thread has its own context, which no other thread may use. Counters whose names end in
// _time or _nanos are nanoseconds and change only if the thread's PerfLevel includes times; all
// others are event counts or bytes and change from PerfLevel kEnableCount on. Counters add up
// until Reset(). ToString() prints the fields in the order of their declaration.
//
// The fields are RocksDB's, so that programs and dashboards find them. Varve does not measure all
// of them: a field whose comment says "Stays zero" is there for its name alone.

#include <cstdint>
#include <map>
#include <string>

#include "varve/export.h"
#include "varve/perf_level.h"

namespace varve {

// Counters of point lookups in one LSM level. Only user_key_return_count is counted; the others
// stay zero.
struct VARVE_EXPORT PerfContextByLevel {
  // Stays zero.
  uint64_t bloom_filter_useful = 0;
  // Stays zero.
  uint64_t bloom_filter_full_positive = 0;
  // Stays zero.
  uint64_t bloom_filter_full_true_positive = 0;
  // Keys that point lookups found in this level and returned.
  uint64_t user_key_return_count = 0;
  // Stay zero: use the counters of PerfContext, which are those of all levels together.
  uint64_t get_from_table_nanos = 0;
  uint64_t block_cache_hit_count = 0;
  uint64_t block_cache_miss_count = 0;

  // Sets every counter to zero.
  void Reset();
};

// The flat counters, separate from PerfContext so that they can be copied and reset as one value.
// All are plain integers, since one thread alone writes them.
struct PerfContextBase {
  // Comparator calls of any kind (three-way, equality) on user keys, also by merging iterators.
  uint64_t user_key_comparison_count = 0;

  // Block reads. "read" means file I/O; "hit" means found in the block cache.
  // block_cache_hit_count includes the hits of indexes and filters below. block_read_byte counts
  // stored bytes with their trailers, and block_read_time the wait for the file system.
  uint64_t block_cache_hit_count = 0;
  uint64_t block_read_count = 0;
  uint64_t block_read_byte = 0;
  uint64_t block_read_time = 0;
  // Stays zero.
  uint64_t block_read_cpu_time = 0;
  uint64_t block_cache_index_hit_count = 0;
  // Stay zero, as there are no secondary caches.
  uint64_t block_cache_standalone_handle_count = 0;
  uint64_t block_cache_real_handle_count = 0;
  // Index blocks and filter blocks read from files, and filters found in the cache.
  uint64_t index_block_read_count = 0;
  uint64_t block_cache_filter_hit_count = 0;
  uint64_t filter_block_read_count = 0;
  // Stays zero.
  uint64_t compression_dict_block_read_count = 0;
  // Stay zero: bytes of blocks found in the cache.
  uint64_t block_cache_index_read_byte = 0;
  uint64_t block_cache_filter_read_byte = 0;
  uint64_t block_cache_compression_dict_read_byte = 0;
  uint64_t block_cache_read_byte = 0;

  // Stay zero, as there are no secondary caches.
  uint64_t secondary_cache_hit_count = 0;
  uint64_t compressed_sec_cache_insert_real_count = 0;
  uint64_t compressed_sec_cache_insert_dummy_count = 0;
  uint64_t compressed_sec_cache_uncompressed_bytes = 0;
  uint64_t compressed_sec_cache_compressed_bytes = 0;

  // Time of comparing checksums of blocks, and of decompressing blocks.
  uint64_t block_checksum_time = 0;
  uint64_t block_decompress_time = 0;

  // User bytes returned: values by MultiGet, keys and values by iterators. That of Get stays zero.
  uint64_t get_read_bytes = 0;
  uint64_t multiget_read_bytes = 0;
  uint64_t iter_read_bytes = 0;

  // Values of blob files: found in the blob cache, and read from files; times are in nanoseconds.
  uint64_t blob_cache_hit_count = 0;
  uint64_t blob_cache_read_byte = 0;
  uint64_t blob_read_count = 0;
  uint64_t blob_read_byte = 0;
  uint64_t blob_read_time = 0;
  uint64_t blob_checksum_time = 0;
  uint64_t blob_decompress_time = 0;

  // Entries that iterators skipped without returning them: hidden versions, and the entry at which
  // the iterator was when moved (so every Next() adds at least one).
  uint64_t internal_key_skipped_count = 0;
  // Entries skipped by iterators because they are deletions, or lie within a deleted range. The
  // versions that a deletion of a key hides count as skipped keys instead.
  uint64_t internal_delete_skipped_count = 0;
  // Entries newer than the iterator's snapshot.
  uint64_t internal_recent_skipped_count = 0;
  // Merge operands (without base values) merged by iterators / by point lookups.
  uint64_t internal_merge_count = 0;
  uint64_t internal_merge_point_lookup_count = 0;
  // Seeks of merging iterators to the end of a range deletion.
  uint64_t internal_range_del_reseek_count = 0;

  // Parts of point lookups: time in memtables and the number of keys looked up there, and time in
  // tables. Those of MultiGet are for its whole batch. get_snapshot_time and get_post_process_time
  // stay zero.
  uint64_t get_snapshot_time = 0;
  uint64_t get_from_memtable_time = 0;
  uint64_t get_from_memtable_count = 0;
  uint64_t get_post_process_time = 0;
  uint64_t get_from_output_files_time = 0;

  // Parts of iterating. seek_internal_seek_time is the time of positioning the merged memtables
  // and tables in a seek; find_next_user_entry_time is the time of finding the next visible entry
  // after that. The others stay zero.
  uint64_t seek_on_memtable_time = 0;
  uint64_t seek_on_memtable_count = 0;
  uint64_t next_on_memtable_count = 0;
  uint64_t prev_on_memtable_count = 0;
  uint64_t seek_child_seek_time = 0;
  uint64_t seek_child_seek_count = 0;
  uint64_t seek_min_heap_time = 0;
  uint64_t seek_max_heap_time = 0;
  uint64_t seek_internal_seek_time = 0;
  uint64_t find_next_user_entry_time = 0;

  // Parts of Write. All stay zero.
  uint64_t write_wal_time = 0;
  uint64_t write_memtable_time = 0;
  uint64_t write_delay_time = 0;
  uint64_t write_scheduling_flushes_compactions_time = 0;
  uint64_t write_pre_and_post_process_time = 0;
  // Stays zero, as there are no write groups.
  uint64_t write_thread_wait_nanos = 0;

  // Time of waiting for the DB mutex, and for conditions under it, such as the end of a flush.
  // Only at kEnableTime.
  uint64_t db_mutex_lock_nanos = 0;
  uint64_t db_condition_wait_nanos = 0;
  // Time in merge operators.
  uint64_t merge_operator_time_nanos = 0;

  // Parts of reading a table. All stay zero.
  uint64_t read_index_block_nanos = 0;
  uint64_t read_filter_block_nanos = 0;
  uint64_t new_table_block_iter_nanos = 0;
  uint64_t new_table_iterator_nanos = 0;
  uint64_t block_seek_nanos = 0;
  uint64_t find_table_nanos = 0;

  // Filters in point lookups: "hit" means that the key may exist, "miss" that the filter excluded
  // it. Those of memtables stay zero.
  uint64_t bloom_memtable_hit_count = 0;
  uint64_t bloom_memtable_miss_count = 0;
  uint64_t bloom_sst_hit_count = 0;
  uint64_t bloom_sst_miss_count = 0;

  // Waits for key locks of transactions. Both stay zero.
  uint64_t key_lock_wait_time = 0;
  uint64_t key_lock_wait_count = 0;

  // File system calls. All stay zero; IOStatsContext has the times of file I/O.
  uint64_t env_new_sequential_file_nanos = 0;
  uint64_t env_new_random_access_file_nanos = 0;
  uint64_t env_new_writable_file_nanos = 0;
  uint64_t env_reuse_writable_file_nanos = 0;
  uint64_t env_new_random_rw_file_nanos = 0;
  uint64_t env_new_directory_nanos = 0;
  uint64_t env_file_exists_nanos = 0;
  uint64_t env_get_children_nanos = 0;
  uint64_t env_get_children_file_attributes_nanos = 0;
  uint64_t env_delete_file_nanos = 0;
  uint64_t env_create_dir_nanos = 0;
  uint64_t env_create_dir_if_missing_nanos = 0;
  uint64_t env_delete_dir_nanos = 0;
  uint64_t env_get_file_size_nanos = 0;
  uint64_t env_get_file_modification_time_nanos = 0;
  uint64_t env_rename_file_nanos = 0;
  uint64_t env_link_file_nanos = 0;
  uint64_t env_lock_file_nanos = 0;
  uint64_t env_unlock_file_nanos = 0;
  uint64_t env_new_logger_nanos = 0;

  // CPU time of whole calls, measured from PerfLevel kEnableTimeAndCPUTimeExceptForMutex on. That
  // of Get stays zero.
  uint64_t get_cpu_nanos = 0;
  uint64_t iter_next_cpu_nanos = 0;
  uint64_t iter_prev_cpu_nanos = 0;
  uint64_t iter_seek_cpu_nanos = 0;

  // Number of calls of DB iterators.
  uint64_t iter_next_count = 0;
  uint64_t iter_prev_count = 0;
  uint64_t iter_seek_count = 0;

  // Stay zero: there is no encryption, and asynchronous seeks are not counted.
  uint64_t encrypt_data_nanos = 0;
  uint64_t decrypt_data_nanos = 0;

  uint64_t number_async_seek = 0;

  // Time of IngestExternalFile, and the part of it in which writes were blocked.
  uint64_t file_ingestion_nanos = 0;
  uint64_t file_ingestion_blocking_live_writes_nanos = 0;
};

// The counters of a thread, with those of single levels if they are enabled.
struct VARVE_EXPORT PerfContext : public PerfContextBase {
  PerfContext() = default;
  ~PerfContext();

  // Copies include the per-level counters.
  PerfContext(const PerfContext& other);
  PerfContext& operator=(const PerfContext& other);
  PerfContext(PerfContext&& other) noexcept;

  // Resets all counters, also per-level ones. Per-level counting stays enabled or disabled.
  void Reset();

  // Returns "name = value, name = value, ..." in field order, then "name = value@level0, ..." for
  // counters of levels that are not zero.
  //
  // With exclude_zero_counters only counters that are not zero are printed.
  std::string ToString(bool exclude_zero_counters = false) const;

  // Enables PerfContextByLevel for every level that is accessed.
  void EnablePerLevelPerfContext();
  // Disables it; the counters stay readable.
  void DisablePerLevelPerfContext();
  // Disables it and frees the counters.
  void ClearPerLevelPerfContext();

  // Counters by level number. Owned by this object. Null until EnablePerLevelPerfContext() was
  // called.
  std::map<uint32_t, PerfContextByLevel>* level_to_perf_context = nullptr;
  bool per_level_perf_context_enabled = false;
};

// Returns the calling thread's context, never null, valid until the thread ends.
VARVE_EXPORT PerfContext* get_perf_context();

}  // namespace varve
