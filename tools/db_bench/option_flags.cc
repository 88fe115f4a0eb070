// SPDX-License-Identifier: Apache-2.0

// Flags named like options. They are taken out of argv before gflags sees it, which knows only the
// flags that were defined, and kept as pairs of texts until the options exist.
//
// An argument is taken when its name is that of an option with a text form and gflags does not
// define a flag of that name. The forms are --name=value, --name value and, for booleans, --name
// and --noname.

#include "tools/db_bench/option_flags.h"

#include <gflags/gflags.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <optional>
#include <string_view>

#include "tools/db_bench/options_from_flags.h"
#include "util/options/option_schema.h"

namespace varve::bench {

namespace {

// Defaults of RocksDB's db_bench where they differ from those of its library, as published commands
// rely on them.
constexpr std::pair<const char*, const char*> kDefaults[] = {
    {"delayed_write_rate", "8388608"},
    {"delete_obsolete_files_period_micros", "0"},
    {"enable_pipelined_write", "true"},
    {"hard_pending_compaction_bytes_limit", "137438953472"},
    {"level_compaction_dynamic_level_bytes", "false"},
    {"pin_top_level_index_and_filter", "false"},
    {"table_cache_numshardbits", "4"},
};

// Returns the table with a row of this name that has a text form, or null.
const OptionTable* TableOf(const std::string& name) {
  for (const OptionTable* table :
       {&DbOptionTable(), &CfOptionTable(), &BlockBasedTableOptionTable()}) {
    const OptionRow* const row = table->Find(name);
    if (row != nullptr && row->HasText()) return table;
  }
  return nullptr;
}

bool IsFlag(const std::string& name) {
  const OptionTable* const table = TableOf(name);
  return table != nullptr && std::string_view(table->Find(name)->type().name) == "bool";
}

// Translates what command-line flags may say of a boolean. Any other value is returned unchanged,
// for the schema to refuse.
std::string BooleanInSchemaForm(const std::string& value) {
  std::string lower = value;
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const char* yes : {"1", "t", "true", "y", "yes"}) {
    if (lower == yes) return "true";
  }
  for (const char* no : {"0", "f", "false", "n", "no"}) {
    if (lower == no) return "false";
  }
  return value;
}

// Returns a value in the schema's form: published commands separate list elements by commas and use
// short names of codecs.
std::string InSchemaForm(const OptionType& type, std::string value) {
  const OptionType& codec_type = OptionTypeOf<CompressionType>();
  const std::optional<CompressionType> codec = CompressionNamed(value);
  if (&type == &codec_type && codec.has_value()) {
    return codec_type.print(OptionPrintStyle(), &*codec);
  }
  const std::string_view kind = type.name;
  if (kind == "list") std::replace(value.begin(), value.end(), ',', ':');
  if (kind == "bool") return BooleanInSchemaForm(value);
  return value;
}

bool Set(const std::string& name, const std::string& value, Options* options,
         BlockBasedTableOptions* table_options) {
  const OptionTable* const table = TableOf(name);
  const std::string text = InSchemaForm(table->Find(name)->type(), value);
  void* object = table_options;
  if (table == &DbOptionTable()) object = static_cast<DBOptions*>(options);
  if (table == &CfOptionTable()) object = static_cast<ColumnFamilyOptions*>(options);
  ConfigOptions config;
  // A benchmark of an option that has no effect here would mislead, so that it is refused.
  config.ignore_unsupported_options = false;
  const Status s = ApplyOptions(*table, config, {{name, text}}, OptionScope::kAll, object);
  if (!s.ok()) std::fprintf(stderr, "--%s: %s\n", name.c_str(), s.ToString().c_str());
  return s.ok();
}

// Returns the flag's name in an argument, or an empty text if it is no flag.
std::string NameOf(const std::string& argument) {
  const size_t dashes = argument.find_first_not_of('-');
  if (dashes == 0 || dashes > 2) return "";
  return argument.substr(dashes, argument.find('=') - dashes);
}

}  // namespace

bool OptionFlags::TakeFrom(int* argc, char** argv) {
  int kept = 1;
  for (int i = 1; i < *argc; ++i) {
    const std::string argument = argv[i];
    std::string name = NameOf(argument);
    const size_t equals = argument.find('=');
    // Only a boolean's name may follow "no". An option whose own name begins with these letters is
    // therefore found as it is.
    const bool negated = name.starts_with("no") && IsFlag(name.substr(2));
    if (negated) name.erase(0, 2);
    gflags::CommandLineFlagInfo own;
    if (TableOf(name) == nullptr || gflags::GetCommandLineFlagInfo(name.c_str(), &own)) {
      argv[kept++] = argv[i];
    } else if (equals != std::string::npos) {
      given_.emplace_back(name, argument.substr(equals + 1));
    } else if (IsFlag(name)) {
      given_.emplace_back(name, negated ? "false" : "true");
    } else if (i + 1 < *argc) {
      given_.emplace_back(name, argv[++i]);
    } else {
      std::fprintf(stderr, "--%s: its value is missing\n", name.c_str());
      return false;
    }
  }
  *argc = kept;
  return true;
}

bool OptionFlags::Apply(Options* options, BlockBasedTableOptions* table) const {
  for (const auto& [name, value] : kDefaults) {
    if (!Set(name, value, options, table)) return false;
  }
  return std::all_of(given_.begin(), given_.end(), [&](const auto& flag) {
    return Set(flag.first, flag.second, options, table);
  });
}

}  // namespace varve::bench
