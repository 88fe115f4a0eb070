// SPDX-License-Identifier: Apache-2.0
#pragma once

// The reader of block-based tables.

#include <cstdint>
#include <memory>
#include <vector>

#include "table/block_store.h"
#include "table/filter/filter_reader.h"
#include "table/format/properties_block.h"
#include "table/index/index_reader.h"
#include "table/table_reader.h"
#include "util/env/random_access_file_reader.h"

namespace varve {

// Everything that opening found out.
struct BlockTableParts {
  std::unique_ptr<RandomAccessFileReader> file;
  // At a fixed address, because index and filter point to it.
  std::unique_ptr<BlockStore> store;
  std::unique_ptr<IndexReader> index;
  std::unique_ptr<FilterReader> filter;  // null: none that may be used
  std::shared_ptr<const FragmentedTombstones> tombstones;
  std::shared_ptr<const TableProperties> properties;
  std::vector<BlockHandle> meta_blocks;  // for VerifyChecksum; without index and filter
  // kMaxSequenceNumber: keys have their stored sequence numbers.
  SequenceNumber override_seq = kMaxSequenceNumber;
  uint64_t data_end = 0;  // data blocks lie before this offset
  bool prefixes_in_filter = false;
  BlockBasedTableOptions options;
};

// Thread safety: as TableReader.
class BlockTableReader final : public TableReader {
 public:
  explicit BlockTableReader(BlockTableParts parts) : parts_(std::move(parts)) {}

  Status Get(const ReadOptions& options, PointLookup* lookup) const override;
  bool KeyMayMatch(const ReadOptions& options, const PointLookup& lookup) const override;
  std::unique_ptr<InternalIterator> NewIterator(const ReadOptions& options,
                                                const TableIterOptions& iter) const override;
  const std::shared_ptr<const FragmentedTombstones>& tombstones() const override {
    return parts_.tombstones;
  }
  const std::shared_ptr<const TableProperties>& properties() const override {
    return parts_.properties;
  }
  uint64_t ApproximateOffsetOf(const ReadOptions& options,
                               const Slice& internal_key) const override;
  Status VerifyChecksum(const ReadOptions& options) const override;
  size_t MemoryUsage() const override;

  [[nodiscard]] const BlockTableParts& parts() const { return parts_; }

 private:
  Status SearchBlocks(const BlockReadContext& context, PointLookup* lookup, bool* matched) const;
  Status VerifyDataBlocks(const BlockReadContext& context) const;

  const BlockTableParts parts_;
};

// Corruption that names the table and the block.
[[nodiscard]] Status MalformedEntry(const BlockStore& store, const BlockHandle& handle);

}  // namespace varve
