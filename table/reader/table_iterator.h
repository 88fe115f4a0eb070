// SPDX-License-Identifier: Apache-2.0
#pragma once

// The walk over a table's point entries: a position in the index, and one in the block it names.

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
  // Table and options outlive it.
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
  // False: the filter knows of nothing with the target's prefix.
  bool SeekIfMatches(const Slice& target);
  // Brings the block of the index position in; false, with status_ set, if it cannot be had.
  bool LoadBlock();
  // Publishes the cursor's entry; false if it has none. Damage ends the walk with status_ set.
  bool Settle();
  void NextBlock();
  void PrevBlock();
  bool IndexEnded();
  void Stop() { valid_ = false; }
  [[nodiscard]] bool AsksFilter() const { return has_prefixes_ && iter_options_.WantsPrefix(); }
  [[nodiscard]] bool MayHavePrefixOf(const Slice& target) const;
  // True if every key after the current block is beyond iterate_upper_bound.
  [[nodiscard]] bool BlockReachesUpperBound() const;
  // Nothing is read ahead beyond iterate_upper_bound as it stands at the first seek, with
  // auto_readahead_size.
  void LimitReadahead();

  const BlockTableReader* const table_;
  const BlockStore* const store_;
  Statistics* const statistics_;  // outlives the table
  const ReadOptions& options_;
  const TableIterOptions iter_options_;
  const bool has_prefixes_;  // filters can answer for prefixes, and may be asked
  const bool keeps_blocks_;  // pin_data
  BlockReadContext context_;
  IndexCursor index_;
  bool index_sought_ = false;  // it stands where the seek to come wants it
  HandleGuard<Block> block_;
  BlockHandle block_handle_;  // of block_
  DataBlockCursor cursor_;
  Status status_;
  FilePrefetcher prefetcher_;
  bool readahead_limited_ = false;
  std::vector<HandleGuard<Block>> kept_blocks_;
};

}  // namespace varve
