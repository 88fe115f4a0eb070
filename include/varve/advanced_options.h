// SPDX-License-Identifier: Apache-2.0
#pragma once

// Column family options that few programs need to change: the shape of the tree, write stalls,
// memtables. `ColumnFamilyOptions` (options.h) derives from them.
//
// "Dynamic" marks options that DB::SetOptions may change on an open database. "Refused" marks an
// option whose non-default value makes DB::Open return NotSupported. "Advisory" marks a tuning hint
// for a mechanism that this engine does not have: every value is accepted and has no effect on
// results.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "varve/cache.h"
#include "varve/compression_type.h"
#include "varve/export.h"
#include "varve/memtablerep.h"
#include "varve/types.h"
#include "varve/universal_compaction.h"

namespace varve {

class Slice;
class SliceTransform;
class TableFactory;
class TablePropertiesCollectorFactory;
struct Options;

enum CompactionStyle : char {
  kCompactionStyleLevel = 0x0,
  kCompactionStyleUniversal = 0x1,  // Refused.
  kCompactionStyleFIFO = 0x2,       // Refused.
  kCompactionStyleNone = 0x3,
};

// Order in which files of a level above its target size are compacted.
enum CompactionPri : char {
  kByCompensatedSize = 0x0,       // The largest; tombstones add to its size.
  kOldestLargestSeqFirst = 0x1,   // The file whose newest entry is oldest.
  kOldestSmallestSeqFirst = 0x2,  // The file whose oldest entry is oldest.
  kMinOverlappingRatio = 0x3,     // Least overlap with the next level per byte.
  kRoundRobin = 0x4,              // In key order, after the previous one.
};

// Advisory: settings of FIFO compaction, a style that is refused at open.
struct CompactionOptionsFIFO {
  CompactionOptionsFIFO() = default;
  CompactionOptionsFIFO(uint64_t max_size, bool allow)
      : max_table_files_size(max_size), allow_compaction(allow) {}

  // Bytes of tables above which the oldest are dropped. Default: 1 GiB.
  uint64_t max_table_files_size = uint64_t{1} << 30;

  // Small files are merged. Default: false.
  bool allow_compaction = false;
};

struct VARVE_EXPORT AdvancedColumnFamilyOptions {
  AdvancedColumnFamilyOptions() = default;
  explicit AdvancedColumnFamilyOptions(const Options& options);

  // ---- Memtables ----

  // Number of memtables (mutable and waiting for flush) that stops writes. At least 2. Dynamic.
  int max_write_buffer_number = 2;

  // Number of memtables merged by one flush, from 1 to max_write_buffer_number - 1.
  int min_write_buffer_number_to_merge = 1;

  // Bytes of memtables kept after their flush for conflict checks of optimistic transactions. 0:
  // none; -1: max_write_buffer_number * write_buffer_size.
  int64_t max_write_buffer_size_to_maintain = 0;

  // Refused unless false: values are overwritten in the memtable.
  bool inplace_update_support = false;
  size_t inplace_update_num_locks = 10000;  // Advisory. Dynamic.

  // Share of write_buffer_size used for a Bloom filter over the memtable's prefixes (or whole
  // keys), 0 to 0.25; 0: no filter. Dynamic.
  double memtable_prefix_bloom_size_ratio = 0.0;
  bool memtable_whole_key_filtering = false;

  // Bytes of reserved huge pages for memtables. Advisory: none are used. For transparent huge pages
  // see arena_block_size. Dynamic.
  size_t memtable_huge_page_size = 0;

  uint32_t bloom_locality = 0;  // Advisory.

  // Bytes of one block of a memtable's arena, rounded down to a power of two, at most 2 MiB; 0:
  // write_buffer_size / 8, at most 1 MiB. Blocks of 2 MiB use transparent huge pages if the system
  // has them: reads are faster, allocation is slower. Blocks of a new memtable are smaller, those
  // of one with many hundred blocks are larger. Dynamic.
  size_t arena_block_size = 0;

  // SkipListFactory or VectorRepFactory; other factories are refused.
  std::shared_ptr<MemTableRepFactory> memtable_factory = std::make_shared<SkipListFactory>();

  // Bytes of the checksum of each memtable entry: 1, 2, 4 or 8; 0: no checksum. It is compared when
  // the entry is read or flushed; a difference is Corruption. Memtable reads then take two to three
  // times as long. Range deletions have no checksum. Dynamic: for later memtables.
  uint32_t memtable_protection_bytes_per_key = 0;

  // 0, 1, 2, 4 or 8. If not 0, each data block in the block cache has a checksum of 8 bytes,
  // compared whenever a read takes the block from the cache. A block that differs is dropped, read
  // again from the file, and counted as BLOCK_CHECKSUM_MISMATCH_COUNT. Indexes and filters have no
  // checksum.
  uint8_t block_protection_bytes_per_key = 0;

  // Number of range deletions in a memtable that causes its flush; 0: no limit. Dynamic.
  uint32_t memtable_max_range_deletions = 0;

  // ---- Shape of the tree ----

  // Codec of each level. Empty: `compression` for all. With dynamic level sizes, entry 0 is L0 and
  // entry 1 the base level. Dynamic.
  std::vector<CompressionType> compression_per_level;

  // Number of levels, 1 to 64. 1 counts as 2, as data that leaves L0 needs a level.
  int num_levels = 7;

  // Bytes of one output file at L1, and the factor for each deeper level (at least 1). Dynamic.
  uint64_t target_file_size_base = 64 * 1048576;
  int target_file_size_multiplier = 1;

  // Derives level sizes from the real size of the last level, not from max_bytes_for_level_base:
  // about 10% space overhead.
  bool level_compaction_dynamic_level_bytes = true;

  // Size factor between levels, and additional factors for individual levels. Dynamic.
  double max_bytes_for_level_multiplier = 10;
  std::vector<int> max_bytes_for_level_multiplier_additional = std::vector<int>(7, 1);

  // Limit of input bytes of one compaction; 0: target_file_size_base * 25. Dynamic.
  uint64_t max_compaction_bytes = 0;

  // kCompactionStyleLevel, or kCompactionStyleNone, which runs only requested compactions, like
  // disable_auto_compactions. Other styles are NotSupported.
  CompactionStyle compaction_style = kCompactionStyleLevel;
  CompactionPri compaction_pri = kMinOverlappingRatio;      // Dynamic.
  CompactionOptionsUniversal compaction_options_universal;  // Advisory.
  CompactionOptionsFIFO compaction_options_fifo;            // Advisory.

  // Seconds after its oldest data was written at which a file moves down a level, until the data
  // reaches the last one; overwritten and deleted entries are dropped then at the latest. 0: never;
  // default: 30 days. Dynamic.
  uint64_t ttl = 0xfffffffffffffffe;

  // Seconds after which a file is rewritten, so that compaction filters see all data periodically.
  // 0: never; default: 30 days with a compaction filter or filter factory, else never. Dynamic.
  uint64_t periodic_compaction_seconds = 0xfffffffffffffffe;

  // Seconds after its creation before a file is rewritten only to drop entries that a snapshot kept
  // and that have nothing below them. Dynamic.
  uint32_t bottommost_file_compaction_delay = 0;

  // ---- Write stalls ----

  // Numbers of L0 files at which writes slow down, and at which they stop. Dynamic.
  int level0_slowdown_writes_trigger = 20;
  int level0_stop_writes_trigger = 36;

  // Bytes of pending compaction at which writes slow down, and at which they stop; 0: never.
  // Dynamic.
  uint64_t soft_pending_compaction_bytes_limit = uint64_t{64} << 30;
  uint64_t hard_pending_compaction_bytes_limit = uint64_t{256} << 30;

  // ---- Reading and merging ----

  // Number of hidden versions of a key that an iterator skips before it seeks. Dynamic.
  uint64_t max_sequential_skip_in_iterations = 8;

  // Makers of collectors that see every entry of a new table and add user properties.
  using TablePropertiesCollectorFactories =
      std::vector<std::shared_ptr<TablePropertiesCollectorFactory>>;
  TablePropertiesCollectorFactories table_properties_collector_factories;

  // Number of consecutive merge operands of a key in the memtable from which a further operand is
  // merged when it is written. 0: never, and neither with timestamps, as a later write may have an
  // older one. Refused together with DBOptions::unordered_write. Concurrent writers may exceed the
  // number.
  size_t max_successive_merges = 0;
  // Merges then even if the base value has to be read from files.
  bool strict_max_successive_merges = false;

  // Omits filters in the last level, which saves memory where most lookups find their key.
  bool optimize_filters_for_hits = false;

  // ---- Checks and statistics ----

  // Reads every new table back after writing it, and compares its entries with those added. If it
  // differs, the flush or compaction fails and keeps its inputs. Dynamic.
  bool paranoid_file_checks = false;

  // Advisory: the order of files is always verified in each new version.
  bool force_consistency_checks = true;

  // Measures the time of writing and syncing the tables of a compaction, for
  // CompactionJobStats::file_write_nanos etc., which are 0 otherwise. Dynamic.
  bool report_bg_io_stats = false;

  // One of this many data blocks is also compressed with a fast codec (LZ4, else Snappy) and a slow
  // one (ZSTD, else zlib). Table properties report the estimated size of all data
  // (fast_compression_estimated_data_size, slow_...). 0: none. Dynamic.
  uint64_t sample_for_compression = 0;

  // True: tables store the timestamps of keys. False: only memtables and logs do, and a flush
  // raises full_history_ts_low (DB::IncreaseFullHistoryTsLow) above the flushed timestamps; below
  // it, the versions left of keys written out of timestamp order are undefined. False requires a
  // built-in comparator with timestamps, atomic_flush = false and allow_concurrent_memtable_write =
  // false. The value cannot change while the column family has timestamps; with false, timestamps
  // can be switched on and off by opening with BytewiseComparatorWithU64Ts() instead of
  // BytewiseComparator() and vice versa.
  bool persist_user_defined_timestamps = true;

  // ---- Values in separate files ----

  bool enable_blob_files = false;  // Refused unless false.

  // Advisory, as blob files do not exist.
  uint64_t min_blob_size = 0;
  uint64_t blob_file_size = uint64_t{1} << 28;
  CompressionType blob_compression_type = kNoCompression;
  bool enable_blob_garbage_collection = false;
  double blob_garbage_collection_age_cutoff = 0.25;
  double blob_garbage_collection_force_threshold = 1.0;
  uint64_t blob_compaction_readahead_size = 0;
  int blob_file_starting_level = 0;
};

}  // namespace varve
