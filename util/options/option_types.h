// SPDX-License-Identifier: Apache-2.0
#pragma once

// Declares properties of a field's type that the schema uses: its text form, equality, and valid
// values.

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

// The style of printed options.
struct OptionPrintStyle {
  enum class Words : uint8_t {
    kAll,    // Words that parsing accepts, such as "true" and "kXXH3".
    kNames,  // Like kAll, but flags are 0 and 1.
    kNone,   // Like kNames, but names are numbers.
  };

  std::string_view delimiter = ";";
  bool detailed = false;          // Prints objects with their own options.
  bool dynamic_only = false;      // Prints only what may be changed on an open database.
  bool plain_names_only = false;  // Prints only names that RocksDB 7.8.3 knows.
  Words words = Words::kAll;
};

// The functions of one type of field; `field` points to an object of that type.
struct OptionType {
  // The name in messages and help, such as "uint64".
  const char* name;

  // Sets *field from text. Returns InvalidArgument if it is not a value of the type, NotSupported
  // if it names an object that cannot be made. *field is unspecified after an error.
  Status (*parse)(const ConfigOptions& config, std::string_view text, void* field);

  // Returns the text; nullptr for types that have none.
  std::string (*print)(const OptionPrintStyle& style, const void* field);

  bool (*equal)(const void* a, const void* b);

  // Returns false for bit patterns without a meaning (an enum's number without a name); nullptr if
  // all are valid.
  bool (*valid)(const void* field) = nullptr;

  // Returns the value as a number, for ranges; nullptr for types that are none.
  double (*number)(const void* field) = nullptr;

  // Sets one field of a struct, or of an object with options, which text names "struct.field"; with
  // `dynamic_only`, one that may be changed although the whole may not. Errors are those of
  // ApplyOptions; *field is then unchanged. nullptr if the type has no fields.
  Status (*set_field)(const ConfigOptions& config, std::string_view name, std::string_view value,
                      bool dynamic_only, void* field) = nullptr;
};

// Specialized for every type that a field of an options struct has.
template <typename T>
const OptionType& OptionTypeOf();

// Declares the types that need no other header: types of values, and structs of fields.
#define VARVE_DECLARE_OPTION_TYPE(T) \
  template <>                        \
  const OptionType& OptionTypeOf<T>()
VARVE_DECLARE_OPTION_TYPE(bool);
VARVE_DECLARE_OPTION_TYPE(int32_t);
VARVE_DECLARE_OPTION_TYPE(uint8_t);
VARVE_DECLARE_OPTION_TYPE(uint32_t);
VARVE_DECLARE_OPTION_TYPE(int64_t);
VARVE_DECLARE_OPTION_TYPE(uint64_t);
VARVE_DECLARE_OPTION_TYPE(double);
VARVE_DECLARE_OPTION_TYPE(std::string);
VARVE_DECLARE_OPTION_TYPE(CompressionType);
VARVE_DECLARE_OPTION_TYPE(CompactionStyle);
VARVE_DECLARE_OPTION_TYPE(CompactionPri);
VARVE_DECLARE_OPTION_TYPE(Temperature);
VARVE_DECLARE_OPTION_TYPE(CompactionStopStyle);
VARVE_DECLARE_OPTION_TYPE(WALRecoveryMode);
VARVE_DECLARE_OPTION_TYPE(InfoLogLevel);
VARVE_DECLARE_OPTION_TYPE(ChecksumType);
VARVE_DECLARE_OPTION_TYPE(PinningTier);
VARVE_DECLARE_OPTION_TYPE(EncodingType);
VARVE_DECLARE_OPTION_TYPE(BlockBasedTableOptions::IndexType);
VARVE_DECLARE_OPTION_TYPE(BlockBasedTableOptions::DataBlockIndexType);
VARVE_DECLARE_OPTION_TYPE(BlockBasedTableOptions::BlockSearchType);
VARVE_DECLARE_OPTION_TYPE(BlockBasedTableOptions::IndexShorteningMode);
VARVE_DECLARE_OPTION_TYPE(BlockBasedTableOptions::PrepopulateBlockCache);
VARVE_DECLARE_OPTION_TYPE(PrepopulateBlobCache);
VARVE_DECLARE_OPTION_TYPE(CacheTier);
VARVE_DECLARE_OPTION_TYPE(std::vector<int>);
VARVE_DECLARE_OPTION_TYPE(std::vector<CompressionType>);
VARVE_DECLARE_OPTION_TYPE(std::vector<FileTemperatureAge>);
VARVE_DECLARE_OPTION_TYPE(FileTemperatureAge);
VARVE_DECLARE_OPTION_TYPE(CompressionOptions);
VARVE_DECLARE_OPTION_TYPE(CompactionOptionsUniversal);
VARVE_DECLARE_OPTION_TYPE(CompactionOptionsFIFO);
VARVE_DECLARE_OPTION_TYPE(MetadataCacheOptions);
#undef VARVE_DECLARE_OPTION_TYPE

// Defines OptionTypeOf<T> by the remaining arguments. It is a macro because each use is a separate
// specialization.
#define VARVE_OPTION_TYPE(T, ...)               \
  template <>                                   \
  const OptionType& OptionTypeOf<T>() {         \
    static const OptionType type = __VA_ARGS__; \
    return type;                                \
  }

}  // namespace varve
