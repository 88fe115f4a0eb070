// SPDX-License-Identifier: Apache-2.0
#include "util/options/table_kinds.h"

#include <algorithm>

#include "util/options/block_based_table_factory.h"
#include "util/options/plain_table_factory.h"

namespace varve {

namespace {

template <typename Factory, typename Options>
// Erases the type of the options struct: what is const void* in a TableKind is always an Options of
// the same kind.
constexpr TableKind MakeKind(const char* name, const OptionTable& (*schema)()) {
  return {
      .factory_name = name,
      .schema = schema,
      .options_of = [](const TableFactory& factory) -> const void* {
        return factory.GetOptions<Options>();
      },
      .copy = [](const void* options) -> std::shared_ptr<void> {
        if (options == nullptr) return std::make_shared<Options>();
        return std::make_shared<Options>(*static_cast<const Options*>(options));
      },
      .make = [](const void* options) -> std::shared_ptr<TableFactory> {
        return std::make_shared<Factory>(*static_cast<const Options*>(options));
      },
  };
}

}  // namespace

std::span<const TableKind> TableKinds() {
  static const TableKind kinds[] = {
      MakeKind<BlockBasedTableFactory, BlockBasedTableOptions>(TableFactory::kBlockBasedTableName(),
                                                               &BlockBasedTableOptionTable),
      MakeKind<PlainTableFactory, PlainTableOptions>(TableFactory::kPlainTableName(),
                                                     &PlainTableOptionTable),
  };
  return kinds;
}

const TableKind* FindTableKind(std::string_view factory_name) {
  const auto kind = std::ranges::find(TableKinds(), factory_name, &TableKind::factory_name);
  return kind == TableKinds().end() ? nullptr : &*kind;
}

const TableKind* TableKindOf(const TableFactory* factory) {
  const auto kind = std::ranges::find_if(TableKinds(), [factory](const TableKind& k) {
    return factory != nullptr && k.options_of(*factory) != nullptr;
  });
  return kind == TableKinds().end() ? nullptr : &*kind;
}

}  // namespace varve
