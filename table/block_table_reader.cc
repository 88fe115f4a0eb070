// SPDX-License-Identifier: Apache-2.0
#include "table/block_table_reader.h"

#include <utility>

#include "table/block/point_search.h"
#include "table/table_iterator.h"
#include "util/base/status_macros.h"
#include "util/env/file_prefetcher.h"
#include "util/metrics/perf_counters.h"
#include "util/metrics/statistics.h"

namespace varve {

namespace {

// Gives the first value that wants it the hold on the block; later ones are copied.
class HeldBlockPin final : public BlockPin {
 public:
  explicit HeldBlockPin(Held<Block>* held) : held_(held), mapped_(!(*held)->owns_bytes()) {}

  Cleanable* Renew() override {
    if (!moved_ && !mapped_) {
      held_->MoveTo(&cleanable_);
      moved_ = true;
    }
    // Bytes of a mapped file need no hold: the reader outlives what it hands out.
    return mapped_ || cleanable_.HasCleanups() ? &cleanable_ : nullptr;
  }

 private:
  Held<Block>* const held_;
  const bool mapped_;
  bool moved_ = false;
  Cleanable cleanable_;
};

}  // namespace

Status MalformedEntry(const BlockStore& store, const BlockHandle& handle) {
  return Status::Corruption("malformed entry", DescribeBlock(store.file, handle));
}

bool BlockTableReader::KeyMayMatch(const ReadOptions& options, const PointLookup& lookup) const {
  if (parts_.filter == nullptr) return true;
  BlockReadContext context;
  context.options = &options;
  context.fill_cache = options.fill_cache;
  return parts_.filter->KeyMayMatch(context, lookup);
}

Status BlockTableReader::Get(const ReadOptions& options, PointLookup* lookup) const {
  if (parts_.tombstones != nullptr && !options.ignore_range_deletions) {
    lookup->CoverWith(parts_.tombstones->MaxCoveringSeq(lookup->user_key(), lookup->snapshot()));
  }
  BlockReadContext context;
  context.options = &options;
  context.fill_cache = options.fill_cache;
  Statistics* const statistics = parts_.store->statistics;
  if (parts_.filter != nullptr) {
    if (!parts_.filter->KeyMayMatch(context, *lookup)) {
      AddPerfCount<&PerfContext::bloom_sst_miss_count>();
      RecordTick(statistics, BLOOM_FILTER_USEFUL);
      return Status::OK();
    }
    AddPerfCount<&PerfContext::bloom_sst_hit_count>();
    RecordTick(statistics, BLOOM_FILTER_FULL_POSITIVE);
  }
  bool matched = false;
  Status s = SearchBlocks(context, lookup, &matched);
  if (!s.ok()) {
    lookup->Fail(s);
    return s;
  }
  if (matched && parts_.filter != nullptr) RecordTick(statistics, BLOOM_FILTER_FULL_TRUE_POSITIVE);
  return s;
}

Status BlockTableReader::SearchBlocks(const BlockReadContext& context, PointLookup* lookup,
                                      bool* matched) const {
  const BlockStore& store = *parts_.store;
  IndexCursor cursor;
  cursor.Init(parts_.index.get(), context);
  for (cursor.Seek(lookup->internal_key()); cursor.Valid(); cursor.Next()) {
    Held<Block> held;
    cursor.PrefetchBlock();
    VARVE_RETURN_IF_ERROR(store.Get(cursor.handle(), context, &held));
    cursor.RememberBlock(held);
    const Block& block = *held;
    HeldBlockPin pin(&held);
    switch (SearchBlock(block, *store.icmp, parts_.override_seq, lookup, &pin, matched)) {
      case BlockSearchResult::kFinished:
      case BlockSearchResult::kPassed:
        return Status::OK();
      case BlockSearchResult::kCorrupt:
        return MalformedEntry(store, cursor.handle());
      case BlockSearchResult::kEndOfBlock:
        break;
    }
    // A separator beyond the key says that later blocks hold only larger keys.
    if (!store.icmp->EqualUserKey(cursor.separator_user_key(), lookup->user_key())) {
      return Status::OK();
    }
  }
  return cursor.status();
}

std::unique_ptr<InternalIterator> BlockTableReader::NewIterator(
    const ReadOptions& options, const TableIterOptions& iter) const {
  return std::make_unique<TableIterator>(this, options, iter);
}

uint64_t BlockTableReader::ApproximateOffsetOf(const ReadOptions& options,
                                               const Slice& internal_key) const {
  BlockReadContext context;
  context.options = &options;
  context.fill_cache = options.fill_cache;
  IndexCursor cursor;
  cursor.Init(parts_.index.get(), context);
  cursor.Seek(internal_key);
  return cursor.Valid() ? cursor.handle().offset : parts_.data_end;
}

Status BlockTableReader::VerifyDataBlocks(const BlockReadContext& context) const {
  FilePrefetcher prefetcher = FilePrefetcher::Fixed(context.options->readahead_size != 0
                                                        ? context.options->readahead_size
                                                        : FilePrefetcher::kCompactionReadahead);
  BlockReadContext read = context;
  if (!parts_.store->file.mapped) read.prefetcher = &prefetcher;
  read.prefetch_limit = parts_.data_end;
  IndexCursor cursor;
  cursor.Init(parts_.index.get(), context);
  for (cursor.SeekToFirst(); cursor.Valid(); cursor.Next()) {
    VARVE_RETURN_IF_ERROR(parts_.store->Verify(cursor.handle(), read));
  }
  return cursor.status();
}

Status BlockTableReader::VerifyChecksum(const ReadOptions& options) const {
  BlockReadContext context;
  context.options = &options;
  context.fill_cache = false;
  for (const BlockHandle& handle : parts_.meta_blocks) {
    VARVE_RETURN_IF_ERROR(parts_.store->Verify(handle, context));
  }
  if (parts_.filter != nullptr) {
    std::vector<BlockHandle> handles;
    VARVE_RETURN_IF_ERROR(parts_.filter->ListBlocks(context, &handles));
    for (const BlockHandle& handle : handles) {
      VARVE_RETURN_IF_ERROR(parts_.store->Verify(handle, context));
    }
  }
  VARVE_RETURN_IF_ERROR(parts_.store->Verify(parts_.index->root_handle(), context));
  if (parts_.index->two_level()) {
    Held<DecodedIndex> root;
    VARVE_RETURN_IF_ERROR(parts_.index->GetRoot(context, &root));
    for (size_t i = 0; i < root->size(); i++) {
      VARVE_RETURN_IF_ERROR(parts_.store->Verify(root->handle(i), context));
    }
  }
  return VerifyDataBlocks(context);
}

size_t BlockTableReader::MemoryUsage() const {
  size_t sum = sizeof(*this) + sizeof(BlockStore) + parts_.store->file.dictionary.capacity() +
               parts_.index->MemoryUsage() + parts_.properties->ApproximateMemoryUsage();
  if (parts_.filter != nullptr) sum += parts_.filter->MemoryUsage();
  if (parts_.tombstones != nullptr) sum += parts_.tombstones->MemoryUsage();
  return sum;
}

}  // namespace varve
