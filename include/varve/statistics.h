// SPDX-License-Identifier: Apache-2.0
#pragma once

// Statistics counts (tickers) and measures (histograms) the operations of a database. One object
// may serve several databases, whose numbers are then added up.

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

// Counters, in the order that dashboards and language bindings expect. Some belong to features that
// Varve does not have: they keep the numbering and stay zero.
enum Tickers : uint32_t {
  // Block cache. The _MISS, _HIT and _ADD totals are sums of their index, filter, data and
  // compression-dictionary parts.
  BLOCK_CACHE_MISS = 0,
  BLOCK_CACHE_HIT,
  BLOCK_CACHE_ADD,
  BLOCK_CACHE_ADD_FAILURES,
  BLOCK_CACHE_INDEX_MISS,
  BLOCK_CACHE_INDEX_HIT,
  BLOCK_CACHE_INDEX_ADD,
  BLOCK_CACHE_INDEX_BYTES_INSERT,
  BLOCK_CACHE_FILTER_MISS,
  BLOCK_CACHE_FILTER_HIT,
  BLOCK_CACHE_FILTER_ADD,
  BLOCK_CACHE_FILTER_BYTES_INSERT,
  BLOCK_CACHE_DATA_MISS,
  BLOCK_CACHE_DATA_HIT,
  BLOCK_CACHE_DATA_ADD,
  BLOCK_CACHE_DATA_BYTES_INSERT,
  BLOCK_CACHE_BYTES_READ,
  BLOCK_CACHE_BYTES_WRITE,
  BLOCK_CACHE_COMPRESSION_DICT_MISS,
  BLOCK_CACHE_COMPRESSION_DICT_HIT,
  BLOCK_CACHE_COMPRESSION_DICT_ADD,
  BLOCK_CACHE_COMPRESSION_DICT_BYTES_INSERT,
  // Blocks read and inserted after another thread had inserted the same one.
  BLOCK_CACHE_ADD_REDUNDANT,
  BLOCK_CACHE_INDEX_ADD_REDUNDANT,
  BLOCK_CACHE_FILTER_ADD_REDUNDANT,
  BLOCK_CACHE_DATA_ADD_REDUNDANT,
  BLOCK_CACHE_COMPRESSION_DICT_ADD_REDUNDANT,

  // Secondary caches.
  SECONDARY_CACHE_HITS,
  SECONDARY_CACHE_FILTER_HITS,
  SECONDARY_CACHE_INDEX_HITS,
  SECONDARY_CACHE_DATA_HITS,
  COMPRESSED_SECONDARY_CACHE_DUMMY_HITS,
  COMPRESSED_SECONDARY_CACHE_HITS,
  COMPRESSED_SECONDARY_CACHE_PROMOTIONS,
  COMPRESSED_SECONDARY_CACHE_PROMOTION_SKIPS,

  // Table filters in point lookups. USEFUL: the filter excluded the key; POSITIVE: it did not;
  // TRUE_POSITIVE: it did not, and the key existed.
  BLOOM_FILTER_USEFUL,
  BLOOM_FILTER_FULL_POSITIVE,
  BLOOM_FILTER_FULL_TRUE_POSITIVE,
  BLOOM_FILTER_PREFIX_CHECKED,
  BLOOM_FILTER_PREFIX_USEFUL,
  BLOOM_FILTER_PREFIX_TRUE_POSITIVE,

  PERSISTENT_CACHE_HIT,
  PERSISTENT_CACHE_MISS,
  SIM_BLOCK_CACHE_HIT,
  SIM_BLOCK_CACHE_MISS,

  // Point lookups by the place of their result.
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
  // Compactions ended for lack of space / on request.
  COMPACTION_CANCELLED,
  COMPACTION_ABORTED,

  // User operations. Bytes are uncompressed keys and values.
  NUMBER_KEYS_WRITTEN,
  NUMBER_KEYS_READ,
  NUMBER_KEYS_UPDATED,
  BYTES_WRITTEN,
  // Bytes of values returned by Get.
  BYTES_READ,
  NUMBER_DB_SEEK,
  NUMBER_DB_NEXT,
  NUMBER_DB_PREV,
  NUMBER_DB_SEEK_FOUND,
  NUMBER_DB_NEXT_FOUND,
  NUMBER_DB_PREV_FOUND,
  ITER_BYTES_READ,
  // Internal entries skipped by iterators, and seeks made instead of skipping.
  NUMBER_ITER_SKIP,
  NUMBER_OF_RESEEKS_IN_ITERATION,
  NO_ITERATOR_CREATED,
  NO_ITERATOR_DELETED,
  NO_FILE_OPENS,
  NO_FILE_ERRORS,
  // Microseconds that writers were delayed because of flush or compaction debt.
  STALL_MICROS,
  // Microseconds of waiting for the DB mutex; only at StatsLevel kAll.
  DB_MUTEX_WAIT_MICROS,

  NUMBER_MULTIGET_CALLS,
  NUMBER_MULTIGET_KEYS_READ,
  NUMBER_MULTIGET_BYTES_READ,
  NUMBER_MULTIGET_KEYS_FOUND,
  NUMBER_MERGE_FAILURES,

  // Write-ahead log and write groups.
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
  WRITE_WITH_WAL,

  // Bytes read and written by background work.
  COMPACT_READ_BYTES,
  COMPACT_WRITE_BYTES,
  FLUSH_WRITE_BYTES,
  COMPACT_READ_BYTES_MARKED,
  COMPACT_READ_BYTES_PERIODIC,
  COMPACT_READ_BYTES_TTL,
  COMPACT_WRITE_BYTES_MARKED,
  COMPACT_WRITE_BYTES_PERIODIC,
  COMPACT_WRITE_BYTES_TTL,

  NUMBER_DIRECT_LOAD_TABLE_PROPERTIES,
  NUMBER_SUPERVERSION_ACQUIRES,
  NUMBER_SUPERVERSION_RELEASES,
  NUMBER_SUPERVERSION_CLEANUPS,

  // Compression of table blocks. BYPASSED: stored raw without trying; REJECTED: stored raw because
  // compression did not help.
  NUMBER_BLOCK_COMPRESSED,
  NUMBER_BLOCK_DECOMPRESSED,
  BYTES_COMPRESSED_FROM,
  BYTES_COMPRESSED_TO,
  BYTES_COMPRESSION_BYPASSED,
  BYTES_COMPRESSION_REJECTED,
  NUMBER_BLOCK_COMPRESSION_BYPASSED,
  NUMBER_BLOCK_COMPRESSION_REJECTED,
  BYTES_DECOMPRESSED_FROM,
  BYTES_DECOMPRESSED_TO,

  // Total times in nanoseconds, nanoseconds, and CPU microseconds.
  MERGE_OPERATION_TOTAL_TIME,
  FILTER_OPERATION_TOTAL_TIME,
  COMPACTION_CPU_TOTAL_TIME,

  ROW_CACHE_HIT,
  ROW_CACHE_MISS,
  READ_AMP_ESTIMATE_USEFUL_BYTES,
  READ_AMP_TOTAL_READ_BYTES,
  // Refill periods of a rate limiter after which a request still waited.
  NUMBER_RATE_LIMITER_DRAINS,
  RATE_LIMITER_BYTES_READ,
  RATE_LIMITER_BYTES_WRITE,
  RATE_LIMITER_REQUESTS_READ,
  RATE_LIMITER_REQUESTS_WRITE,
  RATE_LIMITER_DELAYED_REQUESTS_READ,
  RATE_LIMITER_DELAYED_REQUESTS_WRITE,
  RATE_LIMITER_TOTAL_WAIT_MICROS_READ,
  RATE_LIMITER_TOTAL_WAIT_MICROS_WRITE,

  // Values kept in blob files.
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
  BLOB_DB_BLOB_FILE_BYTES_WRITTEN,
  BLOB_DB_BLOB_FILE_BYTES_READ,
  BLOB_DB_BLOB_FILE_SYNCED,
  BLOB_DB_BLOB_INDEX_EXPIRED_COUNT,
  BLOB_DB_BLOB_INDEX_EXPIRED_SIZE,
  BLOB_DB_BLOB_INDEX_EVICTED_COUNT,
  BLOB_DB_BLOB_INDEX_EVICTED_SIZE,
  BLOB_DB_GC_NUM_FILES,
  BLOB_DB_GC_NUM_NEW_FILES,
  BLOB_DB_GC_FAILURES,
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

  // Slow paths of write-prepared transactions; all should stay near zero.
  TXN_PREPARE_MUTEX_OVERHEAD,
  TXN_OLD_COMMIT_MAP_MUTEX_OVERHEAD,
  TXN_DUPLICATE_KEY_OVERHEAD,
  TXN_SNAPSHOT_MUTEX_OVERHEAD,
  TXN_GET_TRY_AGAIN,

  FILES_MARKED_TRASH,
  FILES_DELETED_FROM_TRASH_QUEUE,
  FILES_DELETED_IMMEDIATELY,

  // Background errors: all, I/O errors, retryable ones; and attempts to recover.
  ERROR_HANDLER_BG_ERROR_COUNT,
  ERROR_HANDLER_BG_IO_ERROR_COUNT,
  ERROR_HANDLER_BG_RETRYABLE_IO_ERROR_COUNT,
  ERROR_HANDLER_AUTORESUME_COUNT,
  ERROR_HANDLER_AUTORESUME_RETRY_TOTAL_COUNT,
  ERROR_HANDLER_AUTORESUME_SUCCESS_COUNT,

  // Bytes in flushed memtables, and those of them that were already overwritten.
  MEMTABLE_PAYLOAD_BYTES_AT_FLUSH,
  MEMTABLE_GARBAGE_BYTES_AT_FLUSH,
  VERIFY_CHECKSUM_READ_BYTES,
  BACKUP_READ_BYTES,
  BACKUP_WRITE_BYTES,
  REMOTE_COMPACT_READ_BYTES,
  REMOTE_COMPACT_WRITE_BYTES,
  REMOTE_COMPACT_RESUMED_BYTES,

  // File reads by temperature and by level.
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

  BLOCK_CHECKSUM_COMPUTE_COUNT,
  // Counts every detection, also repeated ones of one block.
  BLOCK_CHECKSUM_MISMATCH_COUNT,
  MULTIGET_COROUTINE_COUNT,
  READ_ASYNC_MICROS,
  ASYNC_READ_ERROR_COUNT,
  // Metadata reads when opening a table: not served / served by the prefetched end of the file.
  TABLE_OPEN_PREFETCH_TAIL_MISS,
  TABLE_OPEN_PREFETCH_TAIL_HIT,
  TIMESTAMP_FILTER_TABLE_CHECKED,
  TIMESTAMP_FILTER_TABLE_FILTERED,
  READAHEAD_TRIMMED,
  FIFO_MAX_SIZE_COMPACTIONS,
  FIFO_TTL_COMPACTIONS,
  FIFO_CHANGE_TEMPERATURE_COMPACTIONS,
  // Read-ahead of user scans: bytes fetched, fetched bytes that were used, reads saved.
  PREFETCH_BYTES,
  PREFETCH_BYTES_USEFUL,
  PREFETCH_HITS,
  SST_FOOTER_CORRUPTION_COUNT,
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
  FLUSH_REASON_WRITE_BUFFER_FULL,
  FLUSH_REASON_WRITE_BUFFER_MANAGER,
  FLUSH_REASON_MEMTABLE_MAX_RANGE_DELETIONS,
  ATOMIC_FLUSH_REQUEST_REASON_WRITE_BUFFER_FULL,
  ATOMIC_FLUSH_REQUEST_REASON_WRITE_BUFFER_MANAGER,
  ATOMIC_FLUSH_REQUEST_REASON_MEMTABLE_MAX_RANGE_DELETIONS,
  ATOMIC_FLUSH_REQUEST_REASON_OTHER,
  CHECKPOINT_READ_BYTES,
  CHECKPOINT_WRITE_BYTES,
  FILE_SUBMIT_ASYNC_READ_FALLBACK,

  TICKER_ENUM_MAX,
};

// Pairs of each ticker and its name ("rocksdb.block.cache.miss", ...); entry i is ticker i.
VARVE_EXPORT extern const std::vector<std::pair<Tickers, std::string>> TickersNameMap;

// Distributions, with the same rules as Tickers.
enum Histograms : uint32_t {
  // Microseconds per call or per job.
  DB_GET = 0,
  DB_WRITE,
  COMPACTION_TIME,
  COMPACTION_CPU_TIME,
  SUBCOMPACTION_SETUP_TIME,
  TABLE_SYNC_MICROS,
  COMPACTION_OUTFILE_SYNC_MICROS,
  WAL_FILE_SYNC_MICROS,
  MANIFEST_FILE_SYNC_MICROS,
  TABLE_OPEN_IO_MICROS,
  DB_MULTIGET,
  READ_BLOCK_COMPACTION_MICROS,
  READ_BLOCK_GET_MICROS,
  WRITE_RAW_BLOCK_MICROS,
  NUM_FILES_IN_SINGLE_COMPACTION,
  DB_SEEK,
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

  // Microseconds per file write.
  SST_WRITE_MICROS,
  FILE_WRITE_FLUSH_MICROS,
  FILE_WRITE_COMPACTION_MICROS,
  FILE_WRITE_DB_OPEN_MICROS,

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

  // Values kept in blob files.
  BLOB_DB_KEY_SIZE,
  BLOB_DB_VALUE_SIZE,
  BLOB_DB_WRITE_MICROS,
  BLOB_DB_GET_MICROS,
  BLOB_DB_MULTIGET_MICROS,
  BLOB_DB_SEEK_MICROS,
  BLOB_DB_NEXT_MICROS,
  BLOB_DB_PREV_MICROS,
  BLOB_DB_BLOB_FILE_WRITE_MICROS,
  BLOB_DB_BLOB_FILE_READ_MICROS,
  BLOB_DB_BLOB_FILE_SYNC_MICROS,
  BLOB_DB_COMPRESSION_MICROS,
  BLOB_DB_DECOMPRESSION_MICROS,

  FLUSH_TIME,
  SST_BATCH_SIZE,

  // MultiGet: reads issued together, blocks and files read per level, levels that needed I/O.
  MULTIGET_IO_BATCH_SIZE,
  NUM_INDEX_AND_FILTER_BLOCKS_READ_PER_LEVEL,
  NUM_SST_READ_PER_LEVEL,
  NUM_LEVEL_READ_PER_MULTIGET,

  ERROR_HANDLER_AUTORESUME_RETRY_COUNT,

  // Asynchronous reads and read-ahead.
  ASYNC_READ_BYTES,
  POLL_WAIT_MICROS,
  COMPACTION_PREFETCH_BYTES,
  PREFETCHED_BYTES_DISCARDED,
  ASYNC_PREFETCH_ABORT_MICROS,
  TABLE_OPEN_PREFETCH_TAIL_READ_BYTES,

  NUM_OP_PER_TRANSACTION,
  MULTISCAN_OP_PREPARE_ITERATORS_MICROS,
  MULTISCAN_PREPARE_MICROS,
  MULTISCAN_BLOCKS_PER_PREPARE,
  IODISPATCHER_ASYNC_READ_OBSERVED_COMPLETION_MICROS,
  IODISPATCHER_ASYNC_READ_POLL_WAIT_MICROS,
  IODISPATCHER_ASYNC_READ_PREFETCH_LEAD_MICROS,
  BLOCK_KEY_DISTRIBUTION_CV,
  INGEST_EXTERNAL_FILE_PREPARE_MICROS,
  INGEST_EXTERNAL_FILE_RUN_MICROS,
  RATE_LIMITER_WAIT_MICROS_READ,
  RATE_LIMITER_WAIT_MICROS_WRITE,
  FLUSH_MEMTABLE_MEMORY_BYTES,
  FLUSH_MEMTABLE_TOTAL_DATA_SIZE_BYTES,
  FLUSH_WRITE_BUFFER_FULL_MEMTABLE_MEMORY_BYTES,
  FLUSH_WRITE_BUFFER_MANAGER_MEMTABLE_MEMORY_BYTES,
  OPEN_AND_COMPACT_DB_OPEN_MICROS,

  HISTOGRAM_ENUM_MAX,
};

// Pairs of each histogram and its name; entry i is histogram i.
VARVE_EXPORT extern const std::vector<std::pair<Histograms, std::string>> HistogramsNameMap;

// Summary of one histogram. Percentiles are interpolated within buckets that grow by 50%.
struct HistogramData {
  double median = 0.0;
  double percentile95 = 0.0;
  double percentile99 = 0.0;
  double average = 0.0;
  double standard_deviation = 0.0;
  double max = 0.0;
  uint64_t count = 0;
  uint64_t sum = 0;
  double min = 0.0;
};

// Extent of collection. Each level includes those before it.
enum StatsLevel : uint8_t {
  // Nothing.
  kDisableAll,
  kExceptTickers = kDisableAll,
  // Tickers only.
  kExceptHistogramOrTimers,
  // Also histograms of sizes and counts, which read no clock.
  kExceptTimers,
  // Also timers, except those within mutexes and of compression. The default.
  kExceptDetailedTimers,
  // Also timers of compression and of file reads by activity.
  kExceptTimeForMutex,
  // Also the time of waiting for mutexes.
  kAll,
};

// Records the operations of a database. Thread-safe. Overrides must not throw.
//
// Unknown ticker and histogram numbers are ignored when recording and read as zero.
class VARVE_EXPORT Statistics : public Customizable {
 public:
  ~Statistics() override;

  static const char* Type() { return "Statistics"; }
  // Accepts "BasicStatistics" or "", which are CreateDBStatistics(), or a registered object; null
  // for "nullptr". NotSupported for another name.
  static Status CreateFromString(const ConfigOptions& config_options, const std::string& value,
                                 std::shared_ptr<Statistics>* result);
  const char* Name() const override { return ""; }

  virtual uint64_t getTickerCount(uint32_t tickerType) const = 0;
  virtual void recordTick(uint32_t tickerType, uint64_t count = 1) = 0;
  virtual void setTickerCount(uint32_t tickerType, uint64_t count) = 0;
  // Returns and resets the count atomically: no increment is lost or returned twice.
  virtual uint64_t getAndResetTickerCount(uint32_t tickerType) = 0;

  virtual void histogramData(uint32_t type, HistogramData* const data) const = 0;
  // Returns percentiles and buckets as text with several lines; empty if not supported.
  virtual std::string getHistogramString(uint32_t type) const;
  // Adds one value. The default calls measureTime().
  virtual void recordInHistogram(uint32_t histogramType, uint64_t value);
  // Adds one duration; ignored at StatsLevel kExceptTimers and below.
  virtual void reportTimeToHistogram(uint32_t histogramType, uint64_t time);
  // Older name of recordInHistogram() for classes that override it; the default does nothing.
  virtual void measureTime(uint32_t histogramType, uint64_t time);

  // Resets everything. NotSupported by default.
  virtual Status Reset();

  using Customizable::ToString;
  // Returns one line per ticker and histogram.
  virtual std::string ToString() const;

  // Sets map[name] to the count of each ticker. Returns false if not supported.
  virtual bool getTickerMap(std::map<std::string, uint64_t>* map) const;

  // True if histogram `type` is collected. Override it to exclude some.
  virtual bool HistEnabledForType(uint32_t type) const { return type < HISTOGRAM_ENUM_MAX; }

  // May be called at any time; other threads see the change soon.
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
