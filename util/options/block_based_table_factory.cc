// SPDX-License-Identifier: Apache-2.0

// Hands out the options that a block-based table factory carries.

#include "util/options/block_based_table_factory.h"

#include <memory>
#include <string>

#include "varve/table.h"

namespace varve {

const void* BlockBasedTableFactory::OptionsNamed(const std::string& name) const {
  if (name == BlockBasedTableOptions::kName()) return &table_options_;
  if (name == kBlockCacheOpts()) return table_options_.block_cache.get();
  return nullptr;
}

TableFactory* NewBlockBasedTableFactory(const BlockBasedTableOptions& table_options) {
  return std::make_unique<BlockBasedTableFactory>(table_options).release();
}

}  // namespace varve
