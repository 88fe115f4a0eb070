// SPDX-License-Identifier: Apache-2.0
#pragma once

// Statistics counts (tickers) and measures (histograms) the operations of a database.
//
// An object is made by CreateDBStatistics(), set in DBOptions::statistics before the database is
// opened, and read at any time by getTickerCount(), histogramData() or ToString(). One object may
// serve several databases, whose numbers are then added up; nothing says which of them a number is
// from. Recording costs a few nanoseconds per event and takes no lock. Durations cost the reading
// of a clock, which set_stats_level() switches off.
//
//   auto statistics = varve::CreateDBStatistics();
//   options.statistics = statistics;
//   ... open the database and use it ...
//   const uint64_t hits = statistics->getTickerCount(varve::BLOCK_CACHE_HIT);
//   varve::HistogramData gets;
//   statistics->histogramData(varve::DB_GET, &gets);
//   printf("%.1f us in 99 of 100 cases\n", gets.percentile99);
//
// Names of tickers and histograms begin with "rocksdb.", as in RocksDB, so that dashboards work
// unchanged. WriteMetrics (utilities/metrics.h) writes the same figures for collectors.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "varve/customizable.h"
#include "varve/export.h"
#include "varve/status.h"

namespace varve {

struct ConfigOptions;

// Counters, in the order that dashboards and language bindings expect: numbers and names are
// RocksDB's. Each only grows, from 0 at the object's creation or at the last reset. Counters of
// features that Varve does not have keep the numbering and stay zero; their groups say so.
enum Tickers : uint32_t {
  // The block cache. The _MISS, _HIT and _ADD totals are sums of their index, filter and data
  // parts.
  //
  // A miss is a lookup that found nothing, whether or not the block was then read (read_tier may
  // forbid it). _ADD counts insertions that succeeded; _ADD_FAILURES those that a full cache with
  // strict_capacity_limit refused.
  BLOCK_CACHE_MISS = 0,
  BLOCK_CACHE_HIT,
  BLOCK_CACHE_ADD,
  BLOCK_CACHE_ADD_FAILURES,
  BLOCK_CACHE_INDEX_MISS,
  BLOCK_CACHE_INDEX_HIT,
  BLOCK_CACHE_INDEX_ADD,
  // Bytes of index blocks inserted, as charged to the cache. The _BYTES_INSERT counters of filter
  // and data blocks have the same unit.
  BLOCK_CACHE_INDEX_BYTES_INSERT,
  BLOCK_CACHE_FILTER_MISS,
  BLOCK_CACHE_FILTER_HIT,
  BLOCK_CACHE_FILTER_ADD,
  BLOCK_CACHE_FILTER_BYTES_INSERT,
  BLOCK_CACHE_DATA_MISS,
  BLOCK_CACHE_DATA_HIT,
  BLOCK_CACHE_DATA_ADD,
  BLOCK_CACHE_DATA_BYTES_INSERT,
  // Bytes of all blocks found in the cache, and of all blocks inserted, as charged to it.
  BLOCK_CACHE_BYTES_READ,
  BLOCK_CACHE_BYTES_WRITE,
  // Counters of dictionaries stay zero: a table's dictionary is kept with the open table, not in
  // the cache.
  BLOCK_CACHE_COMPRESSION_DICT_MISS,
  BLOCK_CACHE_COMPRESSION_DICT_HIT,
  BLOCK_CACHE_COMPRESSION_DICT_ADD,
  BLOCK_CACHE_COMPRESSION_DICT_BYTES_INSERT,
  // Insertions of a block that another thread had inserted meanwhile. They stay zero.
  BLOCK_CACHE_ADD_REDUNDANT,
  BLOCK_CACHE_INDEX_ADD_REDUNDANT,
  BLOCK_CACHE_FILTER_ADD_REDUNDANT,
  BLOCK_CACHE_DATA_ADD_REDUNDANT,
  BLOCK_CACHE_COMPRESSION_DICT_ADD_REDUNDANT,

  // Secondary caches do not exist, so these counters stay zero.
  SECONDARY_CACHE_HITS,
  SECONDARY_CACHE_FILTER_HITS,
  SECONDARY_CACHE_INDEX_HITS,
  SECONDARY_CACHE_DATA_HITS,
  COMPRESSED_SECONDARY_CACHE_DUMMY_HITS,
  COMPRESSED_SECONDARY_CACHE_HITS,
  COMPRESSED_SECONDARY_CACHE_PROMOTIONS,
  COMPRESSED_SECONDARY_CACHE_PROMOTION_SKIPS,

  // Table filters in point lookups, counted once for each table whose filter was asked. USEFUL:
  // the filter excluded the key; POSITIVE: it did not; TRUE_POSITIVE: it did not, and the table
  // had an entry of the key. The rate of false positives is (POSITIVE - TRUE_POSITIVE) / (USEFUL +
  // POSITIVE - TRUE_POSITIVE).
  BLOOM_FILTER_USEFUL,
  BLOOM_FILTER_FULL_POSITIVE,
  BLOOM_FILTER_FULL_TRUE_POSITIVE,
  // Prefix filters in seeks of iterators: how often one was asked; how often it excluded the
  // table; and how often it did not and the seek then found an entry in the table.
  BLOOM_FILTER_PREFIX_CHECKED,
  BLOOM_FILTER_PREFIX_USEFUL,
  BLOOM_FILTER_PREFIX_TRUE_POSITIVE,

  // Caches in files and simulated caches do not exist, so these counters stay zero.
  PERSISTENT_CACHE_HIT,
  PERSISTENT_CACHE_MISS,
  SIM_BLOCK_CACHE_HIT,
  SIM_BLOCK_CACHE_MISS,

  // Point lookups by the place in which they ended. A lookup that ends in no table counts as a
  // MEMTABLE_MISS alone.
  MEMTABLE_HIT,
  MEMTABLE_MISS,
  GET_HIT_L0,
  GET_HIT_L1,
  GET_HIT_L2_AND_UP,

  // Entries dropped by compactions, by reason: shadowed by a newer version, obsolete tombstone,
  // covered by a range deletion, rejected by the compaction filter.
  COMPACTION_KEY_DROP_NEWER_ENTRY,
  COMPACTION_KEY_DROP_OBSOLETE,
  COMPACTION_KEY_DROP_RANGE_DEL,
  COMPACTION_KEY_DROP_USER,
  // Range deletions dropped because they covered nothing.
  COMPACTION_RANGE_DEL_DROP_OBSOLETE,
  // Tombstones dropped above the last level because no file below overlaps the key.
  COMPACTION_OPTIMIZED_DEL_DROP_OBSOLETE,
  // Compactions that ended early because of a cancellation or of the database's closing, and
  // compactions that were put off for lack of space. COMPACTION_ABORTED stays zero.
  COMPACTION_CANCELLED,
  COMPACTION_ABORTED,

  // Calls of programs. The number of keys written counts each update of a batch.
  NUMBER_KEYS_WRITTEN,
  // Counts lookups by Get, whatever they found; those of MultiGet have counters of their own.
  NUMBER_KEYS_READ,
  // Stays zero, as values are never overwritten in place.
  NUMBER_KEYS_UPDATED,
  // Bytes of serialized batches, with their keys, values and record headers.
  BYTES_WRITTEN,
  // Bytes of values returned by Get.
  BYTES_READ,
  // Calls of iterators, and how many of them left the iterator on an entry. An iterator adds its
  // numbers when it is destroyed, not call by call, so those of a long scan appear late.
  NUMBER_DB_SEEK,
  NUMBER_DB_NEXT,
  NUMBER_DB_PREV,
  NUMBER_DB_SEEK_FOUND,
  NUMBER_DB_NEXT_FOUND,
  NUMBER_DB_PREV_FOUND,
  // Bytes of the keys and values that iterators returned.
  ITER_BYTES_READ,
  // Internal entries skipped by iterators, and seeks made instead of skipping.
  NUMBER_ITER_SKIP,
  NUMBER_OF_RESEEKS_IN_ITERATION,
  // Iterators created and deleted; the difference is the number that exists now.
  NO_ITERATOR_CREATED,
  NO_ITERATOR_DELETED,
  // Table files opened, and opens of table files that failed.
  NO_FILE_OPENS,
  NO_FILE_ERRORS,
  // Microseconds of wall time in which at least one writer waited because of flush or compaction
  // debt. Writers that wait at the same time count once; histogram WRITE_STALL has the wait of
  // each.
  STALL_MICROS,
  // Microseconds of waiting for the DB mutex; only at StatsLevel kAll.
  DB_MUTEX_WAIT_MICROS,

  // MultiGet: calls, keys asked for, bytes of the values returned, and keys found.
  NUMBER_MULTIGET_CALLS,
  NUMBER_MULTIGET_KEYS_READ,
  NUMBER_MULTIGET_BYTES_READ,
  NUMBER_MULTIGET_KEYS_FOUND,
  // Calls of merge operators that returned false.
  NUMBER_MERGE_FAILURES,

  // The write-ahead log. WAL_FILE_SYNCED counts syncs; WAL_FILE_BYTES the bytes that writes
  // append. The WAL_PRECREATE counters stay zero, as logs are not created ahead.
  GET_UPDATES_SINCE_CALLS,
  WAL_FILE_SYNCED,
  WAL_FILE_BYTES,
  WAL_PRECREATE_HIT,
  WAL_PRECREATE_MISS,
  WAL_PRECREATE_WAITED,
  WAL_PRECREATE_WAIT_MICROS,
  WAL_PRECREATE_FAILED,
  // Batches written by their own thread / by the leader of a write group for another thread. As
  // there are no write groups, every batch counts as the former.
  WRITE_DONE_BY_SELF,
  WRITE_DONE_BY_OTHER,
  // Writes of WriteOptions::disableWAL = false.
  WRITE_WITH_WAL,

  // Bytes read and written by background work. Those of compactions that run for a special reason
  // (marked tables, periodic_compaction_seconds, ttl) count in their own counters as well.
  COMPACT_READ_BYTES,
  COMPACT_WRITE_BYTES,
  FLUSH_WRITE_BYTES,
  COMPACT_READ_BYTES_MARKED,
  COMPACT_READ_BYTES_PERIODIC,
  COMPACT_READ_BYTES_TTL,
  COMPACT_WRITE_BYTES_MARKED,
  COMPACT_WRITE_BYTES_PERIODIC,
  COMPACT_WRITE_BYTES_TTL,

  // Stays zero: properties are read through the open table.
  NUMBER_DIRECT_LOAD_TABLE_PROPERTIES,
  // Counted for iterators only: references to a column family's state (memtables and tables) taken
  // and given back, and states freed because an iterator held them last.
  NUMBER_SUPERVERSION_ACQUIRES,
  NUMBER_SUPERVERSION_RELEASES,
  NUMBER_SUPERVERSION_CLEANUPS,

  // Compression of table blocks. Each block that is written counts in one of three ways:
  // COMPRESSED; BYPASSED, stored raw because the table has no codec; REJECTED, stored raw because
  // compression did not save enough. Sizes are those without the block's trailer.
  NUMBER_BLOCK_COMPRESSED,
  NUMBER_BLOCK_DECOMPRESSED,
  // Bytes of compressed blocks before compression and after it.
  BYTES_COMPRESSED_FROM,
  BYTES_COMPRESSED_TO,
  BYTES_COMPRESSION_BYPASSED,
  BYTES_COMPRESSION_REJECTED,
  NUMBER_BLOCK_COMPRESSION_BYPASSED,
  NUMBER_BLOCK_COMPRESSION_REJECTED,
  // Bytes of blocks read before decompression and after it.
  BYTES_DECOMPRESSED_FROM,
  BYTES_DECOMPRESSED_TO,

  // Total nanoseconds in merge operators.
  MERGE_OPERATION_TOTAL_TIME,
  // Total nanoseconds in compaction filters.
  FILTER_OPERATION_TOTAL_TIME,
  // Total CPU microseconds of compactions.
  COMPACTION_CPU_TOTAL_TIME,

  // The row cache and statistics of read amplification do not exist: these stay zero.
  ROW_CACHE_HIT,
  ROW_CACHE_MISS,
  READ_AMP_ESTIMATE_USEFUL_BYTES,
  READ_AMP_TOTAL_READ_BYTES,
  // Refill periods of a rate limiter after which a request still waited. The other counters of
  // rate limiters stay zero; RateLimiter itself has totals.
  NUMBER_RATE_LIMITER_DRAINS,
  RATE_LIMITER_BYTES_READ,
  RATE_LIMITER_BYTES_WRITE,
  RATE_LIMITER_REQUESTS_READ,
  RATE_LIMITER_REQUESTS_WRITE,
  RATE_LIMITER_DELAYED_REQUESTS_READ,
  RATE_LIMITER_DELAYED_REQUESTS_WRITE,
  RATE_LIMITER_TOTAL_WAIT_MICROS_READ,
  RATE_LIMITER_TOTAL_WAIT_MICROS_WRITE,

  // Values kept in blob files: bytes and syncs of these files, values that compactions wrote anew,
  // and ColumnFamilyOptions::blob_cache with the bytes that its entries are charged. Those of
  // RocksDB's older store beside a database, which are most, stay zero.
  BLOB_DB_NUM_PUT,
  BLOB_DB_NUM_WRITE,
  BLOB_DB_NUM_GET,
  BLOB_DB_NUM_MULTIGET,
  BLOB_DB_NUM_SEEK,
  BLOB_DB_NUM_NEXT,
  BLOB_DB_NUM_PREV,
  BLOB_DB_NUM_KEYS_WRITTEN,
  BLOB_DB_NUM_KEYS_READ,
  BLOB_DB_BYTES_WRITTEN,
  BLOB_DB_BYTES_READ,
  BLOB_DB_WRITE_INLINED_DEPRECATED,
  BLOB_DB_WRITE_INLINED_TTL_DEPRECATED,
  BLOB_DB_WRITE_BLOB,
  BLOB_DB_WRITE_BLOB_TTL,
  // Counts the bytes of new blob files with their headers, records and footers.
  BLOB_DB_BLOB_FILE_BYTES_WRITTEN,
  // Counts the bytes of records that were read, for users and for compactions.
  BLOB_DB_BLOB_FILE_BYTES_READ,
  // Counts the syncs of new blob files; each file is synced once, when it is complete.
  BLOB_DB_BLOB_FILE_SYNCED,
  BLOB_DB_BLOB_INDEX_EXPIRED_COUNT,
  BLOB_DB_BLOB_INDEX_EXPIRED_SIZE,
  BLOB_DB_BLOB_INDEX_EVICTED_COUNT,
  BLOB_DB_BLOB_INDEX_EVICTED_SIZE,
  BLOB_DB_GC_NUM_FILES,
  BLOB_DB_GC_NUM_NEW_FILES,
  BLOB_DB_GC_FAILURES,
  // Counts the values, and below their uncompressed bytes, that compactions copied out of old blob
  // files (enable_blob_garbage_collection).
  BLOB_DB_GC_NUM_KEYS_RELOCATED,
  BLOB_DB_GC_BYTES_RELOCATED,
  BLOB_DB_FIFO_NUM_FILES_EVICTED,
  BLOB_DB_FIFO_NUM_KEYS_EVICTED,
  BLOB_DB_FIFO_BYTES_EVICTED,
  BLOB_DB_CACHE_MISS,
  BLOB_DB_CACHE_HIT,
  BLOB_DB_CACHE_ADD,
  BLOB_DB_CACHE_ADD_FAILURES,
  BLOB_DB_CACHE_BYTES_READ,
  BLOB_DB_CACHE_BYTES_WRITE,

  // Slow paths of write-prepared transactions. As these have no slow paths of that kind, the
  // counters stay zero.
  TXN_PREPARE_MUTEX_OVERHEAD,
  TXN_OLD_COMMIT_MAP_MUTEX_OVERHEAD,
  TXN_DUPLICATE_KEY_OVERHEAD,
  TXN_SNAPSHOT_MUTEX_OVERHEAD,
  TXN_GET_TRY_AGAIN,

  // Deletion of files with DBOptions::sst_file_manager: files renamed to wait for their deletion,
  // files deleted after that wait, and files deleted without one. Without a manager all count as
  // the last.
  FILES_MARKED_TRASH,
  FILES_DELETED_FROM_TRASH_QUEUE,
  FILES_DELETED_IMMEDIATELY,

  // Background errors: all, I/O errors, retryable I/O errors. AUTORESUME: errors from which
  // automatic recovery was begun, attempts made for them, and recoveries that succeeded.
  ERROR_HANDLER_BG_ERROR_COUNT,
  ERROR_HANDLER_BG_IO_ERROR_COUNT,
  ERROR_HANDLER_BG_RETRYABLE_IO_ERROR_COUNT,
  ERROR_HANDLER_AUTORESUME_COUNT,
  ERROR_HANDLER_AUTORESUME_RETRY_TOTAL_COUNT,
  ERROR_HANDLER_AUTORESUME_SUCCESS_COUNT,

  // Bytes of keys and values in flushed memtables, and those of them that did not enter a table,
  // as a newer version or a deletion hid them.
  MEMTABLE_PAYLOAD_BYTES_AT_FLUSH,
  MEMTABLE_GARBAGE_BYTES_AT_FLUSH,
  // Bytes of whole files read by DB::VerifyFileChecksums.
  VERIFY_CHECKSUM_READ_BYTES,
  // Bytes that backups read from the database, and bytes that they wrote.
  BACKUP_READ_BYTES,
  BACKUP_WRITE_BYTES,
  // Compactions run in this process alone, so these counters stay zero.
  REMOTE_COMPACT_READ_BYTES,
  REMOTE_COMPACT_WRITE_BYTES,
  REMOTE_COMPACT_RESUMED_BYTES,

  // File reads by the file's temperature (bytes, then number of reads), and by its level: the last
  // one that has data, or another.
  HOT_FILE_READ_BYTES,
  WARM_FILE_READ_BYTES,
  COOL_FILE_READ_BYTES,
  COLD_FILE_READ_BYTES,
  ICE_FILE_READ_BYTES,
  HOT_FILE_READ_COUNT,
  WARM_FILE_READ_COUNT,
  COOL_FILE_READ_COUNT,
  COLD_FILE_READ_COUNT,
  ICE_FILE_READ_COUNT,
  LAST_LEVEL_READ_BYTES,
  LAST_LEVEL_READ_COUNT,
  NON_LAST_LEVEL_READ_BYTES,
  NON_LAST_LEVEL_READ_COUNT,

  // Iterator seeks per sorted run: excluded by a filter, not excluded by a filter, reading data,
  // and reading data that the user then read.
  LAST_LEVEL_SEEK_FILTERED,
  LAST_LEVEL_SEEK_FILTER_MATCH,
  LAST_LEVEL_SEEK_DATA,
  LAST_LEVEL_SEEK_DATA_USEFUL_NO_FILTER,
  LAST_LEVEL_SEEK_DATA_USEFUL_FILTER_MATCH,
  NON_LAST_LEVEL_SEEK_FILTERED,
  NON_LAST_LEVEL_SEEK_FILTER_MATCH,
  NON_LAST_LEVEL_SEEK_DATA,
  NON_LAST_LEVEL_SEEK_DATA_USEFUL_NO_FILTER,
  NON_LAST_LEVEL_SEEK_DATA_USEFUL_FILTER_MATCH,

  // Blocks whose checksum was computed after they were read.
  BLOCK_CHECKSUM_COMPUTE_COUNT,
  // Blocks whose checksum differed. Counts every detection, also repeated ones of one block.
  BLOCK_CHECKSUM_MISMATCH_COUNT,
  // Stay zero: MultiGet does not use coroutines, and asynchronous reads are not timed.
  MULTIGET_COROUTINE_COUNT,
  READ_ASYNC_MICROS,
  ASYNC_READ_ERROR_COUNT,
  // Metadata reads when opening a table: not served / served by the prefetched end of the file.
  TABLE_OPEN_PREFETCH_TAIL_MISS,
  TABLE_OPEN_PREFETCH_TAIL_HIT,
  // Tables that Get considered for a newer timestamp although it had found a version already, and
  // those of them that were skipped because they have none.
  TIMESTAMP_FILTER_TABLE_CHECKED,
  TIMESTAMP_FILTER_TABLE_FILTERED,
  // Read-ahead that was cut because it would have passed the end of its range or of the file.
  READAHEAD_TRIMMED,
  // FIFO compactions by reason: above the cap, expired, and for another temperature.
  FIFO_MAX_SIZE_COMPACTIONS,
  FIFO_TTL_COMPACTIONS,
  FIFO_CHANGE_TEMPERATURE_COMPACTIONS,
  // Read-ahead of user scans: bytes fetched, fetched bytes that were used, reads saved.
  PREFETCH_BYTES,
  PREFETCH_BYTES_USEFUL,
  PREFETCH_HITS,
  // Tables that could not be opened because their footer is damaged.
  SST_FOOTER_CORRUPTION_COUNT,
  // Stay zero: damaged data is not read a second time, and the features named do not exist.
  FILE_READ_CORRUPTION_RETRY_COUNT,
  FILE_READ_CORRUPTION_RETRY_SUCCESS_COUNT,
  NUMBER_WBWI_INGEST,
  SST_USER_DEFINED_INDEX_LOAD_FAIL_COUNT,
  MULTISCAN_PREPARE_CALLS,
  MULTISCAN_PREPARE_ERRORS,
  MULTISCAN_BLOCKS_PREFETCHED,
  MULTISCAN_BLOCKS_FROM_CACHE,
  MULTISCAN_PREFETCH_BYTES,
  MULTISCAN_PREFETCH_BLOCKS_WASTED,
  MULTISCAN_IO_REQUESTS,
  MULTISCAN_IO_COALESCED_NONADJACENT,
  MULTISCAN_SEEK_ERRORS,
  PREFETCH_MEMORY_BYTES_GRANTED,
  PREFETCH_MEMORY_BYTES_RELEASED,
  PREFETCH_MEMORY_REQUESTS_BLOCKED,
  READ_PATH_RANGE_TOMBSTONES_INSERTED,
  READ_PATH_RANGE_TOMBSTONES_DISCARDED,
  FILE_OPEN_METADATA_RETRIEVED,
  FILE_OPEN_METADATA_PASSED,
  MANIFEST_VALIDATION_FAILURE_COUNT,
  // Flushes by reason, one for each column family that is flushed; below, one for each atomic
  // flush of several column families.
  FLUSH_REASON_WRITE_BUFFER_FULL,
  FLUSH_REASON_WRITE_BUFFER_MANAGER,
  FLUSH_REASON_MEMTABLE_MAX_RANGE_DELETIONS,
  ATOMIC_FLUSH_REQUEST_REASON_WRITE_BUFFER_FULL,
  ATOMIC_FLUSH_REQUEST_REASON_WRITE_BUFFER_MANAGER,
  ATOMIC_FLUSH_REQUEST_REASON_MEMTABLE_MAX_RANGE_DELETIONS,
  ATOMIC_FLUSH_REQUEST_REASON_OTHER,
  // Bytes that checkpoints read and wrote where they copied files instead of linking them.
  CHECKPOINT_READ_BYTES,
  CHECKPOINT_WRITE_BYTES,
  // Stays zero.
  FILE_SUBMIT_ASYNC_READ_FALLBACK,

  TICKER_ENUM_MAX,
};

// Pairs of each ticker and its name ("rocksdb.block.cache.miss", ...); entry i is ticker i.
VARVE_EXPORT extern const std::vector<std::pair<Tickers, std::string>> TickersNameMap;

// Distributions, with the same rules as Tickers: numbers and names are RocksDB's, and those of
// missing features stay empty.
enum Histograms : uint32_t {
  // Microseconds per call or per job. Those of DB_WRITE include waiting; a COMPACTION_CPU_TIME is
  // the sum over the threads of one compaction; SUBCOMPACTION_SETUP_TIME is that of finding the
  // keys at which a compaction is split.
  DB_GET = 0,
  DB_WRITE,
  COMPACTION_TIME,
  COMPACTION_CPU_TIME,
  SUBCOMPACTION_SETUP_TIME,
  // Microseconds per sync: of tables written by flushes, of tables written by compactions, of
  // logs, of the MANIFEST.
  TABLE_SYNC_MICROS,
  COMPACTION_OUTFILE_SYNC_MICROS,
  WAL_FILE_SYNC_MICROS,
  MANIFEST_FILE_SYNC_MICROS,
  // Microseconds of opening one table, reads included.
  TABLE_OPEN_IO_MICROS,
  DB_MULTIGET,
  // Microseconds of reading one block from a file, for a compaction and for other readers.
  READ_BLOCK_COMPACTION_MICROS,
  READ_BLOCK_GET_MICROS,
  // Microseconds of writing one block of a table.
  WRITE_RAW_BLOCK_MICROS,
  // Files per compaction, not microseconds.
  NUM_FILES_IN_SINGLE_COMPACTION,
  DB_SEEK,
  // Microseconds that one write waited because of flush or compaction debt.
  WRITE_STALL,

  // Microseconds per file read, of all activities and by activity. Those of user calls and checksum
  // verification need a StatsLevel above kExceptDetailedTimers.
  SST_READ_MICROS,
  FILE_READ_FLUSH_MICROS,
  FILE_READ_COMPACTION_MICROS,
  FILE_READ_DB_OPEN_MICROS,
  FILE_READ_GET_MICROS,
  FILE_READ_MULTIGET_MICROS,
  FILE_READ_DB_ITERATOR_MICROS,
  FILE_READ_VERIFY_DB_CHECKSUM_MICROS,
  FILE_READ_VERIFY_FILE_CHECKSUMS_MICROS,

  // Microseconds per file write, of all tables and by the work that writes them; DB_OPEN is the
  // flush of recovered memtables.
  SST_WRITE_MICROS,
  FILE_WRITE_FLUSH_MICROS,
  FILE_WRITE_COMPACTION_MICROS,
  FILE_WRITE_DB_OPEN_MICROS,

  // Pieces into which one compaction was split.
  NUM_SUBCOMPACTIONS_SCHEDULED,
  // Bytes per call.
  BYTES_PER_READ,
  BYTES_PER_WRITE,
  BYTES_PER_MULTIGET,
  // Nanoseconds per block.
  COMPRESSION_TIMES_NANOS,
  DECOMPRESSION_TIMES_NANOS,
  // Operands per merge executed for a read.
  READ_NUM_MERGE_OPERANDS,

  // Blob files have five histograms: of the time of writing, reading and syncing them, and of
  // compressing and decompressing one value. The first eight of this group stay empty.
  BLOB_DB_KEY_SIZE,
  BLOB_DB_VALUE_SIZE,
  BLOB_DB_WRITE_MICROS,
  BLOB_DB_GET_MICROS,
  BLOB_DB_MULTIGET_MICROS,
  BLOB_DB_SEEK_MICROS,
  BLOB_DB_NEXT_MICROS,
  BLOB_DB_PREV_MICROS,
  // Microseconds per write to a blob file, per read of one, and per sync of one.
  BLOB_DB_BLOB_FILE_WRITE_MICROS,
  BLOB_DB_BLOB_FILE_READ_MICROS,
  BLOB_DB_BLOB_FILE_SYNC_MICROS,
  // Microseconds per value that was compressed, and per value that was decompressed.
  BLOB_DB_COMPRESSION_MICROS,
  BLOB_DB_DECOMPRESSION_MICROS,

  // Microseconds per flush of one column family: reading its memtables and writing its table.
  FLUSH_TIME,
  // MultiGet: keys per table that is asked for several keys at once.
  SST_BATCH_SIZE,

  // MultiGet: reads issued together, blocks and files read per level, levels that needed I/O.
  MULTIGET_IO_BATCH_SIZE,
  NUM_INDEX_AND_FILTER_BLOCKS_READ_PER_LEVEL,
  NUM_SST_READ_PER_LEVEL,
  NUM_LEVEL_READ_PER_MULTIGET,

  // Attempts that one recovery from a background error took.
  ERROR_HANDLER_AUTORESUME_RETRY_COUNT,

  // Read-ahead. Bytes that one read-ahead of a compaction fetched beyond the request; bytes
  // fetched that were not used before they were dropped; bytes read from the end of a table when
  // it is opened. The histograms of asynchronous reads stay empty.
  ASYNC_READ_BYTES,
  POLL_WAIT_MICROS,
  COMPACTION_PREFETCH_BYTES,
  PREFETCHED_BYTES_DISCARDED,
  ASYNC_PREFETCH_ABORT_MICROS,
  TABLE_OPEN_PREFETCH_TAIL_READ_BYTES,

  // Updates per committed transaction.
  NUM_OP_PER_TRANSACTION,
  // Stay empty, down to BLOCK_KEY_DISTRIBUTION_CV: the features that they measure do not exist.
  MULTISCAN_OP_PREPARE_ITERATORS_MICROS,
  MULTISCAN_PREPARE_MICROS,
  MULTISCAN_BLOCKS_PER_PREPARE,
  IODISPATCHER_ASYNC_READ_OBSERVED_COMPLETION_MICROS,
  IODISPATCHER_ASYNC_READ_POLL_WAIT_MICROS,
  IODISPATCHER_ASYNC_READ_PREFETCH_LEAD_MICROS,
  BLOCK_KEY_DISTRIBUTION_CV,
  // Microseconds of the two steps of one ingestion: before writers notice it, and while it is
  // installed.
  INGEST_EXTERNAL_FILE_PREPARE_MICROS,
  INGEST_EXTERNAL_FILE_RUN_MICROS,
  // Stay empty, as waits for rate limiters are not recorded here.
  RATE_LIMITER_WAIT_MICROS_READ,
  RATE_LIMITER_WAIT_MICROS_WRITE,
  // Bytes of memory that flushed memtables held, and bytes of keys and values in them; then the
  // former by the reason of the flush.
  FLUSH_MEMTABLE_MEMORY_BYTES,
  FLUSH_MEMTABLE_TOTAL_DATA_SIZE_BYTES,
  FLUSH_WRITE_BUFFER_FULL_MEMTABLE_MEMORY_BYTES,
  FLUSH_WRITE_BUFFER_MANAGER_MEMTABLE_MEMORY_BYTES,
  // Stays empty, as compactions run in this process alone.
  OPEN_AND_COMPACT_DB_OPEN_MICROS,

  HISTOGRAM_ENUM_MAX,
};

// Pairs of each histogram and its name; entry i is histogram i.
VARVE_EXPORT extern const std::vector<std::pair<Histograms, std::string>> HistogramsNameMap;

// A summary of one histogram. Percentiles are interpolated within buckets that grow by 50 %, so
// they are approximate; count, sum, min, max and average are exact. An empty histogram has zeros.
struct HistogramData {
  // Half, 95 % and 99 % of the recorded values do not exceed these three.
  double median = 0.0;
  double percentile95 = 0.0;
  double percentile99 = 0.0;
  // The average is the sum divided by the count; the deviation is that from the average.
  double average = 0.0;
  double standard_deviation = 0.0;
  // No recorded value is larger.
  double max = 0.0;
  // The number of recorded values is followed by their sum.
  uint64_t count = 0;
  uint64_t sum = 0;
  // No recorded value is smaller.
  double min = 0.0;
};

// Says how much is collected. Each level includes those before it. A level applies to all databases
// that share the object, and to events from the change on.
enum StatsLevel : uint8_t {
  // Collects nothing.
  kDisableAll,
  kExceptTickers = kDisableAll,
  // Collects tickers only.
  kExceptHistogramOrTimers,
  // Collects also histograms of sizes and counts, which read no clock.
  kExceptTimers,
  // Collects also timers, except those within mutexes and of compression. The default.
  kExceptDetailedTimers,
  // Collects also timers of compression and of file reads by activity.
  kExceptTimeForMutex,
  // Collects also the time of waiting for mutexes.
  kAll,
};

// Records the operations of a database. Thread-safe: any thread may call any function at any time.
// A program may implement it to pass events on to a system of its own; overrides are called from
// hot paths of reads and writes, should be fast, and must not throw.
//
// Unknown ticker and histogram numbers are ignored when recording and read as zero. Values that
// are read while other threads record may be some events behind.
class VARVE_EXPORT Statistics : public Customizable {
 public:
  ~Statistics() override;

  // Returns the class name under which ObjectRegistry keeps factories of statistics.
  static const char* Type() { return "Statistics"; }
  // Accepts "BasicStatistics" or "", which are CreateDBStatistics(), or a registered object; null
  // for "nullptr". NotSupported for another name.
  static Status CreateFromString(const ConfigOptions& config_options, const std::string& value,
                                 std::shared_ptr<Statistics>* result);
  const char* Name() const override { return ""; }

  // Returns the count since the object was created or the ticker was last reset.
  virtual uint64_t getTickerCount(uint32_t tickerType) const = 0;
  // Adds `count`.
  virtual void recordTick(uint32_t tickerType, uint64_t count = 1) = 0;
  // Replaces the count; increments that other threads make at the same time may be lost.
  virtual void setTickerCount(uint32_t tickerType, uint64_t count) = 0;
  // Returns and resets the count atomically: no increment is lost or returned twice.
  virtual uint64_t getAndResetTickerCount(uint32_t tickerType) = 0;

  // Sets *data to a summary of the values recorded so far.
  virtual void histogramData(uint32_t type, HistogramData* const data) const = 0;
  // Returns percentiles and buckets as text with several lines; empty if not supported. The default
  // returns an empty text.
  virtual std::string getHistogramString(uint32_t type) const;
  // Adds one value. The default calls measureTime().
  virtual void recordInHistogram(uint32_t histogramType, uint64_t value);
  // Adds one duration; ignored at StatsLevel kExceptTimers and below.
  virtual void reportTimeToHistogram(uint32_t histogramType, uint64_t time);
  // Older name of recordInHistogram() for classes that override it; the default does nothing.
  virtual void measureTime(uint32_t histogramType, uint64_t time);

  // Resets all tickers and histograms to zero. NotSupported by default. Events recorded at the
  // same time may or may not be lost.
  virtual Status Reset();

  using Customizable::ToString;
  // Returns one line per ticker and histogram. A ticker's line is "name COUNT : n"; a histogram's
  // has the percentiles 50, 95, 99 and 100, the count and the sum. The default returns an empty
  // text.
  virtual std::string ToString() const;

  // Sets map[name] to the count of each ticker. Returns false if not supported. Entries that the
  // map had before are removed. The default returns false and leaves the map alone.
  virtual bool getTickerMap(std::map<std::string, uint64_t>* map) const;

  // True if histogram `type` is collected. Override it to exclude some.
  virtual bool HistEnabledForType(uint32_t type) const { return type < HISTOGRAM_ENUM_MAX; }

  // Sets the extent of collection. May be called at any time; other threads see the change soon.
  void set_stats_level(StatsLevel level) { stats_level_.store(level, std::memory_order_relaxed); }
  StatsLevel get_stats_level() const { return stats_level_.load(std::memory_order_relaxed); }

 private:
  std::atomic<StatsLevel> stats_level_{kExceptDetailedTimers};
};

// Returns the standard implementation: each thread has its own counters, of a few kilobytes, and
// reads add them up. With the default Env, durations are taken from the processor's cycle counter
// if it is the system's clock source; the first call measures its rate in less than a millisecond.
VARVE_EXPORT std::shared_ptr<Statistics> CreateDBStatistics();

}  // namespace varve
