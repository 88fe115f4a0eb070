// SPDX-License-Identifier: Apache-2.0
#pragma once

// Everything a caller can choose: per column family, per database, per call.
//
// "Dynamic", "Refused" and "Advisory" as in advanced_options.h. All structs are plain values; what
// a raw pointer points to stays the caller's and must outlive its use.

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
struct DbPath;
struct Options;
struct TableProperties;

// ---- Column family ----

struct VARVE_EXPORT ColumnFamilyOptions : public AdvancedColumnFamilyOptions {
  ColumnFamilyOptions();
  explicit ColumnFamilyOptions(const Options& options);

  // Presets. Each changes this object and returns it.

  // A database of less than about 1 GiB: 2 MiB write buffers and tables, index and filter blocks
  // in the block cache (`*cache`, made with 16 MiB if absent).
  ColumnFamilyOptions* OptimizeForSmallDb(std::shared_ptr<Cache>* cache = nullptr);

  // Only Get and Put, no scans: hash index in data blocks, Bloom filter of 10 bits a key, block
  // cache of that many MiB.
  ColumnFamilyOptions* OptimizeForPointLookup(uint64_t block_cache_size_mb);

  // Heavy writing with levels: that many bytes of memtables, L1 of the same size.
  ColumnFamilyOptions* OptimizeLevelStyleCompaction(uint64_t memtable_memory_budget = 512 << 20);

  // Writes one line for each option to `log`.
  void Dump(Logger* log) const;

  // Order of keys. Must be the same (by name) for the life of the column family. Not owned.
  const Comparator* comparator = BytewiseComparator();

  // Makes values of what DB::Merge() writes (merge_operator.h). nullptr: DB::Merge is NotSupported;
  // batches with merges, and reads of what was merged before, are InvalidArgument.
  std::shared_ptr<MergeOperator> merge_operator = nullptr;

  // The name of the merge operator that a column family was opened with last is remembered, and
  // opening it with one of another name is InvalidArgument, as operands of the one mean nothing to
  // the other. True: allowed, and the other one is remembered. Never written to OPTIONS files.
  // (Without any operator a family can always be opened.)
  bool allow_other_merge_operator = false;

  // Drops or changes entries in compactions. The factory is asked once for each compaction and may
  // not be set together with the filter. The filter is not owned and is called by several threads.
  const CompactionFilter* compaction_filter = nullptr;
  std::shared_ptr<CompactionFilterFactory> compaction_filter_factory = nullptr;

  // Where compactions end tables, beyond what sizes ask for (sst_partitioner.h). nullptr: nowhere.
  std::shared_ptr<SstPartitionerFactory> sst_partitioner_factory = nullptr;

  // How many compactions of this and other families, also of other databases, may run at a time
  // (concurrent_task_limiter.h). nullptr: as many as the database's threads.
  std::shared_ptr<ConcurrentTaskLimiter> compaction_thread_limiter = nullptr;

  // Bytes in a memtable before it is flushed; less than 64 KiB becomes that. Dynamic.
  size_t write_buffer_size = 64 << 20;

  // Codec of all levels that have no other choice. Dynamic.
  CompressionType compression = kLZ4Compression;

  // Codec of the last level that has data. Dynamic.
  CompressionType bottommost_compression = kDisableCompressionOption;

  // Used with bottommost_compression when its `enabled` is set. Dynamic.
  CompressionOptions bottommost_compression_opts;
  CompressionOptions compression_opts;  // Dynamic.

  // L0 files that start a compaction. At least 1. Dynamic.
  int level0_file_num_compaction_trigger = 4;

  // Cuts prefixes for prefix filters and prefix scans. nullptr: none. Dynamic.
  std::shared_ptr<const SliceTransform> prefix_extractor = nullptr;

  // Bytes of level 1 when levels are not dynamic. Dynamic.
  uint64_t max_bytes_for_level_base = 256 * 1048576;

  // Compact only when asked. Dynamic.
  bool disable_auto_compactions = false;

  // Never nullptr; made by NewBlockBasedTableFactory (table.h).
  std::shared_ptr<TableFactory> table_factory;

  // Directories of this family's tables, at most 4, made if missing; empty: db_paths. Each takes as
  // many levels, from L0 on, as its target_size has room for by their sizes wished for, and the
  // last one what is left; fresh tables go to the first. Not in OPTIONS files: every opening,
  // repair and DestroyDB is to be given the same ones in the same order. A directory belongs to
  // one database: what nothing explains is moved to `lost` in it.
  std::vector<DbPath> cf_paths;
};

// ---- Database ----

// What DB::Open makes of damage in the write-ahead log. Each mode reports what was dropped (the
// property varve.recovery, EventListener::OnDatabaseRecovered, the LOG).
enum class WALRecoveryMode : char {
  // Accept a cut-off last record of each log, unless it is known to have been synced whole; refuse
  // any other damage.
  kTolerateCorruptedTailRecords = 0x00,
  // Refuse any damage, a cut-off last record too.
  kAbsoluteConsistency = 0x01,
  // Stop at the first damage: the state is one that really was. Refuses if tables are newer.
  kPointInTimeRecovery = 0x02,
  // Skip what is damaged; later writes may survive earlier ones.
  kSkipAnyCorruptedRecords = 0x03,
};

struct DbPath {
  DbPath() = default;
  DbPath(const std::string& p, uint64_t t) : path(p), target_size(t) {}

  std::string path;
  uint64_t target_size = 0;  // Bytes wished for in `path`.
};

// In db_host_id: replaced by this machine's host name.
VARVE_EXPORT extern const char* const kHostnameForDbHostId;

struct VARVE_EXPORT DBOptions {
  DBOptions() = default;
  explicit DBOptions(const Options& options);

  // Less than about 1 GiB: at most 5000 open tables; memtables count against the cache.
  DBOptions* OptimizeForSmallDb(std::shared_ptr<Cache>* cache = nullptr);

  // Gives background work that many threads (at least 1).
  DBOptions* IncreaseParallelism(int total_threads = 16);

  // Writes one line for each option to `log`.
  void Dump(Logger* log) const;

  // ---- Opening ----

  bool create_if_missing = false;
  bool create_missing_column_families = false;
  bool error_if_exists = false;

  // Advisory: always as true. Damage fails the call that meets it, and a failed write stops writes.
  bool paranoid_checks = true;

  // Compare entry counts: memtable to flushed table, compaction inputs to what was read.
  bool flush_verify_memtable_count = true;
  bool compaction_verify_record_count = true;

  // Advisory: both are always on. Each log says where the one before ends, and how far
  // logs are durable is kept beside the MANIFEST. An opening refuses, or reports
  // (wal_recovery_mode), what had been synced and is not there.
  bool track_and_verify_wals_in_manifest = false;
  bool track_and_verify_wals = false;

  // Compare each table's identity to the one in the MANIFEST when the table is opened.
  bool verify_sst_unique_id_in_manifest = true;

  // Fail DB::Open, and calls that change options or column families, when the OPTIONS file cannot
  // be written. Where there are many families (a file above 256 KiB) it is written soon after such
  // a call; then the next one fails, or Close.
  bool fail_if_options_file_error = true;

  // Opening does not read the properties of tables that the MANIFEST does not tell the entry counts
  // of, as one that RocksDB wrote does not. They become known as the tables are first read.
  bool skip_stats_update_on_db_open = false;

  // Opening does not compare each table's size to the MANIFEST, which takes a call of the file
  // system a table; only that the tables are there.
  bool skip_checking_sst_file_sizes_on_db_open = false;

  WALRecoveryMode wal_recovery_mode = WALRecoveryMode::kPointInTimeRecovery;

  // Rather than to refuse a database that lacks tables, or the end of its MANIFEST, go back: each
  // column family to its newest state that a MANIFEST tells of and all tables are there for, down
  // to none; what several were flushed to at once (atomic_flush) all of them keep, or none. CURRENT
  // need not be there. Tables are opened to see whether they are what the MANIFEST says. If nothing
  // is missing the logs are replayed as wal_recovery_mode says; else they are left out. What is not
  // used is moved to lost/ and told by RecoveryInfo (listener.h); an opening that moves more there
  // keeps 100 files or 4 GiB of what was there before. RepairDB (utilities/repair.h) keeps more of
  // the database: all that can be read.
  bool best_efforts_recovery = false;

  // Leave recovered data in memory where it fits instead of flushing it at open.
  bool avoid_flush_during_recovery = false;

  // Close without flushing: data written with disableWAL is lost. Dynamic.
  bool avoid_flush_during_shutdown = false;

  // ---- Surroundings ----

  Env* env = Env::Default();                            // Not owned.
  std::shared_ptr<RateLimiter> rate_limiter = nullptr;  // Flushes and compactions.
  // Limits the space of tables, and how fast they are deleted (sst_file_manager.h). May be shared
  // by databases. nullptr: no limits.
  std::shared_ptr<SstFileManager> sst_file_manager = nullptr;
  std::shared_ptr<Statistics> statistics = nullptr;       // nullptr: nothing is counted.
  std::vector<std::shared_ptr<EventListener>> listeners;  // Called in this order.

  // Where to log; nullptr: a LOG file in the database's directory (or db_log_dir).
  std::shared_ptr<Logger> info_log = nullptr;
  InfoLogLevel info_log_level = INFO_LEVEL;
  std::string db_log_dir = "";
  size_t max_log_file_size = 0;      // Bytes before a new LOG is begun; 0: never.
  size_t log_file_time_to_roll = 0;  // Seconds before a new LOG is begun; 0: never.
  size_t keep_log_file_num = 1000;   // LOG files kept; at least 1.

  // ---- Files ----

  // Open tables; -1: no limit, and an opening fails if one cannot be opened. Dynamic.
  int max_open_files = -1;
  int max_file_opening_threads = 16;  // Advisory.

  // Bytes of all live logs at which the families that hold the oldest are flushed; 0: with several
  // families four times what their memtables hold, or one full family, whichever is more. Dynamic.
  uint64_t max_total_wal_size = 0;

  // Sync with fsync instead of fdatasync.
  bool use_fsync = false;

  // Directories of the tables of families without cf_paths (see there); empty: the database's own.
  // Logs, MANIFEST and the rest stay in that.
  std::vector<DbPath> db_paths;

  // Directory of the logs; empty: the database's. An open with another one than before is refused
  // while the logs there hold what is in no table; a new database is, where there are logs. It is
  // made if it is missing, and not asked for by a reader; but one with which the database was last
  // opened must be there, unless create_if_missing is set.
  std::string wal_dir = "";

  // An obsolete file is deleted at once, and when that fails again after each job and every so many
  // microseconds. 0: after jobs only. Dynamic.
  uint64_t delete_obsolete_files_period_micros = 6ULL * 60 * 60 * 1000000;

  // Bytes at which a new MANIFEST is begun.
  uint64_t max_manifest_file_size = 1024 * 1024 * 1024;
  size_t manifest_preallocation_size = 4 * 1024 * 1024;  // Advisory. Dynamic.
  int table_cache_numshardbits = 6;                      // Advisory.

  // So many obsolete logs are kept, and new logs are written over them: their space on the disk is
  // there already. Taken as 0 with the recovery modes kTolerateCorruptedTailRecords and
  // kAbsoluteConsistency, which could not tell what an old log left behind from damage, and with
  // wal_compression, whose numbered records RocksDB could not read; with an archive of logs, too.
  // Else disableWAL is refused.
  size_t recycle_log_file_num = 0;

  // Unless both are 0, a log that recovery needs no more moves to archive/ below the directory of
  // logs, for GetUpdatesSince, and recycle_log_file_num is taken as 0. There it is deleted when it
  // is older than WAL_ttl_seconds (0: at no age), and the oldest are while there are more than
  // WAL_size_limit_MB divided by the size of the largest (0: any number). That is looked at when a
  // log is archived, and each half of WAL_ttl_seconds, at least every ten minutes.
  uint64_t WAL_ttl_seconds = 0;
  uint64_t WAL_size_limit_MB = 0;

  bool allow_mmap_reads = false;                        // Tables are mapped, not read.
  bool allow_mmap_writes = false;                       // Refused unless false.
  bool use_direct_reads = false;                        // Tables, past the system's cache.
  bool use_direct_io_for_flush_and_compaction = false;  // Likewise.

  bool allow_fallocate = true;  // Reserve space ahead of appends.
  // Programs that the process turns into (exec) do not keep tables, logs and MANIFESTs open.
  bool is_fd_close_on_exec = true;
  bool advise_random_on_open = true;  // Advisory: the system gets no advice on how tables are read.

  // Bytes read ahead by compactions. Advisory: inputs are read ahead in pieces of a fixed size.
  size_t compaction_readahead_size = 2 * 1024 * 1024;

  // Bytes an appended file may hold in memory before it is written. Dynamic.
  size_t writable_file_max_buffer_size = 1024 * 1024;

  // Start writing out dirty pages every so many bytes of a table or log; 0: leave it to the
  // system. Strict: wait for the previous range. Dynamic: of the tables and logs begun from then
  // on.
  uint64_t bytes_per_sync = 0;
  uint64_t wal_bytes_per_sync = 0;
  bool strict_bytes_per_sync = false;

  // Read-ahead for logs at recovery, bytes; 0: default. Advisory.
  size_t log_readahead_size = 0;

  // Advisory: files that an iterator or a handle held last are always deleted in the background.
  bool avoid_unnecessary_blocking_io = false;

  // The database's identity: in the MANIFEST, and in the IDENTITY file. Not both false.
  bool write_dbid_to_manifest = true;
  bool write_identity_file = true;

  // Makes checksums of whole table files, kept in the MANIFEST (file_checksum.h). nullptr: none,
  // and DB::VerifyFileChecksums is InvalidArgument.
  std::shared_ptr<FileChecksumGenFactory> file_checksum_gen_factory = nullptr;

  // A pass over all live tables, which compares the checksum of every block, begins when the
  // database is opened and scrub_period_sec seconds (at least 1) after the last one began, if that
  // has ended. It reads at most so many bytes a second; 0: there are no such passes. Damage is told
  // to listeners (OnIOError, operation kVerify), LOG, and the properties varve.scrub and
  // varve.scrub-corruptions; it stops nothing. Never written to OPTIONS files.
  uint64_t scrub_bytes_per_second = 0;
  uint64_t scrub_period_sec = 7 * 24 * 3600;

  // So many bytes of the disk are held by a file named RESERVE in the database's directory. It is
  // given up when a flush, a log or the MANIFEST meets a full disk, so that what is under way can
  // be finished, and made again once twice as much is free. Other engines ignore the file. 0: none.
  // At most 1 TiB. Never written to OPTIONS files.
  uint64_t reserve_bytes = 0;

  // Host name stored in each table; kHostnameForDbHostId asks the system.
  std::string db_host_id = kHostnameForDbHostId;

  // ---- Background work ----

  // Flushes and compactions at once. At least 1. Dynamic.
  int max_background_jobs = 2;

  // Older, separate limits; -1: derived from max_background_jobs. Dynamic.
  int max_background_compactions = -1;
  int max_background_flushes = -1;

  // Pieces that one compaction may be cut into to run at once. At least 1. Dynamic.
  uint32_t max_subcompactions = 1;

  // Flushes and automatic compactions give way while threads of the machine wait for a processor:
  // they are done in pieces of a quarter of a millisecond and rest between them, as long as nobody
  // waits for them. The nearer a stall of writes is, in any database of the process, the less, and
  // not at all for calls that ask for them. False: they share processors as any thread does. Never
  // written to OPTIONS files.
  bool background_gives_way = true;

  // Env::GetThreadList tells what this database's jobs do (thread_status.h).
  bool enable_thread_tracking = false;

  // How often at most the database tries by itself to recover from one error, and the microseconds
  // between attempts when an error lasts. DB::Resume counts anew; so does the next error, once what
  // failed has worked. After the last attempt the error stands: writes that are stopped until
  // compactions have done something end with it, as do all when it is a hard one.
  int max_bgerror_resume_count = INT_MAX;
  uint64_t bgerror_resume_retry_interval = 1000000;

  // ---- Memory ----

  // Bytes of memtables of all column families together; 0: no limit.
  size_t db_write_buffer_size = 0;

  // The same limit for several databases; replaces db_write_buffer_size when set.
  std::shared_ptr<WriteBufferManager> write_buffer_manager = nullptr;

  std::shared_ptr<Cache> row_cache = nullptr;  // Refused unless nullptr.

  // ---- Statistics ----

  // Seconds between dumps to info_log of DB::Properties::kStats of every column family and of
  // `statistics`; 0: never. Not of a database that is read only. Dynamic.
  unsigned int stats_dump_period_sec = 600;
  // Every so many seconds it is noted how much each ticker of `statistics` has grown
  // (DB::GetStatsHistory); 0: never. Notes are kept in memory up to so many bytes, the newest ones.
  // Not of a database that is read only. Dynamic.
  unsigned int stats_persist_period_sec = 600;
  size_t stats_history_buffer_size = 1024 * 1024;
  // Notes go into the column family "___rocksdb_stats_history___" instead, which is made for that.
  // It is kept and opened with the database from then on, whether it is named or not, and with this
  // option or not. Nobody deletes old notes.
  bool persist_stats_to_disk = false;
  bool dump_malloc_stats = false;  // Advisory: the log says nothing of them.

  // ---- Writing ----

  // Bytes a second that slowed-down writes get; 0: the rate limiter's rate, else 16 MiB. Dynamic.
  uint64_t delayed_write_rate = 0;

  // How writes of several threads go together. Every mode gives the log and the sequence numbers
  // one order, and lets writers fill log and memtable side by side; they differ in when a write
  // returns. enable_pipelined_write, two_write_queues and allow_concurrent_memtable_write = false
  // are the ordered mode; the last of them inserts one batch at a time.
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

  // Advisory, but for what is refused with them: they are the ordered mode, as it is without them.
  bool enable_pipelined_write = false;
  bool two_write_queues = false;

  // All column families are flushed together, and the results come into force in one step: what was
  // written without a log is all there or not at all. Not with enable_pipelined_write.
  bool atomic_flush = false;

  // Two-phase commit: transactions that are prepared and undecided stay so when the database is
  // opened. Set by TransactionDB::Open. Otherwise DB::Open refuses where there are such, and
  // Prepare is refused; what was decided is read in any case.
  bool allow_2pc = false;

  // Refused unless false.
  bool allow_ingest_behind = false;

  // Advisory: how writers wait for each other.
  bool enable_write_thread_adaptive_yield = true;
  uint64_t max_write_batch_group_size_bytes = 1 << 20;
  uint64_t write_thread_max_yield_usec = 100;
  uint64_t write_thread_slow_yield_usec = 3;
  bool use_adaptive_mutex = false;

  // The log is written only by FlushWAL (and by the engine's own syncs): faster, and a killed
  // process loses what was not flushed.
  bool manual_wal_flush = false;

  CompressionType wal_compression = kNoCompression;  // Or kZSTD.

  // ---- Contents ----

  // Put key bytes, in hex, into the messages of errors that a flush or a compaction has about one
  // entry. Else messages never have any.
  bool allow_data_in_errors = false;

  // SingleDelete of a key that was overwritten or deleted otherwise fails the compaction.
  bool enforce_single_del_contracts = true;

  // Advisory: always as true. Iterators are in total order unless a prefix mode is chosen for them
  // (ReadOptions::prefix_same_as_start, auto_prefix_mode).
  bool prefix_seek_opt_in_only = false;
};

// Both sets, for a database with one column family.
struct VARVE_EXPORT Options : public DBOptions, public ColumnFamilyOptions {
  Options() = default;
  Options(const DBOptions& db_options, const ColumnFamilyOptions& column_family_options)
      : DBOptions(db_options), ColumnFamilyOptions(column_family_options) {}

  void Dump(Logger* log) const;
  void DumpCFOptions(Logger* log) const;

  // Load first, compact later: no automatic compactions, no stalls, large files. Call
  // CompactRange(nullptr, nullptr) afterwards.
  Options* PrepareForBulkLoad();

  Options* OptimizeForSmallDb();

  // Turns off checks that cost CPU time beyond block checksums.
  Options* DisableExtraChecks();
};

// ---- Reading ----

// Where a read may look.
enum ReadTier {
  kReadAllTier = 0x0,     // Everywhere.
  kBlockCacheTier = 0x1,  // Memtables and block cache; Incomplete where I/O would be needed.
  kPersistedTier = 0x2,   // Not in memtables that have no log. Get and MultiGet only.
  kMemtableTier = 0x3,    // Memtables only. Iterators only.
};

struct ReadOptions {
  ReadOptions() = default;
  ReadOptions(bool verify, bool fill) : verify_checksums(verify), fill_cache(fill) {}
  explicit ReadOptions(Env::IOActivity activity) : io_activity(activity) {}

  // Read the state of this snapshot; nullptr: of the moment of the call. Not owned.
  const Snapshot* snapshot = nullptr;

  // User timestamps, both of the size of the comparator's; not owned, and to outlive an iterator.
  // `timestamp` is required where the comparator has them, and InvalidArgument where not: what is
  // newer is not seen. InvalidArgument, too, below the timestamp of DB::IncreaseFullHistoryTsLow.
  // `iter_start_ts`: the iterator shows all versions from it to `timestamp`, the newest of a key
  // first, deletions of a key among them; key() is then the internal key, which is the key, the
  // timestamp, and 8 bytes of sequence number and kind. NotSupported where it meets merge operands,
  // and with tailing, prefix_same_as_start, max_skippable_internal_keys and
  // auto_refresh_iterator_with_snapshot.
  const Slice* timestamp = nullptr;
  const Slice* iter_start_ts = nullptr;

  // Time limits: for the call as a point in time since the clock's epoch, and for one file read.
  // 0: none. Past the deadline no file is read any more; a file system may ignore the other. What
  // comes too late gets TimedOut.
  //
  // An iterator looks at the clock in each seek, before each read, and now and then while it passes
  // over entries that are not shown; steps in memory are free. Too late, it is not Valid() and its
  // status is TimedOut; a later seek starts anew.
  std::chrono::microseconds deadline = std::chrono::microseconds::zero();
  std::chrono::microseconds io_timeout = std::chrono::microseconds::zero();

  ReadTier read_tier = kReadAllTier;

  // Charge reads to the rate limiter with this priority; IO_TOTAL: do not charge.
  Env::IOPriority rate_limiter_priority = Env::IO_TOTAL;

  // MultiGet: bytes of values after which the remaining keys get Aborted.
  uint64_t value_size_soft_limit = std::numeric_limits<uint64_t>::max();

  // Point look-ups: mark the status when more merge operands than this were applied.
  std::optional<size_t> merge_operand_count_threshold;

  bool verify_checksums = true;
  bool fill_cache = true;  // Blocks read from files enter the block cache.

  // What DeleteRange deleted is read as if it had not been, until a flush or a compaction drops it
  // or makes a value of what came after it: keys, versions and merge operands, by each kind of
  // read, from memtables and tables.
  // A promise that nothing was range-deleted, where that is so. Ranges that a transaction or an
  // indexed batch has itself deleted, and not written yet, stay deleted in its reads.
  bool ignore_range_deletions = false;

  // MultiGet: reads of several files overlap. Iterators, with readahead_size 0: the file system is
  // asked for what will be read ahead next while the walk goes through what has been; with direct
  // reads that does nothing.
  bool async_io = false;
  bool optimize_multiget_for_io = true;  // Advisory.

  // ---- Iterators ----

  // Bytes to read ahead, from the first read on; 0: grows with sequential reading, within the
  // table's initial_auto_readahead_size and max_auto_readahead_size.
  size_t readahead_size = 0;

  // What has grown so is kept from one table of a level to the next, not begun anew in each.
  bool adaptive_readahead = false;

  // Nothing is read ahead beyond iterate_upper_bound, in tables whose index is in one piece.
  bool auto_readahead_size = true;

  // Entries stepped over in one call before the iterator gives up with Incomplete; 0: never. Those
  // of a range that earlier walks have found to be deleted are left out at once, and not counted.
  uint64_t max_skippable_internal_keys = 0;

  // Smallest key (inclusive) and largest key (exclusive) to return. The Slices and their bytes
  // must outlive the iterator, unchanged.
  const Slice* iterate_lower_bound = nullptr;
  const Slice* iterate_upper_bound = nullptr;

  // Each move of the iterator reads the newest state, and costs a seek if anything was written
  // since the one before; `snapshot` is ignored.
  bool tailing = false;

  // With a prefix_extractor: the order of all keys, without prefix filters. The order is that of
  // all keys, too, if none of these three is set.
  bool total_order_seek = false;
  // The order of all keys; a Seek asks the prefix filters if iterate_upper_bound lets no key of
  // another prefix through. For the two bytewise comparators, and extractors that know
  // SameResultWhenAppended.
  bool auto_prefix_mode = false;
  // Only keys with the prefix of the key that was sought.
  bool prefix_same_as_start = false;

  // Keep blocks so that keys and values stay valid for the iterator's life.
  bool pin_data = false;

  // Advisory: files that an iterator held last are always deleted in the background.
  bool background_purge_on_iterator_cleanup = false;
  bool allow_unprepared_value = false;  // Advisory: values are always ready.

  // With a snapshot: an iterator that meets newer memtables and tables moves to them, and so
  // releases old ones; it goes on showing what the snapshot sees.
  bool auto_refresh_iterator_with_snapshot = false;

  // Skip tables for which this returns false.
  std::function<bool(const TableProperties&)> table_filter;

  // File systems are told (IOOptions::io_activity).
  Env::IOActivity io_activity = Env::IOActivity::kUnknown;
};

// ---- Writing ----

struct WriteOptions {
  // Return only when the log is on stable storage. Not with disableWAL.
  bool sync = false;

  // Write no log: lost at a crash unless flushed.
  bool disableWAL = false;

  // Skip updates for column families that are gone instead of failing.
  bool ignore_missing_column_families = false;

  // Return Incomplete instead of waiting for a stall, for memory, or for long while writes are kept
  // out (a switch of memtables, LockWAL).
  bool no_slowdown = false;

  // Yield to other writers when compaction is behind.
  bool low_pri = false;

  bool memtable_insert_hint_per_batch = false;  // Advisory.

  // IO_TOTAL or IO_USER: the logged bytes are charged to the rate limiter first. Not with
  // disableWAL or manual_wal_flush.
  Env::IOPriority rate_limiter_priority = Env::IO_TOTAL;

  // 0 or 8: checksum each update from the call on (or from the batch's, if it was made so) until it
  // is logged, and once more before it is inserted; one that has changed meanwhile fails the write
  // with Corruption. If that is found when it is in the log already, no further write is accepted
  // until the database is opened again, which finds what was logged.
  size_t protection_bytes_per_key = 0;

  // For the engine's own writes: InvalidArgument unless kUnknown.
  Env::IOActivity io_activity = Env::IOActivity::kUnknown;
};

struct FlushOptions {
  bool wait = true;  // Until the table is installed.

  // Start at once. False: first wait, as long as one more memtable or table would make writes slow
  // down or stop, and flushes or compactions are under way that may change that.
  bool allow_write_stall = false;
};

// How FlushWAL works.
struct FlushWALOptions {
  bool sync = false;

  // Has the rate limiter grant what manual_wal_flush holds back before it is written; IO_TOTAL: it
  // is not asked.
  Env::IOPriority rate_limiter_priority = Env::IO_TOTAL;
};

// Makes the LOG writer that DB::Open would make, rolling an old LOG away.
VARVE_EXPORT Status CreateLoggerFromOptions(const std::string& dbname, const DBOptions& options,
                                            std::shared_ptr<Logger>* logger);

// ---- Compaction on request ----

// For DB::CompactFiles.
struct CompactionOptions {
  // Codec of the outputs; kDisableCompressionOption: the column family's choice for the level.
  CompressionType compression = kDisableCompressionOption;

  // Bytes of one output file.
  uint64_t output_file_size_limit = std::numeric_limits<uint64_t>::max();

  // 0: DBOptions::max_subcompactions.
  uint32_t max_subcompactions = 0;

  // Stops the compaction when it becomes true. Not owned.
  std::atomic<bool>* canceled = nullptr;

  // Move files instead of rewriting them where possible.
  bool allow_trivial_move = false;
};

// Whether CompactRange rewrites the last level too.
enum class BottommostLevelCompaction {
  kSkip,
  kIfHaveCompactionFilter,
  kForce,
  kForceOptimized,  // All files but those that this very call wrote.
};

struct CompactRangeOptions {
  // Run alone: wait for automatic compactions and keep them away.
  bool exclusive_manual_compaction = false;

  // Then move the files to target_level (-1: the smallest level that can hold them).
  bool change_level = false;
  int target_level = -1;

  // Tables that are written go to this one of db_paths or cf_paths, whatever their level.
  // InvalidArgument if there is no such path.
  uint32_t target_path_id = 0;

  BottommostLevelCompaction bottommost_level_compaction =
      BottommostLevelCompaction::kIfHaveCompactionFilter;

  // Start at once even if the initial flush makes writes stall.
  bool allow_write_stall = false;

  // 0: DBOptions::max_subcompactions.
  uint32_t max_subcompactions = 0;

  // Unless nullptr, DB::IncreaseFullHistoryTsLow is called with this first, and the column family
  // is rewritten, so that what is below it goes. Beside a range InvalidArgument, and nothing has
  // changed: the mark is of all keys. Not owned.
  const Slice* full_history_ts_low = nullptr;

  // Stops the compaction when it becomes true. Not owned.
  std::atomic<bool>* canceled = nullptr;
};

struct WaitForCompactOptions {
  bool abort_on_pause = false;  // Return Aborted when background work is paused.
  bool flush = false;           // Flush all column families first.
  bool wait_for_purge = false;  // Wait for the deletion of old files too.
  bool close_db = false;        // Close afterwards, also if a background error stands.

  // 0: no limit. TimedOut when it passes.
  std::chrono::microseconds timeout = std::chrono::microseconds::zero();
};

// ---- Other calls ----

// How files become tables: DB::IngestExternalFile.
struct IngestExternalFileOptions {
  // Without the two, files are copied.
  bool move_files = false;  // Hard-link instead; the original is unlinked after success.
  bool link_files = false;  // Hard-link and keep the original. Not with move_files.
  bool failed_move_fall_back_to_copy = true;  // Where there can be no link.

  // Snapshots taken before the ingestion do not see the files: while there are any, files get a
  // sequence number.
  bool snapshot_consistency = true;

  // False: InvalidArgument if a file needs a sequence number, as something older overlaps it.
  bool allow_global_seqno = true;
  // False: InvalidArgument if memtables overlap a file. The call would flush them, writers go on.
  bool allow_blocking_flush = true;
  bool ingest_behind = false;  // NotSupported unless false.
  // Also store the sequence number in the file, for RocksDB before 5.16. The file is copied then.
  bool write_global_seqno = false;

  // Read every block first, and check the order of all keys.
  bool verify_checksums_before_ingest = false;
  size_t verify_checksums_readahead_size = 0;  // Bytes; 0: default.
  // Of given checksums of whole files: false believes them.
  bool verify_file_checksum = true;

  bool fail_if_not_bottommost_level = false;  // TryAgain instead.
  // Tables of databases may come, too: their entries keep their sequence numbers, so they must not
  // overlap what is in the database, nor are there to be snapshots; of files that overlap each
  // other the older ones are given first. InvalidArgument otherwise.
  bool allow_db_generated_files = false;
  bool fill_cache = true;  // With blocks that are read first. The same for all column families.

  // Filters and indexes of files that go to the last level are read ahead.
  bool prefetch_lmax_index_and_filter_blocks = true;
  int file_opening_threads = 1;  // That look at the files; more do if there are many. At least 1.
};

// For DB::GetLiveFilesStorageInfo.
struct LiveFilesStorageInfoOptions {
  bool include_checksum_info = false;  // Of tables; other files have none.

  // Column families are flushed first if the live logs have at least so many bytes: 0 always, the
  // largest number never. In any case those are that have writes with disableWAL in memory. A
  // database that is read only is not flushed.
  uint64_t wal_size_for_flush = 0;

  // Families that are flushed go into tables in one step, as with DBOptions::atomic_flush.
  bool atomic_flush = false;
};

// For DB::CreateColumnFamilyWithImport.
struct ImportColumnFamilyOptions {
  bool move_files = false;  // Hard-link instead of copying; the originals are unlinked.
};

struct GetMergeOperandsOptions {
  using ContinueCallback = std::function<bool(Slice)>;

  // Size of the caller's array; must be positive.
  int expected_max_number_of_operands = 0;

  // Called newest first; false ends the search after that operand. If it throws, the call ends as
  // Aborted.
  ContinueCallback continue_cb;
};

struct SizeApproximationOptions {
  bool include_memtables = false;
  bool include_files = true;

  // Files that reach out of the range are not looked into, and count half, where all their bytes
  // are less than this share of the files within it. At most 0: each is looked into.
  double files_size_error_margin = -1.0;
};

}  // namespace varve
