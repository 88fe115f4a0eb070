// SPDX-License-Identifier: Apache-2.0

// Block-based tables: joins the options of their factory to those of the table at hand.

#include <utility>

#include "varve/table.h"

#include "table/builder/block_table_builder.h"
#include "table/factory/table_format.h"
#include "table/reader/block_table_reader.h"
#include "util/env/random_access_file_reader.h"

namespace varve {
namespace {

const BlockBasedTableOptions& OptionsOf(const TableFactory& factory) {
  return *factory.GetOptions<BlockBasedTableOptions>();
}

class Format final : public TableFormat {
 public:
  bool IsOf(const TableFactory& factory) const override {
    return factory.GetOptions<BlockBasedTableOptions>() != nullptr;
  }

  Status CheckOptions(const TableBuildOptions& options) const override {
    return BlockTableBuilder::CheckOptions({options, OptionsOf(*options.factory)});
  }
  Status Create(const TableBuildOptions& options, WritableFileWriter* file,
                std::unique_ptr<TableBuilder>* builder) const override {
    return BlockTableBuilder::Create({options, OptionsOf(*options.factory)}, file, builder);
  }
  bool FillsCache(const TableBuildOptions& options) const override {
    using Prepopulate = BlockBasedTableOptions::PrepopulateBlockCache;
    const BlockBasedTableOptions& table = OptionsOf(*options.factory);
    const Prepopulate wish = table.prepopulate_block_cache;
    if (wish == Prepopulate::kDisable || table.block_cache == nullptr) return false;
    return options.reason == TableFileCreationReason::kFlush ||
           (options.reason == TableFileCreationReason::kCompaction &&
            wish == Prepopulate::kFlushAndCompaction);
  }
  Status Open(const TableOpenOptions& options, std::unique_ptr<RandomAccessFileReader> file,
              uint64_t file_size, std::unique_ptr<TableReader>* reader) const override {
    return BlockTableReader::Open({options, OptionsOf(*options.factory)}, std::move(file),
                                  file_size, reader);
  }
};

}  // namespace

const TableFormat& BlockBasedTableFormat() {
  static const Format format;
  return format;
}

}  // namespace varve
