// SPDX-License-Identifier: Apache-2.0

// Encodes and decodes table properties.

#include "table/meta/properties_block.h"

#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "table/block/block_builder.h"
#include "table/block/block_walker.h"
#include "util/coding/fixed.h"
#include "util/coding/varint.h"

namespace varve {
namespace {

// Says if a property with an empty value is written all the same.
enum class WhenEmpty : uint8_t { kWrite, kSkip };

struct NumberRow {
  std::string_view name;
  uint64_t TableProperties::*field;
  WhenEmpty when_zero;
};

// Rows are looked up one after the other: a table has few properties, and is opened seldom. What
// RocksDB always writes is written even if it is zero, so that its tools find it.
constexpr NumberRow kNumbers[] = {
    {"rocksdb.column.family.id", &TableProperties::column_family_id, WhenEmpty::kWrite},
    {"rocksdb.creation.time", &TableProperties::creation_time, WhenEmpty::kWrite},
    {"rocksdb.data.block.restart.interval", &TableProperties::data_block_restart_interval,
     WhenEmpty::kSkip},
    {"rocksdb.data.size", &TableProperties::data_size, WhenEmpty::kWrite},
    {"rocksdb.deleted.keys", &TableProperties::num_deletions, WhenEmpty::kWrite},
    {"rocksdb.file.creation.time", &TableProperties::file_creation_time, WhenEmpty::kWrite},
    {"rocksdb.filter.size", &TableProperties::filter_size, WhenEmpty::kWrite},
    {"rocksdb.fixed.key.length", &TableProperties::fixed_key_len, WhenEmpty::kWrite},
    {"rocksdb.format.version", &TableProperties::format_version, WhenEmpty::kWrite},
    {"rocksdb.index.block.restart.interval", &TableProperties::index_block_restart_interval,
     WhenEmpty::kSkip},
    {"rocksdb.index.key.is.user.key", &TableProperties::index_key_is_user_key, WhenEmpty::kWrite},
    {"rocksdb.index.partitions", &TableProperties::index_partitions, WhenEmpty::kSkip},
    {"rocksdb.index.size", &TableProperties::index_size, WhenEmpty::kWrite},
    {"rocksdb.index.value.is.delta.encoded", &TableProperties::index_value_is_delta_encoded,
     WhenEmpty::kWrite},
    {"rocksdb.merge.operands", &TableProperties::num_merge_operands, WhenEmpty::kWrite},
    {"rocksdb.newest.key.time", &TableProperties::newest_key_time, WhenEmpty::kSkip},
    {"rocksdb.num.data.blocks", &TableProperties::num_data_blocks, WhenEmpty::kWrite},
    {"rocksdb.num.data.blocks.compression.bypassed",
     &TableProperties::num_data_blocks_compression_bypassed, WhenEmpty::kSkip},
    {"rocksdb.num.data.blocks.compression.rejected",
     &TableProperties::num_data_blocks_compression_rejected, WhenEmpty::kSkip},
    {"rocksdb.num.entries", &TableProperties::num_entries, WhenEmpty::kWrite},
    {"rocksdb.num.filter_entries", &TableProperties::num_filter_entries, WhenEmpty::kWrite},
    {"rocksdb.num.range-deletions", &TableProperties::num_range_deletions, WhenEmpty::kWrite},
    {"rocksdb.num.uniform.blocks", &TableProperties::num_uniform_blocks, WhenEmpty::kSkip},
    {"rocksdb.oldest.key.time", &TableProperties::oldest_key_time, WhenEmpty::kWrite},
    {"rocksdb.original.file.number", &TableProperties::orig_file_number, WhenEmpty::kSkip},
    {"rocksdb.raw.key.size", &TableProperties::raw_key_size, WhenEmpty::kWrite},
    {"rocksdb.raw.value.size", &TableProperties::raw_value_size, WhenEmpty::kWrite},
    {"rocksdb.sample_for_compression.fast.data.size",
     &TableProperties::fast_compression_estimated_data_size, WhenEmpty::kSkip},
    {"rocksdb.sample_for_compression.slow.data.size",
     &TableProperties::slow_compression_estimated_data_size, WhenEmpty::kSkip},
    {"rocksdb.separate.key.value.in.data.block", &TableProperties::separate_key_value_in_data_block,
     WhenEmpty::kSkip},
    {"rocksdb.tail.start.offset", &TableProperties::tail_start_offset, WhenEmpty::kSkip},
    {"rocksdb.top-level.index.size", &TableProperties::top_level_index_size, WhenEmpty::kSkip},
};

// Numbers whose default is not zero; written unless they have that value.
struct UnusualNumberRow {
  std::string_view name;
  uint64_t TableProperties::*field;
  uint64_t silent_value;
};

constexpr UnusualNumberRow kUnusualNumbers[] = {
    {"rocksdb.key.largest.seqno", &TableProperties::key_largest_seqno, UINT64_MAX},
    {"rocksdb.key.smallest.seqno", &TableProperties::key_smallest_seqno, UINT64_MAX},
    {"rocksdb.user.defined.timestamps.persisted",
     &TableProperties::user_defined_timestamps_persisted, 1},
};

struct TextRow {
  std::string_view name;
  std::string TableProperties::*field;
};

// Strings that are written unless they are empty.
constexpr TextRow kTexts[] = {
    {"rocksdb.column.family.name", &TableProperties::column_family_name},
    {"rocksdb.comparator", &TableProperties::comparator_name},
    {"rocksdb.compression", &TableProperties::compression_name},
    {"rocksdb.compression_options", &TableProperties::compression_options},
    {"rocksdb.creating.db.identity", &TableProperties::db_id},
    {"rocksdb.creating.host.identity", &TableProperties::db_host_id},
    {"rocksdb.creating.session.identity", &TableProperties::db_session_id},
    {"rocksdb.filter.policy", &TableProperties::filter_policy_name},
    {"rocksdb.merge.operator", &TableProperties::merge_operator_name},
    {"rocksdb.prefix.extractor.name", &TableProperties::prefix_extractor_name},
    {"rocksdb.property.collectors", &TableProperties::property_collectors_names},
    {"rocksdb.seqno.time.map", &TableProperties::seqno_to_time_mapping},
};

constexpr std::string_view kIndexType = "rocksdb.block.based.table.index.type";
constexpr std::string_view kWholeKeyFiltering = "rocksdb.block.based.table.whole.key.filtering";
constexpr std::string_view kPrefixFiltering = "rocksdb.block.based.table.prefix.filtering";
constexpr std::string_view kDecoupledFilters =
    "rocksdb.block.based.table.decoupled.partitioned.filters";
constexpr std::string_view kExternalVersion = "rocksdb.external_sst_file.version";
constexpr std::string_view kExternalSeqno = "rocksdb.external_sst_file.global_seqno";
// Properties of tables that have a part which we need and cannot read.
constexpr std::string_view kUnreadable[] = {"rocksdb.embedded.blob.stats",
                                            "rocksdb.udi.is.primary.index"};

std::string VarintText(uint64_t value) {
  std::string text;
  PutVarint64(&text, value);
  return text;
}

Status Malformed(const Slice& name) {
  return Status::Corruption("malformed table property", name);
}

Status ParseNumber(const Slice& name, const Slice& value, uint64_t* number) {
  Slice rest = value;
  if (!GetVarint64(&rest, number) || !rest.empty()) return Malformed(name);
  return Status::OK();
}

Status ParseFlag(const Slice& name, const Slice& value, bool* flag) {
  if (value.size() != 1 || (value[0] != '0' && value[0] != '1')) return Malformed(name);
  *flag = value[0] == '1';
  return Status::OK();
}

Status ParseIndexType(const Slice& name, const Slice& value, TableTraits* traits) {
  if (value.size() != sizeof(uint32_t)) return Malformed(name);
  const uint32_t type = DecodeFixed32(value.data());
  if (type > BlockBasedTableOptions::kBinarySearchWithFirstKey) {
    return Status::NotSupported("table with index of unknown type " + std::to_string(type));
  }
  traits->index_type = static_cast<BlockBasedTableOptions::IndexType>(type);
  return Status::OK();
}

// Parses a property that decides about decoding. Sets *taken to true if the name is one of them,
// else to false. Those in kUnreadable are refused, and not skipped as unknown properties are: the
// table would be decoded wrongly.
Status ParseTrait(const Slice& name, const Slice& value, size_t value_offset, TableTraits* traits,
                  bool* taken) {
  const std::string_view n = name.ToStringView();
  *taken = true;
  if (n == kIndexType) return ParseIndexType(name, value, traits);
  if (n == kWholeKeyFiltering) return ParseFlag(name, value, &traits->whole_key_filtering);
  if (n == kPrefixFiltering) return ParseFlag(name, value, &traits->prefix_filtering);
  if (n == kDecoupledFilters) {
    return ParseFlag(name, value, &traits->decoupled_partitioned_filters);
  }
  if (n == kExternalVersion) {
    if (value.size() != sizeof(uint32_t)) return Malformed(name);
    traits->external_version = DecodeFixed32(value.data());
    if (traits->external_version == 0 || traits->external_version > 2) return Malformed(name);
    return Status::OK();
  }
  if (n == kExternalSeqno) {
    if (value.size() != sizeof(uint64_t)) return Malformed(name);
    traits->external_global_seqno = DecodeFixed64(value.data());
    traits->external_global_seqno_offset = value_offset;
    return Status::OK();
  }
  for (const std::string_view unreadable : kUnreadable) {
    if (n == unreadable) return Status::NotSupported("table with property", name);
  }
  *taken = false;
  return Status::OK();
}

// Parses any other property that has a field.
Status ParseField(const Slice& name, const Slice& value, TableProperties* properties, bool* taken) {
  const std::string_view n = name.ToStringView();
  *taken = true;
  for (const NumberRow& row : kNumbers) {
    if (n == row.name) return ParseNumber(name, value, &(properties->*row.field));
  }
  for (const UnusualNumberRow& row : kUnusualNumbers) {
    if (n == row.name) return ParseNumber(name, value, &(properties->*row.field));
  }
  for (const TextRow& row : kTexts) {
    if (n == row.name) {
      (properties->*row.field).assign(value.data(), value.size());
      return Status::OK();
    }
  }
  *taken = false;
  return Status::OK();
}

Status CheckConsistent(const TableTraits& traits) {
  if (traits.external_global_seqno_offset != 0 && traits.external_version == 0) {
    return Status::Corruption("table has a global sequence number but no external file version");
  }
  return Status::OK();
}

// Names are sorted bytewise, as the block must be.
using PropertyEntries = std::map<std::string_view, std::string>;

// Adds the properties that have a field. Which of them are left out when they are zero, empty or
// at their default, is said by the tables above.
void AddFields(const TableProperties& properties, PropertyEntries* added) {
  PropertyEntries& entries = *added;
  for (const NumberRow& row : kNumbers) {
    const uint64_t value = properties.*row.field;
    if (value != 0 || row.when_zero == WhenEmpty::kWrite) entries[row.name] = VarintText(value);
  }
  for (const UnusualNumberRow& row : kUnusualNumbers) {
    const uint64_t value = properties.*row.field;
    if (value != row.silent_value) entries[row.name] = VarintText(value);
  }
  for (const TextRow& row : kTexts) {
    const std::string& value = properties.*row.field;
    if (!value.empty()) entries[row.name] = value;
  }
}

// Appends the block of all entries and of what the user's collectors have found.
void AppendEntries(PropertyEntries entries, const TableProperties& properties, std::string* block) {
  // emplace() does not replace: if a collector uses one of our names, our value stays.
  for (const auto& [name, value] : properties.user_collected_properties) {
    entries.emplace(name, value);
  }

  BlockBuilder::Options options;
  // One restart point: the block is always read from the front.
  options.restart_interval = std::numeric_limits<int>::max();
  BlockBuilder builder(options);
  for (const auto& [name, value] : entries) builder.Add(Slice(name), Slice(value));
  const Slice content = builder.Finish();
  block->append(content.data(), content.size());
}

}  // namespace

void EncodeProperties(const TableProperties& properties, std::string* block) {
  PropertyEntries entries;
  AddFields(properties, &entries);
  AppendEntries(std::move(entries), properties, block);
}

void EncodeProperties(const TableProperties& properties, const TableTraits& traits,
                      std::string* block) {
  PropertyEntries entries;
  AddFields(properties, &entries);
  std::string index_type;
  PutFixed32(&index_type, static_cast<uint32_t>(traits.index_type));
  entries[kIndexType] = index_type;
  entries[kWholeKeyFiltering] = traits.whole_key_filtering ? "1" : "0";
  entries[kPrefixFiltering] = traits.prefix_filtering ? "1" : "0";
  if (traits.decoupled_partitioned_filters) entries[kDecoupledFilters] = "1";
  AppendEntries(std::move(entries), properties, block);
}

// Each name is a trait, a field, or neither. Traits are checked, as they decide how the rest of the
// table is decoded; names that are neither are kept as they are.
Status ParseProperties(const Slice& block, TableProperties* properties, TableTraits* traits) {
  *properties = TableProperties();
  *traits = TableTraits();
  std::string last_name;
  bool first = true;
  BlockWalker walk(block);
  while (walk.Next()) {
    const Slice name = walk.key();
    if (!first && name.compare(Slice(last_name)) <= 0) {
      return Status::Corruption("table properties are not in order", name);
    }
    first = false;
    last_name.assign(name.data(), name.size());

    bool is_trait = false;
    Status s = ParseTrait(name, walk.value(), walk.value_offset(), traits, &is_trait);
    if (!s.ok()) return s;
    bool is_field = false;
    if (!is_trait) s = ParseField(name, walk.value(), properties, &is_field);
    if (!s.ok()) return s;
    // Traits are also kept by name, for tools, and for what looks at properties after the table was
    // opened.
    if (!is_field) {
      properties->user_collected_properties[last_name] = walk.value().ToString();
    }
  }
  if (!walk.status().ok()) return walk.status();
  traits->index_key_is_user_key = properties->index_key_is_user_key != 0;
  traits->index_value_is_delta_encoded = properties->index_value_is_delta_encoded != 0;
  properties->external_sst_file_global_seqno_offset = traits->external_global_seqno_offset;
  return CheckConsistent(*traits);
}

}  // namespace varve
