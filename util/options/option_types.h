// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the schema knows about the type of a field: its text form, equality, valid values.

#include <cstddef>
#include <string>
#include <string_view>

#include "varve/status.h"

namespace varve {

struct CompactionOptionsFIFO;
class CompactionOptionsUniversal;
struct CompressionOptions;
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

// Fields that are structs themselves.
template <>
const OptionType& OptionTypeOf<CompressionOptions>();
template <>
const OptionType& OptionTypeOf<CompactionOptionsUniversal>();
template <>
const OptionType& OptionTypeOf<CompactionOptionsFIFO>();

}  // namespace varve
