// SPDX-License-Identifier: Apache-2.0
#pragma once

// Defines the factory of block-based tables. It only carries options; the table code reads and
// writes files. It owns the block cache that its users share if the options name none.

#include <string>
#include <unordered_map>

#include "varve/table.h"

namespace varve {

class BlockBasedTableFactory final : public TableFactory {
 public:
  explicit BlockBasedTableFactory(const BlockBasedTableOptions& table_options)
      : table_options_(table_options) {}

  static const char* kClassName() { return kBlockBasedTableName(); }
  const char* Name() const override { return kClassName(); }
  bool IsDeleteRangeSupported() const override { return true; }

  // Returns the options as the user set them, unchecked; with a block cache once they are prepared.
  const BlockBasedTableOptions& table_options() const { return table_options_; }

  // Returns NotSupported for an option that has no text form.
  Status GetOption(const ConfigOptions& config, const std::string& name,
                   std::string* value) const override;
  std::string GetPrintableOptions() const override;
  // Validates the options as opening a database would.
  Status ValidateOptions(const DBOptions& db, const ColumnFamilyOptions& cf) const override;
  // Sets options without a block cache, unless they want none, to use that of the factory. May run
  // concurrently with other preparations; once the factory is prepared, concurrently with all its
  // uses.
  Status PrepareOptions(const ConfigOptions& config) override;

 protected:
  const void* GetOptionsPtr(const std::string& name) const override;
  Status ConfigureOptions(const ConfigOptions& config,
                          const std::unordered_map<std::string, std::string>& map,
                          std::unordered_map<std::string, std::string>* unused) override;
  std::string PrintOptions(const ConfigOptions& config) const override;

 private:
  BlockBasedTableOptions table_options_;
  std::shared_ptr<Cache> default_cache_;  // Null until the options need it.
};

// Returns "table_factory.x" for "block_based_table_factory.x", which option text also accepts; ""
// for all other names.
std::string TableFactoryField(const std::string& name);

}  // namespace varve
