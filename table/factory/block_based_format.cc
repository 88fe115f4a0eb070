// SPDX-License-Identifier: Apache-2.0

// Implements the block-based format: joins the options of its factory to those of the given table.

#include <utility>

#include "varve/cache.h"
#include "varve/table.h"

#include "table/builder/block_table_builder.h"
#include "table/factory/table_format.h"
#include "table/format/footer.h"
#include "table/reader/block_table_reader.h"
#include "util/env/random_access_file_reader.h"

namespace varve {
namespace {

// Only for factories for which IsOf is true.
const BlockBasedTableOptions& OptionsOf(const TableFactory& factory) {
  return *factory.GetOptions<BlockBasedTableOptions>();
}

// Returns the options to read with: the defaults if the factory makes other tables.
BlockBasedTableOptions ReadingOptionsOf(const TableFactory* factory) {
  const auto* const own =
      factory == nullptr ? nullptr : factory->GetOptions<BlockBasedTableOptions>();
  return own == nullptr ? BlockBasedTableOptions() : *own;
}

// Returns whether `bytes` more would evict nothing. A sixteenth of the capacity is left to what
// other tables need.
bool HasRoom(const Cache& cache, uint64_t bytes) {
  const size_t capacity = cache.GetCapacity();
  const size_t usage = cache.GetUsage();
  const size_t limit = capacity - capacity / 16;
  return usage < limit && bytes < limit - usage;
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
  // The options decide for flushes. A compaction's output also goes into the cache if it replaces
  // cached blocks and evicts none: readers would otherwise miss what they had.
  bool FillsCache(const TableBuildOptions& options, uint64_t table_bytes) const override {
    using Prepopulate = BlockBasedTableOptions::PrepopulateBlockCache;
    const BlockBasedTableOptions& table = OptionsOf(*options.factory);
    const Prepopulate wish = table.prepopulate_block_cache;
    if (table.block_cache == nullptr) return false;
    if (options.reason == TableFileCreationReason::kFlush) return wish != Prepopulate::kDisable;
    if (options.reason != TableFileCreationReason::kCompaction) return false;
    return wish == Prepopulate::kFlushAndCompaction ||
           (options.replaces_cached && HasRoom(*table.block_cache, table_bytes));
  }

  bool HasMagic(uint64_t magic) const override {
    return magic == kTableMagic || magic == kLegacyTableMagic;
  }
  Status CheckFooter(const Slice& tail, uint64_t tail_offset) const override {
    Footer footer;
    return footer.DecodeFrom(tail, tail_offset);
  }
  Status Open(const TableOpenOptions& options, const TableTail& tail,
              std::unique_ptr<RandomAccessFileReader> file, uint64_t file_size,
              std::unique_ptr<TableReader>* reader) const override {
    return BlockTableReader::Open({options, ReadingOptionsOf(options.factory.get())}, tail,
                                  std::move(file), file_size, reader);
  }
  ProbeReads MultiGet(const ReadOptions& options,
                      std::span<const TableProbe> probes) const override {
    return MultiGetFromBlockTables(options, probes);
  }
};

}  // namespace

const TableFormat& BlockBasedTableFormat() {
  static const Format format;
  return format;
}

const TableFormat& BlockTableReader::format() const {
  return BlockBasedTableFormat();
}

}  // namespace varve
