// SPDX-License-Identifier: Apache-2.0

// Two cursors make the position: one in the index, which names a data block, and one in that block.
// A seek asks the filter first, in prefix mode, then the index; if that leads to the block that is
// loaded already, nothing is read. A seek that PrefetchSeek has prepared has asked the index before
// (index_sought_).
//
// A walk reads ahead once several blocks were read one after the other; the distance doubles up to
// a limit (FilePrefetcher). Compactions read ahead from the first block on.

#include "table/reader/table_iterator.h"

#include <utility>

#include "util/base/assert.h"
#include "util/metrics/statistics.h"

namespace varve {

namespace {

FilePrefetcher MakePrefetcher(const ReadOptions& options, const TableIterOptions& iter,
                              const BlockBasedTableOptions& table, bool direct_io) {
  if (options.readahead_size != 0) return FilePrefetcher::Fixed(options.readahead_size);
  if (iter.for_compaction) {
    // Dozens of inputs are open at once. The system's own readahead costs the process no memory, so
    // only direct I/O needs the full distance in buffers of its own.
    return FilePrefetcher::Fixed(direct_io ? FilePrefetcher::kCompactionReadahead
                                           : FilePrefetcher::kLargestReadahead / 4);
  }
  return FilePrefetcher::Adaptive(table.initial_auto_readahead_size, table.max_auto_readahead_size,
                                  table.num_file_reads_for_auto_readahead);
}

// Tickers of seek results, separate for the last level.
struct SeekTickers {
  Tickers filtered;
  Tickers filter_match;
  Tickers data;
  Tickers useful_without_filter;
  Tickers useful_after_filter;
};
constexpr SeekTickers kInLastLevel = {LAST_LEVEL_SEEK_FILTERED, LAST_LEVEL_SEEK_FILTER_MATCH,
                                      LAST_LEVEL_SEEK_DATA, LAST_LEVEL_SEEK_DATA_USEFUL_NO_FILTER,
                                      LAST_LEVEL_SEEK_DATA_USEFUL_FILTER_MATCH};
constexpr SeekTickers kAbove = {NON_LAST_LEVEL_SEEK_FILTERED, NON_LAST_LEVEL_SEEK_FILTER_MATCH,
                                NON_LAST_LEVEL_SEEK_DATA, NON_LAST_LEVEL_SEEK_DATA_USEFUL_NO_FILTER,
                                NON_LAST_LEVEL_SEEK_DATA_USEFUL_FILTER_MATCH};

}  // namespace

// Sets up how blocks are read; nothing is read before the first seek.
TableIterator::TableIterator(const BlockTableReader* table, const ReadOptions& options,
                             const TableIterOptions& iter)
    : table_(table),
      store_(table->parts().store.get()),
      statistics_(store_->statistics),
      options_(options),
      iter_options_(iter),
      has_prefixes_(iter.prefix_mode && !iter.skip_filters && table->parts().filter != nullptr &&
                    table->parts().prefixes_in_filter),
      keeps_blocks_(options.pin_data),
      prefetcher_(MakePrefetcher(options, iter, table->parts().options,
                                 table->parts().file->use_direct_io())) {
  context_.options = &options_;
  context_.fill_cache = options.fill_cache && !iter.for_compaction;
  context_.activity =
      iter.for_compaction ? Env::IOActivity::kCompaction : Env::IOActivity::kDBIterator;
  // The operating system reads a mapped file ahead.
  if (!store_->file.mapped) context_.prefetcher = &prefetcher_;
  // Asks the file ahead for what the next refill reads. Not with a readahead_size of the user: the
  // system's own readahead then serves the constant steps better.
  if (options.async_io && options.readahead_size == 0) prefetcher_.AskAhead();
  if (iter.readahead != nullptr && *iter.readahead != 0) prefetcher_.GoOnFrom(*iter.readahead);
  context_.prefetch_limit = table->parts().data_end;
  index_.Init(table->parts().index.get(), context_);
}

bool TableIterator::IndexEnded() {
  if (index_.Valid()) return false;
  status_ = index_.status();
  valid_ = false;
  return true;
}

// Must leave nothing of the old block behind when the new one cannot be had: the cursor points into
// memory that may be freed with the guard.
bool TableIterator::LoadBlock() {
  VARVE_ASSERT(index_.Valid());
  const BlockHandle handle = index_.handle();
  if (block_ && handle == block_handle_) return true;
  valid_ = false;
  cursor_.Clear();
  if (keeps_blocks_ && block_) {
    kept_blocks_.push_back(std::move(block_));
  } else {
    block_.Reset();
  }
  Status s = store_->Get(handle, index_.slot(), context_, &block_);
  if (iter_options_.readahead != nullptr) *iter_options_.readahead = prefetcher_.readahead();
  if (iter_options_.bytes_visited != nullptr) {
    *iter_options_.bytes_visited += handle.size + kBlockTrailerBytes;
  }
  if (!s.ok()) [[unlikely]] {
    status_ = std::move(s);
    block_.Reset();
    return false;
  }
  block_handle_ = handle;
  cursor_.Init(block_.get(), store_->icmp, table_->parts().override_seq);
  return true;
}

bool TableIterator::Settle() {
  if (cursor_.Valid()) [[likely]] {
    Publish();
    return true;
  }
  valid_ = false;
  if (cursor_.corrupt()) status_ = MalformedEntry(*store_, block_handle_);
  return false;
}

bool TableIterator::BlockReachesUpperBound() const {
  return options_.iterate_upper_bound != nullptr &&
         store_->icmp->CompareKey(store_->icmp->WithoutTimestamp(index_.separator_user_key()),
                                  *options_.iterate_upper_bound) >= 0;
}

// Loops over blocks without entries, which only other writers make.
void TableIterator::NextBlock() {
  valid_ = false;
  if (cursor_.corrupt()) {
    status_ = MalformedEntry(*store_, block_handle_);
    return;
  }
  for (;;) {
    if (BlockReachesUpperBound()) return;
    index_.Next();
    if (IndexEnded() || !LoadBlock()) return;
    index_.PrefetchNextBlock();
    cursor_.SeekToFirst();
    if (Settle() || cursor_.corrupt()) return;
  }
}

void TableIterator::PrevBlock() {
  valid_ = false;
  if (cursor_.corrupt()) {
    status_ = MalformedEntry(*store_, block_handle_);
    return;
  }
  for (;;) {
    index_.Prev();
    if (IndexEnded() || !LoadBlock()) return;
    index_.PrefetchPreviousBlock();
    cursor_.SeekToLast();
    if (Settle() || cursor_.corrupt()) return;
  }
}

// Asks the index once where the upper bound lies; the read-ahead then stops at the end of that
// block.
void TableIterator::LimitReadahead() {
  if (readahead_limited_ || options_.iterate_upper_bound == nullptr ||
      !options_.auto_readahead_size || table_->parts().index->two_level()) {
    return;
  }
  readahead_limited_ = true;
  HandleGuard<DecodedIndex> root;
  if (!table_->parts().index->GetRoot(context_, &root).ok()) return;
  const InternalKey bound = store_->icmp->FirstInternalKey(*options_.iterate_upper_bound);
  const size_t i = root->Seek(*store_->icmp, bound.Encode());
  context_.prefetch_limit = i < root->size() ? root->handle(i).end() : table_->parts().data_end;
}

bool TableIterator::MayHavePrefixOf(const Slice& target) const {
  const bool may = table_->parts().filter->PrefixMayMatch(context_, target);
  RecordTick(store_->statistics, BLOOM_FILTER_PREFIX_CHECKED);
  if (!may) RecordTick(store_->statistics, BLOOM_FILTER_PREFIX_USEFUL);
  return may;
}

void TableIterator::SeekToFirst() {
  status_ = Status::OK();
  index_sought_ = false;
  LimitReadahead();
  index_.SeekToFirst();
  if (IndexEnded() || !LoadBlock()) return;
  cursor_.SeekToFirst();
  if (!Settle() && !cursor_.corrupt()) NextBlock();
}

void TableIterator::SeekToLast() {
  status_ = Status::OK();
  index_sought_ = false;
  index_.SeekToLast();
  if (IndexEnded() || !LoadBlock()) return;
  cursor_.SeekToLast();
  // A block without entries is no damage: the last entry is then in a block before it. A damaged
  // one ends the walk, because Settle has set status_.
  if (!Settle() && !cursor_.corrupt()) PrevBlock();
}

// The seek itself is SeekIfMatches; the rest counts what it found, if there are statistics.
void TableIterator::Seek(const Slice& target) {
  const bool sought = SeekIfMatches(target);
  Statistics* const statistics = store_->statistics;
  if (statistics == nullptr || iter_options_.for_compaction) [[likely]]
    return;
  const bool asks = AsksFilter();
  const SeekTickers& tickers = table_->parts().file->in_last_level() ? kInLastLevel : kAbove;
  if (!sought) {
    RecordTick(statistics, tickers.filtered);
    return;
  }
  if (asks) RecordTick(statistics, tickers.filter_match);
  RecordTick(statistics, tickers.data);
  if (!valid_) return;
  RecordTick(statistics, asks ? tickers.useful_after_filter : tickers.useful_without_filter);
  if (asks) RecordTick(statistics, BLOOM_FILTER_PREFIX_TRUE_POSITIVE);
}

// Runs for every seek, so it must not be a function call of its own.
[[gnu::always_inline]] inline bool TableIterator::SeekIfMatches(const Slice& target) {
  if (!status_.ok()) [[unlikely]]
    status_ = Status::OK();
  if (AsksFilter() && !MayHavePrefixOf(target)) {
    Stop();
    return false;
  }
  LimitReadahead();
  if (!std::exchange(index_sought_, false)) index_.Seek(target);
  if (IndexEnded() || !LoadBlock()) return true;
  cursor_.Seek(target);
  if (!Settle() && !cursor_.corrupt()) NextBlock();
  return true;
}

// The first round asks the index, whose answer the Seek that follows uses; the others prefetch the
// block and the entry that it leads to.
void TableIterator::PrefetchSeek(const Slice& target, SeekRound round) {
  if (round == SeekRound::kIndex) index_sought_ = false;
  if (AsksFilter()) return;  // the filter may make the seek unnecessary
  if (round == SeekRound::kIndex) {
    index_.Seek(target);
    index_sought_ = true;
  }
  if (!index_.Valid()) return;
  switch (round) {
    case SeekRound::kIndex:
      index_.PrefetchEntry();
      break;
    case SeekRound::kBlock:
      index_.PrefetchBlock();
      break;
    case SeekRound::kEntry:
      LimitReadahead();
      // The next Seek meets the same error again, and reports it.
      if (LoadBlock()) cursor_.PrefetchSeek(target);
      break;
  }
}

// The block that may hold the target may begin behind it: then the last entry of the block before
// is meant. A target beyond the last separator means the last entry of all.
void TableIterator::SeekForPrev(const Slice& target) {
  status_ = Status::OK();
  index_sought_ = false;
  if (AsksFilter() && !MayHavePrefixOf(target)) {
    Stop();
    return;
  }
  index_.Seek(target);
  if (!index_.Valid()) {
    if (!index_.status().ok()) {
      (void)IndexEnded();  // takes the error over
      return;
    }
    SeekToLast();
    return;
  }
  if (!LoadBlock()) return;
  cursor_.SeekForPrev(target);
  if (!Settle() && !cursor_.corrupt()) PrevBlock();
}

void TableIterator::Prev() {
  VARVE_ASSERT(valid_);
  cursor_.Prev();
  if (!Settle()) {
    if (!cursor_.corrupt()) PrevBlock();
  }
}

// A run never leaves its block, so that one reference pins all of it.
size_t TableIterator::NextBatch(BatchEntry* out, size_t max) {
  VARVE_ASSERT(valid_ && max > 0);
  const size_t n = cursor_.NextBatch(out, max);
  if (n != 0) [[likely]] {
    PublishLast(out[n - 1]);
    return n;
  }
  Next();
  // A key that was assembled outside the block is lost with the next move, so it is returned alone.
  if (WriteCurrent(out) == 0 || max == 1 || !cursor_.KeyInBlock()) return valid_ ? 1 : 0;
  const size_t more = cursor_.NextBatch(out + 1, max - 1);
  if (more != 0) PublishLast(out[more]);
  return 1 + more;
}

// After the first entry of a block, the batch is the last entry of the block before.
size_t TableIterator::PrevBatch(BatchEntry* out, size_t max) {
  VARVE_ASSERT(valid_ && max > 0);
  const size_t n = cursor_.PrevBatch(out, max);
  if (n != 0) [[likely]] {
    PublishLast(out[n - 1]);
    return n;
  }
  valid_ = false;
  PrevBlock();
  return WriteCurrent(out);
}

bool TableIterator::PinValue(Cleanable* pin) {
  VARVE_ASSERT(block_.get() != nullptr && block_.get() == cursor_.block());
  if (!block_->owns_bytes()) return true;  // a mapped file lives as long as the reader
  if (!block_.shareable()) return false;
  block_.Share(pin);
  return true;
}

}  // namespace varve
