// SPDX-License-Identifier: Apache-2.0
#include "util/options/schema_object.h"

#include "util/options/option_text.h"

namespace varve {

namespace {

// Restores the braces of a struct, or of an object with options, that StringToMap has removed and
// the parsers of structs and objects expect.
std::string InBraces(const std::string& value) {
  return value.find('=') == std::string::npos || IsBraced(value) ? value : "{" + value + "}";
}

}  // namespace

// The map has no order; no option may depend on another one being set first.
Status ConfigureFields(const OptionTable& table, const ConfigOptions& config,
                       const std::unordered_map<std::string, std::string>& map, void* object,
                       std::unordered_map<std::string, std::string>* others) {
  for (const auto& [name, value] : map) {
    bool found = false;
    const Status s =
        ApplyOption(table, config, name, InBraces(value), OptionScope::kAll, object, &found);
    if (!found) {
      others->emplace(name, value);
    } else if (!s.ok()) {
      return s;
    }
  }
  return Status::OK();
}

std::string PrintFieldLines(const OptionTable& table, const void* object) {
  std::string text;
  for (const OptionRow& row : table.rows()) {
    if (!row.HasText()) continue;
    text.append("  ").append(row.name).append(": ");
    text.append(row.type().print({}, row.Field(object))).append("\n");
  }
  return text;
}

}  // namespace varve
