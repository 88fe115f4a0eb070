// SPDX-License-Identifier: Apache-2.0

// Makes table factories: by the kind of their tables, from text, and from options.

#include "util/options/table_kinds.h"

#include <algorithm>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>

#include "varve/convenience.h"

#include "util/base/registered_object.h"
#include "util/base/status_macros.h"
#include "util/options/block_based_table_factory.h"
#include "util/options/plain_table_factory.h"

namespace varve {

namespace {

// Erases the type of the options struct: a `const void*` of this kind is a Factory::Options.
template <typename Factory>
TableKind KindOf() {
  using Options = typename Factory::Options;
  return {Factory::kClassName(), Options::kName(), &Factory::Schema,
          [](const void* options) -> std::shared_ptr<TableFactory> {
            if (options == nullptr) return std::make_shared<Factory>(Options());
            return std::make_shared<Factory>(*static_cast<const Options*>(options));
          }};
}

}  // namespace

std::span<const TableKind> TableKinds() {
  static const TableKind kinds[] = {KindOf<BlockBasedTableFactory>(), KindOf<PlainTableFactory>()};
  return kinds;
}

const TableKind* FindTableKind(std::string_view factory_name) {
  const auto kind = std::ranges::find(TableKinds(), factory_name, &TableKind::factory_name);
  return kind == TableKinds().end() ? nullptr : &*kind;
}

const TableKind* TableKindOf(const TableFactory* factory) {
  const auto kind = std::ranges::find_if(TableKinds(), [factory](const TableKind& k) {
    return factory != nullptr && k.OptionsOf(*factory) != nullptr;
  });
  return kind == TableKinds().end() ? nullptr : &*kind;
}

// An existing factory keeps all options that the text does not name, also those without a text
// form.
Status TableFactory::CreateFromString(const ConfigOptions& config_options, const std::string& value,
                                      std::shared_ptr<TableFactory>* result) {
  std::string id;
  std::unordered_map<std::string, std::string> options;
  VARVE_RETURN_IF_ERROR(Customizable::GetOptionsMap(value, kBlockBasedTableName(), &id, &options));
  std::shared_ptr<TableFactory> made;
  if (!id.empty()) {
    Status s = NewRegisteredObject(config_options, id, &made);
    const TableKind* const kind = s.IsNotFound() ? FindTableKind(id) : nullptr;
    // A registered class of the user goes before a built-in one of the same name, and gets no copy
    // of the previous options, as nothing is known of its own.
    if (kind != nullptr) {
      made = kind->make(*result == nullptr ? nullptr : kind->OptionsOf(**result));
    } else if (!s.ok()) {
      return s.IsNotFound() ? Status::NotSupported("no table factory of that name", id) : s;
    }
    VARVE_RETURN_IF_ERROR(ConfigureNewObject(config_options, made.get(), options));
  }
  *result = std::move(made);
  return Status::OK();
}

TableFactory* NewBlockBasedTableFactory(const BlockBasedTableOptions& table_options) {
  return std::make_unique<BlockBasedTableFactory>(table_options).release();
}

TableFactory* NewPlainTableFactory(const PlainTableOptions& options) {
  return std::make_unique<PlainTableFactory>(options).release();
}

}  // namespace varve
