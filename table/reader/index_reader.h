// SPDX-License-Identifier: Apache-2.0
#pragma once

// A table's index, of one level or two: it finds the data block that may hold a key.
//
// Entry i of an index has a separator, not below the last key of block i and below the first key
// of block i + 1, and the handle of the block. So the block that may hold a key is the first one
// whose separator is not below it. With two levels the root's entries point to partitions, which
// are index blocks themselves.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "varve/slice.h"
#include "varve/status.h"

#include "table/cache/handle_guard.h"
#include "table/format/block_handle.h"
#include "table/index/decoded_index.h"
#include "table/reader/block_store.h"
#include "util/base/assert.h"
#include "util/mem/prefetch.h"

namespace varve {

// Says where a table's index or filter lives while the table is open.
enum class MetaResidency : uint8_t {
  kOwned,   // outside the cache, permanently
  kPinned,  // in the cache, referenced permanently
  kCached,  // in the cache until it is evicted
};

// The root of an index, and its partitions if they are pinned. Thread safety: const methods may be
// called from any thread. Lifetime: the store must outlive it.
class IndexReader {
 public:
  struct Options {
    // Handle of the root block.
    BlockHandle root;
    // True if the root's entries are partitions.
    bool two_level = false;
    // Place of the root.
    MetaResidency residency = MetaResidency::kOwned;
    // True if all partitions are kept, too.
    bool pin_partitions = false;
    // True if what is cached has high priority.
    bool high_priority = false;
  };

  // Opens an index. Reads and checks the root, even if it will only be cached.
  static Status Open(const BlockStore* store, const Options& options,
                     const BlockReadContext& context, std::unique_ptr<IndexReader>* reader);

  // Sets *root to the root: borrowed if it stays in memory, otherwise from the cache or the file.
  // Errors are those of BlockStore::Get.
  Status GetRoot(const BlockReadContext& context, HandleGuard<DecodedIndex>* root) const;
  [[nodiscard]] bool two_level() const { return options_.two_level; }
  // Returns the whole index if it has one level and stays in memory; else null.
  [[nodiscard]] const DecodedIndex* resident() const {
    return options_.two_level ? nullptr : root_.get();
  }
  // Sets *partition to partition `i` of `root`, as GetRoot does for the root. Requires two_level()
  // and i < root.size().
  Status GetPartition(const BlockReadContext& context, const DecodedIndex& root, size_t i,
                      HandleGuard<DecodedIndex>* partition) const;

  [[nodiscard]] const BlockStore& store() const { return *store_; }
  // Returns the bytes of memory that the index takes outside the cache.
  [[nodiscard]] size_t MemoryUsage() const;
  // Returns the root's handle, for VerifyChecksum.
  [[nodiscard]] const BlockHandle& root_handle() const { return options_.root; }

 private:
  IndexReader(const BlockStore* store, const Options& options) : store_(store), options_(options) {}

  const BlockStore* const store_;
  const Options options_;
  HandleGuard<DecodedIndex> root_;                     // empty if only cached
  std::vector<HandleGuard<DecodedIndex>> partitions_;  // if pinned
};

// A position in an index. In a one-level index moving costs no call.
//
// Thread safety: none. After an error it is not Valid(), and status() has the error until the next
// seek.
class IndexCursor {
 public:
  IndexCursor() = default;
  // Attaches the cursor to an index. Copies `context`; what it points to must outlive the cursor.
  void Init(const IndexReader* reader, const BlockReadContext& context) {
    reader_ = reader;
    context_ = context;
  }

  // True if the cursor is on an entry.
  [[nodiscard]] bool Valid() const { return leaf_ != nullptr && pos_ < leaf_->size(); }
  [[nodiscard]] const Status& status() const { return status_; }

  // Moves to the first entry whose separator is >= `target`, an internal key.
  void Seek(const Slice& target);
  void SeekToFirst();
  void SeekToLast();
  void Next();  // requires Valid()
  void Prev();  // requires Valid()

  // The methods below require Valid(); slices live until the next move.
  [[nodiscard]] BlockHandle handle() const {
    VARVE_ASSERT(Valid());
    return leaf_->handle(pos_);
  }
  // Returns the entry's separator without sequence number and type.
  [[nodiscard]] Slice separator_user_key() const { return leaf_->separator_user_key(pos_); }
  // Return the position: an index block, and an entry of it.
  [[nodiscard]] const DecodedIndex& leaf() const { return *leaf_; }
  [[nodiscard]] size_t pos() const { return pos_; }
  // Returns the entry's slot, for BlockStore::Get.
  [[nodiscard]] BlockSlot* slot() const {
    VARVE_ASSERT(Valid());
    return leaf_->slot(pos_);
  }
  // Prefetches the index's own data of the entry.
  void PrefetchEntry() const { leaf_->PrefetchEntry(pos_); }
  // Prefetches the memory that a search of the entry's data block starts with.
  void PrefetchBlock() const {
    if (const BlockSlot* slot = leaf_->slot(pos_); slot != nullptr) {
      BlockStore::Prefetch<CacheLevel::kSecond>(*slot);
    }
  }
  // Prefetch the neighbouring block for a walk that enters it from this side.
  void PrefetchNextBlock() const {
    if (pos_ + 1 < leaf_->size()) PrefetchLines(pos_ + 1, 0);
  }
  void PrefetchPreviousBlock() const {
    // A backward walk begins with the restart points and the last interval.
    if (pos_ == 0) return;
    const size_t size = leaf_->handle(pos_ - 1).size;
    PrefetchLines(pos_ - 1, size - std::min(size, kNeighbourBytes));
  }

 private:
  // Bytes of a neighbour that a walk reads before it can prefetch itself.
  static constexpr size_t kNeighbourBytes = 1024;

  // Prefetches the head of block `pos`, and the lines of its entries from about `from` on.
  void PrefetchLines(size_t pos, size_t from) const {
    constexpr size_t kLine = 64;
    constexpr size_t kIndexBytes = 4 * kLine;  // end of what BlockStore::Prefetch covers
    const BlockSlot* const slot = leaf_->slot(pos);
    if (slot == nullptr) return;
    BlockStore::Prefetch(*slot);
    const CacheEntry* const entry = slot->load(std::memory_order_relaxed);
    if (entry == nullptr) return;
    const char* const lines = reinterpret_cast<const char*>(entry) + kIndexBytes + from;
    for (size_t at = 0; at < kNeighbourBytes; at += kLine) PrefetchLine(lines + at);
  }
  // Sets root_, unless it is set. Returns false, with status_ set, if that fails.
  bool LoadRoot();
  // Makes leaf_ the partition `top_pos_` of a two-level index. Returns false if the root has no
  // such entry, or, with status_ set, if the partition cannot be read.
  bool LoadLeaf();
  void Invalidate() { leaf_ = nullptr; }

  const IndexReader* reader_ = nullptr;
  BlockReadContext context_;
  Status status_;
  // The root, and the partition that leaf_ points to in an index of two levels.
  HandleGuard<DecodedIndex> root_;
  HandleGuard<DecodedIndex> partition_;
  // Position in the root, if there are two levels.
  size_t top_pos_ = 0;
  size_t loaded_partition_ = SIZE_MAX;  // number of the partition in partition_
  const DecodedIndex* leaf_ = nullptr;  // points to root_ or partition_
  size_t pos_ = 0;
};

}  // namespace varve
