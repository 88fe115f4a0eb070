// SPDX-License-Identifier: Apache-2.0
#pragma once

// The reader of block-based tables.

#include <cstdint>
#include <memory>
#include <vector>

#include "table/block/point_search.h"
#include "table/meta/properties_block.h"
#include "table/reader/block_store.h"
#include "table/reader/filter_reader.h"
#include "table/reader/index_reader.h"
#include "table/table_reader.h"
#include "util/env/random_access_file_reader.h"
#include "util/mem/cache_charge.h"

namespace varve {

struct BlockTableOpenOptions : TableOpenOptions {
  BlockBasedTableOptions table;  // those of the factory
};

// Everything that opening found out.
struct BlockTableParts {
  std::unique_ptr<RandomAccessFileReader> file;
  // At a fixed address, because index and filter point to it.
  std::unique_ptr<BlockStore> store;
  std::unique_ptr<IndexReader> index;
  std::unique_ptr<FilterReader> filter;  // null: none that may be used
  std::shared_ptr<const FragmentedTombstones> tombstones;
  std::shared_ptr<const TableProperties> properties;
  std::string newest_timestamp;
  std::vector<BlockHandle> meta_blocks;  // for VerifyChecksum; without index and filter
  // A filter that the file has, but that is not used: what it is made of, for VerifyChecksum.
  FilterReader::Options unused_filter;
  // kMaxSequenceNumber: keys have their stored sequence numbers.
  SequenceNumber override_seq = kMaxSequenceNumber;
  uint64_t data_end = 0;  // data blocks lie before this offset
  // The column family's order, if the table's own is that of the keys without timestamps; else
  // null.
  const InternalKeyComparator* family_order = nullptr;
  std::unique_ptr<const InternalKeyComparator> own_order;  // then the store's
  bool prefixes_in_filter = false;
  BlockBasedTableOptions options;
};

// Thread safety: as TableReader.
class BlockTableReader final : public TableReader {
 public:
  // As that of TableReader.
  static Status Open(const BlockTableOpenOptions& options,
                     std::unique_ptr<RandomAccessFileReader> file, uint64_t file_size,
                     std::unique_ptr<TableReader>* reader);
  explicit BlockTableReader(BlockTableParts parts) : parts_(std::move(parts)) {}

  using TableReader::Get;
  Status Get(const ReadOptions& options, PointLookup* lookup, const TableHint& hint) const override;
  void Prefetch(const PointLookup& lookup) const override {
    if (parts_.filter != nullptr) parts_.filter->Prefetch(lookup);
  }
  void PrefetchSpeculatively(const PointLookup& lookup, TableHint* hint) const override;
  const BlockTableReader* staged() const override { return this; }
  bool KeyMayMatch(const ReadOptions& options, const PointLookup& lookup) const override;
  std::unique_ptr<InternalIterator> NewIterator(const ReadOptions& options,
                                                const TableIterOptions& iter) const override;
  const std::shared_ptr<const FragmentedTombstones>& tombstones() const override {
    return parts_.tombstones;
  }
  const std::shared_ptr<const TableProperties>& properties() const override {
    return parts_.properties;
  }
  void SetSequence(SequenceNumber sequence) override;
  const std::string& newest_timestamp() const override { return parts_.newest_timestamp; }
  uint64_t ApproximateOffsetOf(const ReadOptions& options,
                               const Slice& internal_key) const override;
  using TableReader::VerifyChecksum;
  Status VerifyChecksum(const ReadOptions& options, const PaceReads& pace) const override;
  Status Salvage(const TakeEntry& take, SalvageCount* count) const override;
  Status CheckIndex(const ReadOptions& options) const override;
  Status CheckEntries(const ReadOptions& options, const TakeEntry& take,
                      const PaceReads& pace) const override;
  size_t MemoryUsage() const override;
  double CachedShare() const override;
  void ForgetBlocks() const override;

  // Once, before it is shared: charges what it takes. MemoryLimit if that is refused.
  Status ChargeTo(std::shared_ptr<CacheCharge> charge);

  [[nodiscard]] const BlockTableParts& parts() const { return parts_; }
  // The part of Get that follows tombstones and filter. *matched is set if an entry of the key was
  // met.
  Status SearchBlocks(const BlockReadContext& context, PointLookup* lookup, bool* matched) const;
  // Searches the block of entry `i` of a leaf of the index. *over: no later one has entries of the
  // key that the lookup still wants.
  Status SearchBlockAt(const DecodedIndex& index, size_t i, const BlockReadContext& context,
                       PointLookup* lookup, bool* matched, bool* over) const;

  // A key in the form that NewIterator shows: `scratch` gets it, if it is not `key` itself.
  Status ShownKey(const Slice& key, std::string* scratch, Slice* shown) const;
  // Whether keys are stored without timestamps that the column family's keys have.
  [[nodiscard]] bool lacks_timestamps() const { return parts_.family_order != nullptr; }

 private:
  // In place of one in the index.
  static constexpr size_t kNotSought = SIZE_MAX;

  Status GetInOwnOrder(const ReadOptions& options, PointLookup* lookup,
                       const TableHint& hint) const;
  // For keys without the timestamps that the comparator knows.
  Status GetWithoutTimestamps(const ReadOptions& options, PointLookup* lookup) const;

  // From entry `first`, or where the key says, of an index that stays in memory.
  Status SearchBlocks(const DecodedIndex& index, size_t first, const BlockReadContext& context,
                      PointLookup* lookup, bool* matched) const;
  bool SearchInPlace(const BlockSlot& slot, PointLookup* lookup, bool* matched,
                     BlockSearchResult* result) const;
  Status VerifyFooter() const;
  // Appends the handles of all blocks but those of data.
  Status ListMetaBlocks(const BlockReadContext& context, std::vector<BlockHandle>* handles) const;
  Status VerifyDataBlocks(const BlockReadContext& context, const PaceReads& pace) const;

  BlockTableParts parts_;  // constant once it is shared
  ChargedBytes charged_;
};

// Corruption that names the table and the block.
[[nodiscard]] Status MalformedEntry(const BlockStore& store, const BlockHandle& handle);

}  // namespace varve
