// SPDX-License-Identifier: Apache-2.0
#pragma once

// A table's index: which data block may hold a key, through one level or two.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "varve/slice.h"
#include "varve/status.h"

#include "table/block_store.h"
#include "table/cache/held_block.h"
#include "table/format/block_handle.h"
#include "table/index/decoded_index.h"

namespace varve {

// Where a table's index or filter lives while the table is open.
enum class MetaResidency : uint8_t {
  kOwned,   // outside the cache, for good
  kPinned,  // in the cache, referenced for good
  kCached,  // in the cache as long as it is used
};

// Thread safety: const methods from any thread. Lifetime: the store outlives it.
class IndexReader {
 public:
  struct Options {
    BlockHandle root;
    bool two_level = false;
    MetaResidency residency = MetaResidency::kOwned;
    bool pin_partitions = false;
    bool high_priority = false;
  };

  // Reads and checks the root, also when it will only be cached.
  static Status Open(const BlockStore* store, const Options& options,
                     const BlockReadContext& context, std::unique_ptr<IndexReader>* reader);

  // The root, without a copy where it is resident.
  Status GetRoot(const BlockReadContext& context, Held<DecodedIndex>* root) const;
  [[nodiscard]] bool two_level() const { return options_.two_level; }
  // Partition `i` of `root`.
  Status GetPartition(const BlockReadContext& context, const DecodedIndex& root, size_t i,
                      Held<DecodedIndex>* partition) const;

  [[nodiscard]] const BlockStore& store() const { return *store_; }
  // Held outside the cache.
  [[nodiscard]] size_t MemoryUsage() const;
  // For VerifyChecksum.
  [[nodiscard]] const BlockHandle& root_handle() const { return options_.root; }

 private:
  IndexReader(const BlockStore* store, const Options& options) : store_(store), options_(options) {}

  const BlockStore* const store_;
  const Options options_;
  Held<DecodedIndex> root_;                     // empty if only cached
  std::vector<Held<DecodedIndex>> partitions_;  // if pinned
};

// A position in an index. A one-level index costs no call to move in.
//
// Thread safety: none. Errors leave it not Valid(), with status() until the next seek.
class IndexCursor {
 public:
  IndexCursor() = default;
  // `context` is copied; what it points to outlives the cursor.
  void Init(const IndexReader* reader, const BlockReadContext& context) {
    reader_ = reader;
    context_ = context;
  }

  [[nodiscard]] bool Valid() const { return leaf_ != nullptr && pos_ < leaf_->size(); }
  [[nodiscard]] const Status& status() const { return status_; }

  // To the first entry whose separator is >= `target` (an internal key).
  void Seek(const Slice& target);
  void SeekToFirst();
  void SeekToLast();
  void Next();  // requires Valid()
  void Prev();  // requires Valid()

  // These require Valid(); slices live until the next move.
  [[nodiscard]] BlockHandle handle() const { return leaf_->handle(pos_); }
  [[nodiscard]] Slice separator_user_key() const { return leaf_->separator_user_key(pos_); }
  // Asks for the memory that finding the entry's data block in the cache will touch.
  void PrefetchBlock() const { Prefetch(pos_); }
  // The same for the block after it, and for its first entries.
  void PrefetchNextBlock() const {
    if (pos_ + 1 >= leaf_->size()) return;
    Prefetch(pos_ + 1);
    const char* const data = static_cast<const char*>(leaf_->hints(pos_ + 1).data());
    if (data == nullptr) return;
    __builtin_prefetch(data);
    __builtin_prefetch(data + 64);
  }
  // Where the entry's block was found.
  void RememberBlock(const Held<Block>& block) const {
    leaf_->hints(pos_).Remember(block.cache_handle(), block.get(), block->entries_begin());
  }

 private:
  void Prefetch(size_t pos) const {
    const BlockHints& hints = leaf_->hints(pos);
    __builtin_prefetch(hints.cache_entry());
    Block::Prefetch(static_cast<const Block*>(hints.object()));
  }
  bool LoadRoot();
  // Loads partition `top_pos_` of a two-level index, if there is one.
  bool LoadLeaf();
  void Invalidate() { leaf_ = nullptr; }

  const IndexReader* reader_ = nullptr;
  BlockReadContext context_;
  Status status_;
  Held<DecodedIndex> root_;
  Held<DecodedIndex> partition_;
  size_t top_pos_ = 0;
  size_t loaded_partition_ = SIZE_MAX;  // which one partition_ is
  const DecodedIndex* leaf_ = nullptr;  // root_ or partition_
  size_t pos_ = 0;
};

}  // namespace varve
