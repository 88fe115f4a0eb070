// SPDX-License-Identifier: Apache-2.0

// Implements iteration over the rows of a schema table.

#include "util/options/option_schema.h"

#include "util/options/foreign_options.h"

namespace varve {

namespace {

std::string QualifiedName(const OptionTable& table, std::string_view name) {
  return std::string(table.struct_name()) + "::" + std::string(name);
}

// Only the two codes that ApplyOptions promises remain: whatever a program's factory returned
// becomes InvalidArgument.
Status WithName(const Status& s, const OptionTable& table, std::string_view name) {
  std::string text = QualifiedName(table, name) + ": ";
  text += s.getState() != nullptr ? s.getState() : s.ToString();
  return s.IsNotSupported() ? Status::NotSupported(text) : Status::InvalidArgument(text);
}

std::string PrintNumber(double number) {
  std::string text = PrintDouble(number);
  const size_t point = text.find(".000000");
  return point == std::string::npos ? text : text.substr(0, point);
}

// Checks a value as its row demands: a value of the type, one that is supported, within the range,
// and the row's own check.
Status CheckField(const OptionRow& row, const std::string& name, const void* field,
                  const void* default_field) {
  const OptionType& type = row.type();
  if (type.valid != nullptr && !type.valid(field)) {
    return Status::InvalidArgument(name + ": not a value of the type");
  }
  if (row.support == OptionSupport::kDefaultOnly && !type.equal(field, default_field)) {
    return Status::NotSupported(name + ": " + std::string(row.reason));
  }
  if (type.number != nullptr) {
    const double value = type.number(field);
    // The comparison is written so that a NaN fails.
    if (!(value >= row.min && value <= row.max)) {
      return Status::InvalidArgument(name + ": " + PrintNumber(value) + " is not within [" +
                                     PrintNumber(row.min) + ", " + PrintNumber(row.max) + "]");
    }
  }
  return row.check != nullptr ? row.check(name, field) : Status::OK();
}

// Returns the row of a struct, or of an object with options, of which `name` names a field:
// "row.field".
const OptionRow* FindOwner(const OptionTable& table, std::string_view name,
                           std::string_view* field) {
  const size_t dot = name.find('.');
  if (dot == std::string_view::npos) return nullptr;
  const OptionRow* const row = table.Find(name.substr(0, dot));
  if (row == nullptr || row->type().set_field == nullptr) return nullptr;
  *field = name.substr(dot + 1);
  return row;
}

}  // namespace

OptionTable::OptionTable(const char* struct_name, std::span<const OptionRow> rows,
                         size_t struct_size, std::shared_ptr<const void> (*make_default)())
    : struct_name_(struct_name),
      rows_(rows),
      struct_size_(struct_size),
      make_default_(make_default) {
  for (const OptionRow& row : rows_) by_name_.emplace(row.name, &row);
}

const OptionRow* OptionTable::Find(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : found->second;
}

// Resolves the name in three steps:
//
//   a row of the table            parse the whole value
//   "row.field"                   hand the field to the row's type
//   neither                       RocksDB's other names, by their verdict, or unknown
//
// *found is true also for a name that only RocksDB has, so that a caller with a second table does
// not look there.
Status ApplyOption(const OptionTable& table, const ConfigOptions& config, std::string_view name,
                   std::string_view value, OptionScope scope, void* object, bool* found) {
  const OptionRow* const row = table.Find(name);
  const bool dynamic_only = scope == OptionScope::kDynamicOnly || config.mutable_options_only;
  std::string_view field;
  const OptionRow* const owner = row == nullptr ? FindOwner(table, name, &field) : nullptr;
  *found = row != nullptr || owner != nullptr;
  if (owner != nullptr) {
    return owner->type().set_field(config, field, value,
                                   dynamic_only && owner->change != OptionChange::kDynamic,
                                   owner->field(object));
  }
  if (row == nullptr) {
    const ForeignVerdict verdict = JudgeForeignOption(table.struct_name(), name, value);
    *found = verdict != ForeignVerdict::kUnknown;
    if (verdict == ForeignVerdict::kHarmless || config.ignore_unknown_options) {
      return Status::OK();
    }
    if (verdict == ForeignVerdict::kLacking) {
      return Status::NotSupported(QualifiedName(table, name) + "=" +
                                  std::string(value.substr(0, 60)));
    }
    return Status::InvalidArgument("unknown option " + QualifiedName(table, name));
  }
  if (dynamic_only && row->change != OptionChange::kDynamic) {
    return Status::InvalidArgument(QualifiedName(table, name) +
                                   " cannot be changed while the database is open");
  }
  Status s = row->type().parse(config, value, row->field(object));
  if (s.IsNotSupported() && config.ignore_unsupported_options) return Status::OK();
  return s.ok() ? s : WithName(s, table, name);
}

Status ApplyOptions(const OptionTable& table, const ConfigOptions& config, const OptionPairs& pairs,
                    OptionScope scope, void* object) {
  for (const auto& [name, value] : pairs) {
    bool found = false;
    Status s = ApplyOption(table, config, name, value, scope, object, &found);
    if (!s.ok()) return s;
  }
  return Status::OK();
}

std::string PrintOptions(const OptionTable& table, const OptionPrintStyle& style,
                         const void* object) {
  std::string text;
  const std::shared_ptr<const void> defaults = table.MakeDefault();
  for (const OptionRow& row : table.rows()) {
    if (!row.HasText()) continue;
    if (style.dynamic_only && row.change != OptionChange::kDynamic) continue;
    if (style.plain_names_only && row.file != OptionFileForm::kPlain) continue;
    const std::string value = row.type().print(style, row.Field(object));
    // A value is left out only if reading would restore it as the default.
    if (value.empty() && row.type().equal(row.Field(object), row.Field(defaults.get()))) continue;
    text.append(row.name).append("=").append(value).append(style.delimiter);
  }
  return text;
}

Status CheckOptions(const OptionTable& table, const std::string& where, const void* object) {
  const std::shared_ptr<const void> defaults = table.MakeDefault();
  for (const OptionRow& row : table.rows()) {
    const std::string name = where + QualifiedName(table, row.name);
    Status s = CheckField(row, name, row.Field(object), row.Field(defaults.get()));
    if (!s.ok()) return s;
  }
  return Status::OK();
}

bool EqualOptions(const OptionTable& table, const void* a, const void* b) {
  for (const OptionRow& row : table.rows()) {
    if (!row.type().equal(row.Field(a), row.Field(b))) return false;
  }
  return true;
}

Status CheckPaths(const std::string& name, const void* field) {
  const auto& paths = *static_cast<const std::vector<DbPath>*>(field);
  if (paths.size() > kTablePathsMax) {
    return Status::NotSupported(name + ": " + std::to_string(paths.size()) +
                                " directories, and a MANIFEST knows " +
                                std::to_string(kTablePathsMax));
  }
  for (const DbPath& path : paths) {
    if (path.path.empty()) return Status::InvalidArgument(name + ": a path is empty");
  }
  return Status::OK();
}

}  // namespace varve
