// SPDX-License-Identifier: Apache-2.0
#pragma once

// Defines the factory of PlainTables. It only carries options; the table code reads and writes
// files.

#include "varve/table.h"

#include "util/options/schema_object.h"

namespace varve {

class PlainTableFactory final
    : public SchemaObject<TableFactory, PlainTableOptions, &PlainTableOptionTable> {
 public:
  using SchemaObject::SchemaObject;

  static const char* kClassName() { return kPlainTableName(); }
  const char* Name() const override { return kClassName(); }
};

}  // namespace varve
