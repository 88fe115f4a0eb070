// SPDX-License-Identifier: Apache-2.0

// Provides the blocks of one open table. For a data block that the cache has, this is the hottest
// path of a read, so there are two ways to it:
//
//    index entry of a block                        block cache
//    [ separator | handle | slot ]                 hash table: key -> entry
//                           |                            |
//                           +------> CacheEntry, Block <-+
//
//    slot   One load finds the entry, without hashing a key (GetBySlot, Peek). A slot is cleared
//           before its entry is freed, and is followed only inside an epoch.
//    key    (identity of the file, kind, offset) finds blocks that another reader of the same
//           file, or this table before it was reopened, has inserted (FindByKey).
//
// Invariants:
//
// 1. A slot is only a hint: whatever it says, the key finds the same block, and the file has it.
// 2. The key contains the kind (data, index, filter), so that a damaged index, whose handle points
//    to a block of another kind, cannot make the cache return an object of the wrong type.
// 3. What is inserted owns its bytes. Blocks of a mapped file, which would dangle when the file is
//    closed, stay with their reader.
// 4. A guard returns its block to where it came from: the cache by a release, the heap by deletion.
//    An object from the cache's allocator keeps the cache alive.
// 5. A block that fails the check of cached blocks (checks_cached) is dropped and read again, so
//    one damaged byte of memory costs a read, not an error.
//
// A data block in the cache lies behind its CacheEntry in one allocation (Block::Piece), with room
// for the index of its entries. How much room that takes is learned from the blocks read before
// (LearnIndexBytes), and so is whether blocks are stored compressed: both only decide where bytes
// are read to, never what is returned.

#include "table/reader/block_store.h"

#include <type_traits>
#include <utility>

#include "table/format/block_trailer.h"
#include "util/base/assert.h"
#include "util/base/canary.h"
#include "util/base/probes.h"
#include "util/base/status_macros.h"
#include "util/metrics/perf_counters.h"
#include "util/metrics/statistics.h"
#include "util/sync/epoch.h"

namespace varve {

namespace {

// Holds what differs between the kinds of objects in the cache.
struct Kind {
  CacheEntryRole role;
  uint32_t hit, miss, add, bytes_insert;  // tickers
};
constexpr Kind kKinds[] = {
    {CacheEntryRole::kDataBlock, BLOCK_CACHE_DATA_HIT, BLOCK_CACHE_DATA_MISS, BLOCK_CACHE_DATA_ADD,
     BLOCK_CACHE_DATA_BYTES_INSERT},
    {CacheEntryRole::kIndexBlock, BLOCK_CACHE_INDEX_HIT, BLOCK_CACHE_INDEX_MISS,
     BLOCK_CACHE_INDEX_ADD, BLOCK_CACHE_INDEX_BYTES_INSERT},
    {CacheEntryRole::kFilterBlock, BLOCK_CACHE_FILTER_HIT, BLOCK_CACHE_FILTER_MISS,
     BLOCK_CACHE_FILTER_ADD, BLOCK_CACHE_FILTER_BYTES_INSERT},
};

// The number of a kind of object. It is part of the key, as a damaged file may use one block as two
// kinds.
template <typename T>
constexpr size_t kNumberOf = std::is_same_v<T, Block>          ? 0
                             : std::is_same_v<T, DecodedIndex> ? 1
                                                               : 2;
template <typename T>
constexpr Kind kKindOf = kKinds[kNumberOf<T>];

template <typename T>
void DeleteObject(Cache::ObjectPtr object, MemoryAllocator* /*allocator*/) {
  // The object knows its allocator.
  std::default_delete<T>()(static_cast<T*>(object));
}

template <typename T>
constexpr Cache::CacheItemHelper kHelper(kKindOf<T>.role, &DeleteObject<T>);

template <typename T>
void CountHit(Statistics* statistics, size_t charge) {
  AddPerfCount<&PerfContext::block_cache_hit_count>();
  if constexpr (std::is_same_v<T, DecodedIndex>) {
    AddPerfCount<&PerfContext::block_cache_index_hit_count>();
  } else if constexpr (std::is_same_v<T, FilterBlock>) {
    AddPerfCount<&PerfContext::block_cache_filter_hit_count>();
  }
  if (statistics == nullptr) [[likely]]
    return;
  RecordTick(statistics, BLOCK_CACHE_HIT);
  RecordTick(statistics, BLOCK_CACHE_BYTES_READ, charge);
  RecordTick(statistics, kKindOf<T>.hit);
}

template <typename T>
void CountMiss(Statistics* statistics) {
  RecordTick(statistics, BLOCK_CACHE_MISS);
  RecordTick(statistics, kKindOf<T>.miss);
}

template <typename T>
void CountAdd(Statistics* statistics, size_t charge) {
  if (statistics == nullptr) return;
  RecordTick(statistics, BLOCK_CACHE_ADD);
  RecordTick(statistics, BLOCK_CACHE_BYTES_WRITE, charge);
  RecordTick(statistics, kKindOf<T>.add);
  RecordTick(statistics, kKindOf<T>.bytes_insert, charge);
}

// Returns false for an object that would dangle in the cache after the file is closed.
bool MayBeCached(const DecodedIndex&) {
  return true;
}
bool MayBeCached(const FilterBlock& filter) {
  return filter.owns_bytes();
}

}  // namespace

// Takes the caller's preread bytes, if it has some, and else the file's tail, which is in memory
// only while the table is opened.
BlockFetch BlockStore::MakeFetch(const BlockReadContext& context) const {
  BlockFetch fetch;
  fetch.verify_checksum = context.options->verify_checksums;
  fetch.room.allocator = cache != nullptr ? cache->memory_allocator() : nullptr;
  fetch.prefetcher = context.prefetcher;
  fetch.prefetch_limit = context.prefetch_limit;
  fetch.io.timeout = context.options->io_timeout;
  fetch.deadline = context.options->deadline;
  fetch.io.rate_limiter_priority = context.options->rate_limiter_priority;
  fetch.io.io_activity = context.options->io_activity != Env::IOActivity::kUnknown
                             ? context.options->io_activity
                             : context.activity;
  fetch.statistics = statistics;
  const bool by_caller = !context.preread.empty();
  fetch.preread = by_caller ? context.preread : preread;
  fetch.preread_offset = by_caller ? context.preread_offset : preread_offset;
  if (by_caller) fetch.preread_buffer = context.preread_buffer;
  fetch.preread_is_tail = !by_caller && !preread.empty();
  return fetch;
}

Status BlockStore::ReadContents(const BlockHandle& handle, const BlockReadContext& context,
                                BlockContents* contents) const {
  return FetchBlock(file, handle, MakeFetch(context), contents);
}

Status BlockStore::Verify(const BlockHandle& handle, const BlockReadContext& context) const {
  const BlockFetch fetch = MakeFetch(context);
  BlockBuffer buffer;
  Slice stored;
  VARVE_RETURN_IF_ERROR(FetchStoredBlock(file, handle, fetch, &buffer, &stored));
  if (IsIntact(file, handle, fetch, stored)) return Status::OK();
  return BlockChecksumMismatch(file.footer.checksum, file.footer.base_context_checksum,
                               stored.data(), handle, file.name);
}

namespace {

// Returns the number of bytes after a key in blocks whose entries can be indexed, or 0 for others.
size_t IndexedKeyTail(const InternalKeyComparator& icmp) {
  return IsForward(icmp.order()) ? kInternalKeyTrailerBytes + icmp.timestamp_size() : 0;
}

}  // namespace

Block::Piece BlockStore::MakePiece() const {
  VARVE_ASSERT(cache != nullptr);
  Block::Piece piece;
  piece.front = slot_cache != nullptr ? sizeof(CacheEntry) : 0;
  piece.key_tail = IndexedKeyTail(*icmp);
  piece.index_bytes = index_bytes_.load(std::memory_order_relaxed);
  piece.checksum = checks_cached;
  piece.allocator = cache->memory_allocator();
  return piece;
}

BlockRoom BlockStore::RoomFor(const BlockReadContext& context) const {
  if (!ForCache(context)) return MakeFetch(context).room;
  return compressed_.load(std::memory_order_relaxed) ? BlockRoom() : MakePiece().Room();
}

// Learns from a block's index size, as nearly all blocks of a table need about the same. A larger
// need is remembered with an eighth to spare, so that few later blocks exceed it: a block that
// needs more room than expected is copied (Block::CreateInOnePiece). A number that is more than
// twice the need is lowered.
void BlockStore::LearnIndexBytes(size_t bytes) const {
  constexpr size_t kLine = 64;  // blocks begin on a cache line
  const size_t known = index_bytes_.load(std::memory_order_relaxed);
  if (bytes > known || bytes + kLine < known / 2) {
    index_bytes_.store((bytes + bytes / 8 + kLine - 1) / kLine * kLine, std::memory_order_relaxed);
  }
}

// Chooses by `use` where the bytes are read to: into the piece of memory that the cache will own,
// if they are expected to need no decompression, or into memory of their own. What was learned of
// the block helps the next one.
Status BlockStore::Read(const BlockHandle& handle, const BlockReadContext& context, Use use,
                        std::unique_ptr<Block>* block) const {
  BlockFetch fetch = MakeFetch(context);
  fetch.use_dictionary = true;
  Block::Piece piece;
  const bool compressed = compressed_.load(std::memory_order_relaxed);
  if (use == Use::kCache) {
    piece = MakePiece();
    fetch.expect_compressed = compressed;
  } else if (use == Use::kOnce) {
    piece.allocator = cache->memory_allocator();
    fetch.expect_compressed = compressed;
  }
  if (use != Use::kOwn) fetch.room = piece.Room();
  BlockContents contents;
  VARVE_RETURN_IF_ERROR(FetchBlock(file, handle, fetch, &contents));
  if (use != Use::kOwn && contents.was_compressed != compressed) {
    compressed_.store(contents.was_compressed, std::memory_order_relaxed);
  }
  Status s;
  if (use == Use::kOwn || !contents.owns_bytes()) {
    s = Block::Create(std::move(contents), file.name, block);
  } else {
    size_t index_bytes = 0;
    s = Block::CreateInOnePiece(std::move(contents), piece, file.name, block, &index_bytes);
    if (use == Use::kCache) LearnIndexBytes(index_bytes);
  }
  if (!s.ok()) {
    return Status::CopyAppendMessage(s, ", block at offset ", std::to_string(handle.offset));
  }
  return s;
}

Status BlockStore::Read(const BlockHandle& handle, const BlockReadContext& context,
                        std::unique_ptr<DecodedIndex>* index) const {
  AddPerfCount<&PerfContext::index_block_read_count>();
  if (context.meta_reads != nullptr) ++*context.meta_reads;
  BlockContents contents;
  VARVE_RETURN_IF_ERROR(ReadContents(handle, context, &contents));
  VARVE_RETURN_IF_ERROR(DecodedIndex::Decode(contents.data, index_form, *icmp, file.limit,
                                             DescribeBlock(file, handle), index));
  if (slot_cache != nullptr) (*index)->MakeSlots(slot_cache);
  return Status::OK();
}

Status BlockStore::Read(const BlockHandle& handle, const BlockReadContext& context,
                        std::unique_ptr<FilterBlock>* filter) const {
  AddPerfCount<&PerfContext::filter_block_read_count>();
  if (context.meta_reads != nullptr) ++*context.meta_reads;
  BlockContents contents;
  BlockFetch fetch = MakeFetch(context);
  if (VARVE_CANARY(kSkipFilterChecksum)) fetch.verify_checksum = false;
  if (fetch.room.allocator == nullptr) {
    // A probe reads one line of the filter, which must not straddle two lines of memory.
    fetch.room.huge_pages = true;
    fetch.room.front = HugeHeap::kToLine;
  }
  VARVE_RETURN_IF_ERROR(FetchBlock(file, handle, fetch, &contents));
  *filter = std::make_unique<FilterBlock>(std::move(contents));
  return Status::OK();
}

// Looks up a block by its key, and counts a hit.
template <typename T>
bool BlockStore::FindCached(const BlockCacheKey& key, HandleGuard<T>* held) const {
  if (cache == nullptr) return false;
  Cache::Handle* const hit = cache->Lookup(key.AsSlice());
  if (hit == nullptr) return false;
  *held = HandleGuard<T>(&cache, hit);
  CountHit<T>(statistics, statistics != nullptr ? cache->GetCharge(hit) : 0);
  return true;
}

// Counts a miss of the block cache. Returns OK if the read options allow reading the file.
template <typename T>
Status BlockStore::Miss(const BlockReadContext& context) const {
  if (cache != nullptr) CountMiss<T>(statistics);
  if (context.options->read_tier != kBlockCacheTier) return Status::OK();
  return Status::Incomplete("block is not in the cache, and read_tier forbids reading");
}

// Completes an insertion: on success the cache owns `object`.
template <typename T>
Status BlockStore::Inserted(const Status& s, std::unique_ptr<T> object, size_t charge,
                            Cache::Handle* handle, HandleGuard<T>* held) const {
  if (!s.ok()) {
    RecordTick(statistics, BLOCK_CACHE_ADD_FAILURES);
    return s;
  }
  (void)object.release();
  CountAdd<T>(statistics, charge);
  *held = HandleGuard<T>(&cache, handle);
  return Status::OK();
}

// Gets an index or a filter: from the cache, or from the file and then into the cache. What must
// not be cached, or need not be, belongs to the caller's guard.
template <typename T>
Status BlockStore::GetCached(const BlockHandle& handle, const BlockReadContext& context,
                             HandleGuard<T>* held) const {
  const BlockCacheKey key = cache_keys.ForBlock(kNumberOf<T>, handle.offset);
  if (FindCached(key, held)) [[likely]]
    return Status::OK();
  VARVE_RETURN_IF_ERROR(Miss<T>(context));
  std::unique_ptr<T> object;
  VARVE_PROBE_BLOCK_READ_BEGIN(file.name.c_str(), handle.offset, handle.size, kNumberOf<T>);
  Status read = Read(handle, context, &object);
  VARVE_PROBE_BLOCK_READ_END(file.name.c_str(), handle.offset, read);
  if (!read.ok()) return read;
  if (cache == nullptr || !context.fill_cache || !MayBeCached(*object)) {
    *held = HandleGuard<T>(std::unique_ptr<const T>(std::move(object)));
    return Status::OK();
  }
  const size_t charge = object->MemoryUsage();
  Cache::Handle* inserted = nullptr;
  const Status s =
      cache->Insert(key.AsSlice(), object.get(), &kHelper<T>, charge, &inserted,
                    context.high_priority ? Cache::Priority::HIGH : Cache::Priority::LOW);
  return Inserted(s, std::move(object), charge, inserted, held);
}

// Tries the slot alone. False if it is empty, or if its entry is being evicted.
bool BlockStore::GetBySlot(BlockSlot* slot, HandleGuard<Block>* block) const {
  const Epoch::Guard guard;
  Prefetch(*slot);
  CacheEntry* const entry = slot->load(std::memory_order_acquire);
  Cache::Handle* cached = nullptr;
  VARVE_ASSERT(entry == nullptr || entry->embedded != 0);
  if (entry == nullptr || !slot_cache->TryRef(entry, &cached)) return false;
  CountSlotHit(*entry);
  *block = HandleGuard<Block>(&cache, cached);
  return true;
}

bool BlockStore::FindByKey(const BlockHandle& handle, BlockSlot* slot,
                           HandleGuard<Block>* block) const {
  const BlockCacheKey key = cache_keys.ForBlock(kNumberOf<Block>, handle.offset);
  if (!FindCached(key, block)) return false;
  if (slot != nullptr) slot_cache->Attach(block->cache_handle(), slot);
  return true;
}

bool BlockStore::DropIfDamaged(const BlockHandle& handle, HandleGuard<Block>* block) const {
  if (!checks_cached || (*block)->IsWhole()) [[likely]]
    return false;
  RecordTick(statistics, BLOCK_CHECKSUM_MISMATCH_COUNT);
  *block = HandleGuard<Block>();
  cache->Erase(cache_keys.ForBlock(kNumberOf<Block>, handle.offset).AsSlice());
  return true;
}

// Tries the slot, then the key. A damaged block is dropped, and counts as not found.
bool BlockStore::GetIfCached(const BlockHandle& handle, BlockSlot* slot,
                             HandleGuard<Block>* block) const {
  if (slot_cache == nullptr) slot = nullptr;
  if (slot == nullptr || !GetBySlot(slot, block)) [[unlikely]] {
    if (!FindByKey(handle, slot, block)) return false;
  }
  if (DropIfDamaged(handle, block)) return false;
  (*block)->WantIndex();
  return true;
}

Status BlockStore::Get(const BlockHandle& handle, BlockSlot* slot, const BlockReadContext& context,
                       HandleGuard<Block>* block) const {
  if (GetIfCached(handle, slot, block)) [[likely]]
    return Status::OK();
  VARVE_RETURN_IF_ERROR(Miss<Block>(context));
  return ReadBlock(handle, slot, context, block);
}

Status BlockStore::GetMissing(const BlockHandle& handle, BlockSlot* slot,
                              const BlockReadContext& context, HandleGuard<Block>* block) const {
  if (slot_cache == nullptr) slot = nullptr;
  // Another thread may have read it in the meantime.
  if (slot != nullptr && GetBySlot(slot, block) && !DropIfDamaged(handle, block)) {
    return Status::OK();
  }
  VARVE_RETURN_IF_ERROR(Miss<Block>(context));
  return ReadBlock(handle, slot, context, block);
}

HandleGuard<Block> BlockStore::OutOfCache(std::unique_ptr<Block> block) const {
  const bool allocated = cache != nullptr && cache->memory_allocator() != nullptr;
  return HandleGuard<Block>(std::move(block), allocated ? &cache : nullptr);
}

// Decides if a block that is about to be read should enter a full cache. If the system's page
// cache has the file, a second read costs little, so only blocks that were missed before displace
// others.
bool BlockStore::Admits(const BlockHandle& handle, const BlockCacheKey& key) const {
  if (slot_cache == nullptr) return true;
  if (file.reader->page_cached()) {
    return slot_cache->Admits(key.AsSlice(), static_cast<size_t>(handle.size));
  }
  slot_cache->PrefetchInsertion(key.AsSlice());
  return true;
}

// Reads from the file, and inserts into the cache if that is allowed. `slot` is null or of the
// cache.
Status BlockStore::ReadBlock(const BlockHandle& handle, BlockSlot* slot,
                             const BlockReadContext& context, HandleGuard<Block>* held) const {
  const bool for_cache = ForCache(context);
  const BlockCacheKey key = cache_keys.ForBlock(kNumberOf<Block>, handle.offset);
  const bool admitted = for_cache && Admits(handle, key);
  const Use use = admitted ? Use::kCache : for_cache ? Use::kOnce : Use::kOwn;
  std::unique_ptr<Block> block;
  VARVE_PROBE_BLOCK_READ_BEGIN(file.name.c_str(), handle.offset, handle.size, kNumberOf<Block>);
  Status read = Read(handle, context, use, &block);
  VARVE_PROBE_BLOCK_READ_END(file.name.c_str(), handle.offset, read);
  if (!read.ok()) return read;
  if (!admitted || !block->owns_bytes()) {
    *held = OutOfCache(std::move(block));
    return Status::OK();
  }
  const size_t charge = block->MemoryUsage();
  Cache::Handle* inserted = nullptr;
  Status s;
  if (slot_cache != nullptr) {
    auto* const entry = new (block->front()) CacheEntry;
    entry->helper = &kHelper<Block>;
    entry->charge = charge;
    entry->SetPriority(Cache::Priority::LOW);
    s = slot_cache->InsertEmbedded(entry, key.AsSlice(), slot, &inserted);
    if (s.ok() && inserted == nullptr) {
      // The insertion would wait, so the block is read again when it is needed again.
      RecordTick(statistics, BLOCK_CACHE_ADD_FAILURES);
      *held = OutOfCache(std::move(block));
      return s;
    }
  } else {
    s = cache->Insert(key.AsSlice(), block.get(), &kHelper<Block>, charge, &inserted,
                      Cache::Priority::LOW);
  }
  return Inserted(s, std::move(block), charge, inserted, held);
}

void BlockStore::TickSlotHit(const CacheEntry& entry) const {
  RecordTick(statistics, BLOCK_CACHE_HIT);
  RecordTick(statistics, BLOCK_CACHE_BYTES_READ, entry.charge);
  RecordTick(statistics, BLOCK_CACHE_DATA_HIT);
}

Status BlockStore::Get(const BlockHandle& handle, const BlockReadContext& context,
                       HandleGuard<DecodedIndex>* index) const {
  return GetCached<DecodedIndex>(handle, context, index);
}

Status BlockStore::Get(const BlockHandle& handle, const BlockReadContext& context,
                       HandleGuard<FilterBlock>* filter) const {
  return GetCached<FilterBlock>(handle, context, filter);
}

}  // namespace varve
