// SPDX-License-Identifier: Apache-2.0
#pragma once

// FamilyOptionsOf returns a column family's options by its handle, without copying them.

#include <memory>

#include "db/column_family/column_family.h"

namespace varve {

// Returns the options now in force; null if the handle is null or not one of a database.
inline std::shared_ptr<const ColumnFamilyOptions> FamilyOptionsOf(ColumnFamilyHandle* handle) {
  const auto* const of_database = dynamic_cast<const ColumnFamilyHandleImpl*>(handle);
  return of_database == nullptr ? nullptr : of_database->family()->options();
}

}  // namespace varve
