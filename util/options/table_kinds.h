// SPDX-License-Identifier: Apache-2.0
#pragma once

// Lists the built-in table factories with the schemas of their options, so that whatever reads or
// writes options of tables does it for all of them alike.

#include <memory>
#include <span>
#include <string_view>

#include "varve/table.h"

#include "util/options/option_schema.h"

namespace varve {

struct TableKind {
  const char* factory_name;
  const char* options_name;  // For Configurable::GetOptions.
  const OptionTable& (*schema)();
  // Returns a factory with a copy of an options struct; with defaults for null.
  std::shared_ptr<TableFactory> (*make)(const void* options);

  // Return the options struct of a factory of this kind; null for other factories.
  const void* OptionsOf(const TableFactory& factory) const {
    return factory.GetOptions<void>(options_name);
  }
  void* OptionsOf(TableFactory* factory) const { return factory->GetOptions<void>(options_name); }
};

std::span<const TableKind> TableKinds();

// Return the kind of that name, or of that factory, which may be null; null if there is none.
const TableKind* FindTableKind(std::string_view factory_name);
const TableKind* TableKindOf(const TableFactory* factory);

}  // namespace varve
