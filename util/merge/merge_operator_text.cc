// SPDX-License-Identifier: Apache-2.0

// Parses the built-in merge operators from text.

#include <array>
#include <memory>
#include <string>
#include <string_view>

#include "varve/convenience.h"
#include "varve/merge_operator.h"
#include "varve/utilities/merge_operators.h"

#include "util/base/registered_object.h"
#include "util/base/status_macros.h"
#include "util/options/option_text.h"

namespace varve {

namespace {

using Operators = MergeOperators;
using Settings = OptionPairs;

// Creates an operator that has no options.
using MakePlain = std::shared_ptr<MergeOperator> (*)();
// Creates an operator from its one option.
using MakeWithDelimiter = std::shared_ptr<MergeOperator> (*)(const std::string& delimiter);

struct Builtin {
  std::string_view name;
  std::string_view short_name;
  MakePlain make = nullptr;
  MakeWithDelimiter make_with_delimiter = nullptr;
};

// PutOperator is listed twice, as RocksDB has two implementations of it under two short names.
constexpr std::array kBuiltins = {
    Builtin{"PutOperator", "put", &Operators::CreatePutOperator},
    Builtin{"PutOperator", "put_v1", &Operators::CreateDeprecatedPutOperator},
    Builtin{"UInt64AddOperator", "uint64add", &Operators::CreateUInt64AddOperator},
    Builtin{"Int64AddOperator", "int64add", &Operators::CreateInt64AddOperator},
    Builtin{"StringAppendOperator", "stringappend", &Operators::CreateStringAppendOperator,
            &Operators::CreateStringAppendOperator},
    Builtin{"StringAppendTESTOperator", "stringappendtest",
            &Operators::CreateStringAppendTESTOperator, &Operators::CreateStringAppendTESTOperator},
    Builtin{"MaxOperator", "max", &Operators::CreateMaxOperator},
    Builtin{"BytesXOR", "bytesxor", &Operators::CreateBytesXOROperator},
    Builtin{"MergeSortOperator", "sortlist", &Operators::CreateSortOperator},
};

const Builtin* FindBuiltin(std::string_view id) {
  for (const Builtin& builtin : kBuiltins) {
    if (id == builtin.name || id == builtin.short_name) return &builtin;
  }
  return nullptr;
}

// Parses "Name", "{Name}", "id=Name;option=value" or the latter in braces. Names of users'
// operators may contain any character.
Status SplitId(std::string_view text, std::string* id, Settings* settings) {
  text = TrimOptionText(text);
  const std::string_view inner = WithoutBraces(text);
  const bool has_fields =
      text.starts_with('{') ? inner.find('=') != std::string_view::npos : inner.starts_with("id=");
  if (!has_fields) {
    *id = std::string(inner);
    return Status::OK();
  }
  VARVE_RETURN_IF_ERROR(SplitOptionText(text, settings));
  TakeId(settings, id);
  return id->empty() ? Status::InvalidArgument("merge operator: id=... expected") : Status::OK();
}

Status ParseHex(const std::string& text, std::string* bytes) {
  if (!Slice(text).DecodeHex(bytes)) {
    return Status::InvalidArgument(
        "merge operator: delimiter_hex: pairs of hexadecimal digits "
        "expected",
        text.substr(0, 60));
  }
  return Status::OK();
}

// Finds the delimiter among the settings, if there is one.
Status FindDelimiter(const ConfigOptions& config, const Settings& settings, bool* found,
                     std::string* delimiter) {
  for (const auto& [name, value] : settings) {
    if (name == "delimiter" || name == "delim") {
      *found = true;
      const std::string text(WithoutBraces(value));
      *delimiter = config.input_strings_escaped ? UnescapeOptionText(text) : text;
    } else if (name == "delimiter_hex") {
      *found = true;
      VARVE_RETURN_IF_ERROR(ParseHex(value, delimiter));
    } else if (!config.ignore_unknown_options) {
      return Status::InvalidArgument("merge operator: unknown option", name);
    }
  }
  return Status::OK();
}

}  // namespace

Status MergeOperator::CreateFromString(const ConfigOptions& config, const std::string& value,
                                       std::shared_ptr<MergeOperator>* result) {
  std::string id;
  Settings settings;
  VARVE_RETURN_IF_ERROR(SplitId(value, &id, &settings));
  if (settings.empty() && (id.empty() || id == "nullptr")) {
    result->reset();
    return Status::OK();
  }
  Status s = NewRegisteredObject(config, id, result);
  if (!s.IsNotFound()) return s;
  const Builtin* const builtin = FindBuiltin(id);
  if (builtin == nullptr) {
    return Status::NotSupported("no merge operator of this name is built in or registered",
                                id.substr(0, 60));
  }
  if (builtin->make_with_delimiter == nullptr) {
    if (!settings.empty() && !config.ignore_unknown_options) {
      return Status::InvalidArgument("merge operator " + id + ": unknown option",
                                     settings.front().first);
    }
    *result = builtin->make();
    return Status::OK();
  }
  bool found = false;
  std::string delimiter;
  VARVE_RETURN_IF_ERROR(FindDelimiter(config, settings, &found, &delimiter));
  *result = found ? builtin->make_with_delimiter(delimiter) : builtin->make();
  return Status::OK();
}

}  // namespace varve
