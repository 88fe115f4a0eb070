// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads block-based tables.
//
//      file  [data blocks ...][filter][index][tombstones][properties][metaindex][footer]
//                                |       |        |            |
//      parts_                 filter   index  tombstones   properties      read when it is opened
//
// A look-up asks the tombstones, then the filter; if the key may be there, the index leads to the
// only block that may hold its newest version, and a search of the block to the entry. What a
// look-up needs most is in memory: the index and filter as the options say (MetaResidency), blocks
// in the block cache.

#include <cstdint>
#include <memory>
#include <vector>

#include "table/block/point_search.h"
#include "table/meta/properties_block.h"
#include "table/reader/block_store.h"
#include "table/reader/filter_reader.h"
#include "table/reader/index_reader.h"
#include "table/reader/table_tail.h"
#include "table/table_reader.h"
#include "util/env/random_access_file_reader.h"
#include "util/mem/cache_charge.h"

namespace varve {

// Arguments of opening a block-based table.
struct BlockTableOpenOptions : TableOpenOptions {
  BlockBasedTableOptions table;  // the factory's options
};

// Holds everything that opening has found out.
struct BlockTableParts {
  std::unique_ptr<RandomAccessFileReader> file;
  // Has a fixed address, because index and filter point to it.
  std::unique_ptr<BlockStore> store;
  std::unique_ptr<IndexReader> index;
  std::unique_ptr<FilterReader> filter;  // null: there is none that may be used
  // Range deletions of the table, cut into fragments; null or empty if there are none.
  std::shared_ptr<const FragmentedTombstones> tombstones;
  std::shared_ptr<const TableProperties> properties;
  std::string newest_timestamp;
  std::vector<BlockHandle> meta_blocks;  // for VerifyChecksum; all but index and filter
  // Describes a filter of the file that is not used, for VerifyChecksum.
  FilterReader::Options unused_filter;
  // kMaxSequenceNumber: keys keep their stored sequence numbers.
  SequenceNumber override_seq = kMaxSequenceNumber;
  uint64_t data_end = 0;  // data blocks lie before this offset
  // The column family's order, if the table's own order is that of keys without timestamps; else
  // null.
  const InternalKeyComparator* family_order = nullptr;
  std::unique_ptr<const InternalKeyComparator> own_order;  // then used by the store
  bool prefixes_in_filter = false;
  BlockBasedTableOptions options;
};

// Thread safety: like TableReader.
class BlockTableReader final : public TableReader {
 public:
  // Opens the table whose last bytes are `tail`. See TableReader::Open.
  static Status Open(const BlockTableOpenOptions& options, const TableTail& tail,
                     std::unique_ptr<RandomAccessFileReader> file, uint64_t file_size,
                     std::unique_ptr<TableReader>* reader);
  // Reads the last bytes, too.
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
  const TableFormat& format() const override;
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

  // Charges the reader's memory to `charge`; called once, before the reader is shared. MemoryLimit:
  // the charge is refused.
  Status ChargeTo(std::shared_ptr<CacheCharge> charge);

  // Returns what opening has found out, for iterators and checks.
  [[nodiscard]] const BlockTableParts& parts() const { return parts_; }
  // Does the part of Get that comes after tombstones and filter. Sets *matched to true if an entry
  // of the key was met, and leaves it otherwise. After an error the lookup has seen a part of the
  // entries; the caller makes it fail.
  Status SearchBlocks(const BlockReadContext& context, PointLookup* lookup, bool* matched) const;
  // Searches the block of entry `i` of `index`, a block of the index whose entries lead to data
  // blocks. Sets *matched as SearchBlocks does. With OK, sets *over to true if no later block has
  // entries of the key that the lookup still wants, else to false; leaves it after an error.
  Status SearchBlockAt(const DecodedIndex& index, size_t i, const BlockReadContext& context,
                       PointLookup* lookup, bool* matched, bool* over) const;

  // Sets *shown to `key`, an internal key of the table, in the form that NewIterator shows: with
  // the oldest timestamp if lacks_timestamps(). *shown refers to `key` or to *scratch. Corruption:
  // `key` is no internal key.
  Status ShownKey(const Slice& key, std::string* scratch, Slice* shown) const;
  // True if keys are stored without the timestamps that the column family's keys have.
  [[nodiscard]] bool lacks_timestamps() const { return parts_.family_order != nullptr; }

 private:
  // Stands for "no position" in the index.
  static constexpr size_t kNotSought = SIZE_MAX;

  // Does what Get does, with a lookup whose key has the form of the table's own keys.
  Status GetInOwnOrder(const ReadOptions& options, PointLookup* lookup,
                       const TableHint& hint) const;
  // Does what Get does in a table whose keys have no timestamps, in a family that has them: takes
  // the timestamp off the lookup's key meanwhile.
  Status GetWithoutTimestamps(const ReadOptions& options, PointLookup* lookup) const;

  // Does what the other SearchBlocks does, by an index that stays in memory: from entry `first` on,
  // or, if that is kNotSought, from the entry that the key leads to.
  Status SearchBlocks(const DecodedIndex& index, size_t first, const BlockReadContext& context,
                      PointLookup* lookup, bool* matched) const;
  // Searches the block that the slot refers to without taking a reference, and sets *result.
  // Returns false if the slot refers to none, or if the lookup has met an entry that it must not
  // take in an epoch: then the block is to be searched again, with a reference. Requires
  // store->searches_in_place().
  bool SearchInPlace(const BlockSlot& slot, PointLookup* lookup, bool* matched,
                     BlockSearchResult* result) const;
  // Reads the footer again and checks it.
  Status VerifyFooter() const;
  // Sets *handles to those of all blocks except data blocks.
  Status ListMetaBlocks(const BlockReadContext& context, std::vector<BlockHandle>* handles) const;
  // Reads all data blocks and checks their checksums.
  Status VerifyDataBlocks(const BlockReadContext& context, const PaceReads& pace) const;

  BlockTableParts parts_;  // constant once the reader is shared
  ChargedBytes charged_;
};

// Returns Corruption that names the table and the block.
[[nodiscard]] Status MalformedEntry(const BlockStore& store, const BlockHandle& handle);

}  // namespace varve
