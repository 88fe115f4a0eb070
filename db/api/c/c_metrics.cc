// SPDX-License-Identifier: Apache-2.0
// Implements statistics and the perf context for the C API.
#include <array>
#include <string>

#include "varve/perf_level.h"
#include "varve/utilities/metrics.h"

#include "db/api/c/c_types.h"

using varve::PerfContext;
using varve::PerfContextBase;
using varve::c::CopyText;
using varve::c::Make;
using varve::c::NullArgument;
using varve::c::RunOnDb;
using varve::c::Try;

namespace {

using Counter = uint64_t PerfContextBase::*;

// Counters by their number in C; null for those that Varve lacks.
// The order is that of the enum in rocksdb/c.h. A missing row would shift all that follow, hence
// the nulls.
constexpr std::array<Counter, rocksdb_total_metric_count> kCounters = {
    &PerfContextBase::user_key_comparison_count,
    &PerfContextBase::block_cache_hit_count,
    &PerfContextBase::block_read_count,
    &PerfContextBase::block_read_byte,
    &PerfContextBase::block_read_time,
    &PerfContextBase::block_checksum_time,
    &PerfContextBase::block_decompress_time,
    &PerfContextBase::get_read_bytes,
    &PerfContextBase::multiget_read_bytes,
    &PerfContextBase::iter_read_bytes,
    &PerfContextBase::internal_key_skipped_count,
    &PerfContextBase::internal_delete_skipped_count,
    &PerfContextBase::internal_recent_skipped_count,
    &PerfContextBase::internal_merge_count,
    &PerfContextBase::get_snapshot_time,
    &PerfContextBase::get_from_memtable_time,
    &PerfContextBase::get_from_memtable_count,
    &PerfContextBase::get_post_process_time,
    &PerfContextBase::get_from_output_files_time,
    &PerfContextBase::seek_on_memtable_time,
    &PerfContextBase::seek_on_memtable_count,
    &PerfContextBase::next_on_memtable_count,
    &PerfContextBase::prev_on_memtable_count,
    &PerfContextBase::seek_child_seek_time,
    &PerfContextBase::seek_child_seek_count,
    &PerfContextBase::seek_min_heap_time,
    &PerfContextBase::seek_max_heap_time,
    &PerfContextBase::seek_internal_seek_time,
    &PerfContextBase::find_next_user_entry_time,
    &PerfContextBase::write_wal_time,
    &PerfContextBase::write_memtable_time,
    &PerfContextBase::write_delay_time,
    &PerfContextBase::write_pre_and_post_process_time,
    &PerfContextBase::db_mutex_lock_nanos,
    &PerfContextBase::db_condition_wait_nanos,
    &PerfContextBase::merge_operator_time_nanos,
    &PerfContextBase::read_index_block_nanos,
    &PerfContextBase::read_filter_block_nanos,
    &PerfContextBase::new_table_block_iter_nanos,
    &PerfContextBase::new_table_iterator_nanos,
    &PerfContextBase::block_seek_nanos,
    &PerfContextBase::find_table_nanos,
    &PerfContextBase::bloom_memtable_hit_count,
    &PerfContextBase::bloom_memtable_miss_count,
    &PerfContextBase::bloom_sst_hit_count,
    &PerfContextBase::bloom_sst_miss_count,
    &PerfContextBase::key_lock_wait_time,
    &PerfContextBase::key_lock_wait_count,
    &PerfContextBase::env_new_sequential_file_nanos,
    &PerfContextBase::env_new_random_access_file_nanos,
    &PerfContextBase::env_new_writable_file_nanos,
    &PerfContextBase::env_reuse_writable_file_nanos,
    &PerfContextBase::env_new_random_rw_file_nanos,
    &PerfContextBase::env_new_directory_nanos,
    &PerfContextBase::env_file_exists_nanos,
    &PerfContextBase::env_get_children_nanos,
    &PerfContextBase::env_get_children_file_attributes_nanos,
    &PerfContextBase::env_delete_file_nanos,
    &PerfContextBase::env_create_dir_nanos,
    &PerfContextBase::env_create_dir_if_missing_nanos,
    &PerfContextBase::env_delete_dir_nanos,
    &PerfContextBase::env_get_file_size_nanos,
    &PerfContextBase::env_get_file_modification_time_nanos,
    &PerfContextBase::env_rename_file_nanos,
    &PerfContextBase::env_link_file_nanos,
    &PerfContextBase::env_lock_file_nanos,
    &PerfContextBase::env_unlock_file_nanos,
    &PerfContextBase::env_new_logger_nanos,
    &PerfContextBase::number_async_seek,
    &PerfContextBase::blob_cache_hit_count,
    &PerfContextBase::blob_read_count,
    &PerfContextBase::blob_read_byte,
    &PerfContextBase::blob_read_time,
    &PerfContextBase::blob_checksum_time,
    &PerfContextBase::blob_decompress_time,
    &PerfContextBase::internal_range_del_reseek_count,
    &PerfContextBase::block_read_cpu_time,
    &PerfContextBase::internal_merge_point_lookup_count,
    nullptr,  // data_block_read_byte
    nullptr,  // index_block_read_byte
    nullptr,  // filter_block_read_byte
    nullptr,  // compression_dict_block_read_byte
    nullptr,  // metadata_block_read_byte
    &PerfContextBase::blob_cache_read_byte,
};

varve::Statistics* StatisticsOf(const rocksdb_options_t* options) {
  return options == nullptr ? nullptr : options->rep.statistics.get();
}

}  // namespace

void rocksdb_options_enable_statistics(rocksdb_options_t* options) {
  if (options == nullptr) return;
  varve::c::TryVoid([&] { options->rep.statistics = varve::CreateDBStatistics(); });
}

void rocksdb_options_set_statistics_level(rocksdb_options_t* options, int level) {
  varve::Statistics* statistics = StatisticsOf(options);
  if (statistics == nullptr || level < varve::kDisableAll || level > varve::kAll) return;
  statistics->set_stats_level(static_cast<varve::StatsLevel>(level));
}

int rocksdb_options_get_statistics_level(rocksdb_options_t* options) {
  const varve::Statistics* statistics = StatisticsOf(options);
  return statistics == nullptr ? varve::kDisableAll : statistics->get_stats_level();
}

char* rocksdb_options_statistics_get_string(rocksdb_options_t* options) {
  const varve::Statistics* statistics = StatisticsOf(options);
  if (statistics == nullptr) return nullptr;
  return Try([&] { return CopyText(statistics->ToString()); });
}

uint64_t rocksdb_options_statistics_get_ticker_count(rocksdb_options_t* options,
                                                     uint32_t ticker_type) {
  const varve::Statistics* statistics = StatisticsOf(options);
  if (statistics == nullptr || ticker_type >= varve::TICKER_ENUM_MAX) return 0;
  return statistics->getTickerCount(ticker_type);
}

void rocksdb_options_statistics_get_histogram_data(
    rocksdb_options_t* options, uint32_t histogram_type,
    rocksdb_statistics_histogram_data_t* const data) {
  if (data == nullptr) return;
  data->rep = varve::HistogramData();
  const varve::Statistics* statistics = StatisticsOf(options);
  if (statistics == nullptr || histogram_type >= varve::HISTOGRAM_ENUM_MAX) return;
  varve::c::TryVoid([&] { statistics->histogramData(histogram_type, &data->rep); });
}

void rocksdb_set_perf_level(int level) {
  // Levels come from C as numbers; one without a meaning changes nothing.
  if (level < varve::kUninitialized || level >= varve::kOutOfBounds) return;
  varve::SetPerfLevel(static_cast<varve::PerfLevel>(level));
}

rocksdb_perfcontext_t* rocksdb_perfcontext_create() {
  return Try([] { return new rocksdb_perfcontext_t{varve::get_perf_context()}; });
}

void rocksdb_perfcontext_reset(rocksdb_perfcontext_t* context) {
  if (context != nullptr) context->rep->Reset();
}

char* rocksdb_perfcontext_report(rocksdb_perfcontext_t* context,
                                 unsigned char exclude_zero_counters) {
  if (context == nullptr) return nullptr;
  return Try([&] { return CopyText(context->rep->ToString(exclude_zero_counters != 0)); });
}

uint64_t rocksdb_perfcontext_metric(rocksdb_perfcontext_t* context, int metric) {
  if (context == nullptr || metric < 0 || metric >= rocksdb_total_metric_count) return 0;
  const Counter counter = kCounters[static_cast<size_t>(metric)];
  return counter == nullptr ? 0 : context->rep->*counter;
}

namespace {

// Returns the metrics of the database as a malloc'ed text of this format; null after an error.
char* Metrics(rocksdb_t* db, varve::MetricsOptions::Format format, char** errptr,
              const char* call = __builtin_FUNCTION()) {
  std::string text;
  const auto write = [&](varve::DB* each) {
    varve::MetricsOptions options;
    options.format = format;
    return varve::WriteMetrics(each, options, &text);
  };
  return RunOnDb(db, errptr, write, call) ? CopyText(text) : nullptr;
}

}  // namespace

char* rocksdb_metrics_text(rocksdb_t* db, char** errptr) {
  return Metrics(db, varve::MetricsOptions::Format::kPrometheus, errptr);
}

char* rocksdb_metrics_json(rocksdb_t* db, char** errptr) {
  return Metrics(db, varve::MetricsOptions::Format::kJson, errptr);
}

void rocksdb_metrics_dump(rocksdb_t* db, const char* path, char** errptr) {
  RunOnDb(db, errptr, [&](varve::DB* each) {
    if (path == nullptr) return NullArgument("path");
    return varve::DumpMetricsToFile(each, varve::MetricsOptions(), path);
  });
}
