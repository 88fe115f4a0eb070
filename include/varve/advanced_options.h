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
#include <string>
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

// The shape into which compactions bring a column family's tables. Level has the fewest bytes on
// disk and the fastest reads; Universal writes less and needs more space; FIFO only drops old
// tables.
enum CompactionStyle : char {
  // Levels, each about ten times as large as the one above, sorted by key from L1 on.
  kCompactionStyleLevel = 0x0,
  // Sorted runs, which are merged when there are many or when they have similar sizes
  // (universal_compaction.h).
  kCompactionStyleUniversal = 0x1,
  // Tables in the order of their age; the oldest are dropped (CompactionOptionsFIFO).
  kCompactionStyleFIFO = 0x2,
  // Nothing is compacted unless a call asks for it.
  kCompactionStyleNone = 0x3,
};

// Says what a function that updates values in place has done. Here for RocksDB's names: such
// functions are refused (inplace_callback).
enum UpdateStatus {
  UPDATE_FAILED = 0,
  UPDATED_INPLACE = 1,  // It has overwritten the existing value.
  UPDATED = 2,          // *merged_value is the new value.
};
using InplaceCallback = UpdateStatus (*)(char* existing_value, uint32_t* existing_value_size,
                                         Slice delta_value, std::string* merged_value);

// Says which values enter ColumnFamilyOptions::blob_cache before they are read.
enum class PrepopulateBlobCache : uint8_t {
  kDisable = 0x0,    // None does.
  kFlushOnly = 0x1,  // Those that flushes write to blob files do.
};

// Levels of a cache, from the fastest. Varve's caches have the first alone.
enum class CacheTier : uint8_t {
  kVolatileTier = 0x0,
  kVolatileCompressedTier = 0x1,
  kNonVolatileBlockTier = 0x2,
};

// Order in which files of a level above its target size are compacted.
enum CompactionPri : char {
  // The largest file is first; tombstones add to its size.
  kByCompensatedSize = 0x0,
  // The file whose newest entry is oldest is first.
  kOldestLargestSeqFirst = 0x1,
  // The file whose oldest entry is oldest is first.
  kOldestSmallestSeqFirst = 0x2,
  // The file that overlaps the next level least, in relation to its size, is first. The default.
  kMinOverlappingRatio = 0x3,
  // Files follow each other in key order, from one compaction to the next.
  kRoundRobin = 0x4,
};

// From this age on, in seconds since its newest data was written, a table is to have a temperature.
struct FileTemperatureAge {
  Temperature temperature = Temperature::kUnknown;
  uint64_t age = 0;

  bool operator==(const FileTemperatureAge&) const = default;
};

// Settings of FIFO compaction, which drops the oldest tables, and with them their data, although
// snapshots may still see it: readers that are open keep the tables. DB::SetOptions changes them as
// one option, compaction_options_fifo.
struct CompactionOptionsFIFO {
  CompactionOptionsFIFO() = default;
  CompactionOptionsFIFO(uint64_t max_size, bool allow)
      : max_table_files_size(max_size), allow_compaction(allow) {}

  // Bytes of tables above which the oldest are dropped, until no more are left. Default: 1 GiB.
  uint64_t max_table_files_size = uint64_t{1} << 30;

  // Replaces max_table_files_size if it is not 0. Both 0 is InvalidArgument. Default: 0.
  uint64_t max_data_files_size = 0;

  // Merges the newest tables, level0_file_num_compaction_trigger or more, if that rewrites at most
  // 1.1 * write_buffer_size bytes for each table that disappears. Default: false.
  bool allow_compaction = false;

  // Merges tables by tiers instead, each as many times larger as level0_file_num_compaction_trigger
  // says, up to max_data_files_size / trigger. Has an effect only with allow_compaction,
  // max_data_files_size and a trigger of 2 or more. Default: false.
  bool use_kv_ratio_compaction = false;

  // Temperatures by age, ascending; the oldest one that applies counts. A table is rewritten for
  // it, one at a time, the oldest first, when there is nothing to drop or to merge. Not empty:
  // requires num_levels 1. Default: none.
  std::vector<FileTemperatureAge> file_temperature_age_thresholds;

  // If there are no such thresholds and this is not 0: tables become kWarm at this age, in seconds.
  // Default: 0.
  uint64_t age_for_warm = 0;

  // Advisory, as tables are always rewritten for another temperature. Defaults: false, 4096.
  bool allow_trivial_copy_when_change_temperature = false;
  uint64_t trivial_copy_buffer_size = 4096;
};

// The options that ColumnFamilyOptions inherits. A program sets them there.
struct VARVE_EXPORT AdvancedColumnFamilyOptions {
  // Sets the defaults that the fields below have.
  AdvancedColumnFamilyOptions() = default;
  explicit AdvancedColumnFamilyOptions(const Options& options);

  // ---- Memtables ----

  // Number of memtables (mutable and waiting for flush) that stops writes. At least 2: 1 is taken
  // as 2. Dynamic.
  int max_write_buffer_number = 2;

  // Number of memtables merged by one flush; numbers above max_write_buffer_number - 1 are taken
  // as that. Merging drops entries that newer memtables have overwritten before they are written
  // to a file.
  int min_write_buffer_number_to_merge = 1;

  // Bytes of all memtables up to which flushed ones stay in memory. RocksDB checks conflicts of
  // optimistic transactions with them; Varve does that without, so they only take memory. 0: none
  // stay; -1: max_write_buffer_number * write_buffer_size.
  int64_t max_write_buffer_size_to_maintain = 0;

  // Advisory: values are never overwritten in the memtable, so snapshots and iterators work with
  // both.
  bool inplace_update_support = false;
  // Advisory. Dynamic.
  size_t inplace_update_num_locks = 10000;
  // Refused unless null: a function that overwrites values, whose result no snapshot could keep.
  InplaceCallback inplace_callback = nullptr;

  // Share of write_buffer_size used for a Bloom filter over the prefixes of the memtable's keys
  // (prefix_extractor), 0 to 0.25; 0: no filter. With memtable_whole_key_filtering it holds whole
  // keys, too, unless the comparator may take different bytes for one key. Dynamic.
  double memtable_prefix_bloom_size_ratio = 0.0;
  bool memtable_whole_key_filtering = false;

  // Bytes of reserved huge pages for memtables. Advisory: none are used. For transparent huge pages
  // see arena_block_size. Dynamic.
  size_t memtable_huge_page_size = 0;

  // Advisory.
  uint32_t bloom_locality = 0;

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

  // Codec of each level. Empty: `compression` for all. With level_compaction_dynamic_level_bytes
  // entry 0 is L0, and entry 1 the base level: the level that L0 is compacted into. Dynamic.
  std::vector<CompressionType> compression_per_level;

  // Number of levels, 1 to 64. With leveled compaction 1 counts as 2, as data that leaves L0 needs
  // a level. A database may be opened with fewer levels than its tables lie in: nothing is
  // rewritten for it, and compactions move them up step by step (FIFO compaction leaves them). With
  // cf_allow_ingest_behind fewer levels are refused then, with InvalidArgument.
  int num_levels = 7;

  // Bytes of one output file at L1, and the factor for each deeper level (both at least 1). A file
  // may be smaller where the keys of the level beneath or a partitioner make it end. Dynamic.
  uint64_t target_file_size_base = 64 * 1048576;
  int target_file_size_multiplier = 1;

  // Reserves the last level for files of IngestExternalFileOptions::ingest_behind, which come
  // beneath all data. Everything else ends one level higher. As such a file may come to be beneath
  // any key, compactions keep the deletions that arrive there. Needs 3 levels. Without it
  // compactions use the last level as any other.
  bool cf_allow_ingest_behind = false;

  // Derives level sizes from the real size of the last level, not from max_bytes_for_level_base:
  // about 10% space overhead.
  bool level_compaction_dynamic_level_bytes = true;

  // Size factor between levels, and additional factors for individual levels. Dynamic.
  double max_bytes_for_level_multiplier = 10;
  std::vector<int> max_bytes_for_level_multiplier_additional = std::vector<int>(7, 1);

  // Limit of input bytes of one compaction; 0: target_file_size_base * 25. Dynamic.
  uint64_t max_compaction_bytes = 0;

  // kCompactionStyleNone runs only requested compactions, like disable_auto_compactions. A database
  // may be opened with another style than before; nothing is rewritten for it. With FIFO compaction
  // data beyond its limits is dropped soon. Dynamic.
  CompactionStyle compaction_style = kCompactionStyleLevel;
  // Order in which leveled compactions choose files of a level. Dynamic.
  CompactionPri compaction_pri = kMinOverlappingRatio;
  // Settings of universal compaction (universal_compaction.h). Dynamic.
  CompactionOptionsUniversal compaction_options_universal;
  // Settings of FIFO compaction. Dynamic.
  CompactionOptionsFIFO compaction_options_fifo;

  // Seconds after its oldest data was written at which a file moves down a level, until the data
  // reaches the last one; overwritten and deleted entries are dropped then at the latest. 0: never;
  // default: 30 days. Universal: everything is merged once a file is that old. FIFO: the file is
  // dropped that long after its newest data was written; default: never. The value below, and that
  // of periodic_compaction_seconds, stands for the default. Dynamic.
  uint64_t ttl = 0xfffffffffffffffe;

  // Seconds after which a file is rewritten, so that compaction filters see all data periodically.
  // 0: never; default: 30 days with a compaction filter or filter factory, else never. Dynamic.
  uint64_t periodic_compaction_seconds = 0xfffffffffffffffe;

  // Temperatures are hints to the file system about where to place a file. A table or blob file has
  // the temperature with which it was written, in the MANIFEST and in its metadata, until it is
  // rewritten; moving it to another level changes nothing.
  //
  // Temperature of the files that flushes and compactions write. Dynamic.
  Temperature default_write_temperature = Temperature::kUnknown;

  // Replaces it for outputs of compactions to level num_levels - 1, unless it is kUnknown or that
  // level is 0. Dynamic.
  Temperature last_level_temperature = Temperature::kUnknown;

  // Temperature that files with kUnknown in the MANIFEST are read with. Statistics count them as
  // such; their metadata still says kUnknown.
  Temperature default_temperature = Temperature::kUnknown;

  // Seconds after its creation before a file is rewritten only to drop entries that a snapshot kept
  // and that have nothing below them. Dynamic.
  uint32_t bottommost_file_compaction_delay = 0;

  // ---- Write stalls ----

  // Numbers of L0 files at which writes slow down, and at which they stop. The first is raised to
  // level0_file_num_compaction_trigger, and the second to the first. Dynamic.
  int level0_slowdown_writes_trigger = 20;
  int level0_stop_writes_trigger = 36;

  // Estimated bytes that compactions have yet to rewrite at which writes slow down, and at which
  // they stop; 0: never. A first number of 0, or above the second, is taken as the second.
  // Dynamic.
  uint64_t soft_pending_compaction_bytes_limit = uint64_t{64} << 30;
  uint64_t hard_pending_compaction_bytes_limit = uint64_t{256} << 30;

  // ---- Reading and merging ----

  // Number of hidden versions of a key that an iterator skips one by one before it seeks past
  // them. Dynamic.
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

  // True: values of at least min_blob_size bytes leave the tables that flushes and compactions
  // write, and go into blob files. False: new values stay in tables; old blob files stay readable.
  // Not together with user timestamps that are not persisted. Dynamic, as all options of this part.
  bool enable_blob_files = false;

  // Size in bytes of an uncompressed value from which it goes into a blob file; 0: all but empty
  // ones do.
  uint64_t min_blob_size = 0;
  // A blob file is closed once it has so many bytes.
  uint64_t blob_file_size = uint64_t{1} << 28;
  // Values are compressed one by one. The codec must be built in if enable_blob_files is set.
  CompressionType blob_compression_type = kNoCompression;
  // True: compactions write values anew that they meet in old blob files, so that these can be
  // deleted.
  bool enable_blob_garbage_collection = false;
  // The share of a family's blob files, oldest first, which count as old, in [0, 1]. If it is not
  // 0, leveled compactions write values of younger files anew, too, while garbage is more than a
  // half of all files, and more than the next option allows.
  double blob_garbage_collection_age_cutoff = 0.25;
  // In [0, 1]: leveled compactions start at this share of garbage in old blob files; 1: a half.
  double blob_garbage_collection_force_threshold = 1.0;
  // Bytes that compactions read ahead in each blob file; 0: each value is read alone.
  uint64_t blob_compaction_readahead_size = 0;
  // True: what values take in blob files is given back to the file system, in whole blocks of 4
  // KiB, once compactions have dropped the values and no reader needs them. The sizes of files do
  // not change. Counts for blob files that are written while it is set, and for what is dropped
  // while it is. The file system must have FileSystem::PunchHole. No holes are made
  //  - in files with a second link, such as that of a checkpoint;
  //  - in files of which the MANIFEST has a checksum (DBOptions::file_checksum_gen_factory);
  //  - while file deletions are disabled or a copy is made;
  //  - where values were dropped before the last opening;
  //  - in files that RocksDB has opened or a repair has found since.
  // A failure only leaves the bytes where they are: see the LOG, and the properties
  // varve.blob-hole-bytes and varve.blob-hole-errors. A backup copies a file anew that has got
  // holes. Do not set it if other processes open the database: secondary instances, followers and
  // DB::OpenForReadOnly may need values longer than this process knows, and so may the checkpoints
  // and backups that they make.
  //
  // VerifyChecksum, the scrubber, repairs and the tool's check take for holes, whether this is set
  // or not, up to as many values and bytes as a blob file has garbage. Within that they miss damage
  // that makes whole blocks zero, that of a value which itself has a block of zeros, and that of
  // the header of a value behind a hole. In a file without garbage they miss nothing.
  bool punch_holes_in_blob_files = false;
  // The level from which on compactions put values into blob files; a flush writes to level 0.
  int blob_file_starting_level = 0;
  // Keeps values of blob files, uncompressed, that reads have fetched (ReadOptions::fill_cache). It
  // may be the block cache of the same or of other families; values are evicted before blocks.
  // Null: none, each read of a value goes to its file. A value that does not fit below a strict
  // limit is read without being kept. Cannot change while the database is open.
  std::shared_ptr<Cache> blob_cache;
  // Puts values into blob_cache before they are read.
  PrepopulateBlobCache prepopulate_blob_cache = PrepopulateBlobCache::kDisable;
};

}  // namespace varve
