# SPDX-License-Identifier: Apache-2.0
# Writes the folder rocksdb/ of headers for programs written for RocksDB: every public header of 11.12 by its name. One
# that Varve has gives the same classes in namespace rocksdb - the namespace itself, no alias, so that programs may declare
# classes in it - and belongs to a librocksdb.so that was built with VARVE_ROCKSDB_CXX. One that Varve has not stops the
# compiler: missing, it would let an installed RocksDB's header in.

set(varve_rocksdb_headers
  advanced_cache.h advanced_options.h cache.h cleanable.h compaction_filter.h compaction_job_stats.h comparator.h
  compression_type.h concurrent_task_limiter.h configurable.h convenience.h customizable.h db.h env.h file_checksum.h
  file_system.h filter_policy.h flush_block_policy.h io_status.h iostats_context.h iterator.h iterator_base.h listener.h memory_allocator.h
  memtablerep.h merge_operator.h metadata.h options.h perf_context.h perf_level.h rate_limiter.h slice.h
  slice_transform.h snapshot.h sst_file_manager.h sst_file_reader.h sst_file_writer.h sst_partitioner.h statistics.h stats_history.h status.h
  system_clock.h table.h
  table_properties.h thread_status.h transaction_log.h types.h universal_compaction.h user_write_callback.h
  utilities/backup_engine.h utilities/checkpoint.h utilities/memory_util.h utilities/object_registry.h utilities/optimistic_transaction_db.h utilities/options_util.h
  utilities/stackable_db.h utilities/table_properties_collectors.h utilities/transaction.h utilities/transaction_db.h
  utilities/transaction_db_mutex.h utilities/types_util.h utilities/write_batch_with_index.h wal_iterator.h write_batch.h
  write_batch_base.h write_buffer_manager.h)
set(varve_rocksdb_missing_headers
  advanced_compression.h advanced_iterator.h attribute_groups.h blob_file_partition_strategy.h
  block_cache_trace_writer.h cache_bench_tool.h coro_db.h
  coro_external_table.h data_structure.h db_bench_tool.h db_dump_tool.h db_stress_tool.h
  env_encryption.h experimental.h external_table.h functor_wrapper.h index_factory.h
  io_dispatcher.h lazy_wide_columns.h ldb_tool.h multi_scan.h persistent_cache.h point_lock_bench_tool.h port_defs.h
  secondary_cache.h sst_dump_tool.h
  table_reader_caller.h threadpool.h tool_hooks.h trace_reader_writer.h trace_record.h
  trace_record_result.h unique_id.h user_defined_index.h utilities/agg_merge.h
  utilities/cache_dump_load.h utilities/coro_stackable_db.h utilities/customizable_util.h
  utilities/debug.h utilities/env_mirror.h utilities/info_log_finder.h utilities/ldb_cmd.h
  utilities/ldb_cmd_execute_result.h utilities/leveldb_options.h
  utilities/option_change_migration.h utilities/options_type.h utilities/replayer.h utilities/secondary_index.h
  utilities/secondary_index_faiss.h utilities/secondary_index_simple.h utilities/sim_cache.h
  utilities/sorted_run_builder.h wal_filter.h wide_columns.h)

# varve_write_rocksdb_headers(<folder>): writes them to <folder>/rocksdb.
function(varve_write_rocksdb_headers folder)
  set(head "// SPDX-License-Identifier: Apache-2.0\n#pragma once\n")
  foreach(header IN LISTS varve_rocksdb_headers)
    set(more "")
    if(header STREQUAL "db.h")
      set(more "#include \"rocksdb/version.h\"\n")
    endif()
    file(CONFIGURE OUTPUT "${folder}/rocksdb/${header}" @ONLY CONTENT
"${head}// As <rocksdb/${header}>. Not together with <varve/...> in one source.
#include \"rocksdb/rocksdb_namespace.h\"
${more}#pragma push_macro(\"varve\")
#undef varve
#define varve ROCKSDB_NAMESPACE
#include \"varve/${header}\"
#pragma pop_macro(\"varve\")
")
  endforeach()
  foreach(header IN LISTS varve_rocksdb_missing_headers)
    if(EXISTS "${PROJECT_SOURCE_DIR}/include/varve/${header}")
      message(FATAL_ERROR "tools/cmake/VarveRocksDBHeaders.cmake lists ${header} as missing, but Varve has it")
    endif()
    file(CONFIGURE OUTPUT "${folder}/rocksdb/${header}" @ONLY CONTENT
"${head}#error \"Varve has no equivalent of <rocksdb/${header}>\"
")
  endforeach()
  file(CONFIGURE OUTPUT "${folder}/rocksdb/utilities/convenience.h" @ONLY CONTENT
"${head}#include \"rocksdb/convenience.h\"
")
  file(CONFIGURE OUTPUT "${folder}/rocksdb/c.h" @ONLY CONTENT
"${head}#include \"varve/c.h\"
")
  file(CONFIGURE OUTPUT "${folder}/rocksdb/rocksdb_namespace.h" @ONLY CONTENT
"${head}#ifndef ROCKSDB_NAMESPACE
#define ROCKSDB_NAMESPACE rocksdb
#endif
")
  file(CONFIGURE OUTPUT "${folder}/rocksdb/version.h" @ONLY CONTENT
"${head}// The version of RocksDB whose API this is; VARVE_MAJOR and so on tell Varve's.
#include \"rocksdb/rocksdb_namespace.h\"
#define ROCKSDB_MAJOR 11
#define ROCKSDB_MINOR 8
#define ROCKSDB_PATCH 1
#pragma push_macro(\"varve\")
#undef varve
#define varve ROCKSDB_NAMESPACE
#include \"varve/version.h\"
#pragma pop_macro(\"varve\")
")
endfunction()
