// SPDX-License-Identifier: Apache-2.0

// Defines the stored names of table properties, and TableProperties' sums and text form. The table
// code encodes them in files.

#include "varve/table_properties.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "varve/table.h"

#include "util/base/declared_names.h"
#include "util/coding/decimal.h"
#include "util/coding/varint.h"

namespace varve {

// The names are keys in the properties block of every table, sorted there: changing one would
// change the format.
const std::string TablePropertiesNames::kDbId = "rocksdb.creating.db.identity";
const std::string TablePropertiesNames::kDbSessionId = "rocksdb.creating.session.identity";
const std::string TablePropertiesNames::kDbHostId = "rocksdb.creating.host.identity";
const std::string TablePropertiesNames::kOriginalFileNumber = "rocksdb.original.file.number";
const std::string TablePropertiesNames::kDataSize = "rocksdb.data.size";
const std::string TablePropertiesNames::kIndexSize = "rocksdb.index.size";
const std::string TablePropertiesNames::kIndexPartitions = "rocksdb.index.partitions";
const std::string TablePropertiesNames::kTopLevelIndexSize = "rocksdb.top-level.index.size";
const std::string TablePropertiesNames::kIndexKeyIsUserKey = "rocksdb.index.key.is.user.key";
const std::string TablePropertiesNames::kIndexValueIsDeltaEncoded =
    "rocksdb.index.value.is.delta.encoded";
const std::string TablePropertiesNames::kFilterSize = "rocksdb.filter.size";
const std::string TablePropertiesNames::kRawKeySize = "rocksdb.raw.key.size";
const std::string TablePropertiesNames::kRawValueSize = "rocksdb.raw.value.size";
const std::string TablePropertiesNames::kNumDataBlocks = "rocksdb.num.data.blocks";
const std::string TablePropertiesNames::kNumDataBlocksCompressionRejected =
    "rocksdb.num.data.blocks.compression.rejected";
const std::string TablePropertiesNames::kNumDataBlocksCompressionBypassed =
    "rocksdb.num.data.blocks.compression.bypassed";
const std::string TablePropertiesNames::kNumUniformBlocks = "rocksdb.num.uniform.blocks";
const std::string TablePropertiesNames::kNumEntries = "rocksdb.num.entries";
const std::string TablePropertiesNames::kNumFilterEntries = "rocksdb.num.filter_entries";
const std::string TablePropertiesNames::kDeletedKeys = "rocksdb.deleted.keys";
const std::string TablePropertiesNames::kMergeOperands = "rocksdb.merge.operands";
const std::string TablePropertiesNames::kNumRangeDeletions = "rocksdb.num.range-deletions";
const std::string TablePropertiesNames::kFormatVersion = "rocksdb.format.version";
const std::string TablePropertiesNames::kFixedKeyLen = "rocksdb.fixed.key.length";
const std::string TablePropertiesNames::kFilterPolicy = "rocksdb.filter.policy";
const std::string TablePropertiesNames::kColumnFamilyName = "rocksdb.column.family.name";
const std::string TablePropertiesNames::kColumnFamilyId = "rocksdb.column.family.id";
const std::string TablePropertiesNames::kComparator = "rocksdb.comparator";
const std::string TablePropertiesNames::kMergeOperator = "rocksdb.merge.operator";
const std::string TablePropertiesNames::kPrefixExtractorName = "rocksdb.prefix.extractor.name";
const std::string TablePropertiesNames::kPropertyCollectors = "rocksdb.property.collectors";
const std::string TablePropertiesNames::kCompression = "rocksdb.compression";
const std::string TablePropertiesNames::kCompressionOptions = "rocksdb.compression_options";
const std::string TablePropertiesNames::kCreationTime = "rocksdb.creation.time";
const std::string TablePropertiesNames::kOldestKeyTime = "rocksdb.oldest.key.time";
const std::string TablePropertiesNames::kNewestKeyTime = "rocksdb.newest.key.time";
const std::string TablePropertiesNames::kFileCreationTime = "rocksdb.file.creation.time";
const std::string TablePropertiesNames::kSlowCompressionEstimatedDataSize =
    "rocksdb.sample_for_compression.slow.data.size";
const std::string TablePropertiesNames::kFastCompressionEstimatedDataSize =
    "rocksdb.sample_for_compression.fast.data.size";
const std::string TablePropertiesNames::kSequenceNumberTimeMapping = "rocksdb.seqno.time.map";
const std::string TablePropertiesNames::kTailStartOffset = "rocksdb.tail.start.offset";
const std::string TablePropertiesNames::kUserDefinedTimestampsPersisted =
    "rocksdb.user.defined.timestamps.persisted";
const std::string TablePropertiesNames::kKeyLargestSeqno = "rocksdb.key.largest.seqno";
const std::string TablePropertiesNames::kKeySmallestSeqno = "rocksdb.key.smallest.seqno";
const std::string TablePropertiesNames::kDataBlockRestartInterval =
    "rocksdb.data.block.restart.interval";
const std::string TablePropertiesNames::kIndexBlockRestartInterval =
    "rocksdb.index.block.restart.interval";
const std::string TablePropertiesNames::kSeparateKeyValueInDataBlock =
    "rocksdb.separate.key.value.in.data.block";

const std::string BlockBasedTablePropertyNames::kIndexType = "rocksdb.block.based.table.index.type";
const std::string BlockBasedTablePropertyNames::kWholeKeyFiltering =
    "rocksdb.block.based.table.whole.key.filtering";
const std::string BlockBasedTablePropertyNames::kPrefixFiltering =
    "rocksdb.block.based.table.prefix.filtering";
const std::string BlockBasedTablePropertyNames::kDecoupledPartitionedFilters =
    "rocksdb.block.based.table.decoupled.partitioned.filters";

namespace {

// The fields whose sum over many files has a meaning.
using Props = TableProperties;
constexpr auto& kAdditive = kNamedValues<
    &Props::data_size, &Props::index_size, &Props::index_partitions, &Props::top_level_index_size,
    &Props::filter_size, &Props::raw_key_size, &Props::raw_value_size, &Props::num_data_blocks,
    &Props::num_data_blocks_compression_rejected, &Props::num_data_blocks_compression_bypassed,
    &Props::num_uniform_blocks, &Props::num_entries, &Props::num_filter_entries,
    &Props::num_deletions, &Props::num_merge_operands, &Props::num_range_deletions,
    &Props::slow_compression_estimated_data_size, &Props::fast_compression_estimated_data_size>;

std::string AverageText(uint64_t total, uint64_t count) {
  const double average = count == 0 ? 0 : static_cast<double>(total) / static_cast<double>(count);
  return FixedDigits(average, 6);
}

// A line of "label<kv>value<prop>" pairs.
class PropertyLine {
 public:
  PropertyLine(const std::string& prop_delim, const std::string& kv_delim)
      : prop_delim_(prop_delim), kv_delim_(kv_delim) {}

  void Put(const std::string& label, const std::string& value) {
    text_ += label;
    text_ += kv_delim_;
    text_ += value;
    text_ += prop_delim_;
  }
  void Put(const std::string& label, uint64_t value) { Put(label, std::to_string(value)); }
  void PutOrNone(const std::string& label, const std::string& value) {
    Put(label, value.empty() ? "N/A" : value);
  }

  std::string Take() { return std::move(text_); }

 private:
  const std::string& prop_delim_;
  const std::string& kv_delim_;
  std::string text_;
};

// The labels are RocksDB's; tools parse them.
void PutSizes(const TableProperties& p, PropertyLine* line) {
  line->Put("# data blocks", p.num_data_blocks);
  line->Put("# entries", p.num_entries);
  line->Put("# deletions", p.num_deletions);
  line->Put("# merge operands", p.num_merge_operands);
  line->Put("# range deletions", p.num_range_deletions);
  line->Put("raw key size", p.raw_key_size);
  line->Put("raw average key size", AverageText(p.raw_key_size, p.num_entries));
  line->Put("raw value size", p.raw_value_size);
  line->Put("raw average value size", AverageText(p.raw_value_size, p.num_entries));
  line->Put("data block size", p.data_size);
  line->Put("index block size (user-key? " + std::to_string(p.index_key_is_user_key) +
                ", delta-value? " + std::to_string(p.index_value_is_delta_encoded) + ")",
            p.index_size);
  if (p.index_partitions != 0) {
    line->Put("# index partitions", p.index_partitions);
    line->Put("top-level index size", p.top_level_index_size);
  }
  line->Put("filter block size", p.filter_size);
  line->Put("# entries for filter", p.num_filter_entries);
  line->Put("(estimated) table size", p.data_size + p.index_size + p.filter_size);
}

void PutNames(const TableProperties& p, PropertyLine* line) {
  line->PutOrNone("filter policy name", p.filter_policy_name);
  line->PutOrNone("prefix extractor name", p.prefix_extractor_name);
  const bool known_family =
      p.column_family_id != TablePropertiesCollectorFactory::Context::kUnknownColumnFamily;
  line->Put("column family ID", known_family ? std::to_string(p.column_family_id) : "N/A");
  line->PutOrNone("column family name", p.column_family_name);
  line->PutOrNone("comparator name", p.comparator_name);
  line->Put("user defined timestamps persisted",
            p.user_defined_timestamps_persisted != 0 ? "true" : "false");
  line->PutOrNone("merge operator name", p.merge_operator_name);
  line->PutOrNone("property collectors names", p.property_collectors_names);
  line->PutOrNone("SST file compression algo", p.compression_name);
  line->PutOrNone("SST file compression options", p.compression_options);
}

void PutOrigin(const TableProperties& p, PropertyLine* line) {
  line->Put("creation time", p.creation_time);
  line->Put("time stamp of earliest key", p.oldest_key_time);
  line->Put("time stamp of newest key", p.newest_key_time);
  line->Put("file creation time", p.file_creation_time);
  line->Put("slow compression estimated data size", p.slow_compression_estimated_data_size);
  line->Put("fast compression estimated data size", p.fast_compression_estimated_data_size);
  line->Put("DB identity", p.db_id);
  line->Put("DB session identity", p.db_session_id);
  line->Put("DB host id", p.db_host_id);
  line->Put("original file number", p.orig_file_number);
}

// Returns the bytes that a string occupies outside of its object; those of a short one lie in the
// object's own buffer.
size_t HeapBytes(const std::string& s) {
  return s.capacity() > std::string().capacity() ? s.capacity() + 1 : 0;
}

size_t HeapBytes(const UserCollectedProperties& properties) {
  // The links and colour of a node, besides the pair, in common map implementations.
  constexpr size_t kNodeOverhead = 4 * sizeof(void*);
  size_t bytes = 0;
  for (const auto& [name, value] : properties) {
    bytes += sizeof(UserCollectedProperties::value_type) + kNodeOverhead;
    bytes += HeapBytes(name) + HeapBytes(value);
  }
  return bytes;
}

// Reads a varint among the user-visible properties; returns false if it is missing or malformed.
bool FindCount(const UserCollectedProperties& props, const std::string& name, uint64_t* count) {
  const auto found = props.find(name);
  if (found == props.end()) return false;
  Slice encoded(found->second);
  return GetVarint64(&encoded, count);
}

}  // namespace

std::string TableProperties::ToString(const std::string& prop_delim,
                                      const std::string& kv_delim) const {
  PropertyLine line(prop_delim, kv_delim);
  PutSizes(*this, &line);
  PutNames(*this, &line);
  PutOrigin(*this, &line);
  return line.Take();
}

void TableProperties::Add(const TableProperties& tp) {
  for (const auto& [field, name] : kAdditive) this->*field += tp.*field;
}

std::map<std::string, uint64_t> TableProperties::GetAggregatablePropertiesAsMap() const {
  std::map<std::string, uint64_t> sums;
  for (const auto& [field, name] : kAdditive) sums[std::string(name)] = this->*field;
  return sums;
}

std::size_t TableProperties::ApproximateMemoryUsage() const {
  size_t bytes = sizeof(*this);
  for (const std::string* text :
       {&db_id, &db_session_id, &db_host_id, &column_family_name, &filter_policy_name,
        &comparator_name, &merge_operator_name, &prefix_extractor_name, &property_collectors_names,
        &compression_name, &compression_options, &seqno_to_time_mapping}) {
    bytes += HeapBytes(*text);
  }
  return bytes + HeapBytes(user_collected_properties) + HeapBytes(readable_properties);
}

uint64_t GetDeletedKeys(const UserCollectedProperties& props) {
  uint64_t count = 0;
  return FindCount(props, TablePropertiesNames::kDeletedKeys, &count) ? count : 0;
}

uint64_t GetMergeOperands(const UserCollectedProperties& props, bool* property_present) {
  uint64_t count = 0;
  *property_present = FindCount(props, TablePropertiesNames::kMergeOperands, &count);
  return *property_present ? count : 0;
}

const std::string PlainTablePropertyNames::kEncodingType = "rocksdb.plain.table.encoding.type";
const std::string PlainTablePropertyNames::kBloomVersion = "rocksdb.plain.table.bloom.version";
const std::string PlainTablePropertyNames::kNumBloomBlocks = "rocksdb.plain.table.bloom.numblocks";

}  // namespace varve
