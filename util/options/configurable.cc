// SPDX-License-Identifier: Apache-2.0

// Implements the common methods of all objects with options, built on the few virtual functions of
// each class.

#include "varve/configurable.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>

#include "varve/convenience.h"

#include "util/base/status_macros.h"
#include "util/options/option_text.h"

namespace varve {

namespace {

using OptionMap = std::unordered_map<std::string, std::string>;

std::string Join(const OptionPairs& pairs, const std::string& prefix,
                 const std::string& delimiter) {
  std::string text;
  for (const auto& [name, value] : pairs) {
    text.append(prefix).append(name).append("=").append(value).append(delimiter);
  }
  return text;
}

// Returns the name of an option that is not in both texts with the same value; "" if they cannot be
// read.
std::string FirstDifference(const std::string& mine, const std::string& theirs) {
  OptionPairs left;
  OptionPairs right;
  if (!SplitOptionText(mine, &left).ok() || !SplitOptionText(theirs, &right).ok()) return "";
  const auto missing_in = [](const OptionPairs& others) {
    return
        [&others](const auto& option) { return std::ranges::find(others, option) == others.end(); };
  };
  auto found = std::ranges::find_if(left, missing_in(right));
  if (found != left.end()) return found->first;
  found = std::ranges::find_if(right, missing_in(left));
  return found != right.end() ? found->first : "";
}

Status PrepareIfWanted(const ConfigOptions& config, Configurable* object) {
  return config.invoke_prepare_options ? object->PrepareOptions(config) : Status::OK();
}

}  // namespace

Configurable::~Configurable() = default;

// ---- Setting ----

Status Configurable::ConfigureFromMap(const ConfigOptions& config_options,
                                      const OptionMap& opt_map) {
  return ConfigureFromMap(config_options, opt_map, nullptr);
}

Status Configurable::ConfigureFromMap(const ConfigOptions& config_options, const OptionMap& opt_map,
                                      OptionMap* unused) {
  VARVE_RETURN_IF_ERROR(ConfigureOptions(config_options, opt_map, unused));
  return PrepareIfWanted(config_options, this);
}

// A text without '=' is no list of options. Some classes give it a meaning of their own in
// ParseStringOptions, such as a number or a name.
Status Configurable::ConfigureFromString(const ConfigOptions& config_options,
                                         const std::string& opts) {
  const std::string_view text = WithoutBraces(opts);
  if (!text.empty() && text.find('=') == std::string_view::npos) {
    VARVE_RETURN_IF_ERROR(ParseStringOptions(config_options, opts));
    return PrepareIfWanted(config_options, this);
  }
  OptionMap map;
  VARVE_RETURN_IF_ERROR(StringToMap(opts, &map));
  return ConfigureFromMap(config_options, map);
}

Status Configurable::ConfigureOption(const ConfigOptions& config_options, const std::string& name,
                                     const std::string& value) {
  OptionMap unused;
  VARVE_RETURN_IF_ERROR(ConfigureFromMap(config_options, {{name, value}}, &unused));
  return unused.empty() ? Status::OK() : Status::NotFound("no such option", name);
}

// This is the end of the chain: subclasses take the options that they know and pass the rest up, so
// whatever arrives here is unknown.
Status Configurable::ConfigureOptions(const ConfigOptions& config_options,
                                      const OptionMap& opts_map, OptionMap* unused) {
  if (unused != nullptr) {
    unused->insert(opts_map.begin(), opts_map.end());
  } else if (!opts_map.empty() && !config_options.ignore_unknown_options) {
    return Status::NotFound("no such option", opts_map.begin()->first);
  }
  return Status::OK();
}

// An object without options ignores such a text, as RocksDB's do.
Status Configurable::ParseStringOptions(const ConfigOptions& config_options,
                                        const std::string& opts_str) {
  if (PrintOptions(config_options).empty()) return Status::OK();
  return Status::InvalidArgument("name=value expected", opts_str.substr(0, 60));
}

// ---- Asking ----

Status Configurable::GetOptionString(const ConfigOptions& config_options,
                                     std::string* result) const {
  OptionPairs pairs;
  VARVE_RETURN_IF_ERROR(SplitOptionText(PrintOptions(config_options), &pairs));
  *result = Join(pairs, "", config_options.delimiter);
  return Status::OK();
}

std::string Configurable::ToString(const ConfigOptions& config_options) const {
  return ToString(config_options, "");
}

// Returns the id alone, or "{id=Name;a=1;...}". A shallow text of an object with an id leaves its
// options out; one without an id has nothing else to say.
std::string Configurable::ToString(const ConfigOptions& config_options,
                                   const std::string& prefix) const {
  OptionPairs pairs;
  std::string id;
  const bool has_id = GetOption(config_options, kIdOption, &id).ok();
  if (!has_id || !config_options.IsShallow()) {
    if (!SplitOptionText(PrintOptions(config_options), &pairs).ok()) pairs.clear();
  }
  if (pairs.empty()) return id;
  if (has_id) pairs.insert(pairs.begin(), {kIdOption, id});
  return "{" + Join(pairs, prefix, config_options.delimiter) + "}";
}

Status Configurable::GetOptionNames(const ConfigOptions& config_options,
                                    std::unordered_set<std::string>* result) const {
  OptionPairs pairs;
  VARVE_RETURN_IF_ERROR(SplitOptionText(PrintOptions(config_options), &pairs));
  for (const auto& [name, value] : pairs) result->insert(name);
  return Status::OK();
}

// Works on the printed text, as a class need only override PrintOptions to have all of its options
// asked for. It is no hot path.
Status Configurable::GetOption(const ConfigOptions& config_options, const std::string& name,
                               std::string* value) const {
  OptionPairs pairs;
  VARVE_RETURN_IF_ERROR(SplitOptionText(PrintOptions(config_options), &pairs));
  const auto found = std::ranges::find(pairs, name, &OptionPairs::value_type::first);
  if (found == pairs.end()) return Status::NotFound("no such option", name);
  *value = found->second;
  return Status::OK();
}

bool Configurable::AreEquivalent(const ConfigOptions& config_options, const Configurable* other,
                                 std::string* name) const {
  if (other == nullptr || other == this) return other == this;
  // Options are tuning for a looser comparison: only the kind of the object, which Customizable
  // compares, must agree there.
  if (!config_options.IsCheckEnabled(ConfigOptions::kSanityLevelExactMatch)) return true;
  const std::string mine = PrintOptions(config_options);
  const std::string theirs = other->PrintOptions(config_options);
  if (mine == theirs) return true;
  *name = FirstDifference(mine, theirs);
  return false;
}

Status Configurable::GetOptionsMap(const std::string& opt_value, const std::string& default_id,
                                   std::string* id, OptionMap* options) {
  options->clear();
  *id = opt_value == "nullptr" ? "" : opt_value;
  if (opt_value.find('=') == std::string::npos) return Status::OK();
  OptionMap map;
  // An unreadable text becomes an unknown id.
  if (!StringToMap(opt_value, &map).ok()) return Status::OK();
  if (const auto given = map.extract(kIdOption); !given.empty()) {
    *id = given.mapped() == "nullptr" ? "" : given.mapped();
  } else if (!default_id.empty()) {
    *id = default_id;
  } else {
    return Status::OK();
  }
  *options = std::move(map);
  return Status::OK();
}

// ---- Defaults of objects without options ----

Status Configurable::PrepareOptions(const ConfigOptions& /*config_options*/) {
  return Status::OK();
}

Status Configurable::ValidateOptions(const DBOptions& /*db_opts*/,
                                     const ColumnFamilyOptions& /*cf_opts*/) const {
  return Status::OK();
}

const void* Configurable::GetOptionsPtr(const std::string& /*name*/) const {
  return nullptr;
}

std::string Configurable::PrintOptions(const ConfigOptions& /*config_options*/) const {
  return "";
}

}  // namespace varve
