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

class TableIterator final : public InternalIterator {
 public:
  // Table and options must outlive it.
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
  void Publish() {
    key_ = cursor_.key();
    value_ = cursor_.value();
    valid_ = true;
  }
  // Seeks, unless the filter has no key with the target's prefix; then returns false.
  bool SeekIfMatches(const Slice& target);
  // Loads the block of the index position. Returns false, with status_ set, if that fails.
  bool LoadBlock();
  // Publishes the cursor's entry. Returns false if it has none. Damage ends the walk with status_
  // set.
  bool Settle();
  void NextBlock();
  void PrevBlock();
  bool IndexEnded();
  void Stop() { valid_ = false; }
  [[nodiscard]] bool AsksFilter() const { return has_prefixes_ && iter_options_.WantsPrefix(); }
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
  HandleGuard<Block> block_;
  BlockHandle block_handle_;  // handle of block_
  DataBlockCursor cursor_;
  Status status_;
  FilePrefetcher prefetcher_;
  bool readahead_limited_ = false;
  std::vector<HandleGuard<Block>> kept_blocks_;
};

}  // namespace varve
