// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the schema knows about the type of a field: its text form, equality, valid values.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "varve/options.h"
#include "varve/status.h"
#include "varve/table.h"

namespace varve {

struct ConfigOptions;

// How to print options.
struct OptionPrintStyle {
  std::string_view delimiter = ";";
  bool detailed = false;          // Objects with their own options.
  bool dynamic_only = false;      // Only what may be changed on an open database.
  bool plain_names_only = false;  // Only names that RocksDB 7.8.3 knows.
};

// Functions over a field of one type; `field` points to an object of that type.
struct OptionType {
  // For messages and help: "uint64".
  const char* name;

  // Sets *field from text. InvalidArgument: not a value of the type. NotSupported: the text names
  // an object that cannot be made. *field is unspecified after an error.
  Status (*parse)(const ConfigOptions& config, std::string_view text, void* field);

  // The text; nullptr for types that have none.
  std::string (*print)(const OptionPrintStyle& style, const void* field);

  bool (*equal)(const void* a, const void* b);

  // False for bit patterns without a meaning (an enum's number without a name); nullptr: all valid.
  bool (*valid)(const void* field);

  // The value as a number, for ranges; nullptr for types that are none.
  double (*number)(const void* field);
};

// Specialized for every type that a field of an options struct has.
template <typename T>
const OptionType& OptionTypeOf();

// Values.
template <>
const OptionType& OptionTypeOf<bool>();
template <>
const OptionType& OptionTypeOf<int32_t>();
template <>
const OptionType& OptionTypeOf<uint32_t>();
template <>
const OptionType& OptionTypeOf<int64_t>();
template <>
const OptionType& OptionTypeOf<uint64_t>();
template <>
const OptionType& OptionTypeOf<double>();
template <>
const OptionType& OptionTypeOf<std::string>();
template <>
const OptionType& OptionTypeOf<CompressionType>();
template <>
const OptionType& OptionTypeOf<CompactionStyle>();
template <>
const OptionType& OptionTypeOf<CompactionPri>();
template <>
const OptionType& OptionTypeOf<CompactionStopStyle>();
template <>
const OptionType& OptionTypeOf<WALRecoveryMode>();
template <>
const OptionType& OptionTypeOf<InfoLogLevel>();
template <>
const OptionType& OptionTypeOf<ChecksumType>();
template <>
const OptionType& OptionTypeOf<PinningTier>();
template <>
const OptionType& OptionTypeOf<BlockBasedTableOptions::IndexType>();
template <>
const OptionType& OptionTypeOf<BlockBasedTableOptions::DataBlockIndexType>();
template <>
const OptionType& OptionTypeOf<BlockBasedTableOptions::BlockSearchType>();
template <>
const OptionType& OptionTypeOf<BlockBasedTableOptions::IndexShorteningMode>();
template <>
const OptionType& OptionTypeOf<BlockBasedTableOptions::PrepopulateBlockCache>();
template <>
const OptionType& OptionTypeOf<std::vector<int>>();
template <>
const OptionType& OptionTypeOf<std::vector<CompressionType>>();

// Fields that are structs themselves.
template <>
const OptionType& OptionTypeOf<CompressionOptions>();
template <>
const OptionType& OptionTypeOf<CompactionOptionsUniversal>();
template <>
const OptionType& OptionTypeOf<CompactionOptionsFIFO>();
template <>
const OptionType& OptionTypeOf<MetadataCacheOptions>();

}  // namespace varve
