// SPDX-License-Identifier: Apache-2.0

// Changes are applied to a copy, which is then checked.

#include "util/options/change_options.h"

#include <utility>

#include "varve/convenience.h"
#include "varve/table.h"

#include "util/base/status_macros.h"
#include "util/options/block_based_table_factory.h"
#include "util/options/option_schema.h"
#include "util/options/table_kinds.h"
#include "util/options/validate_options.h"

namespace varve {

namespace {

// The table factory as a whole has two names.
constexpr char kTableFactory[] = "block_based_table_factory";
constexpr char kGeneralTableFactory[] = "table_factory";

// Strict where opening is lenient: a running database must not skip an option that its user
// believes to have changed.
Status ApplyChanges(const OptionTable& table, const OptionChanges& changes, void* object) {
  if (changes.empty()) return Status::InvalidArgument("no option is named");
  ConfigOptions config;
  config.ignore_unsupported_options = false;
  config.input_strings_escaped = false;
  return ApplyOptions(table, config, OptionPairs(changes.begin(), changes.end()),
                      OptionScope::kDynamicOnly, object);
}

// Changes the options of future tables in a new factory, which shares with the old one what they
// point to.
Status ChangeTableOptions(const std::string& text, ColumnFamilyOptions* options) {
  const TableKind* const kind = TableKindOf(options->table_factory.get());
  if (kind == nullptr) {
    return Status::InvalidArgument(kTableFactory, "the tables of this column family are others");
  }
  OptionChanges changes;
  VARVE_RETURN_IF_ERROR(
      StringToMap(IsBraced(text) ? text.substr(1, text.size() - 2) : text, &changes));
  std::shared_ptr<TableFactory> changed = kind->make(kind->OptionsOf(*options->table_factory));
  const Status s = ApplyChanges(kind->schema(), changes, kind->OptionsOf(changed.get()));
  if (!s.ok()) return Status::CopyAppendMessage(s, "; in ", kTableFactory);
  options->table_factory = std::move(changed);
  return Status::OK();
}

}  // namespace

Status ChangeDbOptions(const DBOptions& current, const OptionChanges& changes, DBOptions* changed) {
  DBOptions copy = current;
  VARVE_RETURN_IF_ERROR(ApplyChanges(DbOptionTable(), changes, &copy));
  VARVE_RETURN_IF_ERROR(ValidateDbOptions(copy));
  *changed = std::move(copy);
  return Status::OK();
}

// The map has no order, so a change of the whole factory is made first and fields of it are set
// afterwards. Everything lands in one copy, which is validated as a whole: two changes that are
// valid only together can be made in one call.
Status ChangeColumnFamilyOptions(const DBOptions& db_options, const ColumnFamilyOptions& current,
                                 const OptionChanges& changes, ColumnFamilyOptions* changed) {
  ColumnFamilyOptions copy = current;
  OptionChanges others;
  for (const auto& [name, value] : changes) {
    if (name == kTableFactory || name == kGeneralTableFactory) {
      VARVE_RETURN_IF_ERROR(ChangeTableOptions(value, &copy));
      continue;
    }
    const std::string field = TableFactoryField(name);
    others.emplace(field.empty() ? name : field, value);
  }
  // ApplyChanges also makes the error for a call that names no option.
  if (!others.empty() || changes.empty()) {
    VARVE_RETURN_IF_ERROR(ApplyChanges(CfOptionTable(), others, &copy));
  }
  VARVE_RETURN_IF_ERROR(ValidateOptions(db_options, copy));
  *changed = std::move(copy);
  return Status::OK();
}

}  // namespace varve
