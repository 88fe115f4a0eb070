# SPDX-License-Identifier: Apache-2.0
# Writes the folder rocksdb/ of headers for programs that were written for RocksDB's C++ API: every public header of
# RocksDB 11.12 by its name. The headers include Varve's. The word `rocksdb` in the program becomes `varve` by a macro of
# the command line, so that the program compiles unedited against the ordinary library, and may declare classes in the
# namespace before it includes anything. A header without an equivalent in Varve stops the compiler by name: if it were
# absent, the compiler would take the header of an installed RocksDB.

set(varve_rocksdb_headers
  advanced_cache.h advanced_compression.h advanced_iterator.h advanced_options.h attribute_groups.h
  blob_file_partition_strategy.h block_cache_trace_writer.h cache.h cache_bench_tool.h cleanable.h compaction_filter.h
  compaction_job_stats.h comparator.h compression_type.h concurrent_task_limiter.h configurable.h convenience.h coro_db.h
  coro_external_table.h customizable.h data_structure.h db.h db_bench_tool.h db_dump_tool.h db_stress_tool.h env.h
  env_encryption.h experimental.h external_table.h file_checksum.h file_system.h filter_policy.h flush_block_policy.h
  functor_wrapper.h index_factory.h io_dispatcher.h io_status.h iostats_context.h iterator.h iterator_base.h
  lazy_wide_columns.h ldb_tool.h listener.h memory_allocator.h memtablerep.h merge_operator.h metadata.h multi_scan.h
  options.h perf_context.h perf_level.h persistent_cache.h point_lock_bench_tool.h port_defs.h rate_limiter.h
  secondary_cache.h slice.h slice_transform.h snapshot.h sst_dump_tool.h sst_file_manager.h sst_file_reader.h
  sst_file_writer.h sst_partitioner.h statistics.h stats_history.h status.h system_clock.h table.h table_properties.h
  table_reader_caller.h thread_status.h threadpool.h tool_hooks.h trace_reader_writer.h trace_record.h
  trace_record_result.h transaction_log.h types.h unique_id.h universal_compaction.h user_defined_index.h
  user_write_callback.h utilities/agg_merge.h utilities/backup_engine.h utilities/cache_dump_load.h
  utilities/checkpoint.h utilities/coro_stackable_db.h utilities/customizable_util.h utilities/db_ttl.h
  utilities/debug.h utilities/env_mirror.h utilities/info_log_finder.h utilities/ldb_cmd.h
  utilities/ldb_cmd_execute_result.h utilities/leveldb_options.h utilities/memory_util.h utilities/object_registry.h
  utilities/optimistic_transaction_db.h utilities/option_change_migration.h utilities/options_type.h
  utilities/options_util.h utilities/replayer.h utilities/secondary_index.h utilities/secondary_index_faiss.h
  utilities/secondary_index_simple.h utilities/sim_cache.h utilities/sorted_run_builder.h utilities/stackable_db.h
  utilities/table_properties_collectors.h utilities/transaction.h utilities/transaction_db.h
  utilities/transaction_db_mutex.h utilities/types_util.h utilities/write_batch_with_index.h wal_filter.h
  wal_iterator.h wide_columns.h write_batch.h write_batch_base.h write_buffer_manager.h)

# varve_write_rocksdb_headers(<folder>): writes them to <folder>/rocksdb, and one source that includes all that Varve has
# to <folder>/all_headers.cc.
function(varve_write_rocksdb_headers folder)
  set(head "// SPDX-License-Identifier: Apache-2.0\n#pragma once\n")
  set(all "")
  foreach(header IN LISTS varve_rocksdb_headers)
    if(EXISTS "${PROJECT_SOURCE_DIR}/include/varve/${header}")
      string(APPEND all "#include \"rocksdb/${header}\"\n")
      file(CONFIGURE OUTPUT "${folder}/rocksdb/${header}" @ONLY CONTENT
"${head}#include \"rocksdb/rocksdb_namespace.h\"
#include \"rocksdb/version.h\"
#include \"varve/${header}\"
")
    else()
      file(CONFIGURE OUTPUT "${folder}/rocksdb/${header}" @ONLY CONTENT
"${head}#error \"Varve has no equivalent of <rocksdb/${header}>\"
")
    endif()
  endforeach()
  file(CONFIGURE OUTPUT "${folder}/all_headers.cc" @ONLY CONTENT "${all}")
  file(CONFIGURE OUTPUT "${folder}/rocksdb/utilities/convenience.h" @ONLY CONTENT
"${head}#include \"rocksdb/convenience.h\"
")
  file(CONFIGURE OUTPUT "${folder}/rocksdb/c.h" @ONLY CONTENT
"${head}#include \"varve/c.h\"
")
  file(CONFIGURE OUTPUT "${folder}/rocksdb/rocksdb_namespace.h" @ONLY CONTENT
"${head}#if !defined(rocksdb) || !defined(ROCKSDB_NAMESPACE)
#error \"Compile C++ with -Drocksdb=varve -DROCKSDB_NAMESPACE=varve: pkg-config --cflags varve-rocksdb, or varve::rocksdb_source\"
#endif
")
  file(CONFIGURE OUTPUT "${folder}/rocksdb/version.h" @ONLY CONTENT
"${head}// The version of RocksDB whose API this is; VARVE_MAJOR and so on tell Varve's.
#include \"varve/version.h\"
#define ROCKSDB_MAJOR 11
#define ROCKSDB_MINOR 8
#define ROCKSDB_PATCH 1
")
endfunction()

# varve_rocksdb_source_target(): target varve::rocksdb_source, the flags and the library for C++ programs that were
# written for RocksDB.
function(varve_rocksdb_source_target)
  set(folder "${PROJECT_BINARY_DIR}/varve-compat/include")
  varve_write_rocksdb_headers("${folder}")
  add_library(varve_rocksdb_source INTERFACE)
  target_include_directories(varve_rocksdb_source INTERFACE "${folder}")
  target_compile_definitions(varve_rocksdb_source INTERFACE rocksdb=varve ROCKSDB_NAMESPACE=varve)
  target_link_libraries(varve_rocksdb_source INTERFACE varve::varve)
  add_library(varve::rocksdb_source ALIAS varve_rocksdb_source)
endfunction()
