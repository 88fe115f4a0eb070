// SPDX-License-Identifier: Apache-2.0
#pragma once

// Options of a column family, of a database, and of single calls.
//
// The defaults suit a server with a few GiB of memory and an SSD. Most programs set
// create_if_missing, a block cache and a filter policy (table.h), and write_buffer_size. Text
// forms of all options are in convenience.h; the options of a closed database are in its OPTIONS
// file (utilities/options_util.h). DB::Open checks all options and returns InvalidArgument or
// NotSupported, naming the option, before it touches the directory; values that only make no sense
// are replaced, as their comments say, and DB::GetOptions returns those in force.
//
// "Dynamic", "Refused" and "Advisory" are explained in advanced_options.h. All structs are plain
// values, and copies are independent, except for the objects that they point to. Objects behind
// raw pointers belong to the caller and must outlive their use; those behind shared pointers are
// shared.

#include <atomic>
#include <chrono>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "varve/advanced_options.h"
#include "varve/comparator.h"
#include "varve/compression_type.h"
#include "varve/env.h"
#include "varve/export.h"
#include "varve/listener.h"
#include "varve/status.h"
#include "varve/types.h"
#include "varve/universal_compaction.h"
#include "varve/write_buffer_manager.h"

namespace varve {

class Cache;
class CompactionFilter;
class CompactionFilterFactory;
class ConcurrentTaskLimiter;
class FileChecksumGenFactory;
class FilterPolicy;
class Logger;
class MergeOperator;
class RateLimiter;
class Slice;
class SliceTransform;
class Snapshot;
class SstFileManager;
class SstPartitionerFactory;
class Statistics;
class TableFactory;
class WalFilter;
struct DbPath;
struct Options;
struct TableProperties;

// ---- Column family ----

// Options of one column family: the order of its keys, how its data is merged, filtered,
// compressed and laid out in levels. The database-wide ones are in DBOptions.
struct VARVE_EXPORT ColumnFamilyOptions : public AdvancedColumnFamilyOptions {
  // Sets the defaults, with a new factory of block-based tables.
  ColumnFamilyOptions();
  // Copies the options of a column family out of `options`.
  explicit ColumnFamilyOptions(const Options& options);

  // Presets. Each changes this object and returns it.

  // Suits a database of less than about 1 GiB: 2 MiB write buffers and tables, index and filter
  // blocks in the block cache (`*cache`, which is created with 16 MiB if it is null).
  ColumnFamilyOptions* OptimizeForSmallDb(std::shared_ptr<Cache>* cache = nullptr);

  // Suits Get and Put without scans: a hash index in data blocks, a Bloom filter of 10 bits per
  // key, and a block cache of block_cache_size_mb MiB.
  ColumnFamilyOptions* OptimizeForPointLookup(uint64_t block_cache_size_mb);

  // Suits heavy writing with leveled compaction: memtables of memtable_memory_budget bytes in
  // total, and an L1 of the same size.
  ColumnFamilyOptions* OptimizeLevelStyleCompaction(uint64_t memtable_memory_budget = 512 << 20);

  // Suits heavy writing where space matters less: universal compaction, and up to six memtables of
  // a quarter of memtable_memory_budget bytes, of which two are flushed at once.
  ColumnFamilyOptions* OptimizeUniversalStyleCompaction(uint64_t memtable_memory_budget = 512
                                                                                          << 20);

  // Writes one line per option to `log`.
  void Dump(Logger* log) const;

  // Defines the order of keys. Its name must stay the same for the life of the column family. Not
  // owned.
  const Comparator* comparator = BytewiseComparator();

  // Combines the operands that DB::Merge() writes (merge_operator.h). nullptr: DB::Merge returns
  // NotSupported; batches with merges, and reads of keys merged before, return InvalidArgument.
  std::shared_ptr<MergeOperator> merge_operator = nullptr;

  // True: the column family may be opened with a merge operator of another name than the last one,
  // and the new name is stored. False: such an open returns InvalidArgument, as one operator cannot
  // read the operands of another. A column family can always be opened without a merge operator.
  // Never written to OPTIONS files.
  bool allow_other_merge_operator = false;

  // Drops or changes entries in compactions (compaction_filter.h). The factory makes one filter
  // per compaction and may not be set together with compaction_filter (InvalidArgument).
  // compaction_filter is not owned, and several threads call it.
  const CompactionFilter* compaction_filter = nullptr;
  std::shared_ptr<CompactionFilterFactory> compaction_filter_factory = nullptr;

  // Ends output tables of compactions at more places than their size requires (sst_partitioner.h).
  // nullptr: at no others.
  std::shared_ptr<SstPartitionerFactory> sst_partitioner_factory = nullptr;

  // Limits the compactions that run at a time in all column families that share it, also in several
  // databases (concurrent_task_limiter.h). nullptr: only the number of background threads limits
  // them.
  std::shared_ptr<ConcurrentTaskLimiter> compaction_thread_limiter = nullptr;

  // Bytes in a memtable before it is flushed; smaller values are raised to 64 KiB. Larger
  // memtables mean fewer and larger files, less compaction, and longer recovery; a column family
  // may hold max_write_buffer_number of them. Dynamic.
  size_t write_buffer_size = 64 << 20;

  // Codec of all levels that no other option sets. A codec that this build lacks
  // (GetSupportedCompressions()) is refused with NotSupported. Dynamic.
  CompressionType compression = kLZ4Compression;

  // Codec of the last level that has data; kDisableCompressionOption: as other levels. Dynamic.
  CompressionType bottommost_compression = kDisableCompressionOption;

  // Used with bottommost_compression if its `enabled` is set. Dynamic.
  CompressionOptions bottommost_compression_opts;

  // Level, dictionary and threads of the codec above (compression_type.h). Dynamic.
  CompressionOptions compression_opts;

  // Number of L0 files that starts a compaction. At least 1. A smaller number makes reads look
  // into fewer files and writes cost more compaction. Dynamic.
  int level0_file_num_compaction_trigger = 4;

  // Extracts prefixes for prefix filters and prefix scans (slice_transform.h). nullptr: none.
  // Tables store the name; a table that was written with another extractor is read without its
  // prefix filter. Dynamic.
  std::shared_ptr<const SliceTransform> prefix_extractor = nullptr;

  // Target bytes of L1 when level_compaction_dynamic_level_bytes is false. Dynamic.
  uint64_t max_bytes_for_level_base = 256 * 1048576;

  // True: only compactions that are requested run. Dynamic.
  bool disable_auto_compactions = false;

  // Makes the table builders and readers; see NewBlockBasedTableFactory (table.h). Never nullptr.
  std::shared_ptr<TableFactory> table_factory;

  // Directories of this column family's tables, at most 4, created if missing; empty: db_paths.
  // Levels are assigned in order from L0: a directory takes as many as fit, by their target sizes,
  // into its target_size, and the last one takes the rest. New tables go to the first. Not stored
  // in OPTIONS files: every open, repair and DestroyDB must be given the same directories in the
  // same order. A directory belongs to one database: files unknown to it are moved to `lost` in the
  // directory.
  std::vector<DbPath> cf_paths;
};

// ---- Database ----

// Says how DB::Open treats damage in the write-ahead log. Each mode reports what was dropped (the
// property varve.recovery, EventListener::OnDatabaseRecovered, the LOG).
enum class WALRecoveryMode : char {
  // Accepts a truncated last record in each log, unless the record is known to have been synced
  // whole. Refuses any other damage.
  kTolerateCorruptedTailRecords = 0x00,
  // Refuses any damage, also a truncated last record.
  kAbsoluteConsistency = 0x01,
  // Stops at the first damage, so the result is a state the database once had. Refuses to open if
  // tables are newer than that.
  kPointInTimeRecovery = 0x02,
  // Skips damaged records; later writes may survive although earlier ones are lost.
  kSkipAnyCorruptedRecords = 0x03,
};

// A directory of tables, with the bytes that should go into it.
struct DbPath {
  DbPath() = default;
  DbPath(const std::string& p, uint64_t t) : path(p), target_size(t) {}

  std::string path;
  uint64_t target_size = 0;  // Number of bytes that should go into `path`.
};

// Value of db_host_id that stands for this machine's host name.
VARVE_EXPORT extern const char* const kHostnameForDbHostId;

// Options of a database: opening and recovery, its surroundings, files, background work, memory,
// statistics, and how writers cooperate. They apply to all column families.
struct VARVE_EXPORT DBOptions {
  DBOptions() = default;
  // Copies the options of a database out of `options`.
  explicit DBOptions(const Options& options);

  // Suits a database of less than about 1 GiB: at most 5000 open tables, memtables charged to the
  // cache.
  DBOptions* OptimizeForSmallDb(std::shared_ptr<Cache>* cache = nullptr);

  // Allows total_threads (at least 1) background jobs at once: sets max_background_jobs, and the
  // pools of `env`, which other databases may share, to total_threads threads for compactions and
  // one for flushes.
  DBOptions* IncreaseParallelism(int total_threads = 16);

  // Writes one line per option to `log`.
  void Dump(Logger* log) const;

  // ---- Opening ----

  // DB::Open creates a database, or column families, that do not exist. False: it returns
  // InvalidArgument for them, and creates nothing.
  bool create_if_missing = false;
  bool create_missing_column_families = false;
  // DB::Open returns InvalidArgument if the database exists; meant for programs that must begin
  // with an empty one.
  bool error_if_exists = false;

  // Advisory: always as true. Damage fails the call that meets it, and a failed write stops writes.
  bool paranoid_checks = true;

  // Compares entry counts: of a memtable with its flushed table, of compaction inputs with those
  // read.
  bool flush_verify_memtable_count = true;
  bool compaction_verify_record_count = true;

  // Advisory: both are always on. Each log stores where the previous one ends, and the synced
  // length of logs is stored beside the MANIFEST. DB::Open refuses, or reports (wal_recovery_mode),
  // a loss of synced data.
  bool track_and_verify_wals_in_manifest = false;
  bool track_and_verify_wals = false;

  // Compares each table's unique id with the one in the MANIFEST when the table is opened.
  bool verify_sst_unique_id_in_manifest = true;

  // If the OPTIONS file cannot be written, DB::Open fails, and so do calls that change options or
  // column families. With many column families (a file above 256 KiB) it is written soon after such
  // a call; an error then fails the next such call, or Close.
  bool fail_if_options_file_error = true;

  // DB::Open does not read the properties of tables whose entry counts are missing in the MANIFEST,
  // for instance one written by RocksDB. The counts become known when the tables are first read.
  bool skip_stats_update_on_db_open = false;

  // DB::Open does not compare each table's size with the MANIFEST, which saves one file system call
  // per table; it checks only that the tables exist.
  bool skip_checking_sst_file_sizes_on_db_open = false;

  // Says how DB::Open treats damage in the write-ahead log; the modes are described above.
  WALRecoveryMode wal_recovery_mode = WALRecoveryMode::kPointInTimeRecovery;

  // If tables or the end of the MANIFEST are missing, DB::Open does not fail but returns each
  // column family to its newest state that a MANIFEST describes and whose tables all exist,
  // possibly to an empty one. Column families flushed together (atomic_flush) all keep that flush,
  // or none does. CURRENT may be missing. Tables are opened to check them against the MANIFEST. If
  // nothing is missing, logs are replayed as wal_recovery_mode says; otherwise they are not
  // replayed. Unused files are moved to lost/ and listed in RecoveryInfo (listener.h); each open
  // that moves files there first reduces its earlier contents to 100 files or 4 GiB. RepairDB
  // (utilities/repair.h) keeps more: all readable data.
  bool best_efforts_recovery = false;

  // Keeps recovered data in memory where it fits instead of flushing it at open, so that opening
  // is fast. The logs stay, and the next opening replays them again.
  bool avoid_flush_during_recovery = false;

  // Closes without flushing: data written with disableWAL is lost. Dynamic.
  bool avoid_flush_during_shutdown = false;

  // ---- Surroundings ----

  // Supplies files, threads and time. nullptr: Env::Default(). Not owned.
  Env* env = Env::Default();
  std::shared_ptr<RateLimiter> rate_limiter = nullptr;  // Limits flushes and compactions.
  // Limits the space of tables and the rate of their deletion (sst_file_manager.h). Databases may
  // share it. nullptr: no limits.
  std::shared_ptr<SstFileManager> sst_file_manager = nullptr;
  std::shared_ptr<Statistics> statistics = nullptr;       // nullptr: nothing is counted.
  std::vector<std::shared_ptr<EventListener>> listeners;  // Called in this order.

  // Destination of log messages; nullptr: a LOG file in the database's directory (or db_log_dir).
  std::shared_ptr<Logger> info_log = nullptr;
  // Messages of lower importance are not written to info_log.
  InfoLogLevel info_log_level = INFO_LEVEL;
  // Directory of the LOG files; empty: that of the database. The files of several databases in one
  // such directory differ by name.
  std::string db_log_dir = "";
  size_t max_log_file_size = 0;      // Bytes before a new LOG is begun; 0: never.
  size_t log_file_time_to_roll = 0;  // Seconds before a new LOG is begun; 0: never.
  size_t keep_log_file_num = 1000;   // LOG files kept; at least 1.

  // ---- Files ----

  // Limit of open tables; -1: none, and DB::Open fails if a table cannot be opened. Numbers from 0
  // to 19 count as 20; 10 are set aside for other files. With a limit, tables are opened when they
  // are first read, and those not used lately are closed. Dynamic.
  int max_open_files = -1;
  int max_file_opening_threads = 16;  // Advisory.

  // Total bytes of live logs above which the column families with the oldest data are flushed. 0:
  // four times what all memtables hold, or what those of one column family may hold, whichever is
  // more; no limit with a single column family. Dynamic.
  uint64_t max_total_wal_size = 0;

  // Syncs with fsync instead of fdatasync. The latter suffices, as file sizes are among what it
  // makes durable.
  bool use_fsync = false;

  // Directories of the tables of column families without cf_paths (see there); empty: the
  // database's own directory. Logs, the MANIFEST and all other files stay in the latter.
  std::vector<DbPath> db_paths;

  // Directory of the logs; empty: the database's. It is created if missing, but must exist if the
  // database was last opened with it and create_if_missing is false. Read-only opens do not require
  // it. An open with another directory than before is refused while the old one's logs hold data
  // that is in no table; creating a database is refused if the directory has logs. An open database
  // locks it, by a file LOCK there, so that no other, such as a copy of it, uses the same logs.
  std::string wal_dir = "";

  // Microseconds between attempts to delete obsolete files whose deletion failed. Files are deleted
  // as soon as they are obsolete, and failed deletions are tried again after each job, too. 0:
  // after jobs only. Dynamic.
  uint64_t delete_obsolete_files_period_micros = 6ULL * 60 * 60 * 1000000;

  // Bytes of the MANIFEST above which a new one is begun.
  uint64_t max_manifest_file_size = 1024 * 1024 * 1024;
  size_t manifest_preallocation_size = 4 * 1024 * 1024;  // Advisory. Dynamic.
  int table_cache_numshardbits = 6;                      // Advisory.

  // Number of obsolete logs that are kept and overwritten by new logs, which saves allocating disk
  // space. Taken as 0 with the recovery modes kTolerateCorruptedTailRecords and
  // kAbsoluteConsistency, which cannot tell remains of an old log from damage, with
  // wal_compression, whose records in recycled logs RocksDB cannot read, and with a log archive
  // (WAL_ttl_seconds). If it is in force, writes with disableWAL are refused.
  size_t recycle_log_file_num = 0;

  // Unless both are 0, a log that recovery no longer needs moves to archive/ below the directory of
  // logs, for GetUpdatesSince, and recycle_log_file_num is taken as 0. An archived log is deleted
  // once it is older than WAL_ttl_seconds (0: no age limit); the oldest ones are deleted while
  // there are more logs than WAL_size_limit_MB divided by the size of the largest (0: no limit).
  // Both are checked when a log is archived, and every WAL_ttl_seconds / 2, at least every ten
  // minutes.
  uint64_t WAL_ttl_seconds = 0;
  uint64_t WAL_size_limit_MB = 0;

  bool allow_mmap_reads = false;                        // Maps tables into memory.
  bool allow_mmap_writes = false;                       // Refused unless false.
  bool use_direct_reads = false;                        // Reads tables past the system's cache.
  bool use_direct_io_for_flush_and_compaction = false;  // Flushes and compactions write past it.

  bool allow_fallocate = true;  // Reserves space ahead of appends.
  // Child programs started by exec() do not inherit open tables, logs and MANIFESTs.
  bool is_fd_close_on_exec = true;
  bool advise_random_on_open = true;  // Advisory: the system gets no advice on how tables are read.

  // The slowest level of block caches that may be used. Advisory: caches have one level.
  CacheTier lowest_used_cache_tier = CacheTier::kNonVolatileBlockTier;

  // Bytes read ahead by compactions. Advisory: inputs are read ahead in pieces of a fixed size.
  size_t compaction_readahead_size = 2 * 1024 * 1024;

  // Bytes that an appended file may buffer in memory before writing them. Dynamic.
  size_t writable_file_max_buffer_size = 1024 * 1024;

  // Bytes of a table or log after which writing out its dirty pages begins, so that the sync at
  // the end has little left to do. 0: the system decides; with a rate_limiter, 0 counts as 1 MiB
  // for tables, as its writes would otherwise collect in the system's cache and reach the disk in
  // one burst. strict_bytes_per_sync also waits for the previous range. Dynamic: for tables and
  // logs begun later.
  uint64_t bytes_per_sync = 0;
  uint64_t wal_bytes_per_sync = 0;
  bool strict_bytes_per_sync = false;

  // Read-ahead for logs at recovery, bytes; 0: default. Advisory.
  size_t log_readahead_size = 0;

  // Advisory: files that an iterator or a handle held last are always deleted in the background.
  bool avoid_unnecessary_blocking_io = false;

  // Temperatures with which the file system is asked to create MANIFESTs, and logs. Small files
  // such as CURRENT get none.
  Temperature metadata_write_temperature = Temperature::kUnknown;
  Temperature wal_write_temperature = Temperature::kUnknown;

  // Store the database's identity in the MANIFEST, and in the IDENTITY file. Not both false.
  bool write_dbid_to_manifest = true;
  bool write_identity_file = true;

  // Makes checksums of whole table files, stored in the MANIFEST (file_checksum.h). nullptr: none,
  // and DB::VerifyFileChecksums returns InvalidArgument.
  std::shared_ptr<FileChecksumGenFactory> file_checksum_gen_factory = nullptr;

  // Limit in bytes per second for reading in background verification passes; 0: no passes. A pass
  // compares all checksums of live tables and blob files. The first begins when the database is
  // opened, the next ones scrub_period_sec seconds (at least 1) after the previous one began, or
  // when it ends if that is later. Damage is reported to listeners (OnIOError, operation kVerify),
  // to the LOG, and by the properties varve.scrub and varve.scrub-corruptions; it stops nothing.
  // Never written to OPTIONS files.
  uint64_t scrub_bytes_per_second = 0;
  uint64_t scrub_period_sec = 7 * 24 * 3600;

  // Bytes of disk space held by a file named RESERVE in the database's directory. The file is
  // deleted when a flush, a log or the MANIFEST meets a full disk, so that current work can finish,
  // and created again once twice its size is free. Other engines ignore it. 0: none. At most 1 TiB.
  // Never written to OPTIONS files.
  uint64_t reserve_bytes = 0;

  // Host name stored in each table; kHostnameForDbHostId: the name the system reports.
  std::string db_host_id = kHostnameForDbHostId;

  // ---- Background work ----

  // Limit of flushes and compactions that run at once. At least 1. A quarter of it, at least 1, is
  // for flushes, and the rest, at least 1, for compactions. The Env's pools get that many threads.
  // Dynamic.
  int max_background_jobs = 2;

  // Older, separate limits. Both -1: derived from max_background_jobs. If one is set, the other
  // one's -1 counts as 1. Dynamic.
  int max_background_compactions = -1;
  int max_background_flushes = -1;

  // Limit of the pieces that one compaction is split into to run in parallel, on threads of its
  // own. At least 1. Helps where a single large compaction holds up others. Dynamic.
  uint32_t max_subcompactions = 1;

  // Flushes and automatic compactions yield while other threads of the machine wait for a
  // processor: they work in slices of 250 microseconds and pause between them unless a caller waits
  // for the job. They yield less the nearer any database of the process is to a write stall, and
  // not at all for jobs that a caller requested. False: they compete for processors like any
  // thread. Never written to OPTIONS files.
  bool background_gives_way = true;

  // True: Env::GetThreadList reports the state of this database's jobs (thread_status.h).
  bool enable_thread_tracking = false;

  // Limit of automatic attempts to recover from one error, and microseconds between attempts. The
  // count restarts with DB::Resume, and with the next error once the failed work has succeeded.
  // After the last attempt the error stays: all writes fail with it if it is a hard one, else those
  // that are stopped until a compaction has run.
  int max_bgerror_resume_count = INT_MAX;
  uint64_t bgerror_resume_retry_interval = 1000000;

  // ---- Followers ----

  // For DB::OpenAsFollower (secondary.h). Milliseconds from one catch-up with the leader to the
  // next; 0: none but by DB::TryCatchUpWithPrimary. If a catch-up fails, it is tried up to
  // follower_catchup_retry_count times (0 counts as 1), with follower_catchup_retry_wait_ms
  // milliseconds between the attempts; then the next period begins.
  uint64_t follower_refresh_catchup_period_ms = 10000;
  uint64_t follower_catchup_retry_count = 10;
  uint64_t follower_catchup_retry_wait_ms = 100;

  // ---- Memory ----

  // Limit for the bytes of all memtables of all column families; 0: no limit. When it is reached,
  // a memtable is flushed before it has write_buffer_size; writes go on meanwhile.
  size_t db_write_buffer_size = 0;

  // Shares such a limit among several databases; replaces db_write_buffer_size if set.
  std::shared_ptr<WriteBufferManager> write_buffer_manager = nullptr;

  std::shared_ptr<Cache> row_cache = nullptr;  // Refused unless nullptr.

  // Decides at opening which records of the logs are replayed (wal_filter.h). Not owned; it must
  // outlive the opening. Not in OPTIONS files.
  WalFilter* wal_filter = nullptr;

  // ---- Statistics ----

  // Seconds between dumps to info_log of DB::Properties::kStats of every column family and of
  // `statistics`; 0: never. Read-only databases write none. Dynamic.
  unsigned int stats_dump_period_sec = 600;
  // Seconds between records of how much each ticker of `statistics` has grown
  // (DB::GetStatsHistory); 0: none. The newest records are kept in memory, up to
  // stats_history_buffer_size bytes. Read-only databases make none. Dynamic.
  unsigned int stats_persist_period_sec = 600;
  size_t stats_history_buffer_size = 1024 * 1024;
  // Stores the records in the column family "___rocksdb_stats_history___" instead, which is created
  // for them. It then stays and is opened with the database, named or not, with this option or not.
  // Old records are never deleted.
  bool persist_stats_to_disk = false;
  bool dump_malloc_stats = false;  // Advisory: the LOG has no such statistics.

  // ---- Writing ----

  // Bytes per second that all writers together may write while writes are delayed because flushes
  // or compactions lag behind. It is the rate at the beginning of a delay, and is lowered or
  // raised while that lasts. 0: the rate limiter's rate, or 16 MiB without one. Dynamic.
  uint64_t delayed_write_rate = 0;

  // Cooperation of concurrent writes. Every mode gives the log and the sequence numbers one order,
  // and lets writers fill log and memtable in parallel; they differ in when a write returns.
  // enable_pipelined_write, two_write_queues and allow_concurrent_memtable_write = false use the
  // ordered mode; the last of them inserts one batch at a time.
  //
  //   promise                                    ordered           unordered_write
  //   -----------------------------------------  ----------------  ----------------------------
  //   a write that returned is seen by a read
  //     that begins afterwards, in any thread    yes               yes
  //   Get sees a batch as a whole or not         yes               record by record, until the
  //                                                                write returned
  //   MultiGet, iterators, snapshots see a
  //     batch as a whole or not                  yes               yes
  //   they never change once taken               yes               yes
  //   taking one waits                           never             for insertions under way
  //   a write waits for those before it          yes, until they   no; log and full memtables
  //                                              are visible       apart
  //   writes of one key: the later one wins,
  //     in the log's order                       yes               yes
  //   what returned survives kill -9             yes               yes
  //   what returned with sync survives loss of
  //     power, and so do all writes before it    yes               yes
  //
  // The last two hold for writes without disableWAL; with manual_wal_flush, for what FlushWAL has
  // flushed or synced. A write whose log append or sync failed is not seen before the database is
  // opened again, which may find it in the log; it is whole or absent then. After an insertion that
  // failed (memory), neither a part of that batch nor anything after it in the log is visible, and
  // writes are refused.
  //
  // Refused as in RocksDB: unordered_write without allow_concurrent_memtable_write or with
  // enable_pipelined_write, atomic_flush with enable_pipelined_write (all InvalidArgument), and
  // two_write_queues with enable_pipelined_write (NotSupported).
  bool unordered_write = false;
  bool allow_concurrent_memtable_write = true;

  // Advisory except for the refused combinations above: both are the ordered mode, which is always
  // used.
  bool enable_pipelined_write = false;
  bool two_write_queues = false;

  // Flushes all column families together and installs the results in one step: data written without
  // a log survives completely or not at all. Not with enable_pipelined_write.
  bool atomic_flush = false;

  // Two-phase commit: transactions that are prepared but undecided stay so when the database is
  // opened. TransactionDB::Open sets it. False: DB::Open refuses a database with such transactions,
  // and Prepare is refused; decided ones are recovered in any case.
  bool allow_2pc = false;

  // Sets cf_allow_ingest_behind for all column families.
  bool allow_ingest_behind = false;

  // Advisory: parameters of how writers wait for each other.
  bool enable_write_thread_adaptive_yield = true;
  uint64_t max_write_batch_group_size_bytes = 1 << 20;
  uint64_t write_thread_max_yield_usec = 100;
  uint64_t write_thread_slow_yield_usec = 3;
  bool use_adaptive_mutex = false;

  // Only FlushWAL (and the engine's own syncs) writes the log: faster, but a killed process loses
  // what was not flushed.
  bool manual_wal_flush = false;

  // Codec of the log's records: kNoCompression or kZSTD; others are refused. It saves log bytes for
  // CPU time of writers.
  CompressionType wal_compression = kNoCompression;

  // ---- Contents ----

  // Includes key bytes, in hex, in error messages of flushes and compactions about single entries.
  // False: no message has key bytes.
  bool allow_data_in_errors = false;

  // A compaction fails if it finds a SingleDelete of a key that was overwritten or otherwise
  // deleted.
  bool enforce_single_del_contracts = true;

  // Advisory: always as true. Iterators are in total order unless a prefix mode is chosen for them
  // (ReadOptions::prefix_same_as_start, auto_prefix_mode).
  bool prefix_seek_opt_in_only = false;
};

// All options of a database with one column family, for the forms of DB::Open that take no list of
// column families.
struct VARVE_EXPORT Options : public DBOptions, public ColumnFamilyOptions {
  Options() = default;
  Options(const DBOptions& db_options, const ColumnFamilyOptions& column_family_options)
      : DBOptions(db_options), ColumnFamilyOptions(column_family_options) {}

  // Write one line per option to `log`: of both parts, or of the column family's part.
  void Dump(Logger* log) const;
  void DumpCFOptions(Logger* log) const;

  // Suits loading first and compacting later: no automatic compactions, no stalls, tables of 256
  // MiB, and up to six memtables, so that writes go on while several are flushed. Call
  // CompactRange(nullptr, nullptr) afterwards, and open the database with other options for use.
  Options* PrepareForBulkLoad();

  // Does what both parts do: see ColumnFamilyOptions and DBOptions.
  Options* OptimizeForSmallDb();

  // Turns off checks that cost CPU time beyond block checksums: flush_verify_memtable_count and
  // compaction_verify_record_count.
  Options* DisableExtraChecks();
};

// ---- Reading ----

// Places in which a read may look for data.
enum ReadTier : int {
  kReadAllTier = 0x0,     // Reads all data.
  kBlockCacheTier = 0x1,  // Reads memtables and block cache; Incomplete if I/O is needed.
  kPersistedTier = 0x2,   // No memtables once a write had disableWAL. For Get and MultiGet only.
  kMemtableTier = 0x3,    // Reads memtables only. For iterators only.
};

// Options of one read: Get, MultiGet, an iterator. The defaults read the newest state with all
// checks. An object may be used for any number of calls, by several threads; what it points to
// must live as long as the call, or as the iterator.
struct ReadOptions {
  ReadOptions() = default;
  ReadOptions(bool verify, bool fill) : verify_checksums(verify), fill_cache(fill) {}
  explicit ReadOptions(Env::IOActivity activity) : io_activity(activity) {}

  // Reads the state of this snapshot; nullptr: the state at the time of the call. Not owned.
  const Snapshot* snapshot = nullptr;

  // User timestamps of the comparator's size; not owned, and they must outlive an iterator.
  // `timestamp` hides newer versions. It is required if the comparator has timestamps, and
  // InvalidArgument if not, or if it is below full_history_ts_low (DB::IncreaseFullHistoryTsLow).
  // With `iter_start_ts` the iterator returns all versions from it to `timestamp`, the newest of a
  // key first, deletions of a key among them; key() is then the internal key: the key, the
  // timestamp, and 8 bytes of sequence number and kind. NotSupported if it meets merge operands,
  // and with tailing, prefix_same_as_start, max_skippable_internal_keys and
  // auto_refresh_iterator_with_snapshot.
  const Slice* timestamp = nullptr;
  const Slice* iter_start_ts = nullptr;

  // Time limits in microseconds; 0: none. `deadline` is for the call, as a point in time since the
  // clock's epoch; `io_timeout` is for one file read. No file is read after the deadline; a file
  // system may ignore io_timeout. A late read returns TimedOut.
  //
  // An iterator checks the clock in each seek, before each file read, and at intervals while it
  // skips hidden entries, but not for steps in memory. When it is late, it is not Valid() and its
  // status is TimedOut; a later seek starts anew.
  std::chrono::microseconds deadline = std::chrono::microseconds::zero();
  std::chrono::microseconds io_timeout = std::chrono::microseconds::zero();

  // Places in which the read looks for data. Incomplete is returned for what is elsewhere.
  ReadTier read_tier = kReadAllTier;

  // Priority with which reads are charged to the rate limiter; IO_TOTAL: they are not charged.
  Env::IOPriority rate_limiter_priority = Env::IO_TOTAL;

  // MultiGet: bytes of values after which the remaining keys get Aborted.
  uint64_t value_size_soft_limit = std::numeric_limits<uint64_t>::max();

  // Point lookups: the status is marked if more merge operands than this were applied.
  std::optional<size_t> merge_operand_count_threshold;

  // Compares the checksum of each block that is read from a file. False saves little time, and
  // returns damaged data unnoticed.
  bool verify_checksums = true;
  bool fill_cache = true;  // Blocks read from files enter the block cache.

  // Keys, versions and merge operands that DeleteRange deleted are returned by all reads as if they
  // were not deleted, until a flush or a compaction drops them or merges later operands. Use it as
  // a promise that nothing was range-deleted. Ranges deleted by a transaction or an indexed batch
  // that has not been written stay deleted in its own reads.
  bool ignore_range_deletions = false;

  // MultiGet: reads of several files overlap if their file system supports kAsyncIO, or can
  // prefetch; those of the operating system's files always do. Iterators, if readahead_size is 0:
  // the next blocks are requested from the file system while the iterator passes through the
  // previous ones; with direct reads this has no effect.
  bool async_io = false;
  bool optimize_multiget_for_io = true;  // Advisory.

  // ---- Iterators ----

  // Bytes to read ahead, from the first read on; 0: an amount that grows with sequential reading,
  // from the table's initial_auto_readahead_size to its max_auto_readahead_size.
  size_t readahead_size = 0;

  // Keeps that growing amount from one table of a level to the next instead of starting anew in
  // each.
  bool adaptive_readahead = false;

  // Does not read ahead beyond iterate_upper_bound, in tables whose index is not partitioned.
  bool auto_readahead_size = true;

  // Hidden entries that one call may skip before the iterator stops with Incomplete; 0: no limit.
  // Entries in a range that earlier iteration found deleted are skipped at once and not counted.
  uint64_t max_skippable_internal_keys = 0;

  // Smallest key (inclusive) and largest key (exclusive) to return. The Slices and their bytes must
  // outlive the iterator, unchanged.
  const Slice* iterate_lower_bound = nullptr;
  const Slice* iterate_upper_bound = nullptr;

  // The iterator follows writes: each move reads the newest state, and costs a seek if anything
  // was written since the previous move; `snapshot` is ignored.
  bool tailing = false;

  // With a prefix_extractor: iterates over all keys in total order, without prefix filters. The
  // order is also total if none of these three options is set.
  bool total_order_seek = false;
  // Iterates in total order; a Seek uses the prefix filters if iterate_upper_bound excludes keys
  // with other prefixes. Works with the two bytewise comparators, and with extractors that
  // implement SameResultWhenAppended.
  bool auto_prefix_mode = false;
  // Returns only keys with the prefix of the sought key.
  bool prefix_same_as_start = false;

  // Pins blocks, so that keys and values stay valid for the iterator's life.
  bool pin_data = false;

  // Advisory: files that an iterator held last are always deleted in the background.
  bool background_purge_on_iterator_cleanup = false;
  // Iterators read a value in a blob file in Iterator::PrepareValue, and not before.
  bool allow_unprepared_value = false;

  // With a snapshot: the iterator moves to newer memtables and tables when it meets them, which
  // releases the old ones; it still returns what the snapshot sees.
  bool auto_refresh_iterator_with_snapshot = false;

  // Tables for which this returns false are skipped, as if their entries did not exist: a deletion
  // in a skipped table does not hide what is below it. Called for each table when an iterator is
  // made.
  std::function<bool(const TableProperties&)> table_filter;

  // Passed to file systems (IOOptions::io_activity).
  Env::IOActivity io_activity = Env::IOActivity::kUnknown;
};

// ---- Writing ----

// Options of one write. A write that returns OK is visible to every read that begins later, and
// survives the end of the process, unless disableWAL or DBOptions::manual_wal_flush keeps it from
// the log; with `sync` it survives a power loss, too. A write that returns an error has not
// happened, unless the process ends before the database has recovered from the error: then the next
// opening may find it, whole.
//
// ShutdownInProgress: the database is closed. Incomplete: no_slowdown, and the write would have
// waited. An error with a severity (Status::severity) concerns all writes until the database has
// recovered.
struct WriteOptions {
  // Returns only when the log is on stable storage. Not with disableWAL.
  bool sync = false;

  // Writes no log: the data is lost at a crash unless it was flushed.
  bool disableWAL = false;

  // Skips updates for column families that were dropped instead of failing.
  bool ignore_missing_column_families = false;

  // Returns Incomplete instead of waiting for a stall, for memory, or for long while writes are
  // blocked (a switch of memtables, LockWAL).
  bool no_slowdown = false;

  // Yields to other writers when compactions are due.
  bool low_pri = false;

  bool memtable_insert_hint_per_batch = false;  // Advisory.

  // IO_TOTAL: no charge. IO_USER: the logged bytes are charged to the rate limiter first, which is
  // not allowed with disableWAL or manual_wal_flush.
  Env::IOPriority rate_limiter_priority = Env::IO_TOTAL;

  // 0 or 8. 8: each update has a checksum from the call on (or from the batch's creation, if it has
  // checksums), compared before it is logged and before it is inserted. A mismatch fails the write
  // with Corruption; if the update is in the log already, no further write is accepted until the
  // database is opened again, which recovers what was logged.
  size_t protection_bytes_per_key = 0;

  // Reserved for the engine's own writes: InvalidArgument unless kUnknown.
  Env::IOActivity io_activity = Env::IOActivity::kUnknown;
};

// Options of DB::Flush.
struct FlushOptions {
  bool wait = true;  // Returns when the table is installed; false: when it is requested.

  // True: start at once. False: first wait while one more memtable or table would delay or stop
  // writes and running flushes or compactions may change that.
  bool allow_write_stall = false;
};

// Options of DB::FlushWAL.
struct FlushWALOptions {
  bool sync = false;  // True: also syncs the log.

  // Priority with which the data buffered by manual_wal_flush is charged to the rate limiter before
  // it is written; IO_TOTAL: it is not charged.
  Env::IOPriority rate_limiter_priority = Env::IO_TOTAL;
};

// Makes the LOG writer that DB::Open would make; an existing LOG is renamed.
VARVE_EXPORT Status CreateLoggerFromOptions(const std::string& dbname, const DBOptions& options,
                                            std::shared_ptr<Logger>* logger);

// ---- Compaction on request ----

// Options of DB::CompactFiles.
struct CompactionOptions {
  // Codec and temperature of the outputs. The defaults stand for the column family's choices for
  // the level.
  CompressionType compression = kDisableCompressionOption;
  Temperature output_temperature_override = Temperature::kUnknown;

  // Limit in bytes of one output file.
  uint64_t output_file_size_limit = std::numeric_limits<uint64_t>::max();

  uint32_t max_subcompactions = 0;  // 0: DBOptions::max_subcompactions.

  // The compaction stops when this becomes true. Not owned.
  std::atomic<bool>* canceled = nullptr;

  bool allow_trivial_move = false;  // Moves files instead of rewriting them where possible.
};

// Condition for CompactRange to rewrite the last level, too.
enum class BottommostLevelCompaction {
  kSkip,                    // Leaves the last level as it is.
  kIfHaveCompactionFilter,  // Rewrites it if there is a compaction filter, or a factory.
  kForce,                   // Rewrites it.
  kForceOptimized,          // Rewrites all files except those that this call wrote.
};

// Says whether the compactions of a call collect garbage of blob files.
enum class BlobGarbageCollectionPolicy {
  kForce,       // They do.
  kDisable,     // They do not.
  kUseDefault,  // They do as the column family's options say.
};

// Options of DB::CompactRange.
struct CompactRangeOptions {
  // Runs alone: waits for automatic compactions and prevents new ones.
  bool exclusive_manual_compaction = false;

  // Afterwards moves the files to target_level (-1: the smallest level that can hold them).
  // NotSupported if a level between has tables, and Aborted if more than one would go to L0.
  bool change_level = false;
  int target_level = -1;

  // Index in db_paths or cf_paths of the directory for output tables, whatever their level.
  // InvalidArgument if there is no such path.
  uint32_t target_path_id = 0;

  BottommostLevelCompaction bottommost_level_compaction =
      BottommostLevelCompaction::kIfHaveCompactionFilter;

  // Starts at once even if the initial flush stalls writes.
  bool allow_write_stall = false;

  // 0: DBOptions::max_subcompactions.
  uint32_t max_subcompactions = 0;

  // Say whether the compactions of this call write values of old blob files anew, and which files
  // are old, in place of the column family's enable_blob_garbage_collection and
  // blob_garbage_collection_age_cutoff. A cutoff outside [0, 1]: the family's. Tables that the call
  // leaves as they are keep their values; BottommostLevelCompaction::kForce leaves none.
  BlobGarbageCollectionPolicy blob_garbage_collection_policy =
      BlobGarbageCollectionPolicy::kUseDefault;
  double blob_garbage_collection_age_cutoff = -1;

  // Unless nullptr, DB::IncreaseFullHistoryTsLow is called with it first, and the whole column
  // family is rewritten to drop older history. InvalidArgument, with nothing changed, together with
  // a key range, as the mark is for all keys. Not owned.
  const Slice* full_history_ts_low = nullptr;

  // The compaction stops when this becomes true. Not owned.
  std::atomic<bool>* canceled = nullptr;
};

// Options of DB::WaitForCompact.
struct WaitForCompactOptions {
  bool abort_on_pause = false;  // Returns Aborted if background work is paused.
  bool flush = false;           // Flushes all column families first.
  bool wait_for_purge = false;  // Also waits for the deletion of old files.
  bool close_db = false;        // Closes afterwards, even if a background error stands.

  // Time limit, after which TimedOut is returned; 0: none.
  std::chrono::microseconds timeout = std::chrono::microseconds::zero();
};

// ---- Other calls ----

// Options of DB::IngestExternalFile.
struct IngestExternalFileOptions {
  // If neither move_files nor link_files is set, files are copied.
  bool move_files = false;  // Hard-links files; originals are unlinked after success.
  bool link_files = false;  // Hard-links files, keeps originals. Not with move_files.
  bool failed_move_fall_back_to_copy = true;  // Copies if hard links fail.

  // Snapshots taken before the ingestion do not see the files: if snapshots exist, the files get a
  // sequence number.
  bool snapshot_consistency = true;

  // False: InvalidArgument if a file needs a sequence number because older data overlaps it.
  bool allow_global_seqno = true;
  // False: InvalidArgument if memtables overlap a file. True: they are flushed; writers go on.
  bool allow_blocking_flush = true;
  // Files come beneath all data, into the last level: a key that the database has, or has deleted
  // (but by SingleDelete, which leaves nothing), hides theirs, and snapshots see them. They must
  // not overlap each other (NotSupported) nor other files there; InvalidArgument for that, without
  // cf_allow_ingest_behind, with timestamps, or if a table above may have entries that have lost
  // their sequence numbers, because it was written before cf_allow_ingest_behind was set.
  bool ingest_behind = false;
  // Writes the sequence number into a copy of the file, for RocksDB before 5.16, which looks there.
  bool write_global_seqno = false;

  // Reads every block first, and checks the order of all keys.
  bool verify_checksums_before_ingest = false;
  size_t verify_checksums_readahead_size = 0;  // In bytes; 0: default.
  // False: checksums of whole files that the caller gives are trusted.
  bool verify_file_checksum = true;

  bool fail_if_not_bottommost_level = false;  // TryAgain if a file goes elsewhere.
  // Tables written by databases are accepted, too. Their entries keep their sequence numbers, so
  // they must not overlap the database, of files that overlap each other the older ones must come
  // first, and snapshots need snapshot_consistency to be false. InvalidArgument otherwise.
  bool allow_db_generated_files = false;
  bool fill_cache = true;  // Blocks read meanwhile enter the cache. Equal in all args of a call.

  // Reads ahead filters and indexes of files that go to the last level.
  bool prefetch_lmax_index_and_filter_blocks = true;
  int file_opening_threads = 1;  // They inspect the files; at least 1. Many files get more anyway.
};

// Options of DB::GetLiveFilesStorageInfo.
struct LiveFilesStorageInfoOptions {
  bool include_checksum_info = false;  // Sets file_checksum etc., of tables only.

  // Column families are flushed first if the live logs have at least this many bytes: 0 always, the
  // largest number never. Those with writes in memory that have no log are flushed in any case. A
  // read-only database is never flushed.
  uint64_t wal_size_for_flush = 0;

  // Flushed column families are installed in one step, as with DBOptions::atomic_flush.
  bool atomic_flush = false;
};

// Options of DB::CreateColumnFamilyWithImport.
struct ImportColumnFamilyOptions {
  bool move_files = false;  // Hard-links instead of copying; originals are unlinked.
};

// Options of DB::GetMergeOperands.
struct GetMergeOperandsOptions {
  using ContinueCallback = std::function<bool(Slice)>;

  // Size of the caller's array; must be positive.
  int expected_max_number_of_operands = 0;

  // Called with each operand, newest first; false ends the search after that operand. If it throws,
  // the call returns Aborted.
  ContinueCallback continue_cb;
};

// Options of DB::GetApproximateSizes.
struct SizeApproximationOptions {
  // Counts what memtables hold within the range, which is an estimate.
  bool include_memtables = false;

  // Counts what tables hold within the range, compressed.
  bool include_files = true;

  // Files that extend beyond the range count half instead of being inspected if their total size is
  // less than this share of the size of the files within the range. 0 or less: each is inspected.
  double files_size_error_margin = -1.0;
};

// Bits of TraceOptions::filter: calls that are left out of a trace.
enum TraceFilterType : uint64_t {
  kTraceFilterNone = 0x0,
  kTraceFilterGet = 0x1 << 0,
  kTraceFilterWrite = 0x1 << 1,
  kTraceFilterIteratorSeek = 0x1 << 2,
  kTraceFilterIteratorSeekForPrev = 0x1 << 3,
  kTraceFilterMultiGet = 0x1 << 4,
};

// Options of DB::StartTrace.
struct TraceOptions {
  // In bytes: once the file has as many, no more calls are recorded.
  uint64_t max_trace_file_size = uint64_t{64} << 30;

  // One of so many calls is recorded; 0 and 1 record all. Counts the calls that pass the filter.
  uint64_t sampling_frequency = 1;

  // Bits of TraceFilterType.
  uint64_t filter = kTraceFilterNone;

  // Records writes in the order in which they take effect. They are made one after another while
  // the trace runs.
  bool preserve_write_order = false;
};

}  // namespace varve
