// SPDX-License-Identifier: Apache-2.0

// Defines option types that are plain values: numbers, strings, enums, and lists of them.

#include "util/options/option_types.h"

#include <cstdint>
#include <iterator>
#include <limits>
#include <type_traits>
#include <vector>

#include "varve/convenience.h"
#include "varve/options.h"
#include "varve/table.h"

#include "util/base/declared_names.h"
#include "util/options/option_text.h"

namespace varve {

namespace {

using Table = BlockBasedTableOptions;

Status Unreadable(const char* type, std::string_view text) {
  return Status::InvalidArgument(std::string("not a value of type ") + type,
                                 std::string(text.substr(0, 60)));
}

template <typename T>
bool EqualValues(const void* a, const void* b) {
  return *static_cast<const T*>(a) == *static_cast<const T*>(b);
}

template <typename T>
double AsNumber(const void* field) {
  return static_cast<double>(*static_cast<const T*>(field));
}

// ---- Numbers ----

template <typename T>
bool ParseInteger(std::string_view text, T* value) {
  using Limits = std::numeric_limits<T>;
  if constexpr (std::is_signed_v<T>) {
    int64_t number = 0;
    if (!ParseSigned(text, Limits::min(), Limits::max(), &number)) return false;
    *value = static_cast<T>(number);
  } else {
    uint64_t number = 0;
    if (!ParseUnsigned(text, Limits::max(), &number)) return false;
    *value = static_cast<T>(number);
  }
  return true;
}

// Returns the type of options with a field of type T. Call it once for each T: the name is static,
// because the functions in an OptionType capture nothing.
template <typename T>
OptionType IntegerType(const char* type_name) {
  static const char* const name = type_name;
  return {name,
          [](const ConfigOptions&, std::string_view text, void* field) {
            if (ParseInteger(text, static_cast<T*>(field))) return Status::OK();
            return Unreadable(name, text);
          },
          [](const OptionPrintStyle&, const void* field) {
            return std::to_string(*static_cast<const T*>(field));
          },
          &EqualValues<T>,
          nullptr,
          &AsNumber<T>};
}

Status ParseBool(const ConfigOptions&, std::string_view text, void* field) {
  text = TrimOptionText(text);
  if (text == "true" || text == "1") {
    *static_cast<bool*>(field) = true;
  } else if (text == "false" || text == "0") {
    *static_cast<bool*>(field) = false;
  } else {
    return Unreadable("bool", text);
  }
  return Status::OK();
}

// ---- Enums ----

// The arguments are all values that have a meaning; another one is invalid wherever it comes from.
// Their names in OPTIONS files are those of the enumerators, as RocksDB has the same ones.
template <auto... kValues>
struct EnumCodec {
  static constexpr auto& kNames = kNamedValues<kValues...>;
  using E = std::common_type_t<decltype(kValues)...>;

  static bool Find(std::string_view text, E* value) {
    for (const NamedValue<E>& entry : kNames) {
      if (text == entry.name) {
        *value = entry.value;
        return true;
      }
    }
    return false;
  }

  static const char* NameOf(E value) {
    for (const NamedValue<E>& entry : kNames) {
      if (entry.value == value) return entry.name.data();
    }
    return nullptr;
  }

  static Status Parse(const ConfigOptions&, std::string_view text, void* field) {
    if (Find(TrimOptionText(text), static_cast<E*>(field))) return Status::OK();
    std::string known;
    for (const NamedValue<E>& entry : kNames) known.append(" ").append(entry.name);
    return Status::InvalidArgument("unknown name " + std::string(text.substr(0, 60)) +
                                   ", known are" + known);
  }

  static std::string Print(const OptionPrintStyle& style, const void* field) {
    const E value = *static_cast<const E*>(field);
    const char* const name =
        style.words == OptionPrintStyle::Words::kNone ? nullptr : NameOf(value);
    return name != nullptr ? name : std::to_string(static_cast<int>(value));
  }

  static bool Valid(const void* field) { return NameOf(*static_cast<const E*>(field)) != nullptr; }

  static OptionType Type() { return {"name", &Parse, &Print, &EqualValues<E>, &Valid}; }
};

// ---- Lists ----

// The list replaces the previous one only when every element could be read.
template <typename T>
Status ParseList(const ConfigOptions& config, std::string_view text, void* field) {
  std::vector<T> list;
  for (const std::string_view element : SplitOptionList(WithoutBraces(text))) {
    T value{};
    Status s = OptionTypeOf<T>().parse(config, element, &value);
    if (!s.ok()) return s;
    list.push_back(value);
  }
  *static_cast<std::vector<T>*>(field) = std::move(list);
  return Status::OK();
}

template <typename T>
std::string PrintList(const OptionPrintStyle& style, const void* field) {
  std::string text;
  for (const T& value : *static_cast<const std::vector<T>*>(field)) {
    if (!text.empty()) text += ':';
    text += OptionTypeOf<T>().print(style, &value);
  }
  return text;
}

template <typename T>
bool ValidList(const void* field) {
  const OptionType& type = OptionTypeOf<T>();
  for (const T& value : *static_cast<const std::vector<T>*>(field)) {
    if (type.valid != nullptr && !type.valid(&value)) return false;
  }
  return true;
}

template <typename T>
OptionType ListType() {
  return {"list", &ParseList<T>, &PrintList<T>, &EqualValues<std::vector<T>>, &ValidList<T>};
}

}  // namespace

VARVE_OPTION_TYPE(bool, {"bool", &ParseBool,
                         [](const OptionPrintStyle& style, const void* field) {
                           const bool flag = *static_cast<const bool*>(field);
                           if (style.words != OptionPrintStyle::Words::kAll) {
                             return std::string(flag ? "1" : "0");
                           }
                           return std::string(flag ? "true" : "false");
                         },
                         &EqualValues<bool>})

VARVE_OPTION_TYPE(int32_t, IntegerType<int32_t>("int32"))
VARVE_OPTION_TYPE(uint8_t, IntegerType<uint8_t>("uint8"))
VARVE_OPTION_TYPE(uint32_t, IntegerType<uint32_t>("uint32"))
VARVE_OPTION_TYPE(int64_t, IntegerType<int64_t>("int64"))
VARVE_OPTION_TYPE(uint64_t, IntegerType<uint64_t>("uint64"))

VARVE_OPTION_TYPE(double, {"double",
                           [](const ConfigOptions&, std::string_view text, void* field) {
                             if (ParseDouble(text, static_cast<double*>(field))) {
                               return Status::OK();
                             }
                             return Unreadable("double", text);
                           },
                           [](const OptionPrintStyle&, const void* field) {
                             return PrintDouble(*static_cast<const double*>(field));
                           },
                           &EqualValues<double>, nullptr, &AsNumber<double>})

VARVE_OPTION_TYPE(std::string,
                  {"string",
                   [](const ConfigOptions& config, std::string_view text, void* field) {
                     *static_cast<std::string*>(field) = config.input_strings_escaped
                                                             ? UnescapeOptionText(text)
                                                             : std::string(text);
                     return Status::OK();
                   },
                   [](const OptionPrintStyle&, const void* field) {
                     return EscapeOptionText(*static_cast<const std::string*>(field));
                   },
                   &EqualValues<std::string>})

VARVE_OPTION_TYPE(CompressionType,
                  EnumCodec<kNoCompression, kSnappyCompression, kZlibCompression, kBZip2Compression,
                            kLZ4Compression, kLZ4HCCompression, kXpressCompression, kZSTD,
                            kDisableCompressionOption>::Type())
VARVE_OPTION_TYPE(CompactionStyle, EnumCodec<kCompactionStyleLevel, kCompactionStyleUniversal,
                                             kCompactionStyleFIFO, kCompactionStyleNone>::Type())
VARVE_OPTION_TYPE(CompactionPri,
                  EnumCodec<kByCompensatedSize, kOldestLargestSeqFirst, kOldestSmallestSeqFirst,
                            kMinOverlappingRatio, kRoundRobin>::Type())
VARVE_OPTION_TYPE(Temperature,
                  EnumCodec<Temperature::kUnknown, Temperature::kHot, Temperature::kWarm,
                            Temperature::kCool, Temperature::kCold, Temperature::kIce>::Type())
VARVE_OPTION_TYPE(CompactionStopStyle,
                  EnumCodec<kCompactionStopStyleSimilarSize, kCompactionStopStyleTotalSize>::Type())
VARVE_OPTION_TYPE(
    WALRecoveryMode,
    EnumCodec<WALRecoveryMode::kTolerateCorruptedTailRecords, WALRecoveryMode::kAbsoluteConsistency,
              WALRecoveryMode::kPointInTimeRecovery,
              WALRecoveryMode::kSkipAnyCorruptedRecords>::Type())
VARVE_OPTION_TYPE(
    InfoLogLevel,
    EnumCodec<DEBUG_LEVEL, INFO_LEVEL, WARN_LEVEL, ERROR_LEVEL, FATAL_LEVEL, HEADER_LEVEL>::Type())
VARVE_OPTION_TYPE(ChecksumType, EnumCodec<kNoChecksum, kCRC32c, kxxHash, kxxHash64, kXXH3>::Type())
VARVE_OPTION_TYPE(PinningTier,
                  EnumCodec<PinningTier::kFallback, PinningTier::kNone,
                            PinningTier::kFlushedAndSimilar, PinningTier::kAll>::Type())
VARVE_OPTION_TYPE(EncodingType, EnumCodec<kPlain, kPrefix>::Type())
VARVE_OPTION_TYPE(Table::IndexType,
                  EnumCodec<Table::kBinarySearch, Table::kHashSearch, Table::kTwoLevelIndexSearch,
                            Table::kBinarySearchWithFirstKey>::Type())
VARVE_OPTION_TYPE(Table::DataBlockIndexType,
                  EnumCodec<Table::kDataBlockBinarySearch, Table::kDataBlockBinaryAndHash>::Type())
VARVE_OPTION_TYPE(Table::BlockSearchType,
                  EnumCodec<Table::kBinary, Table::kInterpolation, Table::kAuto>::Type())
VARVE_OPTION_TYPE(Table::IndexShorteningMode,
                  EnumCodec<Table::IndexShorteningMode::kNoShortening,
                            Table::IndexShorteningMode::kShortenSeparators,
                            Table::IndexShorteningMode::kShortenSeparatorsAndSuccessor>::Type())
VARVE_OPTION_TYPE(
    Table::PrepopulateBlockCache,
    EnumCodec<Table::PrepopulateBlockCache::kDisable, Table::PrepopulateBlockCache::kFlushOnly,
              Table::PrepopulateBlockCache::kFlushAndCompaction>::Type())
VARVE_OPTION_TYPE(
    PrepopulateBlobCache,
    EnumCodec<PrepopulateBlobCache::kDisable, PrepopulateBlobCache::kFlushOnly>::Type())
VARVE_OPTION_TYPE(CacheTier, EnumCodec<CacheTier::kVolatileTier, CacheTier::kVolatileCompressedTier,
                                       CacheTier::kNonVolatileBlockTier>::Type())
VARVE_OPTION_TYPE(std::vector<int>, ListType<int>())
VARVE_OPTION_TYPE(std::vector<CompressionType>, ListType<CompressionType>())
VARVE_OPTION_TYPE(std::vector<FileTemperatureAge>, [] {
  OptionType made = ListType<FileTemperatureAge>();
  // Without these braces ParseList would take those of a single element for its own.
  made.print = [](const OptionPrintStyle& style, const void* field) {
    const std::string list = PrintList<FileTemperatureAge>(style, field);
    return list.empty() ? list : "{" + list + "}";
  };
  return made;
}())

}  // namespace varve
