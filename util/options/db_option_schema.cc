// SPDX-License-Identifier: Apache-2.0

// Defines the schema rows of DBOptions.

#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "varve/options.h"
#include "varve/sst_file_manager.h"

#include "util/compress/codec.h"
#include "util/env/table_space.h"
#include "util/options/option_schema.h"

namespace varve {

namespace {

constexpr double kMaxInt = std::numeric_limits<int>::max();
constexpr double kMaxReserveBytes = 1099511627776.0;  // 1 TiB

// Logs support one codec.
Status CheckLogCodec(const std::string& name, const void* field) {
  const auto type = *static_cast<const CompressionType*>(field);
  if (type == kNoCompression) return Status::OK();
  if (!CodecSupported(kZSTD)) return CodecNotSupported(kZSTD, name);
  return type == kZSTD ? Status::OK() : Status::NotSupported(name + ": logs know kZSTD only");
}

// The engine uses more of the manager than its public class declares; see TableSpace.
Status IsOurs(const std::string& name, const void* field) {
  const auto& manager = *static_cast<const std::shared_ptr<SstFileManager>*>(field);
  if (manager == nullptr || TableSpaceOf(manager.get()) != nullptr) return Status::OK();
  return Status::InvalidArgument(name + ": only what NewSstFileManager has made will do");
}

Status CheckListeners(const std::string& name, const void* field) {
  for (const auto& one : *static_cast<const std::vector<std::shared_ptr<EventListener>>*>(field)) {
    if (one == nullptr) return Status::InvalidArgument(name + ": a nullptr");
  }
  return Status::OK();
}

#define VARVE_ROW(field, help) MakeOptionRow<DBOptions, &DBOptions::field>(#field, help)

// Extended rows are names that RocksDB 7.8.3 lacks. Rows with NotInFile are objects and lists
// without a text form, or options of this library alone.
constexpr OptionRow kDbRows[] = {
    // Opening.
    VARVE_ROW(create_if_missing, "make a database where there is none"),
    VARVE_ROW(create_missing_column_families, "make column families that are listed and missing"),
    VARVE_ROW(error_if_exists, "fail if there is a database already"),
    VARVE_ROW(paranoid_checks, "check more and stop at the first damage")
        .Advisory("damage always fails the call that meets it"),
    VARVE_ROW(flush_verify_memtable_count, "compare counts of entries around a flush"),
    VARVE_ROW(compaction_verify_record_count, "compare counts of entries around a compaction")
        .Extended(),
    VARVE_ROW(track_and_verify_wals_in_manifest, "note log sizes in the MANIFEST")
        .Advisory("always on, with a file beside the MANIFEST"),
    VARVE_ROW(track_and_verify_wals, "check that logs follow on each other")
        .Advisory("always on, with a record of each log")
        .Extended(),
    VARVE_ROW(verify_sst_unique_id_in_manifest, "compare table identities when opening tables"),
    VARVE_ROW(fail_if_options_file_error, "fail if the OPTIONS file cannot be written"),
    VARVE_ROW(skip_stats_update_on_db_open, "read no table properties at open"),
    VARVE_ROW(skip_checking_sst_file_sizes_on_db_open, "compare no file sizes at open"),
    VARVE_ROW(wal_recovery_mode, "what to make of damaged logs"),
    VARVE_ROW(best_efforts_recovery, "go back to what no table is missing of"),
    VARVE_ROW(avoid_flush_during_recovery, "keep recovered data in memory"),
    VARVE_ROW(avoid_flush_during_shutdown, "close without flushing").Dynamic(),

    // Environment.
    VARVE_ROW(env, "operating system").NotInFile().Check(&NotNull<Env*>),
    VARVE_ROW(rate_limiter, "limits background I/O").NotInFile(),
    VARVE_ROW(sst_file_manager, "limits space and deletions").NotInFile().Check(&IsOurs),
    VARVE_ROW(statistics, "where to count").NotInFile(),
    VARVE_ROW(listeners, "callbacks").NotInFile().Check(&CheckListeners),
    VARVE_ROW(info_log, "where to log").NotInFile(),
    VARVE_ROW(info_log_level, "least severity that is logged"),
    VARVE_ROW(db_log_dir, "directory of LOG files; empty: the database's"),
    VARVE_ROW(max_log_file_size, "bytes of a LOG file; 0: no limit"),
    VARVE_ROW(log_file_time_to_roll, "seconds of a LOG file; 0: no limit"),
    VARVE_ROW(keep_log_file_num, "LOG files kept").AtLeast(1),

    // Files.
    VARVE_ROW(max_open_files, "open tables; -1: no limit").Dynamic().AtLeast(-1),
    VARVE_ROW(max_file_opening_threads, "threads that open tables").Advisory(kNoKnob),
    VARVE_ROW(max_total_wal_size, "bytes of logs before a flush; 0: 4 x write buffers").Dynamic(),
    VARVE_ROW(use_fsync, "fsync instead of fdatasync"),
    VARVE_ROW(db_paths, "directories of tables, newest data first").NotInFile().Check(&CheckPaths),
    VARVE_ROW(wal_dir, "directory of logs; empty: the database's"),
    VARVE_ROW(delete_obsolete_files_period_micros, "microseconds between attempts to delete files")
        .Dynamic(),
    VARVE_ROW(max_manifest_file_size, "bytes at which a new MANIFEST is begun"),
    VARVE_ROW(manifest_preallocation_size, "bytes reserved for the MANIFEST")
        .Dynamic()
        .Advisory(kNoKnob),
    VARVE_ROW(table_cache_numshardbits, "log2 of the table cache's shards").Advisory(kNoKnob),
    VARVE_ROW(recycle_log_file_num, "old logs kept for reuse"),
    VARVE_ROW(WAL_ttl_seconds, "seconds to keep archived logs"),
    VARVE_ROW(WAL_size_limit_MB, "MiB of archived logs to keep"),
    VARVE_ROW(allow_mmap_reads, "map tables"),
    VARVE_ROW(allow_mmap_writes, "map files that are written")
        .DefaultOnly("an error of a device reaches a mapping as a signal, not as a Status"),
    VARVE_ROW(use_direct_reads, "read tables past the system's cache"),
    VARVE_ROW(use_direct_io_for_flush_and_compaction, "write past the system's cache"),
    VARVE_ROW(allow_fallocate, "reserve space ahead of appends"),
    VARVE_ROW(is_fd_close_on_exec, "programs that are started get no files"),
    VARVE_ROW(advise_random_on_open, "tell the system that tables are read at random")
        .Advisory(kNoKnob),
    VARVE_ROW(lowest_used_cache_tier, "the slowest cache that is used").Advisory(kNoKnob),
    VARVE_ROW(compaction_readahead_size, "bytes read ahead by compactions")
        .Dynamic()
        .Advisory("inputs are read ahead in pieces of a fixed size"),
    VARVE_ROW(writable_file_max_buffer_size, "bytes buffered for an appended file").Dynamic(),
    VARVE_ROW(bytes_per_sync, "write tables out every so many bytes; 0: never").Dynamic(),
    VARVE_ROW(wal_bytes_per_sync, "write logs out every so many bytes; 0: never").Dynamic(),
    VARVE_ROW(strict_bytes_per_sync, "wait for the previous range").Dynamic(),
    VARVE_ROW(log_readahead_size, "bytes read ahead in logs").Advisory(kNoKnob),
    VARVE_ROW(avoid_unnecessary_blocking_io, "free in the background what iterators held")
        .Advisory(kNoKnob),
    VARVE_ROW(metadata_write_temperature, "where MANIFESTs should lie").Extended(),
    VARVE_ROW(wal_write_temperature, "where logs should lie").Extended(),
    VARVE_ROW(write_dbid_to_manifest, "store the identity in the MANIFEST"),
    VARVE_ROW(write_identity_file, "store the identity in a file").Extended(),
    VARVE_ROW(db_host_id, "host name stored in tables"),
    VARVE_ROW(file_checksum_gen_factory, "checksums of whole tables").NotInFile(),
    VARVE_ROW(scrub_bytes_per_second, "bytes a second that are verified; 0: none").NotInFile(),
    VARVE_ROW(scrub_period_sec, "seconds between passes").AtLeast(1).NotInFile(),
    VARVE_ROW(reserve_bytes, "bytes of the disk held for the time it is full")
        .Between(0, kMaxReserveBytes)
        .NotInFile(),

    // Background work.
    VARVE_ROW(max_background_jobs, "flushes and compactions at once").Dynamic().AtLeast(1),
    VARVE_ROW(max_background_compactions, "compactions at once; -1: derived").Dynamic().AtLeast(-1),
    VARVE_ROW(max_background_flushes, "flushes at once; -1: derived").Dynamic().AtLeast(-1),
    VARVE_ROW(max_subcompactions, "pieces of one compaction").Dynamic().AtLeast(1),
    VARVE_ROW(background_gives_way,
              "background work gives way to threads that wait for a processor")
        .NotInFile(),
    VARVE_ROW(enable_thread_tracking, "list of threads"),
    VARVE_ROW(max_bgerror_resume_count, "attempts to recover from an I/O error")
        .Between(0, kMaxInt),
    VARVE_ROW(bgerror_resume_retry_interval, "microseconds between attempts"),

    // Followers.
    VARVE_ROW(follower_refresh_catchup_period_ms, "milliseconds between catch-ups; 0: none")
        .Extended(),
    VARVE_ROW(follower_catchup_retry_count, "attempts at one catch-up").Extended(),
    VARVE_ROW(follower_catchup_retry_wait_ms, "milliseconds between attempts").Extended(),

    // Memory.
    VARVE_ROW(db_write_buffer_size, "bytes of all memtables; 0: no limit"),
    VARVE_ROW(write_buffer_manager, "the limit, shared by databases").NotInFile(),
    VARVE_ROW(row_cache, "cache of whole values")
        .DefaultOnly("values are read from cached blocks in about the time that a cache of values "
                     "takes: give the memory to BlockBasedTableOptions::block_cache")
        .NotInFile(),

    // Recovery.
    VARVE_ROW(wal_filter, "chooses the records that are replayed").NotInFile(),

    // Statistics.
    VARVE_ROW(stats_dump_period_sec, "seconds between dumps to the log; 0: never").Dynamic(),
    VARVE_ROW(stats_persist_period_sec, "seconds between notes of statistics").Dynamic(),
    VARVE_ROW(persist_stats_to_disk, "notes of statistics go into a column family"),
    VARVE_ROW(stats_history_buffer_size, "bytes of history").Dynamic(),
    VARVE_ROW(dump_malloc_stats, "allocator's statistics in the log").Advisory(kNoFeature),

    // Writing.
    VARVE_ROW(delayed_write_rate, "bytes a second for slowed writes; 0: derived").Dynamic(),
    VARVE_ROW(enable_pipelined_write, "overlap groups of writes")
        .Advisory("one commit path serves both settings"),
    VARVE_ROW(unordered_write, "a write returns before those ahead of it are visible"),
    VARVE_ROW(two_write_queues, "a queue for log-only writes")
        .Advisory("one commit path serves both settings"),
    VARVE_ROW(allow_2pc, "two-phase commit: keep what is prepared"),
    VARVE_ROW(allow_ingest_behind, "room below all data"),
    VARVE_ROW(atomic_flush, "flush column families together"),
    VARVE_ROW(allow_concurrent_memtable_write, "several writers in one memtable"),
    VARVE_ROW(enable_write_thread_adaptive_yield, "spin before sleeping").Advisory(kNoKnob),
    VARVE_ROW(max_write_batch_group_size_bytes, "bytes of a group of writes").Advisory(kNoKnob),
    VARVE_ROW(write_thread_max_yield_usec, "microseconds to spin").Advisory(kNoKnob),
    VARVE_ROW(write_thread_slow_yield_usec, "microseconds of a slow yield").Advisory(kNoKnob),
    VARVE_ROW(use_adaptive_mutex, "mutex that spins").Advisory(kNoKnob),
    VARVE_ROW(manual_wal_flush, "the log is written by FlushWAL only"),
    VARVE_ROW(wal_compression, "codec of the log: none or zstd").Check(&CheckLogCodec),

    // Contents.
    VARVE_ROW(allow_data_in_errors, "keys in error messages"),
    VARVE_ROW(enforce_single_del_contracts, "misuse of SingleDelete is an error"),
    VARVE_ROW(prefix_seek_opt_in_only, "iterators are in total order by default")
        .Extended()
        .Advisory("iterators always keep the total order"),
};

#undef VARVE_ROW

}  // namespace

const OptionTable& DbOptionTable() {
  static const auto table = OptionTable::Of<DBOptions>("DBOptions", kDbRows);
  return table;
}

}  // namespace varve
