// SPDX-License-Identifier: Apache-2.0
#pragma once

// The one concrete table factory. It only carries options; the table room reads and writes files.
// What they leave to the engine and users of the factory share, a block cache, is the factory's.

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

  // As the user set them, unchecked; with a block cache once they are prepared.
  const BlockBasedTableOptions& table_options() const { return table_options_; }

  // NotSupported: an option that has no text.
  Status GetOption(const ConfigOptions& config, const std::string& name,
                   std::string* value) const override;
  std::string GetPrintableOptions() const override;
  // As opening a database would.
  Status ValidateOptions(const DBOptions& db, const ColumnFamilyOptions& cf) const override;
  // Gives options without a block cache, unless they want none, that of the factory. Safe beside
  // other threads that prepare it; once it is prepared, beside all that use it.
  Status PrepareOptions(const ConfigOptions& config) override;

 protected:
  const void* GetOptionsPtr(const std::string& name) const override;
  Status ConfigureOptions(const ConfigOptions& config,
                          const std::unordered_map<std::string, std::string>& map,
                          std::unordered_map<std::string, std::string>* unused) override;
  std::string PrintOptions(const ConfigOptions& config) const override;

 private:
  BlockBasedTableOptions table_options_;
  std::shared_ptr<Cache> default_cache_;  // null until the options need it
};

// "table_factory.x" of "block_based_table_factory.x", which text has for it, too; "" of all others.
std::string TableFactoryField(const std::string& name);

}  // namespace varve
