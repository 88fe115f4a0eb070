// SPDX-License-Identifier: Apache-2.0

// A point read asks, in this order, and ends with the first answer:
//
//     tombstones      in memory; raise what the lookup counts as covered
//     filter          "no" ends it; costs one or two cache misses
//     index           leads to the first block that may have the key
//     block           in place, if the index's slot still refers to it; otherwise through the cache
//     next blocks     as long as the separator is of the same user key
//
// Searching in place takes no reference to the block: an epoch keeps it from being freed meanwhile.
// So nothing in it may wait, or call code of the user: comparators of the user go the other way,
// and so do merge operands (TakeDeferred).
//
// Tables whose keys have no timestamps, in a family that has them, are searched in their own order;
// the lookup is told so before and after.

#include "table/reader/block_table_reader.h"

#include <utility>
#include <vector>

#include "table/iterator/timestamp_adding_iterator.h"
#include "table/reader/block_pins.h"
#include "table/reader/table_iterator.h"
#include "util/base/assert.h"
#include "util/base/status_macros.h"
#include "util/env/file_prefetcher.h"
#include "util/metrics/perf_counters.h"
#include "util/metrics/statistics.h"
#include "util/sync/epoch.h"

namespace varve {

namespace {

// Guesses from a thread's last reads if the filter of the last table will let a key pass. While the
// filter's memory is being loaded, the index can be searched and the block prefetched, which is
// wasted if the key is not there.
class FilterPredictor {
 public:
  bool Passes() const { return score_ >= 0; }
  void Learn(bool passed) {
    if (passed && score_ < kMost) score_++;
    if (!passed && score_ > -kMost) score_--;
  }

 private:
  static constexpr int8_t kMost = 4;
  int8_t score_ = 0;
};

[[gnu::tls_model("initial-exec")]] constinit thread_local FilterPredictor filter_predictor;

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

// Does no more than Prefetch if the index is not in memory or a comparator of the user would have
// to run. Otherwise the hint is of this table even if no place was sought, so that Get teaches the
// predictor.
void BlockTableReader::PrefetchSpeculatively(const PointLookup& lookup, TableHint* hint) const {
  Prefetch(lookup);
  const DecodedIndex* const index = parts_.index->resident();
  if (index == nullptr || lacks_timestamps() || !BytesDecide(parts_.store->icmp->order())) return;
  size_t at = kNotSought;
  if (filter_predictor.Passes()) {
    at = index->Seek(*parts_.store->icmp, lookup.internal_key());
    BlockSlot* const slot = at < index->size() ? index->slot(at) : nullptr;
    if (slot != nullptr) BlockStore::Prefetch(*slot);
  }
  *hint = {this, at};
}

Status BlockTableReader::Get(const ReadOptions& options, PointLookup* lookup,
                             const TableHint& hint) const {
  if (lacks_timestamps()) [[unlikely]]
    return GetWithoutTimestamps(options, lookup);
  return GetInOwnOrder(options, lookup, hint);
}

[[gnu::noinline]] Status BlockTableReader::GetWithoutTimestamps(const ReadOptions& options,
                                                                PointLookup* lookup) const {
  lookup->EnterKeysWithoutTimestamp();
  Status s = GetInOwnOrder(options, lookup, TableHint());
  lookup->LeaveKeysWithoutTimestamp();
  return s;
}

// Tombstones come first, as they decide which of the entries the lookup still sees. Whatever step
// fails, the lookup is told of it at the end of this function.
inline Status BlockTableReader::GetInOwnOrder(const ReadOptions& options, PointLookup* lookup,
                                              const TableHint& hint) const {
  if (parts_.tombstones != nullptr) lookup->CoverWith(*parts_.tombstones);
  BlockReadContext context;
  context.options = &options;
  context.fill_cache = options.fill_cache;
  context.activity = Env::IOActivity::kGet;
  Statistics* const statistics = parts_.store->statistics;
  const DecodedIndex* const index = parts_.index->resident();
  const bool predicted = hint.table == this;
  if (parts_.filter != nullptr) {
    const bool passes = parts_.filter->KeyMayMatch(context, *lookup);
    if (predicted) filter_predictor.Learn(passes);
    if (!passes) {
      AddPerfCount<&PerfContext::bloom_sst_miss_count>();
      RecordTick(statistics, BLOOM_FILTER_USEFUL);
      return Status::OK();
    }
    AddPerfCount<&PerfContext::bloom_sst_hit_count>();
    RecordTick(statistics, BLOOM_FILTER_FULL_POSITIVE);
  }
  bool matched = false;
  if (Status s = index != nullptr ? SearchBlocks(*index, predicted ? hint.place : kNotSought,
                                                 context, lookup, &matched)
                                  : SearchBlocks(context, lookup, &matched);
      !s.ok()) [[unlikely]] {
    lookup->Fail(s);
    return s;
  }
  if (matched && parts_.filter != nullptr) RecordTick(statistics, BLOOM_FILTER_FULL_TRUE_POSITIVE);
  return Status::OK();
}

Status BlockTableReader::SearchBlocks(const DecodedIndex& index, size_t first,
                                      const BlockReadContext& context, PointLookup* lookup,
                                      bool* matched) const {
  VARVE_ASSERT(first == kNotSought || first <= index.size());
  if (first == kNotSought) first = index.Seek(*parts_.store->icmp, lookup->internal_key());
  bool over = false;
  for (size_t i = first; i < index.size() && !over; i++) {
    VARVE_RETURN_IF_ERROR(SearchBlockAt(index, i, context, lookup, matched, &over));
  }
  return Status::OK();
}

Status BlockTableReader::SearchBlocks(const BlockReadContext& context, PointLookup* lookup,
                                      bool* matched) const {
  bool over = false;
  IndexCursor cursor;
  cursor.Init(parts_.index.get(), context);
  for (cursor.Seek(lookup->internal_key()); cursor.Valid() && !over; cursor.Next()) {
    VARVE_RETURN_IF_ERROR(
        SearchBlockAt(cursor.leaf(), cursor.pos(), context, lookup, matched, &over));
  }
  return cursor.status();
}

// The block is searched where it lies, if the index's slot still refers to it; if that is not
// possible, it is got from the cache or the file, with a reference that a large value may take
// over.
Status BlockTableReader::SearchBlockAt(const DecodedIndex& index, size_t i,
                                       const BlockReadContext& context, PointLookup* lookup,
                                       bool* matched, bool* over) const {
  const BlockStore& store = *parts_.store;
  BlockSlot* const slot = index.slot(i);
  BlockSearchResult result;
  if (slot == nullptr || !store.searches_in_place() ||
      !SearchInPlace(*slot, lookup, matched, &result)) {
    HandleGuard<Block> held;
    VARVE_RETURN_IF_ERROR(store.Get(index.handle(i), slot, context, &held));
    const Block& block = *held;
    GuardedBlockPin pin(&held);
    result = SearchBlock(block, *store.icmp, parts_.override_seq, lookup, &pin, matched);
  }
  if (result == BlockSearchResult::kCorrupt) return MalformedEntry(store, index.handle(i));
  // If the separator is of another key, later blocks have only larger keys.
  *over = result != BlockSearchResult::kEndOfBlock ||
          !index.SeparatorIsOf(i, lookup->key(), *store.icmp);
  return Status::OK();
}

// A value that is found is copied, or pinned, before the epoch is left. Of an entry that the lookup
// must not take here, such as a merge operand, it takes note only (TakeDeferred), and is offered it
// again by the search that follows.
bool BlockTableReader::SearchInPlace(const BlockSlot& slot, PointLookup* lookup, bool* matched,
                                     BlockSearchResult* result) const {
  const BlockStore& store = *parts_.store;
  const Epoch::Guard guard;
  CacheEntry* entry = nullptr;
  const Block* const block = store.Peek(slot, &entry);
  if (block == nullptr) return false;
  // Only bytes may be compared here: a user comparator must not run in an epoch.
  VARVE_ASSERT(store.searches_in_place());
  SlotPin pin(store.slot_cache, entry);
  *result = SearchBlock(*block, *store.icmp, parts_.override_seq, lookup, &pin, matched);
  return !lookup->TakeDeferred();
}

std::unique_ptr<InternalIterator> BlockTableReader::NewIterator(
    const ReadOptions& options, const TableIterOptions& iter) const {
  auto iterator = std::make_unique<TableIterator>(this, options, iter);
  if (!lacks_timestamps()) [[likely]]
    return iterator;
  return NewTimestampAddingIterator(std::move(iterator), parts_.family_order);
}

// Returns the offset of the block to which the index leads, or the end of the data. In a table
// whose keys lack timestamps, that is the block in which the key's entries would begin.
uint64_t BlockTableReader::ApproximateOffsetOf(const ReadOptions& options,
                                               const Slice& internal_key) const {
  BlockReadContext context;
  context.options = &options;
  context.fill_cache = options.fill_cache;
  IndexCursor cursor;
  cursor.Init(parts_.index.get(), context);
  if (lacks_timestamps()) {
    const Slice key = parts_.family_order->KeyOf(internal_key);
    cursor.Seek(parts_.own_order->FirstInternalKey(key).Encode());
  } else {
    cursor.Seek(internal_key);
  }
  return cursor.Valid() ? cursor.handle().offset : parts_.data_end;
}

Status BlockTableReader::ChargeTo(std::shared_ptr<CacheCharge> charge) {
  charged_ = ChargedBytes(std::move(charge));
  const Status s = charged_.TrySet(MemoryUsage());
  if (s.ok()) return s;
  return Status::CopyAppendMessage(s, ": reader of ", parts_.store->file.name);
}

double BlockTableReader::CachedShare() const {
  const DecodedIndex* const index = parts_.index->resident();
  if (index == nullptr || index->size() == 0) return 0;
  return static_cast<double>(index->CountCached()) / static_cast<double>(index->size());
}

void BlockTableReader::ForgetBlocks() const {
  if (const DecodedIndex* const index = parts_.index->resident()) index->DropBlocks();
}

size_t BlockTableReader::MemoryUsage() const {
  size_t sum = sizeof(*this) + sizeof(BlockStore) + parts_.store->file.dictionary.capacity() +
               parts_.index->MemoryUsage() + parts_.properties->ApproximateMemoryUsage();
  if (parts_.filter != nullptr) sum += parts_.filter->MemoryUsage();
  if (parts_.tombstones != nullptr) sum += parts_.tombstones->MemoryUsage();
  return sum;
}

// The number becomes the override for entries, and that of all tombstones, which are built anew.
// The file is not touched.
void BlockTableReader::SetSequence(SequenceNumber sequence) {
  parts_.override_seq = sequence;
  // Ingestion may write the number into the properties in place, while their checksum stays that of
  // a table without a number. The opening of such a table leaves that block out, too.
  const uint64_t at = parts_.properties->external_sst_file_global_seqno_offset;
  std::erase_if(parts_.meta_blocks, [at](const BlockHandle& block) {
    return block.offset <= at && at < block.offset + block.size;
  });
  if (parts_.tombstones == nullptr) return;
  std::vector<FragmentedTombstones::Tombstone> tombstones = parts_.tombstones->InKeyOrder();
  for (auto& tombstone : tombstones) tombstone.seq = sequence;
  parts_.tombstones =
      FragmentedTombstones::Build(std::move(tombstones), parts_.tombstones->comparator());
}

}  // namespace varve
