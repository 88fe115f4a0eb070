// SPDX-License-Identifier: Apache-2.0
#pragma once

// Asks a table's filter, whole or in partitions, whether a key or prefix may be in the table.

#include <cstdint>
#include <memory>
#include <vector>

#include "varve/slice.h"
#include "varve/slice_transform.h"
#include "varve/status.h"

#include "table/filter/filter_block.h"
#include "table/reader/block_store.h"
#include "table/reader/index_reader.h"
#include "util/key/point_lookup.h"

namespace varve {

// Every doubt, an unreadable filter included, is answered with "may match": the data decides.
//
// Thread safety: const methods from any thread. Lifetime: the store outlives it.
class FilterReader {
 public:
  struct Options {
    BlockHandle root;
    bool partitioned = false;
    bool whole_keys = true;  // whole user keys are in it
    // Set if prefixes are in it and are taken in the same way as today.
    std::shared_ptr<const SliceTransform> prefix_extractor;
    MetaResidency residency = MetaResidency::kOwned;
    bool pin_partitions = false;
    bool high_priority = false;
  };

  // Reads the root, also when it will only be cached.
  static Status Open(const BlockStore* store, const Options& options,
                     const BlockReadContext& context, std::unique_ptr<FilterReader>* reader);

  // False only if no entry of the key is in the table.
  [[nodiscard]] bool KeyMayMatch(const BlockReadContext& context, const PointLookup& lookup) const {
    if (answers_at_once_) [[likely]]
      return bits_.MayMatch(lookup.hash());
    return KeyMayMatchSlow(context, lookup);
  }

  // Asks for the memory that KeyMayMatch will read, if the filter stays in memory.
  void Prefetch(const PointLookup& lookup) const {
    if (answers_at_once_) bits_.Prefetch(lookup.hash());
  }
  // The filter to ask by PointLookup::hash(), for callers with several keys. Empty where only
  // KeyMayMatch can tell: with partitions, prefixes, another hash, or without the filter.
  [[nodiscard]] HandleGuard<FilterBlock> ForHashes(const BlockReadContext& context) const;

  // False only if no entry with the prefix of `internal_key`'s user key is in the table.
  [[nodiscard]] bool PrefixMayMatch(const BlockReadContext& context,
                                    const Slice& internal_key) const;

  [[nodiscard]] size_t MemoryUsage() const;
  // Appends the handles of all its blocks. For VerifyChecksum.
  Status ListBlocks(const BlockReadContext& context, std::vector<BlockHandle>* handles) const;

 private:
  FilterReader(const BlockStore* store, const Options& options)
      : store_(store), options_(options) {}
  Status Load(const BlockReadContext& context);
  [[nodiscard]] bool KeyMayMatchSlow(const BlockReadContext& context,
                                     const PointLookup& lookup) const;

  // How filter and index blocks are read: not as a part of a scan.
  [[nodiscard]] BlockReadContext MetaContext(const BlockReadContext& context) const {
    BlockReadContext read = context;
    read.prefetcher = nullptr;
    read.high_priority = options_.high_priority;
    return read;
  }
  // The filter in one piece; empty if it cannot be had.
  [[nodiscard]] HandleGuard<FilterBlock> WholeFilter(const BlockReadContext& context) const;
  // Number of the partition that has a user key, if any has; root->size() if there is none, or the
  // root cannot be had.
  [[nodiscard]] size_t FindPartition(const BlockReadContext& context, const Slice& internal_key,
                                     HandleGuard<DecodedIndex>* root) const;
  [[nodiscard]] HandleGuard<FilterBlock> PartitionAt(const BlockReadContext& context,
                                                     const DecodedIndex& root, size_t i) const;
  [[nodiscard]] bool PartitionMayMatch(const BlockReadContext& context, const Slice& internal_key,
                                       const Slice& prefix) const;
  Status GetRoot(const BlockReadContext& context, HandleGuard<DecodedIndex>* root) const;

  const BlockStore* const store_;
  const Options options_;
  // Empty if only cached. Full: filter_. Partitioned: root_ and, if pinned, partitions_.
  HandleGuard<FilterBlock> filter_;
  HandleGuard<DecodedIndex> root_;
  std::vector<HandleGuard<FilterBlock>> partitions_;
  // Of filter_, when it is of whole keys by the hash that all tables share.
  bool answers_at_once_ = false;
  FilterBits bits_;
};

}  // namespace varve
