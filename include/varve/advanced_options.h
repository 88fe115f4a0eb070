// SPDX-License-Identifier: Apache-2.0
#pragma once

// Column family options that few programs need to touch: the shape of the tree, write stalls,
// memtables. `ColumnFamilyOptions` (options.h) derives from them.
//
// "Dynamic" marks what DB::SetOptions may change on an open database. "Refused" marks an option
// whose non-default value DB::Open answers with NotSupported. "Advisory" marks a tuning hint for a
// mechanism that this engine does not have: every value is accepted and changes no result.

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

// Which file of an oversized level goes first.
enum CompactionPri : char {
  kByCompensatedSize = 0x0,       // Largest, tombstones counted extra.
  kOldestLargestSeqFirst = 0x1,   // Whose newest entry is oldest.
  kOldestSmallestSeqFirst = 0x2,  // Whose oldest entry is oldest.
  kMinOverlappingRatio = 0x3,     // Least overlap in the next level per byte.
  kRoundRobin = 0x4,              // In key order, continuing where the last one ended.
};

// Advisory: settings of FIFO compaction, a style that is refused at open.
struct CompactionOptionsFIFO {
  CompactionOptionsFIFO() = default;
  CompactionOptionsFIFO(uint64_t max_size, bool allow)
      : max_table_files_size(max_size), allow_compaction(allow) {}

  // Oldest files are dropped above this many bytes. Default: 1 GiB.
  uint64_t max_table_files_size = uint64_t{1} << 30;

  // Merge small files meanwhile. Default: false.
  bool allow_compaction = false;
};

struct VARVE_EXPORT AdvancedColumnFamilyOptions {
  AdvancedColumnFamilyOptions() = default;
  explicit AdvancedColumnFamilyOptions(const Options& options);

  // ---- Memtables ----

  // Memtables (mutable + waiting for their flush) before writes stop. At least 2. Dynamic.
  int max_write_buffer_number = 2;

  // Memtables merged by one flush. At least 1; at most max_write_buffer_number - 1.
  int min_write_buffer_number_to_merge = 1;

  // Bytes of memtables to keep after their flush for conflict checks of optimistic transactions.
  // 0: none; -1: max_write_buffer_number * write_buffer_size.
  int64_t max_write_buffer_size_to_maintain = 0;

  // Refused unless false: overwrite values in the memtable.
  bool inplace_update_support = false;
  size_t inplace_update_num_locks = 10000;  // Advisory. Dynamic.

  // Share of write_buffer_size spent on a Bloom filter over the memtable's prefixes (or whole
  // keys), 0 to 0.25; 0: none. Dynamic.
  double memtable_prefix_bloom_size_ratio = 0.0;
  bool memtable_whole_key_filtering = false;

  // Bytes of the reserved huge pages that memtables take. Advisory: none are taken. For transparent
  // huge pages see arena_block_size. Dynamic.
  size_t memtable_huge_page_size = 0;

  uint32_t bloom_locality = 0;  // Advisory.

  // Bytes of one memtable arena block, rounded down to a power of two; 0: an eighth of
  // write_buffer_size, 1 MiB at most. Blocks of 2 MiB, which is as much as they can have, are
  // transparent huge pages where the system has them: faster to read, slower to take from the
  // system. Blocks of a young memtable are smaller; those of one with many hundred blocks are
  // larger. Dynamic.
  size_t arena_block_size = 0;

  // SkipListFactory or VectorRepFactory; others are refused.
  std::shared_ptr<MemTableRepFactory> memtable_factory = std::make_shared<SkipListFactory>();

  // Bytes of a checksum that each entry of a memtable has: 1, 2, 4 or 8; 0: none. It is compared
  // when the entry is read or flushed: Corruption if it differs. Reads from memtables take two
  // to three times as long with it. Range deletions have none. Dynamic: later memtables.
  uint32_t memtable_protection_bytes_per_key = 0;

  // Not 0, but 1, 2, 4 or 8: each data block in the block cache has a checksum of 8 bytes,
  // whichever of them it is, which is compared whenever a read takes the block from there. One that
  // is not what was read from the file is dropped and read again, and counted as
  // BLOCK_CHECKSUM_MISMATCH_COUNT. Indexes and filters have none.
  uint8_t block_protection_bytes_per_key = 0;

  // Range deletions in a memtable that cause its flush; 0: no limit. Dynamic.
  uint32_t memtable_max_range_deletions = 0;

  // ---- Shape of the tree ----

  // One codec per level. Empty: `compression` for all. With dynamic levels, entry 0 is L0 and
  // entry 1 the base level. Dynamic.
  std::vector<CompressionType> compression_per_level;

  // 1 to 64. 1 counts as 2: what leaves L0 goes somewhere.
  int num_levels = 7;

  // Bytes of one output file at level 1, and the factor per further level (at least 1). Dynamic.
  uint64_t target_file_size_base = 64 * 1048576;
  int target_file_size_multiplier = 1;

  // Level sizes follow from the last level's real size instead of max_bytes_for_level_base
  // upwards: about 10% space overhead.
  bool level_compaction_dynamic_level_bytes = true;

  // Size factor between levels, and a further factor for individual levels. Dynamic.
  double max_bytes_for_level_multiplier = 10;
  std::vector<int> max_bytes_for_level_multiplier_additional = std::vector<int>(7, 1);

  // Input bytes of one compaction; 0: target_file_size_base * 25. Dynamic.
  uint64_t max_compaction_bytes = 0;

  // kCompactionStyleLevel, or kCompactionStyleNone: nothing is compacted that nobody asks for, as
  // with disable_auto_compactions. Other styles are NotSupported.
  CompactionStyle compaction_style = kCompactionStyleLevel;
  CompactionPri compaction_pri = kMinOverlappingRatio;      // Dynamic.
  CompactionOptionsUniversal compaction_options_universal;  // Advisory.
  CompactionOptionsFIFO compaction_options_fifo;            // Advisory.

  // Seconds after which a file whose oldest data was written then goes down a level, until its data
  // is in the last one: what was overwritten or deleted goes at the latest then. 0: never; the
  // default stands for 30 days. Dynamic.
  uint64_t ttl = 0xfffffffffffffffe;

  // Seconds after which a file is rewritten, so that compaction filters see all data from time to
  // time. 0: never; the default stands for 30 days with a compaction filter or a factory of such,
  // for never without. Dynamic.
  uint64_t periodic_compaction_seconds = 0xfffffffffffffffe;

  // Seconds that a file is left alone after it was made, before it is rewritten only to get rid of
  // entries that a snapshot held back and nothing lies beneath. Dynamic.
  uint32_t bottommost_file_compaction_delay = 0;

  // ---- Write stalls ----

  // L0 files at which writes slow down, and at which they stop. Dynamic.
  int level0_slowdown_writes_trigger = 20;
  int level0_stop_writes_trigger = 36;

  // Bytes that compaction is behind at which writes slow down, and stop; 0: never. Dynamic.
  uint64_t soft_pending_compaction_bytes_limit = uint64_t{64} << 30;
  uint64_t hard_pending_compaction_bytes_limit = uint64_t{256} << 30;

  // ---- Reading and merging ----

  // Hidden versions of a key an iterator steps over before it seeks. Dynamic.
  uint64_t max_sequential_skip_in_iterations = 8;

  // Called for every entry of a new table to add user properties.
  using TablePropertiesCollectorFactories =
      std::vector<std::shared_ptr<TablePropertiesCollectorFactory>>;
  TablePropertiesCollectorFactories table_properties_collector_factories;

  // Where a key has this many merge operands on top of each other in the memtable, a further one is
  // merged when it is written. 0: never, and so with timestamps, as a later write may have an older
  // one. Refused together with DBOptions::unordered_write. Beside other writers it may come to
  // more.
  size_t max_successive_merges = 0;
  // Even if the value below has to be read from files.
  bool strict_max_successive_merges = false;

  // No filters in the last level: saves memory where most look-ups find their key.
  bool optimize_filters_for_hits = false;

  // ---- Checks and statistics ----

  // Read every new table back after it was written, and compare its entries to those that were
  // added: a flush or compaction fails, and keeps its inputs, rather than take a table that
  // differs. Dynamic.
  bool paranoid_file_checks = false;

  // Advisory: the order of files is verified in each new version.
  bool force_consistency_checks = true;

  // Measure what writing and syncing the tables of a compaction takes, for
  // CompactionJobStats::file_write_nanos and those beside it, which are 0 otherwise. Dynamic.
  bool report_bg_io_stats = false;

  // Of so many data blocks one is also compressed with a fast codec (LZ4, else Snappy) and a slow
  // one (ZSTD, else zlib): the properties of tables tell what all data would take
  // (fast_compression_estimated_data_size, slow_...). 0: none. Dynamic.
  uint64_t sample_for_compression = 0;

  // Whether tables keep the timestamps of keys. False: they are in memtables and logs only, and a
  // flush raises full_history_ts_low (DB::IncreaseFullHistoryTsLow) above what it writes, below
  // which it is not defined what is left of versions that are written out of the order of
  // timestamps; needs a built-in comparator with timestamps, neither atomic_flush nor
  // allow_concurrent_memtable_write. It cannot change while there are timestamps; with false they
  // can be switched on and off, by opening with BytewiseComparatorWithU64Ts() instead of
  // BytewiseComparator() and the reverse.
  bool persist_user_defined_timestamps = true;

  // ---- Values in separate files ----

  bool enable_blob_files = false;  // Refused unless false.

  // Advisory, as there are none.
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
