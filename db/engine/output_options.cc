// SPDX-License-Identifier: Apache-2.0

// Gathers what jobs need to write tables, out of the options as opened (DbContext), those that may
// change meanwhile (DynamicOptions), and the family's. A job takes all of it once, under the mutex
// where it must, and then runs without looking back.

#include "db/engine/output_options.h"

#include "varve/merge_operator.h"
#include "varve/system_clock.h"
#include "varve/table.h"

namespace varve {

// Pointers in the result are to the DbContext and to objects that its DBOptions own, so they live
// as long as the database; the paths and the file system are shared.
TableOutputContext MakeTableOutputContext(const DbContext& context, const DynamicOptions& dynamic,
                                          const ColumnFamily& family,
                                          const ColumnFamilyOptions& options,
                                          Env::IOPriority priority) {
  const DBOptions& db_options = context.options();
  TableOutputContext output;
  output.paths = family.shared_table_paths();
  output.fs = context.fs();
  output.file_options = context.file_options();
  output.file_options.temperature = options.default_write_temperature;
  output.file_options.strict_bytes_per_sync = dynamic.current()->strict_bytes_per_sync;
  output.clock = context.clock();
  output.rate_limiter = db_options.rate_limiter.get();
  // Once a caller waits for the database to close, this flag makes running jobs write without
  // limit.
  output.limit_lifted = &context.limit_lifted();
  output.io_priority = priority;
  output.bytes_per_sync = dynamic.current()->bytes_per_sync;
  output.file_buffer_bytes = dynamic.current()->writable_file_max_buffer_size;
  output.use_fsync = db_options.use_fsync;
  output.use_direct_io = db_options.use_direct_io_for_flush_and_compaction;
  output.checksum_factory = db_options.file_checksum_gen_factory.get();
  output.read_back = options.paranoid_file_checks;
  output.time_files = options.report_bg_io_stats;
  return output;
}

TableBuildOptions MakeTableBuildOptions(const DbContext& context, const std::string& db_id,
                                        const ColumnFamily& family,
                                        const ColumnFamilyOptions& options, int level) {
  TableBuildOptions build;
  build.icmp = &family.icmp();
  build.factory = options.table_factory;
  build.compression_opts = options.compression_opts;
  build.prefix_extractor = options.prefix_extractor.get();
  build.collector_factories = options.table_properties_collector_factories;
  build.sample_for_compression = options.sample_for_compression;
  if (options.merge_operator != nullptr) build.merge_operator_name = options.merge_operator->Name();
  build.statistics = context.statistics();
  build.column_family_id = family.id();
  build.column_family_name = family.name();
  // A family without timestamps has none to leave out.
  build.persist_timestamps =
      options.persist_user_defined_timestamps || family.icmp().timestamp_size() == 0;
  build.level = level;
  build.db_id = db_id;
  build.db_session_id = context.session_id();
  build.allow_data_in_errors = context.options().allow_data_in_errors;
  build.db_host_id = context.host_name();
  // Without a clock the times stay 0, which says that they are unknown.
  int64_t now = 0;
  if (context.clock()->GetCurrentTime(&now).ok() && now > 0) {
    build.creation_time = static_cast<uint64_t>(now);
    build.file_creation_time = build.creation_time;
    build.oldest_key_time = build.creation_time;
  }
  return build;
}

void FillFlushInput(const DbContext& context, const DynamicOptions& dynamic, DbState* state,
                    ColumnFamily& family, TableFileCreationReason reason, int base_level,
                    FlushInput* input) {
  // The mutex has not been released since the memtables were picked, so a snapshot that is not
  // listed here is newer than all their entries, and needs only the newest versions.
  input->snapshots = state->snapshots.Pinned(&input->conflict_check_floor);
  input->full_history_ts_low = family.versions()->full_history_ts_low;
  input->options = family.options();
  input->info_log = context.info_log();
  input->icmp = &family.icmp();
  input->checks = {context.options().enforce_single_del_contracts,
                   context.options().flush_verify_memtable_count,
                   context.options().allow_data_in_errors};
  input->output = MakeTableOutputContext(context, dynamic, family, *input->options, Env::IO_HIGH);
  input->build = MakeTableBuildOptions(context, state->versions->db_id(), family, *input->options,
                                       /*level=*/0);
  input->build.reason = reason;
  input->build.file_number = state->versions->NewFileNumber();
  input->build.compression = CompressionForLevel(*input->options, 0, base_level,
                                                 /*bottommost=*/false);
}

const BlockBasedTableOptions& TableOptionsOf(const ColumnFamilyOptions& options) {
  // A factory of another kind has no such options; its tables have no block cache.
  static const BlockBasedTableOptions none;
  const TableFactory& factory = *options.table_factory;
  const auto* const table = factory.GetOptions<BlockBasedTableOptions>();
  return table != nullptr ? *table : none;
}

}  // namespace varve
