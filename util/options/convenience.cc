// SPDX-License-Identifier: Apache-2.0

// Implements the public functions between options and text.

#include "varve/convenience.h"

#include "varve/utilities/object_registry.h"

#include "util/base/status_macros.h"
#include "util/compress/codec.h"
#include "util/options/block_based_table_factory.h"
#include "util/options/memtable_factories.h"
#include "util/options/option_schema.h"

namespace varve {

namespace {

using OptionMap = std::unordered_map<std::string, std::string>;

// Returns the configuration of the forms without ConfigOptions, which ignore nothing silently.
ConfigOptions StrictConfig(bool input_strings_escaped, bool ignore_unknown_options) {
  ConfigOptions config;
  config.input_strings_escaped = input_strings_escaped;
  config.ignore_unknown_options = ignore_unknown_options;
  config.ignore_unsupported_options = false;
  return config;
}

// Handles other names for a column family option. The value of block_based_table_factory is the
// table factory's options: braces make the text these and not the factory's name.
Status ApplyColumnFamilyOption(const ConfigOptions& config, const std::string& name,
                               const std::string& value, ColumnFamilyOptions* cf, bool* found) {
  std::string row = TableFactoryField(name);
  std::string text = value;
  if (name == "block_based_table_factory") {
    row = "table_factory";
    if (!IsBraced(value)) text = "{" + value + "}";
  } else if (name == "memtable") {
    row = "memtable_factory";
  } else if (row.empty()) {
    row = name;
  }
  return ApplyOption(CfOptionTable(), config, row, text, OptionScope::kAll, cf, found);
}

Status ApplyColumnFamilyOptions(const ConfigOptions& config, const OptionPairs& pairs,
                                ColumnFamilyOptions* cf) {
  for (const auto& [name, value] : pairs) {
    bool found = false;
    VARVE_RETURN_IF_ERROR(ApplyColumnFamilyOption(config, name, value, cf, &found));
  }
  return Status::OK();
}

// The order is arbitrary: a map cannot say that a struct is set before one of its fields.
OptionPairs ToPairs(const OptionMap& map) {
  return OptionPairs(map.begin(), map.end());
}

// Applies to a copy of `base`, and moves it to *result on success.
template <typename T>
Status Build(const OptionTable& table, const ConfigOptions& config, const OptionPairs& pairs,
             const T& base, T* result) {
  T copy = base;
  VARVE_RETURN_IF_ERROR(ApplyOptions(table, config, pairs, OptionScope::kAll, &copy));
  *result = std::move(copy);
  return Status::OK();
}

Status BuildColumnFamily(const ConfigOptions& config, const OptionPairs& pairs,
                         const ColumnFamilyOptions& base, ColumnFamilyOptions* result) {
  ColumnFamilyOptions copy = base;
  VARVE_RETURN_IF_ERROR(ApplyColumnFamilyOptions(config, pairs, &copy));
  *result = std::move(copy);
  return Status::OK();
}

std::string Print(const OptionTable& table, const ConfigOptions& config, const void* object) {
  const OptionPrintStyle style = {.delimiter = config.delimiter,
                                  .detailed = config.depth == ConfigOptions::kDepthDetailed,
                                  .dynamic_only = config.mutable_options_only};
  return PrintOptions(table, style, object);
}

}  // namespace

ConfigOptions::ConfigOptions() : registry(ObjectRegistry::NewInstance()) {}

ConfigOptions::ConfigOptions(const DBOptions& db_options) : ConfigOptions() {
  env = db_options.env;
}

// ---- Column families ----

Status GetColumnFamilyOptionsFromMap(const ConfigOptions& config_options,
                                     const ColumnFamilyOptions& base_options,
                                     const OptionMap& opts_map, ColumnFamilyOptions* new_options) {
  return BuildColumnFamily(config_options, ToPairs(opts_map), base_options, new_options);
}

Status GetColumnFamilyOptionsFromMap(const ColumnFamilyOptions& base_options,
                                     const OptionMap& opts_map, ColumnFamilyOptions* new_options,
                                     bool input_strings_escaped, bool ignore_unknown_options) {
  return BuildColumnFamily(StrictConfig(input_strings_escaped, ignore_unknown_options),
                           ToPairs(opts_map), base_options, new_options);
}

Status GetColumnFamilyOptionsFromString(const ConfigOptions& config_options,
                                        const ColumnFamilyOptions& base_options,
                                        const std::string& opts_str,
                                        ColumnFamilyOptions* new_options) {
  OptionPairs pairs;
  VARVE_RETURN_IF_ERROR(SplitOptionText(opts_str, &pairs));
  return BuildColumnFamily(config_options, pairs, base_options, new_options);
}

Status GetColumnFamilyOptionsFromString(const ColumnFamilyOptions& base_options,
                                        const std::string& opts_str,
                                        ColumnFamilyOptions* new_options) {
  return GetColumnFamilyOptionsFromString(StrictConfig(false, false), base_options, opts_str,
                                          new_options);
}

Status GetStringFromColumnFamilyOptions(const ConfigOptions& config_options,
                                        const ColumnFamilyOptions& cf_options,
                                        std::string* opts_str) {
  *opts_str = Print(CfOptionTable(), config_options, &cf_options);
  return Status::OK();
}

Status GetStringFromColumnFamilyOptions(std::string* opts_str,
                                        const ColumnFamilyOptions& cf_options,
                                        const std::string& delimiter) {
  ConfigOptions config;
  config.delimiter = delimiter;
  return GetStringFromColumnFamilyOptions(config, cf_options, opts_str);
}

// ---- Databases ----

Status GetDBOptionsFromMap(const ConfigOptions& config_options, const DBOptions& base_options,
                           const OptionMap& opts_map, DBOptions* new_options) {
  return Build(DbOptionTable(), config_options, ToPairs(opts_map), base_options, new_options);
}

Status GetDBOptionsFromMap(const DBOptions& base_options, const OptionMap& opts_map,
                           DBOptions* new_options, bool input_strings_escaped,
                           bool ignore_unknown_options) {
  return GetDBOptionsFromMap(StrictConfig(input_strings_escaped, ignore_unknown_options),
                             base_options, opts_map, new_options);
}

Status GetDBOptionsFromString(const ConfigOptions& config_options, const DBOptions& base_options,
                              const std::string& opts_str, DBOptions* new_options) {
  OptionPairs pairs;
  VARVE_RETURN_IF_ERROR(SplitOptionText(opts_str, &pairs));
  return Build(DbOptionTable(), config_options, pairs, base_options, new_options);
}

Status GetDBOptionsFromString(const DBOptions& base_options, const std::string& opts_str,
                              DBOptions* new_options) {
  return GetDBOptionsFromString(StrictConfig(false, false), base_options, opts_str, new_options);
}

Status GetStringFromDBOptions(const ConfigOptions& config_options, const DBOptions& db_options,
                              std::string* opts_str) {
  *opts_str = Print(DbOptionTable(), config_options, &db_options);
  return Status::OK();
}

Status GetStringFromDBOptions(std::string* opts_str, const DBOptions& db_options,
                              const std::string& delimiter) {
  ConfigOptions config;
  config.delimiter = delimiter;
  return GetStringFromDBOptions(config, db_options, opts_str);
}

// ---- Tables ----

Status GetBlockBasedTableOptionsFromMap(const ConfigOptions& config_options,
                                        const BlockBasedTableOptions& table_options,
                                        const OptionMap& opts_map,
                                        BlockBasedTableOptions* new_table_options) {
  return Build(BlockBasedTableOptionTable(), config_options, ToPairs(opts_map), table_options,
               new_table_options);
}

Status GetBlockBasedTableOptionsFromMap(const BlockBasedTableOptions& table_options,
                                        const OptionMap& opts_map,
                                        BlockBasedTableOptions* new_table_options,
                                        bool input_strings_escaped, bool ignore_unknown_options) {
  return GetBlockBasedTableOptionsFromMap(
      StrictConfig(input_strings_escaped, ignore_unknown_options), table_options, opts_map,
      new_table_options);
}

Status GetBlockBasedTableOptionsFromString(const ConfigOptions& config_options,
                                           const BlockBasedTableOptions& table_options,
                                           const std::string& opts_str,
                                           BlockBasedTableOptions* new_table_options) {
  OptionPairs pairs;
  VARVE_RETURN_IF_ERROR(SplitOptionText(opts_str, &pairs));
  return Build(BlockBasedTableOptionTable(), config_options, pairs, table_options,
               new_table_options);
}

Status GetBlockBasedTableOptionsFromString(const BlockBasedTableOptions& table_options,
                                           const std::string& opts_str,
                                           BlockBasedTableOptions* new_table_options) {
  return GetBlockBasedTableOptionsFromString(StrictConfig(false, false), table_options, opts_str,
                                             new_table_options);
}

// ---- Databases and column families together ----

// Each name is tried as a database option first. That attempt is always strict, since "unknown"
// must come back as *found == false and not be ignored; only the second attempt may ignore.
Status GetOptionsFromString(const ConfigOptions& config_options, const Options& base_options,
                            const std::string& opts_str, Options* new_options) {
  OptionPairs pairs;
  VARVE_RETURN_IF_ERROR(SplitOptionText(opts_str, &pairs));
  DBOptions db(base_options);
  ColumnFamilyOptions cf(base_options);
  for (const auto& [name, value] : pairs) {
    ConfigOptions strict = config_options;
    strict.ignore_unknown_options = false;
    bool found = false;
    Status s = ApplyOption(DbOptionTable(), strict, name, value, OptionScope::kAll, &db, &found);
    if (!found) s = ApplyColumnFamilyOption(config_options, name, value, &cf, &found);
    VARVE_RETURN_IF_ERROR(s);
  }
  *new_options = Options(db, cf);
  return Status::OK();
}

Status GetOptionsFromString(const Options& base_options, const std::string& opts_str,
                            Options* new_options) {
  return GetOptionsFromString(StrictConfig(false, false), base_options, opts_str, new_options);
}

Status StringToMap(const std::string& opts_str, OptionMap* opts_map) {
  OptionPairs pairs;
  VARVE_RETURN_IF_ERROR(SplitOptionText(opts_str, &pairs));
  opts_map->clear();
  // Braces are removed as in RocksDB, whose users pass the values on.
  for (auto& [name, value] : pairs) (*opts_map)[name] = std::string(WithoutBraces(value));
  return Status::OK();
}

// ---- Single values ----

Status GetMemTableRepFactoryFromString(const std::string& opts_str,
                                       std::unique_ptr<MemTableRepFactory>* new_mem_factory) {
  return ParseMemTableFactory(opts_str, /*ignore_unknown_fields=*/false, new_mem_factory);
}

Status GetStringFromCompressionType(std::string* compression_str,
                                    CompressionType compression_type) {
  const OptionType& type = OptionTypeOf<CompressionType>();
  if (!type.valid(&compression_type)) {
    return Status::InvalidArgument("compression type without a name",
                                   std::to_string(compression_type));
  }
  *compression_str = type.print({}, &compression_type);
  return Status::OK();
}

std::vector<CompressionType> GetSupportedCompressions() {
  std::vector<CompressionType> supported;
  for (int type = kNoCompression; type <= kZSTD; ++type) {
    const auto compression = static_cast<CompressionType>(type);
    if (CodecSupported(compression)) supported.push_back(compression);
  }
  return supported;
}

}  // namespace varve
