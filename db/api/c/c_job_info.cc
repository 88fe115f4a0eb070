// SPDX-License-Identifier: Apache-2.0
// Shows the arguments of listeners' callbacks to C: infos of jobs, memtables, stalls and
// ingestions.
#include <algorithm>
#include <iterator>

#include "db/api/c/c_types.h"
#include "db/api/c/c_views.h"

using varve::c::Look;
using varve::c::Show;
using varve::c::TextOf;

namespace {

template <typename List>
const typename List::value_type* At(const List& list, size_t pos) {
  return pos < list.size() ? &list[pos] : nullptr;
}

using Tables = varve::TablePropertiesCollection;

Tables::const_iterator TableAt(const rocksdb_compactionjobinfo_t* info, size_t pos) {
  const Tables& tables = Look(info)->table_properties;
  return std::next(tables.begin(),
                   static_cast<Tables::difference_type>(std::min(pos, tables.size())));
}

const rocksdb_table_properties_t* ShowTable(const rocksdb_compactionjobinfo_t* info,
                                            Tables::const_iterator table) {
  if (table == Look(info)->table_properties.end()) return nullptr;
  return Show<rocksdb_table_properties_t>(table->second.get());
}

void ReportStatus(const varve::Status* status, char** errptr,
                  const char* call = __builtin_FUNCTION()) {
  const auto told = [&] { return status == nullptr ? varve::c::NullArgument("info") : *status; };
  varve::c::Run(errptr, told, call);
}

}  // namespace

VARVE_C_VIEW_NUMBER(flushjobinfo, uint32_t, blob_compression_type);
VARVE_C_VIEW_NUMBER(flushjobinfo, uint32_t, cf_id);
VARVE_C_VIEW_TEXT(flushjobinfo, cf_name);
VARVE_C_VIEW_NUMBER(flushjobinfo, uint64_t, file_number);
VARVE_C_VIEW_TEXT(flushjobinfo, file_path);
VARVE_C_VIEW_NUMBER(flushjobinfo, uint32_t, flush_reason);
VARVE_C_VIEW_NUMBER(flushjobinfo, int, job_id);
VARVE_C_VIEW_NUMBER(flushjobinfo, uint64_t, largest_seqno);
VARVE_C_VIEW_NUMBER(flushjobinfo, uint64_t, smallest_seqno);
VARVE_C_VIEW_NUMBER(flushjobinfo, uint64_t, thread_id);
VARVE_C_VIEW_NUMBER(flushjobinfo, unsigned char, triggered_writes_slowdown);
VARVE_C_VIEW_NUMBER(flushjobinfo, unsigned char, triggered_writes_stop);

VARVE_C_VIEW_NUMBER(compactionjobinfo, unsigned char, aborted);
VARVE_C_VIEW_NUMBER(compactionjobinfo, int, base_input_level);
VARVE_C_VIEW_NUMBER(compactionjobinfo, uint32_t, blob_compression_type);
VARVE_C_VIEW_NUMBER(compactionjobinfo, uint32_t, cf_id);
VARVE_C_VIEW_TEXT(compactionjobinfo, cf_name);
VARVE_C_VIEW_NUMBER(compactionjobinfo, uint32_t, compaction_reason);
VARVE_C_VIEW_NUMBER(compactionjobinfo, uint32_t, compression);
VARVE_C_VIEW_MEMBER(compactionjobinfo, uint64_t, elapsed_micros, stats.elapsed_micros);
VARVE_C_VIEW_MEMBER(compactionjobinfo, size_t, input_file_infos_count, input_file_infos.size());
VARVE_C_VIEW_MEMBER(compactionjobinfo, size_t, input_files_count, input_files.size());
VARVE_C_VIEW_MEMBER(compactionjobinfo, uint64_t, input_records, stats.num_input_records);
VARVE_C_VIEW_NUMBER(compactionjobinfo, int, job_id);
VARVE_C_VIEW_MEMBER(compactionjobinfo, uint64_t, num_corrupt_keys, stats.num_corrupt_keys);
VARVE_C_VIEW_MEMBER(compactionjobinfo, size_t, num_input_files, stats.num_input_files);
VARVE_C_VIEW_MEMBER(compactionjobinfo, size_t, num_input_files_at_output_level,
                    stats.num_input_files_at_output_level);
VARVE_C_VIEW_NUMBER(compactionjobinfo, int, num_l0_files);
VARVE_C_VIEW_MEMBER(compactionjobinfo, size_t, output_file_infos_count, output_file_infos.size());
VARVE_C_VIEW_MEMBER(compactionjobinfo, size_t, output_files_count, output_files.size());
VARVE_C_VIEW_NUMBER(compactionjobinfo, int, output_level);
VARVE_C_VIEW_MEMBER(compactionjobinfo, uint64_t, output_records, stats.num_output_records);
VARVE_C_VIEW_MEMBER(compactionjobinfo, size_t, table_properties_count, table_properties.size());
VARVE_C_VIEW_NUMBER(compactionjobinfo, uint64_t, thread_id);
VARVE_C_VIEW_MEMBER(compactionjobinfo, uint64_t, total_input_bytes, stats.total_input_bytes);
VARVE_C_VIEW_MEMBER(compactionjobinfo, uint64_t, total_output_bytes, stats.total_output_bytes);

VARVE_C_VIEW_NUMBER(subcompactionjobinfo, int, base_input_level);
VARVE_C_VIEW_NUMBER(subcompactionjobinfo, uint32_t, blob_compression_type);
VARVE_C_VIEW_NUMBER(subcompactionjobinfo, uint32_t, cf_id);
VARVE_C_VIEW_TEXT(subcompactionjobinfo, cf_name);
VARVE_C_VIEW_NUMBER(subcompactionjobinfo, uint32_t, compaction_reason);
VARVE_C_VIEW_NUMBER(subcompactionjobinfo, uint32_t, compression);
VARVE_C_VIEW_NUMBER(subcompactionjobinfo, int, job_id);
VARVE_C_VIEW_NUMBER(subcompactionjobinfo, int, output_level);
VARVE_C_VIEW_NUMBER(subcompactionjobinfo, int, subcompaction_job_id);
VARVE_C_VIEW_NUMBER(subcompactionjobinfo, uint64_t, thread_id);

VARVE_C_VIEW_NUMBER(compaction_job_stats, uint64_t, cpu_micros);
VARVE_C_VIEW_NUMBER(compaction_job_stats, uint64_t, elapsed_micros);
VARVE_C_VIEW_NUMBER(compaction_job_stats, uint64_t, file_fsync_nanos);
VARVE_C_VIEW_NUMBER(compaction_job_stats, uint64_t, file_prepare_write_nanos);
VARVE_C_VIEW_NUMBER(compaction_job_stats, uint64_t, file_range_sync_nanos);
VARVE_C_VIEW_NUMBER(compaction_job_stats, uint64_t, file_write_nanos);
VARVE_C_VIEW_NUMBER(compaction_job_stats, unsigned char, has_accurate_num_input_records);
VARVE_C_VIEW_NUMBER(compaction_job_stats, unsigned char, is_full_compaction);
VARVE_C_VIEW_NUMBER(compaction_job_stats, unsigned char, is_manual_compaction);
VARVE_C_VIEW_NUMBER(compaction_job_stats, unsigned char, is_remote_compaction);
VARVE_C_VIEW_TEXT(compaction_job_stats, largest_output_key_prefix);
VARVE_C_VIEW_NUMBER(compaction_job_stats, uint64_t, num_blobs_read);
VARVE_C_VIEW_NUMBER(compaction_job_stats, uint64_t, num_corrupt_keys);
VARVE_C_VIEW_NUMBER(compaction_job_stats, uint64_t, num_expired_deletion_records);
VARVE_C_VIEW_NUMBER(compaction_job_stats, size_t, num_filtered_input_files);
VARVE_C_VIEW_NUMBER(compaction_job_stats, size_t, num_filtered_input_files_at_output_level);
VARVE_C_VIEW_NUMBER(compaction_job_stats, uint64_t, num_input_deletion_records);
VARVE_C_VIEW_NUMBER(compaction_job_stats, size_t, num_input_files);
VARVE_C_VIEW_NUMBER(compaction_job_stats, size_t, num_input_files_at_output_level);
VARVE_C_VIEW_NUMBER(compaction_job_stats, size_t, num_input_files_trivially_moved);
VARVE_C_VIEW_NUMBER(compaction_job_stats, uint64_t, num_input_records);
VARVE_C_VIEW_NUMBER(compaction_job_stats, size_t, num_output_files);
VARVE_C_VIEW_NUMBER(compaction_job_stats, size_t, num_output_files_blob);
VARVE_C_VIEW_NUMBER(compaction_job_stats, uint64_t, num_output_records);
VARVE_C_VIEW_NUMBER(compaction_job_stats, uint64_t, num_records_replaced);
VARVE_C_VIEW_NUMBER(compaction_job_stats, uint64_t, num_single_del_fallthru);
VARVE_C_VIEW_NUMBER(compaction_job_stats, uint64_t, num_single_del_mismatch);
VARVE_C_VIEW_TEXT(compaction_job_stats, smallest_output_key_prefix);
VARVE_C_VIEW_NUMBER(compaction_job_stats, uint64_t, total_blob_bytes_read);
VARVE_C_VIEW_NUMBER(compaction_job_stats, uint64_t, total_input_bytes);
VARVE_C_VIEW_NUMBER(compaction_job_stats, uint64_t, total_input_raw_key_bytes);
VARVE_C_VIEW_NUMBER(compaction_job_stats, uint64_t, total_input_raw_value_bytes);
VARVE_C_VIEW_NUMBER(compaction_job_stats, uint64_t, total_output_bytes);
VARVE_C_VIEW_NUMBER(compaction_job_stats, uint64_t, total_output_bytes_blob);
VARVE_C_VIEW_NUMBER(compaction_job_stats, uint64_t, total_skipped_input_bytes);

VARVE_C_VIEW_NUMBER(compaction_file_info, uint64_t, file_number);
VARVE_C_VIEW_NUMBER(compaction_file_info, int, level);

VARVE_C_VIEW_TEXT(externalfileingestioninfo, cf_name);
VARVE_C_VIEW_TEXT(externalfileingestioninfo, external_file_path);
VARVE_C_VIEW_NUMBER(externalfileingestioninfo, uint64_t, global_seqno);
VARVE_C_VIEW_TEXT(externalfileingestioninfo, internal_file_path);

VARVE_C_VIEW_TEXT(memtableinfo, cf_name);
VARVE_C_VIEW_NUMBER(memtableinfo, uint64_t, earliest_seqno);
VARVE_C_VIEW_NUMBER(memtableinfo, uint64_t, first_seqno);
VARVE_C_VIEW_TEXT(memtableinfo, newest_udt);
VARVE_C_VIEW_NUMBER(memtableinfo, uint64_t, num_deletes);
VARVE_C_VIEW_NUMBER(memtableinfo, uint64_t, num_entries);

VARVE_C_VIEW_TEXT(writestallinfo, cf_name);

VARVE_C_VIEW_PART(flushjobinfo, table_properties, table_properties, table_properties);
VARVE_C_VIEW_PART(externalfileingestioninfo, table_properties, table_properties, table_properties);
VARVE_C_VIEW_PART(compactionjobinfo, compaction_job_stats, stats, stats);
VARVE_C_VIEW_PART(subcompactionjobinfo, compaction_job_stats, stats, stats);
VARVE_C_VIEW_PART(writestallinfo, writestallcondition, cur, condition.cur);
VARVE_C_VIEW_PART(writestallinfo, writestallcondition, prev, condition.prev);

// ---- Lists of a compaction ----

rocksdb_compactionjobinfo_t* rocksdb_compactionjobinfo_create() {
  return varve::c::ShowMutable<rocksdb_compactionjobinfo_t>(
      varve::c::Make<varve::CompactionJobInfo>());
}

void rocksdb_compactionjobinfo_destroy(rocksdb_compactionjobinfo_t* info) {
  delete Look(info);
}

void rocksdb_compactionjobinfo_status(const rocksdb_compactionjobinfo_t* info, char** errptr) {
  ReportStatus(info == nullptr ? nullptr : &Look(info)->status, errptr);
}

void rocksdb_subcompactionjobinfo_status(const rocksdb_subcompactionjobinfo_t* info,
                                         char** errptr) {
  ReportStatus(info == nullptr ? nullptr : &Look(info)->status, errptr);
}

const char* rocksdb_compactionjobinfo_input_file_at(const rocksdb_compactionjobinfo_t* info,
                                                    size_t pos, size_t* size) {
  return TextOf(info == nullptr ? nullptr : At(Look(info)->input_files, pos), size);
}

const char* rocksdb_compactionjobinfo_output_file_at(const rocksdb_compactionjobinfo_t* info,
                                                     size_t pos, size_t* size) {
  return TextOf(info == nullptr ? nullptr : At(Look(info)->output_files, pos), size);
}

const rocksdb_compaction_file_info_t* rocksdb_compactionjobinfo_input_file_info_at(
    const rocksdb_compactionjobinfo_t* info, size_t pos) {
  if (info == nullptr) return nullptr;
  return Show<rocksdb_compaction_file_info_t>(At(Look(info)->input_file_infos, pos));
}

const rocksdb_compaction_file_info_t* rocksdb_compactionjobinfo_output_file_info_at(
    const rocksdb_compactionjobinfo_t* info, size_t pos) {
  if (info == nullptr) return nullptr;
  return Show<rocksdb_compaction_file_info_t>(At(Look(info)->output_file_infos, pos));
}

const char* rocksdb_compactionjobinfo_table_properties_key_at(
    const rocksdb_compactionjobinfo_t* info, size_t pos, size_t* key_len) {
  varve::c::StoreSize(key_len, 0);
  if (info == nullptr) return nullptr;
  const auto table = TableAt(info, pos);
  return table == Look(info)->table_properties.end() ? nullptr : TextOf(&table->first, key_len);
}

const rocksdb_table_properties_t* rocksdb_compactionjobinfo_table_properties_value_at(
    const rocksdb_compactionjobinfo_t* info, size_t pos) {
  return info == nullptr ? nullptr : ShowTable(info, TableAt(info, pos));
}

const rocksdb_table_properties_t* rocksdb_compactionjobinfo_table_properties_for_file(
    const rocksdb_compactionjobinfo_t* info, const char* file_name, size_t file_name_len) {
  if (info == nullptr || file_name == nullptr) return nullptr;
  return varve::c::Try([&]() -> const rocksdb_table_properties_t* {
    return ShowTable(info,
                     Look(info)->table_properties.find(std::string(file_name, file_name_len)));
  });
}

// ---- Blob files ----

// There are no blob files: counts are 0, lists are empty.
#define VARVE_C_NO_BLOB_NUMBER(c_type, function, view) \
  c_type function(const view* /*info*/) {              \
    return 0;                                          \
  }                                                    \
  static_assert(true)
#define VARVE_C_NO_BLOB_FILE(kind, function, view)                                          \
  const rocksdb_blob_file_##kind##_info_t* function(const view* /*info*/, size_t /*pos*/) { \
    return nullptr;                                                                         \
  }                                                                                         \
  static_assert(true)
#define VARVE_C_NO_BLOB_PATH(kind)                                       \
  const char* rocksdb_blob_file_##kind##_info_blob_file_path(            \
      const rocksdb_blob_file_##kind##_info_t* /*info*/, size_t* size) { \
    varve::c::StoreSize(size, 0);                                        \
    return nullptr;                                                      \
  }                                                                      \
  static_assert(true)

VARVE_C_NO_BLOB_NUMBER(uint64_t, rocksdb_flushjobinfo_oldest_blob_file_number,
                       rocksdb_flushjobinfo_t);
VARVE_C_NO_BLOB_NUMBER(size_t, rocksdb_flushjobinfo_blob_file_addition_infos_count,
                       rocksdb_flushjobinfo_t);
VARVE_C_NO_BLOB_FILE(addition, rocksdb_flushjobinfo_blob_file_addition_info_at,
                     rocksdb_flushjobinfo_t);
VARVE_C_NO_BLOB_NUMBER(uint64_t, rocksdb_compaction_file_info_oldest_blob_file_number,
                       rocksdb_compaction_file_info_t);
VARVE_C_NO_BLOB_NUMBER(size_t, rocksdb_compactionjobinfo_blob_file_addition_infos_count,
                       rocksdb_compactionjobinfo_t);
VARVE_C_NO_BLOB_FILE(addition, rocksdb_compactionjobinfo_blob_file_addition_info_at,
                     rocksdb_compactionjobinfo_t);
VARVE_C_NO_BLOB_NUMBER(size_t, rocksdb_compactionjobinfo_blob_file_garbage_infos_count,
                       rocksdb_compactionjobinfo_t);
VARVE_C_NO_BLOB_FILE(garbage, rocksdb_compactionjobinfo_blob_file_garbage_info_at,
                     rocksdb_compactionjobinfo_t);
VARVE_C_NO_BLOB_NUMBER(uint64_t, rocksdb_blob_file_addition_info_blob_file_number,
                       rocksdb_blob_file_addition_info_t);
VARVE_C_NO_BLOB_NUMBER(uint64_t, rocksdb_blob_file_addition_info_total_blob_bytes,
                       rocksdb_blob_file_addition_info_t);
VARVE_C_NO_BLOB_NUMBER(uint64_t, rocksdb_blob_file_addition_info_total_blob_count,
                       rocksdb_blob_file_addition_info_t);
VARVE_C_NO_BLOB_PATH(addition);
VARVE_C_NO_BLOB_NUMBER(uint64_t, rocksdb_blob_file_garbage_info_blob_file_number,
                       rocksdb_blob_file_garbage_info_t);
VARVE_C_NO_BLOB_NUMBER(uint64_t, rocksdb_blob_file_garbage_info_garbage_blob_bytes,
                       rocksdb_blob_file_garbage_info_t);
VARVE_C_NO_BLOB_NUMBER(uint64_t, rocksdb_blob_file_garbage_info_garbage_blob_count,
                       rocksdb_blob_file_garbage_info_t);
VARVE_C_NO_BLOB_PATH(garbage);
