// SPDX-License-Identifier: Apache-2.0

// Both sides are printed by the same function and compared as texts: the texts name every option in
// one form, so that no list of members has to be kept here.

#include "tools/varve/option_differences.h"

#include <map>
#include <unordered_map>

#include "varve/convenience.h"

namespace varve::tool {

namespace {

void AddDifferences(const std::string& family, const std::string& text, const std::string& usual,
                    std::vector<OptionDifference>* differences) {
  std::unordered_map<std::string, std::string> values;
  std::unordered_map<std::string, std::string> defaults;
  // Options of options, such as those of tables, are one value in braces and differ as a whole.
  if (!StringToMap(text, &values).ok() || !StringToMap(usual, &defaults).ok()) return;
  for (const auto& [name, value] : std::map(values.begin(), values.end())) {
    if (defaults[name] != value) differences->push_back({family, name, value, defaults[name]});
  }
}

}  // namespace

std::vector<OptionDifference> DifferencesOf(const StoredOptions& stored) {
  std::vector<OptionDifference> differences;
  const ConfigOptions config;
  std::string text;
  std::string usual;
  if (GetStringFromDBOptions(config, stored.db, &text).ok() &&
      GetStringFromDBOptions(config, DBOptions(), &usual).ok()) {
    AddDifferences("", text, usual, &differences);
  }
  for (const ColumnFamilyDescriptor& family : stored.families) {
    if (GetStringFromColumnFamilyOptions(config, family.options, &text).ok() &&
        GetStringFromColumnFamilyOptions(config, ColumnFamilyOptions(), &usual).ok()) {
      AddDifferences(family.name, text, usual, &differences);
    }
  }
  return differences;
}

}  // namespace varve::tool
