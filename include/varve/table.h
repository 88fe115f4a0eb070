// SPDX-License-Identifier: Apache-2.0
#pragma once
//
// Table options: how sorted files are laid out, checked, cached and filtered. A TableFactory holds
// them in ColumnFamilyOptions::table_factory.
//
//   varve::BlockBasedTableOptions tables;
//   tables.block_cache = varve::NewLRUCache(size_t{1} << 30);
//   tables.filter_policy.reset(varve::NewBloomFilterPolicy(10));
//   options.table_factory.reset(varve::NewBlockBasedTableFactory(tables));

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

/// Checksum of the blocks of a table. The values are stored in each file's footer.
enum ChecksumType : char {
  kNoChecksum = 0x0,
  kCRC32c = 0x1,
  kxxHash = 0x2,
  kxxHash64 = 0x3,
  kXXH3 = 0x4,
};

/// Selects the files whose metadata blocks are pinned: such a block stays in the block cache for as
/// long as its file is open.
enum class PinningTier {
  /// Determined by pin_l0_filter_and_index_blocks_in_cache and pin_top_level_index_and_filter.
  kFallback,
  kNone,
  /// Blocks of flushed files, and of other L0 files of about that size.
  kFlushedAndSimilar,
  kAll,
};

/// Says which metadata blocks are pinned in the block cache. Has an effect only with
/// BlockBasedTableOptions::cache_index_and_filter_blocks.
struct MetadataCacheOptions {
  /// Pins the upper level of partitioned indexes and filters.
  PinningTier top_level_index_pinning = PinningTier::kFallback;
  /// Pins the partitions of indexes and filters.
  PinningTier partition_pinning = PinningTier::kFallback;
  /// Pins indexes and filters that are not partitioned.
  PinningTier unpartitioned_pinning = PinningTier::kFallback;
};

/// Selects if memory of one role counts against the block cache's capacity.
struct CacheEntryRoleOptions {
  enum class Decision {
    kEnabled,
    kDisabled,
    /// The engine's default for the role.
    kFallback,
  };

  Decision charged = Decision::kFallback;

  bool operator==(const CacheEntryRoleOptions& other) const { return charged == other.charged; }
};

/// Memory outside of the block cache that counts against its capacity, by role: placeholders of 256
/// KiB represent it in the cache. This matters most with strict_capacity_limit, as a full cache
/// refuses placeholders:
///
/// kCompressionDictionaryBuildingBuffer: data blocks that wait for the dictionary of a table being
///   written. Refused: the dictionary is made from the blocks collected so far. Charged unless
///   kDisabled.
/// kFilterConstruction: filters being built. Refused: a Bloom filter is built instead of a Ribbon
///   filter; a Bloom filter is built anyway.
/// kBlockBasedTableReader: open tables, with indexes, filters and dictionaries that are not in the
///   cache. Refused: opening the table returns MemoryLimit.
/// kFileMetadata: metadata of each table file. Refused: opening the database, or the operation that
///   adds the file, returns MemoryLimit.
/// kBlobCache: ColumnFamilyOptions::blob_cache as a whole, once for all families and databases
///   that have it with the same block cache. Refused: a value that was read is not kept.
///
/// The last four are charged only with kEnabled. Other roles in the map must be kFallback, else
/// NotSupported. InvalidArgument: kEnabled with no_block_cache; kBlobCache in the map as kEnabled
/// without a blob_cache, or with one that is the block cache or has a larger capacity.
struct CacheUsageOptions {
  /// Applies to roles above that are not in the map, or kFallback in it.
  CacheEntryRoleOptions options;
  std::map<CacheEntryRole, CacheEntryRoleOptions> options_overrides;
};

/// Options of the block-based table. "Refused" and "Advisory" are explained in advanced_options.h;
/// a column family with refused options cannot be opened or created. Options for building tables
/// are dynamic: DB::SetOptions takes them in "block_based_table_factory".
struct BlockBasedTableOptions {
  static const char* kName() { return "BlockTableOptions"; }

  /// Decides where data blocks end (flush_block_policy.h); nullptr: block_size and
  /// block_size_deviation do.
  std::shared_ptr<FlushBlockPolicyFactory> flush_block_policy_factory;

  /// Keeps indexes and filters in the block cache, where they can be evicted, instead of with the
  /// open file for good.
  bool cache_index_and_filter_blocks = false;
  /// With cache_index_and_filter_blocks: they have high priority in the cache.
  bool cache_index_and_filter_blocks_with_high_priority = true;
  /// With cache_index_and_filter_blocks: those of L0 files are pinned. Older form of
  /// metadata_cache_options.
  bool pin_l0_filter_and_index_blocks_in_cache = false;
  /// Pins the upper level of partitioned indexes and filters. Older form of metadata_cache_options.
  bool pin_top_level_index_and_filter = true;
  MetadataCacheOptions metadata_cache_options;

  /// Form of the index. The values are stored in each file's properties.
  enum IndexType : char {
    /// One sorted block.
    kBinarySearch = 0x00,
    /// Adds a hash from key prefixes to blocks for RocksDB, which then expects every key to have a
    /// prefix; needs a prefix_extractor. Varve searches it like kBinarySearch, which is as fast.
    kHashSearch = 0x01,
    /// A sorted index of index blocks; see metadata_block_size.
    kTwoLevelIndexSearch = 0x02,
    /// Adds each block's first key, so that a scan reads a block only when necessary.
    kBinarySearchWithFirstKey = 0x03,
  };
  IndexType index_type = kBinarySearch;

  enum DataBlockIndexType : char {
    kDataBlockBinarySearch = 0,
    /// Adds a hash table to each data block, for point reads of RocksDB; Varve does not read it.
    /// Has no effect if keys with different bytes may be equal, or have timestamps.
    kDataBlockBinaryAndHash = 1,
  };
  DataBlockIndexType data_block_index_type = kDataBlockBinarySearch;
  /// Entries per bucket of that hash table, in (0, 1].
  double data_block_hash_table_util_ratio = 0.75;

  /// Selects how an index block is searched in memory. Advisory: each index is loaded into a layout
  /// with its own search.
  enum BlockSearchType : char {
    kBinary = 0x00,
    kInterpolation = 0x01,
    kAuto = 0x02,
  };
  BlockSearchType index_block_search_type = kBinary;
  /// With kAuto: the largest coefficient of variation of the gaps between keys up to which a block
  /// counts as uniform. Negative: off. Advisory.
  double uniform_cv_threshold = -1;

  /// Checksum type of new files. All types can be read.
  ChecksumType checksum = kXXH3;

  /// True: blocks are read from the file each time; block_cache must then be null.
  bool no_block_cache = false;
  /// Null: a DB that opens with the factory sets a cache of 32 MiB, shared by all users of the
  /// factory. Share one cache among column families and DBs to limit their total memory.
  std::shared_ptr<Cache> block_cache = nullptr;
  /// A cache on a local device. Refused unless null.
  std::shared_ptr<PersistentCache> persistent_cache = nullptr;

  /// Approximate uncompressed bytes of keys and values in a data block. Larger blocks have a
  /// smaller index and compress better; smaller blocks make point reads from disk cheaper.
  uint64_t block_size = 4 * 1024;
  /// Percent: a block is closed early when it is this close to full and the next entry would
  /// overflow it. Values outside [0, 100] count as 0.
  int block_size_deviation = 10;
  /// Restart interval of data blocks: one key of this many is stored whole, and the others as
  /// differences from the key before. At least 1.
  int block_restart_interval = 16;
  /// Restart interval of index blocks. At least 1.
  int index_block_restart_interval = 1;
  /// Approximate bytes of an index or filter partition.
  uint64_t metadata_block_size = 4096;
  CacheUsageOptions cache_usage_options;

  /// Writes the filter as partitions of metadata_block_size with their own index, so that a read
  /// loads only one of them into the cache. Has an effect only with kTwoLevelIndexSearch.
  bool partition_filters = false;
  /// Ends filter partitions independently of index partitions. Advisory: always done, as every
  /// reader reads both forms.
  bool decouple_partitioned_filters = false;
  /// Fits filter sizes to the allocator's size classes. Advisory: not done.
  bool optimize_filters_for_memory = true;
  /// Stores keys of data blocks as differences from the previous key. False makes blocks larger,
  /// and lets an iterator pin keys in their block instead of assembling them.
  bool use_delta_encoding = true;

  /// Null: no filter. See NewBloomFilterPolicy().
  std::shared_ptr<const FilterPolicy> filter_policy = nullptr;

  /// A user-defined index. Refused unless null and false.
  std::shared_ptr<UserDefinedIndexFactory> user_defined_index_factory = nullptr;
  bool fail_if_no_udi_on_open = false;
  bool use_udi_as_primary_index = false;

  /// Adds whole keys to the filter; otherwise only their prefixes.
  bool whole_key_filtering = true;
  /// Checks a filter against its keys after it is built, which makes building slower.
  bool detect_filter_construct_corruption = false;
  /// Decompresses each block after compressing it, and compares.
  bool verify_compression = false;
  /// Bytes of data block per bit of read-amplification statistics. Refused unless 0: there are no
  /// such statistics.
  uint32_t read_amp_bytes_per_bit = 0;

  /// Format version of new files, 2 to 7; older files remain readable. The default 5 is the newest
  /// that RocksDB 7.8.3 can open, so that a directory can move back to it; the additions of 6 and 7
  /// (checksums bound to their position, a compression manager's name) do not improve speed.
  /// RocksDB reads 6 from 8.6 on, and 7 from 10.4 on. Lower versions are for older readers.
  uint32_t format_version = 5;

  /// Compresses index blocks with the codec of data blocks.
  bool enable_index_compression = true;
  /// Starts each data block at a multiple of block_size, or of 4096 if that is less, so that blocks
  /// do not cross pages needlessly. Requires a block_size that is a power of two, and
  /// kNoCompression.
  bool block_align = false;
  /// Bytes of the aligned unit of the file, a power of two, whose boundary a data block should not
  /// cross; 0: off.
  size_t super_block_alignment_size = 0;
  /// Limits the padding before a block: at most super_block_alignment_size divided by this number
  /// of bytes in each unit; 0: off.
  size_t super_block_alignment_space_overhead_ratio = 128;
  /// Stores keys and values of a data block separately, a format that needs RocksDB 11 or newer.
  /// Refused unless false.
  bool separate_key_value_in_data_block = false;

  /// Says how far an index key may be shortened: it may be any key from the last one of its block
  /// up to the first one of the next.
  enum class IndexShorteningMode : char {
    kNoShortening,
    kShortenSeparators,
    /// Also shortens the last key of the file. A seek past the file's end may then read its last
    /// block.
    kShortenSeparatorsAndSuccessor,
  };
  IndexShorteningMode index_shortening = IndexShorteningMode::kShortenSeparators;

  /// Limit in bytes of the read-ahead of a sequential iterator, which doubles up to it; 0: none.
  size_t max_auto_readahead_size = 256 * 1024;

  /// Reads each new table once, so that its data blocks are in the block cache, with the priority
  /// of blocks that users read.
  enum class PrepopulateBlockCache : char {
    kDisable,
    kFlushOnly,
    kFlushAndCompaction,
  };
  /// Selects the new tables that are read once. Whatever it says, those of a compaction are read if
  /// most of the data that the compaction replaces is in the block cache and the cache has room, so
  /// that readers find in the cache what they found there before.
  PrepopulateBlockCache prepopulate_block_cache = PrepopulateBlockCache::kDisable;

  /// Bytes of the first automatic read-ahead, from which it doubles.
  size_t initial_auto_readahead_size = 8 * 1024;
  /// Number of sequential reads in one file before read-ahead starts; 0: it starts with the first.
  uint64_t num_file_reads_for_auto_readahead = 2;
};

/// Names of properties that only block-based tables have.
struct BlockBasedTablePropertyNames {
  /// BlockBasedTableOptions::IndexType as fixed 32-bit integer.
  VARVE_EXPORT static const std::string kIndexType;
  /// "1" or "0", as are the two below.
  VARVE_EXPORT static const std::string kWholeKeyFiltering;
  VARVE_EXPORT static const std::string kPrefixFiltering;
  VARVE_EXPORT static const std::string kDecoupledPartitionedFilters;
};

/// Says how a PlainTable stores keys.
enum EncodingType : char {
  kPlain,   ///< Whole keys.
  kPrefix,  ///< Keys of one prefix store it once. Needs a prefix_extractor; without one, whole
            ///< keys.
};

/// Names of properties that only PlainTables have.
struct PlainTablePropertyNames {
  /// EncodingType as fixed 32-bit integer.
  VARVE_EXPORT static const std::string kEncodingType;
  /// Describe a filter in the file, which Varve neither writes nor reads.
  VARVE_EXPORT static const std::string kBloomVersion;
  VARVE_EXPORT static const std::string kNumBloomBlocks;
};

/// Value of PlainTableOptions::user_key_len for keys of any length.
constexpr uint32_t kPlainTableVariableLength = 0;

/// Options of PlainTables, RocksDB's format without blocks, compression and checksums. Varve reads
/// such tables with or without allow_mmap_reads, in both directions and in total order, and writes
/// them for RocksDB: block-based tables are the better choice otherwise. A table must be smaller
/// than 2 GiB. DeleteRange() of a family with this factory returns NotSupported, and its keys
/// cannot have timestamps. Opening a table reads all of it.
struct PlainTableOptions {
  static const char* kName() { return "PlainTableOptions"; }

  /// Length in bytes of all user keys; 0: they differ. With kPlain, a flush or a compaction of a
  /// key with another length fails with InvalidArgument.
  uint32_t user_key_len = kPlainTableVariableLength;
  /// Bits per key of the filter that an open table has in memory; 0 or less: no filter. At most 100
  /// are used. A table of kPlain under allow_mmap_reads has a map of its keys instead, which takes
  /// about nine bytes per key, unless that is more than half of its size.
  int bloom_bits_per_key = 10;
  /// Advisory: the index is sorted, and a map of keys is always filled alike. 0 to 1.
  double hash_table_ratio = 0.75;
  /// Rows from one row that is indexed in memory to the next, at most 256, and from one whole key
  /// to the next with kPrefix; 0: 16.
  size_t index_sparseness = 16;
  /// Advisory. Bytes.
  size_t huge_page_tlb_size = 0;
  /// Selects how new tables store keys.
  EncodingType encoding_type = kPlain;
  /// Advisory: point reads work all the same.
  bool full_scan_mode = false;
  /// Advisory: the index is made when a table is opened.
  bool store_index_in_file = false;
};

/// Factory of a table format, with its options. Thread-safe once a DB uses it. It decides how new
/// tables are written; every table is read in the format that it has. Only the built-in formats are
/// supported: opening with any other factory returns NotSupported. The options, returned by
/// GetOptions<BlockBasedTableOptions>() or GetOptions<PlainTableOptions>(), may be changed until a
/// DB has the factory.
class TableFactory : public Customizable {
 public:
  ~TableFactory() override = default;

  static const char* Type() { return "TableFactory"; }
  /// Accepts "BlockBasedTable" and "PlainTable", or "id=BlockBasedTable;option=value;...", with or
  /// without braces, which changes the options of an existing such factory in *result; or a
  /// registered object; null for "" and "nullptr". NotSupported for another name.
  VARVE_EXPORT static Status CreateFromString(const ConfigOptions& config_options,
                                              const std::string& value,
                                              std::shared_ptr<TableFactory>* result);
  /// Name under which GetOptions<Cache>() returns the block cache, or null if there is none.
  static const char* kBlockCacheOpts() { return "BlockCache"; }
  /// Names of the formats, which Name() returns. There are no CuckooTables here.
  static const char* kBlockBasedTableName() { return "BlockBasedTable"; }
  static const char* kPlainTableName() { return "PlainTable"; }
  static const char* kCuckooTableName() { return "CuckooTable"; }

  /// True if tables of the format can hold range deletions; else DB::DeleteRange() is NotSupported.
  virtual bool IsDeleteRangeSupported() const { return false; }
};

/// Returns a factory that the caller owns and usually hands to a shared_ptr at once.
VARVE_EXPORT TableFactory* NewBlockBasedTableFactory(
    const BlockBasedTableOptions& table_options = BlockBasedTableOptions());

/// Returns a factory of PlainTables, which the caller owns.
VARVE_EXPORT TableFactory* NewPlainTableFactory(
    const PlainTableOptions& options = PlainTableOptions());

}  // namespace varve
