// SPDX-License-Identifier: Apache-2.0
#pragma once

// Asks a table's filter, whole or partitioned, if a key or prefix may be in the table.

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

// Every doubt, including an unreadable filter, is answered with "may match": then the data decides.
//
// Thread safety: const methods may be called from any thread. Lifetime: the store must outlive it.
class FilterReader {
 public:
  struct Options {
    // Handle of the whole filter, or of the index of its partitions.
    BlockHandle root;
    // True if the root is an index of partitions.
    bool partitioned = false;
    bool whole_keys = true;  // true: the filter contains whole user keys
    // Set if the filter contains prefixes made by this extractor.
    std::shared_ptr<const SliceTransform> prefix_extractor;
    // Place of the root; if the filter has partitions, says nothing of these.
    MetaResidency residency = MetaResidency::kOwned;
    // True if all partitions stay referenced while the reader exists.
    bool pin_partitions = false;
    // True if what is cached has high priority.
    bool high_priority = false;
  };

  // Opens a filter. Reads the root, even if it will only be cached, and returns the error of that.
  static Status Open(const BlockStore* store, const Options& options,
                     const BlockReadContext& context, std::unique_ptr<FilterReader>* reader);

  // Returns false only if no entry of the key is in the table.
  [[nodiscard]] bool KeyMayMatch(const BlockReadContext& context, const PointLookup& lookup) const {
    if (answers_at_once_) [[likely]]
      return bits_.MayMatch(lookup.hash());
    return KeyMayMatchSlow(context, lookup);
  }

  // Prefetches the memory that KeyMayMatch will read, if the filter stays in memory.
  void Prefetch(const PointLookup& lookup) const {
    if (answers_at_once_) bits_.Prefetch(lookup.hash());
  }
  // Returns the filter to be asked by PointLookup::hash(), for callers with several keys. Empty if
  // only KeyMayMatch can answer: the filter has partitions, lacks whole keys, takes another hash,
  // or cannot be read.
  [[nodiscard]] HandleGuard<FilterBlock> ForHashes(const BlockReadContext& context) const;

  // Returns false only if no entry with the prefix of `internal_key`'s user key is in the table.
  [[nodiscard]] bool PrefixMayMatch(const BlockReadContext& context,
                                    const Slice& internal_key) const;

  // Returns the bytes of memory that the filter takes outside the cache.
  [[nodiscard]] size_t MemoryUsage() const;
  // Appends the handles of all blocks of the filter to *handles, for VerifyChecksum. Returns the
  // error of reading the root of a partitioned filter.
  Status ListBlocks(const BlockReadContext& context, std::vector<BlockHandle>* handles) const;

 private:
  FilterReader(const BlockStore* store, const Options& options)
      : store_(store), options_(options) {}
  // Reads the filter, or the root of its partitions, and keeps it as the options say.
  Status Load(const BlockReadContext& context);
  // Answers for KeyMayMatch where the filter is not in memory, has partitions, does not have whole
  // keys, or takes another hash.
  [[nodiscard]] bool KeyMayMatchSlow(const BlockReadContext& context,
                                     const PointLookup& lookup) const;

  // Returns the context for filter and index blocks, which are not read as part of a scan.
  [[nodiscard]] BlockReadContext MetaContext(const BlockReadContext& context) const {
    BlockReadContext read = context;
    read.prefetcher = nullptr;
    read.high_priority = options_.high_priority;
    return read;
  }
  // Returns the filter in one piece, or an empty guard if it cannot be read.
  [[nodiscard]] HandleGuard<FilterBlock> WholeFilter(const BlockReadContext& context) const;
  // Returns the number of the partition that may have a key, and sets *root to the index of the
  // partitions. If there is no partition, returns root->size(); if the root cannot be read, returns
  // 0 and leaves *root empty.
  [[nodiscard]] size_t FindPartition(const BlockReadContext& context, const Slice& internal_key,
                                     HandleGuard<DecodedIndex>* root) const;
  // Returns a partition, or an empty guard if it cannot be read.
  [[nodiscard]] HandleGuard<FilterBlock> PartitionAt(const BlockReadContext& context,
                                                     const DecodedIndex& root, size_t i) const;
  // Asks the key's partition for the prefix, and the one before it if that may have the prefix,
  // too: partitions are found by key, and a prefix may begin in one and continue in the next.
  [[nodiscard]] bool PartitionMayMatch(const BlockReadContext& context, const Slice& internal_key,
                                       const Slice& prefix) const;
  // Sets *root to the index of the partitions, from memory or through the block cache. Requires a
  // partitioned filter.
  Status GetRoot(const BlockReadContext& context, HandleGuard<DecodedIndex>* root) const;

  const BlockStore* const store_;
  const Options options_;
  // Empty if only cached. A full filter uses filter_; a partitioned one root_ and, if pinned,
  // partitions_.
  HandleGuard<FilterBlock> filter_;
  HandleGuard<DecodedIndex> root_;
  std::vector<HandleGuard<FilterBlock>> partitions_;
  // True if filter_ is of whole keys by the hash that all tables share; then bits_ are its bits.
  bool answers_at_once_ = false;
  FilterBits bits_;
};

}  // namespace varve
