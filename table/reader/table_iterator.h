// SPDX-License-Identifier: Apache-2.0
#pragma once

// Walks a table's point entries: a position in the index, and one in the block it refers to.

#include <cstdint>
#include <memory>
#include <vector>

#include "table/block/data_block_cursor.h"
#include "table/reader/block_table_reader.h"
#include "util/base/assert.h"
#include "util/env/file_prefetcher.h"
#include "util/iter/internal_iterator.h"

namespace varve {

// Walks a block-based table: an index cursor selects blocks, a block cursor moves within one.
// Reads ahead in the file when it passes from block to block, and keeps blocks whose entries a
// caller has pinned. An error ends the walk until the next seek.
//
// Thread safety: none.
class TableIterator final : public InternalIterator {
 public:
  // `table` and `options` must outlive the iterator; `iter` is copied. Keys and targets of seeks
  // are internal keys in the order of the table's own keys.
  TableIterator(const BlockTableReader* table, const ReadOptions& options,
                const TableIterOptions& iter);
  ~TableIterator() override { prefetcher_.CountDiscarded(statistics_); }

  void SeekToFirst() override;
  void SeekToLast() override;
  void Seek(const Slice& target) override;
  void PrefetchSeek(const Slice& target, SeekRound round) override;
  void SeekForPrev(const Slice& target) override;
  void Next() override {
    VARVE_ASSERT(valid_);
    if (cursor_.Next()) [[likely]] {
      Publish();
      return;
    }
    NextBlock();
  }
  void Prev() override;
  size_t NextBatch(BatchEntry* out, size_t max) override;
  size_t PrevBatch(BatchEntry* out, size_t max) override;
  Status status() const override { return status_; }

  bool PinValue(Cleanable* pin) override;
  bool IsValuePinned() const override { return valid_ && keeps_blocks_; }
  bool IsKeyPinned() const override { return valid_ && keeps_blocks_ && cursor_.KeyInBlock(); }

 private:
  // Shows the block cursor's entry.
  void Publish() {
    key_ = cursor_.key();
    value_ = cursor_.value();
    valid_ = true;
  }
  // Seeks, unless the filter has no key with the target's prefix; then returns false.
  bool SeekIfMatches(const Slice& target);
  // Loads the block of the index position. Returns false, with status_ set, if that fails.
  bool LoadBlock();
  // Called after each move of the cursor: shows the entry on which it has come to rest. Returns
  // false if it is on none: because the block has no entry there, so that the search goes on in the
  // neighbouring block; or because the block is damaged (cursor_.corrupt()), which ends the walk
  // with status_ set.
  bool Settle();
  // Go to the first entry of the next block, or to the last of the previous one.
  void NextBlock();
  void PrevBlock();
  // Ends the walk at the end of the index, with the index's error if there is one.
  bool IndexEnded();
  void Stop() { valid_ = false; }
  // True if a seek asks the filter for the target's prefix.
  [[nodiscard]] bool AsksFilter() const { return has_prefixes_ && iter_options_.WantsPrefix(); }
  // Asks the filter. Returns true if it cannot tell.
  [[nodiscard]] bool MayHavePrefixOf(const Slice& target) const;
  // True if every key after the current block is beyond iterate_upper_bound.
  [[nodiscard]] bool BlockReachesUpperBound() const;
  // With auto_readahead_size, stops readahead at iterate_upper_bound as it is at the first seek.
  void LimitReadahead();

  const BlockTableReader* const table_;
  const BlockStore* const store_;
  Statistics* const statistics_;  // outlives the table
  const ReadOptions& options_;
  const TableIterOptions iter_options_;
  const bool has_prefixes_;  // true: filters can answer for prefixes, and may be asked
  const bool keeps_blocks_;  // pin_data
  BlockReadContext context_;
  IndexCursor index_;
  bool index_sought_ = false;  // true: it is already where the next seek wants it
  // The block that cursor_ is in.
  HandleGuard<Block> block_;
  BlockHandle block_handle_;  // handle of block_
  DataBlockCursor cursor_;
  Status status_;
  // Reads ahead when blocks are read one after the other.
  FilePrefetcher prefetcher_;
  // True if reading ahead ends at the options' upper bound.
  bool readahead_limited_ = false;
  // Blocks that pinned keys and values lie in.
  std::vector<HandleGuard<Block>> kept_blocks_;
};

}  // namespace varve
