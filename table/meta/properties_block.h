// SPDX-License-Identifier: Apache-2.0
#pragma once

// Encodes the properties block: facts about a table under names. Some of them decide how it is
// decoded.

#include <cstdint>
#include <map>
#include <string>

#include "varve/slice.h"
#include "varve/status.h"
#include "varve/table.h"
#include "varve/table_properties.h"

namespace varve {

// Names of blocks in the metaindex.
namespace meta_block {
inline constexpr char kProperties[] = "rocksdb.properties";
inline constexpr char kPropertiesOld[] = "rocksdb.stats";
inline constexpr char kIndex[] = "rocksdb.index";
inline constexpr char kRangeDeletions[] = "rocksdb.range_del";
inline constexpr char kCompressionDictionary[] = "rocksdb.compression_dict";
inline constexpr char kFullFilter[] = "fullfilter.rocksdb.BuiltinBloomFilter";
inline constexpr char kHashIndexPrefixes[] = "rocksdb.hashindex.prefixes";
inline constexpr char kHashIndexMetadata[] = "rocksdb.hashindex.metadata";
inline constexpr char kPartitionedFilter[] = "partitionedfilter.rocksdb.BuiltinBloomFilter";
}  // namespace meta_block

// Describes how the blocks of a table are decoded. The defaults are for a table without a
// properties block.
struct TableTraits {
  BlockBasedTableOptions::IndexType index_type = BlockBasedTableOptions::kBinarySearch;
  bool index_key_is_user_key = false;
  bool index_value_is_delta_encoded = false;
  bool whole_key_filtering = true;
  bool prefix_filtering = true;
  // True: the partitions of the filter end at keys of their own, not where those of the index end.
  bool decoupled_partitioned_filters = false;

  // Version of a table made outside a database (by SstFileWriter), 1 or 2; 0 for other tables. In a
  // table of version 2 every entry has the same sequence number.
  uint32_t external_version = 0;
  // Valid if external_version is 2. The offset is the position of the fixed64 within the properties
  // block, 0 if there is none: it may be overwritten in place without updating the checksum.
  uint64_t external_global_seqno = 0;
  uint64_t external_global_seqno_offset = 0;
};

// Appends the block (without trailer) with every property to *block, which must be empty. Those of
// user_collected_properties are written, too, unless their name is one of ours: a trait comes from
// `traits` and not from the map.
void EncodeProperties(const TableProperties& properties, const TableTraits& traits,
                      std::string* block);
// Does the same without the names of TableTraits, for tables that are not block-based.
void EncodeProperties(const TableProperties& properties, std::string* block);

// Parses an uncompressed properties block of any content, and replaces *properties and *traits by
// what it says. Names that are unknown, and those of TableTraits, end up in
// user_collected_properties. external_sst_file_global_seqno_offset is a position within the block;
// the caller adds that of the block in the file.
//
// Corruption: the block or a number in it is malformed, or names are out of order. NotSupported: a
// property says that the table has an index of an unknown type or another part that cannot be read.
// No message names the file. After an error *properties and *traits have a part of the block's.
Status ParseProperties(const Slice& block, TableProperties* properties, TableTraits* traits);

}  // namespace varve
