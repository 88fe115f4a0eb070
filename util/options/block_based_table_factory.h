// SPDX-License-Identifier: Apache-2.0
#pragma once

// Defines the factory of block-based tables. It only carries options; the table code reads and
// writes files. It owns the block cache that its users share if the options name none.

#include <memory>
#include <string>

#include "varve/table.h"

#include "util/options/schema_object.h"

namespace varve {

// Its options are as the user set them, unchecked; with a block cache once they are prepared.
class BlockBasedTableFactory final
    : public SchemaObject<TableFactory, BlockBasedTableOptions, &BlockBasedTableOptionTable> {
 public:
  using SchemaObject::SchemaObject;

  static const char* kClassName() { return kBlockBasedTableName(); }
  const char* Name() const override { return kClassName(); }
  bool IsDeleteRangeSupported() const override { return true; }

  // Validates the options as opening a database would.
  Status ValidateOptions(const DBOptions& db, const ColumnFamilyOptions& cf) const override;
  // Sets options without a block cache, unless they want none, to use that of the factory. May run
  // concurrently with other preparations; once the factory is prepared, concurrently with all its
  // uses.
  Status PrepareOptions(const ConfigOptions& config) override;

 protected:
  // Also finds the block cache, as kBlockCacheOpts().
  const void* GetOptionsPtr(const std::string& name) const override;

 private:
  std::shared_ptr<Cache> default_cache_;  // Null until the options need it.
};

// Returns "table_factory.x" for "block_based_table_factory.x", which option text also accepts; ""
// for all other names.
std::string TableFactoryField(const std::string& name);

}  // namespace varve
