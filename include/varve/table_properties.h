// SPDX-License-Identifier: Apache-2.0
#pragma once
//
/// TableProperties describe a table file and are stored in it: sizes, counts, and the names of what
/// it was written with. TablePropertiesCollector is user code that adds properties while the file
/// is written.
///
/// A program gets the properties of open tables from DB::GetPropertiesOfAllTables, of new ones from
/// listeners (TableFileCreationInfo), and of a file without a database from SstFileReader.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <string>

#include "varve/customizable.h"
#include "varve/export.h"
#include "varve/slice.h"
#include "varve/status.h"
#include "varve/types.h"

namespace varve {

struct ConfigOptions;

/// Properties by name; both may be any bytes. The engine's own names start with "rocksdb."; those
/// of a program should not.
using UserCollectedProperties = std::map<std::string, std::string>;

/// Names under which the fields of TableProperties are stored, for programs that read the
/// properties block themselves.
struct VARVE_EXPORT TablePropertiesNames {
  static const std::string kDbId;
  static const std::string kDbSessionId;
  static const std::string kDbHostId;
  static const std::string kOriginalFileNumber;
  static const std::string kDataSize;
  static const std::string kIndexSize;
  static const std::string kIndexPartitions;
  static const std::string kTopLevelIndexSize;
  static const std::string kIndexKeyIsUserKey;
  static const std::string kIndexValueIsDeltaEncoded;
  static const std::string kFilterSize;
  static const std::string kRawKeySize;
  static const std::string kRawValueSize;
  static const std::string kNumDataBlocks;
  static const std::string kNumDataBlocksCompressionRejected;
  static const std::string kNumDataBlocksCompressionBypassed;
  static const std::string kNumUniformBlocks;
  static const std::string kNumEntries;
  static const std::string kNumFilterEntries;
  static const std::string kDeletedKeys;
  static const std::string kMergeOperands;
  static const std::string kNumRangeDeletions;
  static const std::string kFormatVersion;
  static const std::string kFixedKeyLen;
  static const std::string kFilterPolicy;
  static const std::string kColumnFamilyName;
  static const std::string kColumnFamilyId;
  static const std::string kComparator;
  static const std::string kMergeOperator;
  static const std::string kPrefixExtractorName;
  static const std::string kPropertyCollectors;
  static const std::string kCompression;
  static const std::string kCompressionOptions;
  static const std::string kCreationTime;
  static const std::string kOldestKeyTime;
  static const std::string kNewestKeyTime;
  static const std::string kFileCreationTime;
  static const std::string kSlowCompressionEstimatedDataSize;
  static const std::string kFastCompressionEstimatedDataSize;
  static const std::string kSequenceNumberTimeMapping;
  static const std::string kTailStartOffset;
  static const std::string kUserDefinedTimestampsPersisted;
  static const std::string kKeyLargestSeqno;
  static const std::string kKeySmallestSeqno;
  static const std::string kDataBlockRestartInterval;
  static const std::string kIndexBlockRestartInterval;
  static const std::string kSeparateKeyValueInDataBlock;
};

/// Observes one table being written, from one thread. It is made when the table is begun, gets
/// every entry, and adds its properties at the end. After a failure its properties are left out,
/// and the table is written all the same. Must not throw.
class TablePropertiesCollector {
 public:
  virtual ~TablePropertiesCollector() = default;

  /// Older form of AddUserKey().
  virtual Status Add(const Slice& /*key*/, const Slice& /*value*/) {
    return Status::InvalidArgument("TablePropertiesCollector: neither AddUserKey nor Add is there");
  }

  /// Called for each entry, in order, also for range deletions (their end is the value). `key` is a
  /// user key, with its timestamp if the comparator has them, and without sequence number.
  /// `file_size`: bytes written so far.
  virtual Status AddUserKey(const Slice& key, const Slice& value, EntryType /*type*/,
                            SequenceNumber /*seq*/, uint64_t /*file_size*/) {
    return Add(key, value);
  }

  /// Called after each data block. The last two are estimates, and 0 if not sampled.
  virtual void BlockAdd(uint64_t /*block_uncomp_bytes*/, uint64_t /*block_compressed_bytes_fast*/,
                        uint64_t /*block_compressed_bytes_slow*/) {}

  /// Called once, at the end; sets `*properties` to those to store.
  virtual Status Finish(UserCollectedProperties* properties) = 0;

  /// Returns the properties in readable form. Called after Finish().
  virtual UserCollectedProperties GetReadableProperties() const = 0;

  /// Returns a name for messages, and for the table's list of collectors.
  virtual const char* Name() const = 0;

  /// True requests a compaction of the file soon. Called after Finish().
  virtual bool NeedCompact() const { return false; }
};

/// Makes a collector for each table. Must be thread-safe: several tables are written at once. It is
/// set in ColumnFamilyOptions::table_properties_collector_factories.
class TablePropertiesCollectorFactory : public Customizable {
 public:
  /// Describes the table.
  struct Context {
    /// Values for what is not known, as in SstFileWriter.
    static constexpr uint32_t kUnknownColumnFamily =
        static_cast<uint32_t>(std::numeric_limits<int32_t>::max());
    static constexpr int kUnknownLevelAtCreation = -1;
    static constexpr int kUnknownNumLevels = -1;

    /// The column family that the table is written for.
    uint32_t column_family_id = kUnknownColumnFamily;
    /// Level in which the table will be installed.
    int level_at_creation = kUnknownLevelAtCreation;
    /// Number of levels of the column family.
    int num_levels = kUnknownNumLevels;
    /// Entries up to this sequence number belong in the last level if it is a separate tier.
    SequenceNumber last_level_inclusive_max_seqno_threshold = (SequenceNumber{1} << 56) - 1;
  };

  ~TablePropertiesCollectorFactory() override = default;

  static const char* Type() { return "TablePropertiesCollectorFactory"; }
  /// Accepts a registered object: its name, or "id=name;option=value;...", with or without braces;
  /// null for "" and "nullptr". NotSupported: no such name is registered.
  VARVE_EXPORT static Status CreateFromString(
      const ConfigOptions& config_options, const std::string& value,
      std::shared_ptr<TablePropertiesCollectorFactory>* result);
  using Customizable::ToString;
  /// Returns a readable name with the factory's parameters.
  virtual std::string ToString() const { return Name(); }

  /// Returns a collector that the caller owns; null for none.
  virtual TablePropertiesCollector* CreateTablePropertiesCollector(Context context) = 0;
};

/// Describes one table file. Sizes are in bytes; times are seconds since 1970, and 0 if unknown.
/// Properties missing in a file keep the defaults below.
struct VARVE_EXPORT TableProperties {
  /// Number of the file when it was created; with db_id and db_session_id its permanent identity.
  uint64_t orig_file_number = 0;
  /// Bytes of data blocks as stored, with their trailers.
  uint64_t data_size = 0;
  /// Bytes of all index blocks before compression, plus one block trailer. Filter blocks count in
  /// filter_size instead.
  uint64_t index_size = 0;
  /// Number of partitions of the index; 0: it is not partitioned.
  uint64_t index_partitions = 0;
  /// Bytes of the upper level of a partitioned index, included in index_size.
  uint64_t top_level_index_size = 0;
  /// 1 if keys in the index have no sequence number and type, else 0.
  uint64_t index_key_is_user_key = 0;
  /// 1 if block handles in the index are stored as differences, else 0.
  uint64_t index_value_is_delta_encoded = 0;
  /// Bytes of filter blocks; 0: the table has none.
  uint64_t filter_size = 0;
  /// Bytes of all keys and of all values before compression; keys are counted whole, with their 8
  /// bytes of sequence number and type.
  uint64_t raw_key_size = 0;
  uint64_t raw_value_size = 0;
  /// Number of data blocks.
  uint64_t num_data_blocks = 0;
  /// Data blocks stored uncompressed because compression did not help, and because it was not
  /// tried.
  uint64_t num_data_blocks_compression_rejected = 0;
  uint64_t num_data_blocks_compression_bypassed = 0;
  /// Blocks whose keys are spread evenly (BlockBasedTableOptions::uniform_cv_threshold). Varve
  /// writes 0.
  uint64_t num_uniform_blocks = 0;
  /// All entries, including range deletions.
  uint64_t num_entries = 0;
  /// Distinct keys and prefixes in the filter.
  uint64_t num_filter_entries = 0;
  /// Deletions of keys and of ranges.
  uint64_t num_deletions = 0;
  /// Merge operands among the entries, and range deletions among them.
  uint64_t num_merge_operands = 0;
  uint64_t num_range_deletions = 0;
  /// Format version of the file (BlockBasedTableOptions::format_version).
  uint64_t format_version = 0;
  /// Length of every key, where the format requires one length; 0: lengths vary.
  uint64_t fixed_key_len = 0;
  /// Number of the column family that the table was written for.
  uint64_t column_family_id = TablePropertiesCollectorFactory::Context::kUnknownColumnFamily;
  /// Creation time of the oldest file whose data this one has.
  uint64_t creation_time = 0;
  /// Time of the oldest data in the table, as known when it was written; time of the newest, which
  /// Varve leaves unknown; and the time at which the file itself was written.
  uint64_t oldest_key_time = 0;
  uint64_t newest_key_time = 0;
  uint64_t file_creation_time = 0;
  /// Estimated bytes of all data blocks with a slow and a fast codec; 0: not sampled.
  uint64_t slow_compression_estimated_data_size = 0;
  uint64_t fast_compression_estimated_data_size = 0;
  /// Offset of an ingested file's global sequence number; 0: none.
  uint64_t external_sst_file_global_seqno_offset = 0;
  /// Offset of the end of the data blocks; 0: unknown.
  uint64_t tail_start_offset = 0;
  /// 1 if keys have their timestamps, 0 if these were removed.
  uint64_t user_defined_timestamps_persisted = 1;
  /// Largest and smallest sequence number of the entries when the table was written; UINT64_MAX if
  /// unknown.
  uint64_t key_largest_seqno = UINT64_MAX;
  uint64_t key_smallest_seqno = UINT64_MAX;
  /// Restart intervals of data blocks and index blocks; 0 in files that do not say.
  uint64_t data_block_restart_interval = 0;
  uint64_t index_block_restart_interval = 0;
  /// 1 if keys and values of data blocks are stored separately, else 0.
  uint64_t separate_key_value_in_data_block = 0;

  /// Identity of the database, of the opening, and of the machine that wrote the table.
  std::string db_id;
  std::string db_session_id;
  std::string db_host_id;
  /// Name of the column family that the table was written for.
  std::string column_family_name;
  /// Name of the filter's format (FilterPolicy::CompatibilityName); empty if there is no filter.
  std::string filter_policy_name;
  /// Names of the comparator, the merge operator and the prefix extractor with which it was
  /// written.
  std::string comparator_name;
  std::string merge_operator_name;
  std::string prefix_extractor_name;
  /// Names of the collectors that observed the table, in the form "[name,name]".
  std::string property_collectors_names;
  /// Name of the codec of data blocks, and the options that it was used with.
  std::string compression_name;
  std::string compression_options;
  /// Encoded pairs of a sequence number and the time at which it was assigned; empty if not
  /// recorded.
  std::string seqno_to_time_mapping;

  /// Properties from collectors: as stored, and in readable form. The second is known only right
  /// after the table was written.
  UserCollectedProperties user_collected_properties;
  UserCollectedProperties readable_properties;

  /// Returns all properties in one readable line: names, kv_delim, values, separated by prop_delim.
  std::string ToString(const std::string& prop_delim = "; ",
                       const std::string& kv_delim = "=") const;

  /// Adds the sizes and counts of `tp` to this object, for totals over several tables; leaves other
  /// properties unchanged.
  void Add(const TableProperties& tp);

  /// Returns the properties that Add() adds, by field name.
  std::map<std::string, uint64_t> GetAggregatablePropertiesAsMap() const;

  /// Returns the bytes of memory that the properties take, including this object.
  std::size_t ApproximateMemoryUsage() const;
};

/// Return the number of deletions, and of merge operands, from properties as they are stored in the
/// file; 0 if absent. *property_present, which must not be null, becomes true if the number is
/// there, else false. Older forms of TableProperties::num_deletions and num_merge_operands.
VARVE_EXPORT uint64_t GetDeletedKeys(const UserCollectedProperties& props);
VARVE_EXPORT uint64_t GetMergeOperands(const UserCollectedProperties& props,
                                       bool* property_present);

}  // namespace varve
