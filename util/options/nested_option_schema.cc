// SPDX-License-Identifier: Apache-2.0

// Defines the schema rows of structs that are themselves fields: compression, compaction styles,
// temperatures by age, pinning.

#include <cstddef>
#include <memory>
#include <string>

#include "varve/advanced_options.h"
#include "varve/table.h"

#include "util/base/status_macros.h"
#include "util/options/option_schema.h"

namespace varve {

namespace {

constexpr char kRewritten[] = "tables are rewritten for another temperature";

#define VARVE_ROW(S, field, help) MakeOptionRow<S, &S::field>(#field, help)

constexpr OptionRow kCompressionRows[] = {
    VARVE_ROW(CompressionOptions, window_bits, "zlib: log2 of the window; negative: raw"),
    VARVE_ROW(CompressionOptions, level, "codec's effort; 32767: its default"),
    VARVE_ROW(CompressionOptions, strategy, "zlib's strategy"),
    VARVE_ROW(CompressionOptions, max_dict_bytes, "bytes of a dictionary for each file; 0: none"),
    VARVE_ROW(CompressionOptions, zstd_max_train_bytes, "bytes of samples to train from"),
    VARVE_ROW(CompressionOptions, parallel_threads, "threads that compress one file"),
    VARVE_ROW(CompressionOptions, enabled, "replace compression_opts in the last level"),
    VARVE_ROW(CompressionOptions, max_dict_buffer_bytes, "bytes held back while sampling"),
    VARVE_ROW(CompressionOptions, use_zstd_dict_trainer, "full trainer, not the finalizer"),
    VARVE_ROW(CompressionOptions, max_compressed_bytes_per_kb, "most bytes kept for 1024 raw ones")
        .Between(0, 1024)
        .Extended(),
    VARVE_ROW(CompressionOptions, checksum, "zstd's own checksum").Extended(),
};

using Universal = CompactionOptionsUniversal;
constexpr OptionRow kUniversalRows[] = {
    VARVE_ROW(Universal, size_ratio, "percent by which runs may differ"),
    VARVE_ROW(Universal, min_merge_width, "fewest runs merged"),
    VARVE_ROW(Universal, max_merge_width, "most runs merged"),
    VARVE_ROW(Universal, max_size_amplification_percent, "percent of extra space allowed"),
    VARVE_ROW(Universal, compression_size_percent, "percent of data compressed; -1: all"),
    VARVE_ROW(Universal, max_read_amp, "runs that may stay; -1: the trigger; 0: derived")
        .Extended(),
    VARVE_ROW(Universal, stop_style, "when to stop adding runs"),
    VARVE_ROW(Universal, allow_trivial_move, "move what does not overlap"),
    VARVE_ROW(Universal, incremental, "merge windows of the key space"),
    VARVE_ROW(Universal, reduce_file_locking, "inputs are locked late")
        .Extended()
        .Advisory("no merge waits with its inputs locked"),
};

using Fifo = CompactionOptionsFIFO;
constexpr OptionRow kFifoRows[] = {
    VARVE_ROW(Fifo, max_table_files_size, "bytes above which files go"),
    VARVE_ROW(Fifo, max_data_files_size, "the same, with all kinds of files").Extended(),
    VARVE_ROW(Fifo, allow_compaction, "merge small files"),
    VARVE_ROW(Fifo, use_kv_ratio_compaction, "merge by tiers").Extended(),
    VARVE_ROW(Fifo, file_temperature_age_thresholds, "temperatures by age").Extended(),
    VARVE_ROW(Fifo, age_for_warm, "seconds until files are warm"),
    VARVE_ROW(Fifo, allow_trivial_copy_when_change_temperature, "copy for a temperature")
        .Extended()
        .Advisory(kRewritten),
    VARVE_ROW(Fifo, trivial_copy_buffer_size, "bytes of such copies at once")
        .Extended()
        .Advisory(kRewritten),
};

constexpr OptionRow kTemperatureAgeRows[] = {
    VARVE_ROW(FileTemperatureAge, temperature, "temperature of tables"),
    VARVE_ROW(FileTemperatureAge, age, "from this age on, in seconds"),
};

using Pinning = MetadataCacheOptions;
constexpr OptionRow kMetadataCacheRows[] = {
    VARVE_ROW(Pinning, top_level_index_pinning, "upper level of partitioned blocks"),
    VARVE_ROW(Pinning, partition_pinning, "partitions"),
    VARVE_ROW(Pinning, unpartitioned_pinning, "indexes and filters in one piece"),
};

#undef VARVE_ROW

// A struct that is a field is dynamic or not as a whole.
ConfigOptions ForNested(const ConfigOptions& config) {
  ConfigOptions nested = config;
  nested.mutable_options_only = false;
  return nested;
}

// The type of an option that is a struct T with an option table of its own. A function returns the
// table, so that it may be created after the type.
template <typename T, const OptionTable& (*kTable)()>
struct Nested {
  static OptionType Type() {
    return {"struct", &Parse, &Print, &Equal, &Valid, nullptr, &SetField};
  }

  static Status Parse(const ConfigOptions& config, std::string_view text, void* field) {
    OptionPairs pairs;
    Status s = SplitOptionText(text, &pairs);
    if (!s.ok()) return s;
    return ApplyOptions(kTable(), ForNested(config), pairs, OptionScope::kAll, field);
  }

  static Status SetField(const ConfigOptions& config, std::string_view name, std::string_view value,
                         bool dynamic_only, void* field) {
    if (dynamic_only) {
      return Status::InvalidArgument(std::string(kTable().struct_name()) +
                                     "::" + std::string(name) +
                                     " cannot be changed while the database is open");
    }
    // A copy, because the caller's field must be unchanged after an error.
    T changed = *static_cast<const T*>(field);
    const OptionPairs one = {{std::string(name), std::string(value)}};
    VARVE_RETURN_IF_ERROR(
        ApplyOptions(kTable(), ForNested(config), one, OptionScope::kAll, &changed));
    *static_cast<T*>(field) = changed;
    return Status::OK();
  }

  static std::string Print(const OptionPrintStyle& style, const void* field) {
    const OptionPrintStyle inner = {.plain_names_only = style.plain_names_only};
    return "{" + PrintOptions(kTable(), inner, field) + "}";
  }

  static bool Equal(const void* a, const void* b) { return EqualOptions(kTable(), a, b); }

  static bool Valid(const void* field) { return CheckOptions(kTable(), "", field).ok(); }
};

using NestedCompression = Nested<CompressionOptions, &CompressionOptionTable>;

// Also parses the older form, a list by position:
//   window_bits:level:strategy[:dict[:train[:threads...]]]
// The positions are those of the rows above, whose order therefore must not change.
Status ParseCompressionOptions(const ConfigOptions& config, std::string_view text, void* field) {
  const ConfigOptions nested = ForNested(config);
  if (text.find('=') != std::string_view::npos || WithoutBraces(text).empty()) {
    return NestedCompression::Parse(nested, text, field);
  }
  const std::span<const OptionRow> rows = CompressionOptionTable().rows();
  const std::vector<std::string_view> elements = SplitOptionList(text);
  if (elements.size() < 3 || elements.size() > rows.size()) {
    return Status::InvalidArgument("3 or more numbers expected", std::string(text.substr(0, 60)));
  }
  for (size_t i = 0; i < elements.size(); ++i) {
    // parallel_threads was added later than `enabled` (rows[6]), which it precedes: a list of six
    // elements lacks it.
    const OptionRow& row = elements.size() == 6 && i == 5 ? rows[6] : rows[i];
    Status s = row.type().parse(nested, elements[i], row.field(field));
    if (!s.ok()) return s;
  }
  return Status::OK();
}

}  // namespace

const OptionTable& CompressionOptionTable() {
  static const auto table =
      OptionTable::Of<CompressionOptions>("CompressionOptions", kCompressionRows);
  return table;
}

const OptionTable& UniversalCompactionOptionTable() {
  static const auto table =
      OptionTable::Of<Universal>("CompactionOptionsUniversal", kUniversalRows);
  return table;
}

const OptionTable& FifoCompactionOptionTable() {
  static const auto table = OptionTable::Of<Fifo>("CompactionOptionsFIFO", kFifoRows);
  return table;
}

const OptionTable& TemperatureAgeOptionTable() {
  static const auto table =
      OptionTable::Of<FileTemperatureAge>("FileTemperatureAge", kTemperatureAgeRows);
  return table;
}

const OptionTable& MetadataCacheOptionTable() {
  static const auto table = OptionTable::Of<Pinning>("MetadataCacheOptions", kMetadataCacheRows);
  return table;
}

VARVE_OPTION_TYPE(CompressionOptions, [] {
  OptionType made = NestedCompression::Type();
  made.parse = &ParseCompressionOptions;
  return made;
}())
VARVE_OPTION_TYPE(Universal, Nested<Universal, &UniversalCompactionOptionTable>::Type())
VARVE_OPTION_TYPE(FileTemperatureAge,
                  Nested<FileTemperatureAge, &TemperatureAgeOptionTable>::Type())
VARVE_OPTION_TYPE(Fifo, Nested<Fifo, &FifoCompactionOptionTable>::Type())
VARVE_OPTION_TYPE(Pinning, Nested<Pinning, &MetadataCacheOptionTable>::Type())

}  // namespace varve
