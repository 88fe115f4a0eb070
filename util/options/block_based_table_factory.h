// SPDX-License-Identifier: Apache-2.0
#pragma once

// The one concrete table factory. It only carries options; the table room reads and writes files.

#include <string>

#include "varve/table.h"

namespace varve {

class BlockBasedTableFactory final : public TableFactory {
 public:
  explicit BlockBasedTableFactory(const BlockBasedTableOptions& table_options)
      : table_options_(table_options) {}

  const char* Name() const override { return kBlockBasedTableName(); }
  bool IsDeleteRangeSupported() const override { return true; }

  // As the user set them, unchecked: a null block_cache, for one, is still null.
  const BlockBasedTableOptions& table_options() const { return table_options_; }

 protected:
  const void* OptionsNamed(const std::string& name) const override;

 private:
  BlockBasedTableOptions table_options_;
};

}  // namespace varve
