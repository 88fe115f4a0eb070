// SPDX-License-Identifier: Apache-2.0

// Applies changes to a copy and checks it.

#include "util/options/change_options.h"

#include <utility>

#include "util/base/status_macros.h"
#include "util/options/option_schema.h"
#include "util/options/validate_options.h"

namespace varve {

namespace {

Status ApplyChanges(const OptionTable& table, const OptionChanges& changes, void* object) {
  if (changes.empty()) return Status::InvalidArgument("no option is named");
  ConfigOptions config;
  config.ignore_unsupported_options = false;
  config.input_strings_escaped = false;
  return ApplyOptions(table, config, OptionPairs(changes.begin(), changes.end()),
                      OptionScope::kDynamicOnly, object);
}

}  // namespace

Status ChangeDbOptions(const DBOptions& current, const OptionChanges& changes, DBOptions* changed) {
  DBOptions copy = current;
  VARVE_RETURN_IF_ERROR(ApplyChanges(DbOptionTable(), changes, &copy));
  VARVE_RETURN_IF_ERROR(ValidateDbOptions(copy));
  *changed = std::move(copy);
  return Status::OK();
}

Status ChangeColumnFamilyOptions(const DBOptions& db_options, const ColumnFamilyOptions& current,
                                 const OptionChanges& changes, ColumnFamilyOptions* changed) {
  ColumnFamilyOptions copy = current;
  VARVE_RETURN_IF_ERROR(ApplyChanges(CfOptionTable(), changes, &copy));
  VARVE_RETURN_IF_ERROR(ValidateOptions(db_options, copy));
  *changed = std::move(copy);
  return Status::OK();
}

}  // namespace varve
