// SPDX-License-Identifier: Apache-2.0

// Each row is a factory by its nick name: the name of the number behind it, the rows to which
// "blocked" leads, and the function that makes it. Text is parsed by rows alone, so a new factory
// is a row. RocksDB's hash lists are accepted with all of their fields, which have no effect here,
// so that their OPTIONS files can be opened.

#include "util/options/memtable_factories.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "varve/convenience.h"
#include "varve/utilities/object_registry.h"

#include "util/base/caught_exception.h"
#include "util/base/status_macros.h"
#include "util/options/option_text.h"

namespace varve {

namespace {

// `number` is the field name of the N in "name:N". `plain` and `blocked` are the nick names that
// "blocked=false" and "blocked=true" select; null if there is no such field.
struct FactoryRow {
  const char* class_name;
  const char* nick_name;
  const char* number;
  const char* plain;
  const char* blocked;
  std::unique_ptr<MemTableRepFactory> (*make)(size_t n);
};

template <typename Factory, auto... kMore>
std::unique_ptr<MemTableRepFactory> MakeFactory(size_t n) {
  return std::make_unique<Factory>(n, kMore...);
}

// A text without a number asks for the default.
template <typename Factory>
std::unique_ptr<MemTableRepFactory> MakeHashFactory(size_t n) {
  return MakeFactory<Factory>(n == 0 ? Factory::kBuckets : n);
}

// The two skip lists share a class name. FindRow returns the first match, so "SkipListFactory"
// means the blocked one.
const std::vector<FactoryRow>& Rows() {
  static const std::vector<FactoryRow> rows = {
      {SkipListFactory::kClassName(), SkipListFactory::kNickName(), "lookahead",
       SkipListFactory::kPlainNickName(), SkipListFactory::kNickName(),
       &MakeFactory<SkipListFactory>},
      {SkipListFactory::kClassName(), SkipListFactory::kPlainNickName(), "lookahead",
       SkipListFactory::kPlainNickName(), SkipListFactory::kNickName(),
       &MakeFactory<SkipListFactory, /*blocked=*/false>},
      {VectorRepFactory::kClassName(), VectorRepFactory::kNickName(), "count", nullptr, nullptr,
       &MakeFactory<VectorRepFactory>},
      {HashSkipListRepFactory::kClassName(), HashSkipListRepFactory::kNickName(), "bucket_count",
       nullptr, nullptr, &MakeHashFactory<HashSkipListRepFactory>},
      {HashLinkListRepFactory::kClassName(), HashLinkListRepFactory::kNickName(), "bucket_count",
       nullptr, nullptr, &MakeHashFactory<HashLinkListRepFactory>},
  };
  return rows;
}

const FactoryRow* FindRow(std::string_view name) {
  const auto row = std::ranges::find_if(
      Rows(), [name](const FactoryRow& r) { return name == r.nick_name || name == r.class_name; });
  return row == Rows().end() ? nullptr : &*row;
}

Status NotKnown(std::string_view text) {
  std::string names;
  for (const FactoryRow& row : Rows()) names += std::string(" ") + row.nick_name;
  return Status::NotSupported("memtable factory; supported are" + names, text.substr(0, 60));
}

// A name alone, or before other fields, is the value of the field "id".
Status SplitFields(std::string_view text, OptionPairs* fields) {
  const std::string_view inner = WithoutBraces(text);
  const bool begins_with_name =
      inner.substr(0, inner.find(';')).find('=') == std::string_view::npos;
  return SplitOptionText((begins_with_name ? "id=" : "") + std::string(inner), fields);
}

// Fields of RocksDB's hash lists, which have no effect.
bool IsFieldOfHashList(const FactoryRow& row, std::string_view name) {
  if (std::string_view(row.number) != "bucket_count") return false;
  static constexpr std::string_view kNames[] = {"skiplist_height",   "branching_factor",
                                                "threshold",         "huge_page_size",
                                                "logging_threshold", "log_when_flash"};
  return std::ranges::find(kNames, name) != std::end(kNames);
}

// `row` may change: "blocked" exchanges the plain skip list for the blocked one or the reverse, and
// later fields are then read for that row.
Status ReadField(const std::string& name, const std::string& value, bool ignore_unknown,
                 const FactoryRow** row, std::string_view* number) {
  const bool is_true = value == "true" || value == "1";
  if (name == (*row)->number) {
    *number = value;
  } else if (name == "blocked" && (*row)->plain != nullptr) {
    if (!is_true && value != "false" && value != "0") {
      return Status::InvalidArgument("memtable factory: blocked is true or false", value);
    }
    *row = FindRow(is_true ? (*row)->blocked : (*row)->plain);
  } else if (name != "id" && !IsFieldOfHashList(**row, name) && !ignore_unknown) {
    return Status::InvalidArgument("memtable factory: unknown option", name);
  }
  return Status::OK();
}

}  // namespace

Status ParseMemTableFactory(std::string_view text, bool ignore_unknown_fields,
                            std::unique_ptr<MemTableRepFactory>* made) {
  OptionPairs fields;
  VARVE_RETURN_IF_ERROR(SplitFields(text, &fields));
  const auto id = std::ranges::find(fields, "id", &OptionPairs::value_type::first);
  if (id == fields.end()) return Status::InvalidArgument("memtable factory without id");
  const std::vector<std::string_view> parts = SplitOptionList(id->second);
  const FactoryRow* row = parts.empty() || parts.size() > 2 ? nullptr : FindRow(parts[0]);
  if (row == nullptr) return NotKnown(text);
  std::string_view number = parts.size() == 2 ? parts[1] : "0";
  for (const auto& [name, value] : fields) {
    VARVE_RETURN_IF_ERROR(ReadField(name, value, ignore_unknown_fields, &row, &number));
  }
  uint64_t n = 0;
  if (!ParseUnsigned(number, UINT32_MAX, &n)) {
    return Status::InvalidArgument(std::string(parts[0]) + ":N expected", text.substr(0, 60));
  }
  *made = row->make(static_cast<size_t>(n));
  return Status::OK();
}

Status MemTableRepFactory::CreateFromString(const ConfigOptions& config_options,
                                            const std::string& value,
                                            std::unique_ptr<MemTableRepFactory>* result) {
  if (value.empty()) return Status::OK();
  if (config_options.registry != nullptr &&
      config_options.registry->GetFactory<MemTableRepFactory>(value)) {
    return Guarded([&] { return config_options.registry->NewUniqueObject(value, result); });
  }
  return ParseMemTableFactory(value, config_options.ignore_unknown_options, result);
}

Status MemTableRepFactory::CreateFromString(const ConfigOptions& config_options,
                                            const std::string& value,
                                            std::shared_ptr<MemTableRepFactory>* result) {
  std::unique_ptr<MemTableRepFactory> made;
  VARVE_RETURN_IF_ERROR(CreateFromString(config_options, value, &made));
  if (made != nullptr) *result = std::move(made);
  return Status::OK();
}

bool IsKnownMemTableFactory(const MemTableRepFactory& factory) {
  const FactoryRow* const row = FindRow(factory.NickName());
  return row != nullptr && std::string_view(factory.Name()) == row->class_name;
}

}  // namespace varve
