// SPDX-License-Identifier: Apache-2.0
#pragma once
//
// Table options: how sorted files are laid out, checked, cached and filtered. A TableFactory
// carries them in ColumnFamilyOptions::table_factory.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "varve/cache.h"
#include "varve/customizable.h"
#include "varve/export.h"
#include "varve/status.h"

namespace varve {

class FilterPolicy;
class FlushBlockPolicyFactory;
class PersistentCache;
class UserDefinedIndexFactory;
struct ConfigOptions;

/// Stored in each file's footer.
enum ChecksumType : char {
  kNoChecksum = 0x0,
  kCRC32c = 0x1,
  kxxHash = 0x2,
  kxxHash64 = 0x3,
  kXXH3 = 0x4,
};

/// Which metadata blocks stay in the block cache for as long as their file is open.
enum class PinningTier {
  /// Decided by pin_l0_filter_and_index_blocks_in_cache and pin_top_level_index_and_filter.
  kFallback,
  kNone,
  /// Those of files from flush, and of other files in level 0 of about that size.
  kFlushedAndSimilar,
  kAll,
};

/// Matters only with cache_index_and_filter_blocks.
struct MetadataCacheOptions {
  /// The upper level of partitioned indexes and filters.
  PinningTier top_level_index_pinning = PinningTier::kFallback;
  /// The partitions themselves.
  PinningTier partition_pinning = PinningTier::kFallback;
  /// Indexes and filters without partitions.
  PinningTier unpartitioned_pinning = PinningTier::kFallback;
};

/// Whether memory of one role counts against the block cache's capacity.
struct CacheEntryRoleOptions {
  enum class Decision {
    kEnabled,
    kDisabled,
    /// The engine's default for that role.
    kFallback,
  };

  Decision charged = Decision::kFallback;

  bool operator==(const CacheEntryRoleOptions& other) const { return charged == other.charged; }
};

/// Which memory outside of the block cache counts against its capacity, by role: placeholders of
/// 256 KiB take its place in the cache. It matters most with strict_capacity_limit, where a full
/// cache refuses them.
///
/// kCompressionDictionaryBuildingBuffer: data blocks that wait for the dictionary of a table being
///   written. Refused: the dictionary is made of what waits. Charged unless kDisabled.
/// kFilterConstruction: filters being built. Refused: a Ribbon filter becomes a Bloom filter, and a
///   Bloom filter is built all the same.
/// kBlockBasedTableReader: open tables, with the indexes, filters and dictionaries that are not in
///   the cache. Refused: opening the table is MemoryLimit.
/// kFileMetadata: what is known of each table file. Refused: opening the database, or what was to
///   add the file, is MemoryLimit.
///
/// The latter three are charged only with kEnabled. Other roles in the map must be kFallback, else
/// NotSupported; kEnabled with no_block_cache is InvalidArgument.
struct CacheUsageOptions {
  /// For the roles above that are not in the map, or kFallback there.
  CacheEntryRoleOptions options;
  std::map<CacheEntryRole, CacheEntryRoleOptions> options_overrides;
};

/// Options of the block-based table. "Refused" and "Advisory" as in advanced_options.h; a column
/// family is refused when it is opened or created. What concerns how tables are built is dynamic:
/// DB::SetOptions takes it in "block_based_table_factory".
struct BlockBasedTableOptions {
  static const char* kName() { return "BlockTableOptions"; }

  /// Decides where data blocks end (flush_block_policy.h), in place of block_size and
  /// block_size_deviation; nullptr: these do.
  std::shared_ptr<FlushBlockPolicyFactory> flush_block_policy_factory;

  /// Keep index and filter in the block cache, where they can be evicted, rather than with the open
  /// file for good.
  bool cache_index_and_filter_blocks = false;
  /// With the former: at high priority in the cache.
  bool cache_index_and_filter_blocks_with_high_priority = true;
  /// With the former: pin them for files of level 0. Older form of metadata_cache_options.
  bool pin_l0_filter_and_index_blocks_in_cache = false;
  /// Pin the upper level of partitioned indexes and filters. Older form as well.
  bool pin_top_level_index_and_filter = true;
  MetadataCacheOptions metadata_cache_options;

  /// Values are persistent.
  enum IndexType : char {
    /// One sorted block.
    kBinarySearch = 0x00,
    /// Adds a hash from key prefix to blocks for RocksDB, which then expects every key to have a
    /// prefix; needs a prefix_extractor. Searched as kBinarySearch here, which is as fast.
    kHashSearch = 0x01,
    /// An index of index blocks; see metadata_block_size.
    kTwoLevelIndexSearch = 0x02,
    /// Adds each block's first key, so that a scan reads a block only when it must.
    kBinarySearchWithFirstKey = 0x03,
  };
  IndexType index_type = kBinarySearch;

  enum DataBlockIndexType : char {
    kDataBlockBinarySearch = 0,
    /// Adds a hash table to each data block, for point reads of RocksDB: Varve does not read it.
    /// Without effect where keys of different bytes may be equal, or have timestamps.
    kDataBlockBinaryAndHash = 1,
  };
  DataBlockIndexType data_block_index_type = kDataBlockBinarySearch;
  /// Entries per bucket of that hash table, in (0, 1].
  double data_block_hash_table_util_ratio = 0.75;

  /// How an index block is searched in memory. Advisory: an index is laid out for a search of its
  /// own when it is loaded.
  enum BlockSearchType : char {
    kBinary = 0x00,
    kInterpolation = 0x01,
    kAuto = 0x02,
  };
  BlockSearchType index_block_search_type = kBinary;
  /// With kAuto: the largest coefficient of variation of the gaps between keys at which a block
  /// counts as uniform. Negative: off. Advisory.
  double uniform_cv_threshold = -1;

  /// For new files. All types are read.
  ChecksumType checksum = kXXH3;

  /// Read blocks from the file each time; block_cache must then be null.
  bool no_block_cache = false;
  /// Null: a DB that takes the factory gives it one of 32 MiB, which all who have the factory
  /// share. Share one cache among column families and DBs to bound their memory together.
  std::shared_ptr<Cache> block_cache = nullptr;
  /// A cache on a local device. Refused unless null.
  std::shared_ptr<PersistentCache> persistent_cache = nullptr;

  /// Uncompressed bytes of keys and values in a data block, approximately. Larger: smaller index
  /// and better compression; smaller: cheaper point reads from disk.
  uint64_t block_size = 4 * 1024;
  /// Percent: a block is closed early when it is this close to full and the next entry would
  /// overflow it. Outside [0, 100] counts as 0.
  int block_size_deviation = 10;
  /// Entries from one full key to the next in a data block. At least 1.
  int block_restart_interval = 16;
  /// The same in index blocks. At least 1.
  int index_block_restart_interval = 1;
  /// Bytes of an index or filter partition, approximately.
  uint64_t metadata_block_size = 4096;
  CacheUsageOptions cache_usage_options;

  /// Write the filter as blocks of metadata_block_size with an index of their own, so that a read
  /// brings only one of them into the cache. Has an effect only with kTwoLevelIndexSearch.
  bool partition_filters = false;
  /// Cut filter partitions independently of index partitions. Advisory: always done, as either way
  /// of cutting is read by every reader.
  bool decouple_partitioned_filters = false;
  /// Fit filter sizes to what the allocator hands out anyway. Advisory: not done.
  bool optimize_filters_for_memory = true;
  /// Store only what differs from the previous key. False makes blocks larger, and lets an iterator
  /// pin keys in their block instead of assembling them.
  bool use_delta_encoding = true;

  /// Null: no filter. See NewBloomFilterPolicy().
  std::shared_ptr<const FilterPolicy> filter_policy = nullptr;

  /// An index implemented by the user. Refused unless null and false.
  std::shared_ptr<UserDefinedIndexFactory> user_defined_index_factory = nullptr;
  bool fail_if_no_udi_on_open = false;
  bool use_udi_as_primary_index = false;

  /// Put whole keys in the filter; otherwise only their prefixes.
  bool whole_key_filtering = true;
  /// Check a filter against its keys after it is built, at the price of build time.
  bool detect_filter_construct_corruption = false;
  /// Decompress each block after compressing it, and compare.
  bool verify_compression = false;
  /// Bytes of data block per bit of the read-amplification statistics. Refused unless 0: there are
  /// none.
  uint32_t read_amp_bytes_per_bit = 0;

  /// Of new files; older ones remain readable. The default is 5, not the newest 7: it is the newest
  /// that RocksDB 7.8.3 can open, so that a directory can still move back, and what 6 and 7 add
  /// (checksums bound to their place, a compression manager's name) does not make it faster.
  /// RocksDB reads 6 from 8.6 on, and 7 from 10.4 on. Versions 2 to 7 are written; lower numbers
  /// are for older readers.
  uint32_t format_version = 5;

  bool enable_index_compression = true;
  /// Start each data block at a multiple of block_size, or of 4096 if that is less, so that none
  /// crosses a page needlessly. Requires a block_size that is a power of two, and kNoCompression.
  bool block_align = false;
  /// Bytes of the unit that a data block must not straddle; a power of two; 0: off.
  size_t super_block_alignment_size = 0;
  /// At most super_block_alignment_size divided by this is wasted per unit; 0: off.
  size_t super_block_alignment_space_overhead_ratio = 128;
  /// Keep keys and values of a data block apart, which no reader before RocksDB 11 knows. Refused
  /// unless false.
  bool separate_key_value_in_data_block = false;

  /// How far index keys are shortened below the last key of their block.
  enum class IndexShorteningMode : char {
    kNoShortening,
    kShortenSeparators,
    /// Also the last of the file. A seek past the file's end may then read its last block.
    kShortenSeparatorsAndSuccessor,
  };
  IndexShorteningMode index_shortening = IndexShorteningMode::kShortenSeparators;

  /// Bytes. An iterator that reads on sequentially doubles its readahead up to this; 0: none.
  size_t max_auto_readahead_size = 256 * 1024;

  /// Read each new table once, so that its data blocks are in the block cache, where they have the
  /// priority of what users read.
  enum class PrepopulateBlockCache : char {
    kDisable,
    kFlushOnly,
    kFlushAndCompaction,
  };
  /// A compaction's new tables are read in any case where most of the data that it replaces is in
  /// the block cache, and the cache has room: so readers find there what they found there before.
  PrepopulateBlockCache prepopulate_block_cache = PrepopulateBlockCache::kDisable;

  /// Bytes. Where the doubling starts.
  size_t initial_auto_readahead_size = 8 * 1024;
  /// Readahead starts after so many reads of a sequential series in one file; 0: with the first.
  uint64_t num_file_reads_for_auto_readahead = 2;
};

/// Names of properties that only this kind of table has.
struct BlockBasedTablePropertyNames {
  /// Fixed 32-bit BlockBasedTableOptions::IndexType.
  VARVE_EXPORT static const std::string kIndexType;
  /// "1" or "0".
  VARVE_EXPORT static const std::string kWholeKeyFiltering;
  VARVE_EXPORT static const std::string kPrefixFiltering;
  VARVE_EXPORT static const std::string kDecoupledPartitionedFilters;
};

/// A kind of table with its options. Thread-safe once a DB uses it. Only the built-in kind works:
/// opening with any other is NotSupported. The options, GetOptions<BlockBasedTableOptions>(), may
/// be changed until a DB has the factory.
class TableFactory : public Customizable {
 public:
  ~TableFactory() override = default;

  static const char* Type() { return "TableFactory"; }
  /// "BlockBasedTable", or "id=BlockBasedTable;option=value;...", in braces or not, which change
  /// the options of such a factory that is there; or a registered object; null for "" and
  /// "nullptr". NotSupported for another name.
  VARVE_EXPORT static Status CreateFromString(const ConfigOptions& config_options,
                                              const std::string& value,
                                              std::shared_ptr<TableFactory>* result);
  static const char* kBlockCacheOpts() { return "BlockCache"; }
  static const char* kBlockBasedTableName() { return "BlockBasedTable"; }
  static const char* kPlainTableName() { return "PlainTable"; }
  static const char* kCuckooTableName() { return "CuckooTable"; }

  virtual bool IsDeleteRangeSupported() const { return false; }
};

/// Owned by the caller; usually handed to a shared_ptr at once.
VARVE_EXPORT TableFactory* NewBlockBasedTableFactory(
    const BlockBasedTableOptions& table_options = BlockBasedTableOptions());

}  // namespace varve
