// SPDX-License-Identifier: Apache-2.0

// Applies changes to a copy and checks it.

#include "util/options/change_options.h"

#include "util/options/option_schema.h"
#include "util/options/validate_options.h"

namespace varve {

namespace {

Status ApplyChanges(const OptionTable& table, const OptionMap& changes, void* object) {
  if (changes.empty()) return Status::InvalidArgument("no options are named");
  ConfigOptions config;
  config.ignore_unsupported_options = false;
  config.input_strings_escaped = false;
  return ApplyOptions(table, config, OptionPairs(changes.begin(), changes.end()),
                      OptionScope::kDynamicOnly, object);
}

}  // namespace

Status ChangeDbOptions(const DBOptions& current, const OptionMap& changes, DBOptions* changed) {
  DBOptions copy = current;
  Status s = ApplyChanges(DbOptionTable(), changes, &copy);
  if (s.ok()) s = ValidateDbOptions(copy);
  if (s.ok()) *changed = std::move(copy);
  return s;
}

Status ChangeColumnFamilyOptions(const DBOptions& db_options, const ColumnFamilyOptions& current,
                                 const OptionMap& changes, ColumnFamilyOptions* changed) {
  ColumnFamilyOptions copy = current;
  Status s = ApplyChanges(CfOptionTable(), changes, &copy);
  if (s.ok()) s = ValidateColumnFamilyOptions(db_options, copy);
  if (s.ok()) *changed = std::move(copy);
  return s;
}

}  // namespace varve
