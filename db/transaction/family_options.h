// SPDX-License-Identifier: Apache-2.0
#pragma once

// A column family's options by its handle: they are many, so they are looked at and not copied.

#include <memory>

#include "db/column_family/column_family.h"

namespace varve {

// The options in force now; null if the handle is null, or none of a database.
inline std::shared_ptr<const ColumnFamilyOptions> FamilyOptionsOf(ColumnFamilyHandle* handle) {
  const auto* const of_database = dynamic_cast<const ColumnFamilyHandleImpl*>(handle);
  return of_database == nullptr ? nullptr : of_database->family()->options();
}

}  // namespace varve
