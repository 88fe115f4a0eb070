// SPDX-License-Identifier: Apache-2.0
#pragma once

// Provides the blocks of one open table, from the block cache, or from the file and then into the
// cache.
//
//      Get(handle, slot)
//        slot -> entry of the cache        no look-up (GetBySlot)
//        key  -> entry of the cache        look-up by file and offset (FindByKey); slot is set
//        file -> read, checksum, uncompress
//                  the cache admits it: the block goes in, and a reference is returned
//                  else: the block is the caller's alone
//
// A block is admitted when the cache has room, or when the block was missed lately
// (ClockCache::Admits). Blocks that may enter the cache are read straight to where they will lie
// (RoomFor), so that an admitted block is not copied.

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "varve/options.h"
#include "varve/statistics.h"
#include "varve/status.h"

#include "table/block/block.h"
#include "table/cache/block_cache_key.h"
#include "table/cache/clock_cache.h"
#include "table/cache/handle_guard.h"
#include "table/filter/filter_block.h"
#include "table/index/decoded_index.h"
#include "table/reader/block_fetcher.h"
#include "util/base/assert.h"
#include "util/env/random_access_file_reader.h"
#include "util/key/internal_key.h"
#include "util/mem/prefetch.h"
#include "util/metrics/perf_counters.h"
#include "util/sync/epoch.h"

namespace varve {

class FilePrefetcher;

// Says how one caller reads blocks.
struct BlockReadContext {
  // Options of the read; borrowed.
  const ReadOptions* options = nullptr;
  // Reads ahead, for scans; null: there is none.
  FilePrefetcher* prefetcher = nullptr;
  // Offset up to which the prefetcher may read.
  uint64_t prefetch_limit = 0;
  bool fill_cache = true;
  Env::IOActivity activity = Env::IOActivity::kUnknown;  // used unless the options have one
  // Bytes of the file that the caller has read already, and their offset.
  Slice preread;
  uint64_t preread_offset = 0;
  BlockBuffer* preread_buffer = nullptr;  // may be null; owns `preread`, if that is one block
  // True for indexes and filters: they get high priority in the cache.
  bool high_priority = false;
  // Number of indexes and filters read from the file; may be null.
  size_t* meta_reads = nullptr;
};

// Thread safety: const methods may be called from any thread; the members are set before it is
// shared. Lifetime: a guard that holds something of the cache must not outlive the store, but what
// it is moved or shared to may outlive both.
class BlockStore {
 public:
  // The members below are set once, while the table is being opened.
  BlockFile file;
  std::shared_ptr<Cache> cache;  // null: every read goes to the file
  // The cache, if it is of a kind that slots may refer to; else null.
  ClockCache* slot_cache = nullptr;
  BlockCacheKeyBase cache_keys;
  const InternalKeyComparator* icmp = nullptr;
  Statistics* statistics = nullptr;
  IndexForm index_form;
  // True: data blocks in the cache have a checksum, which is compared whenever they are taken from
  // there. A damaged block is dropped, and read from the file again.
  bool checks_cached = false;
  // The file's last bytes, while the table is being opened.
  Slice preread;
  uint64_t preread_offset = 0;

  // Sets *block to the block from the cache or the file; leaves it empty, or as it was, after an
  // error. `slot`, which may be null, is tried first, and refers to the block afterwards if that is
  // in the cache. The second form gets an index block, the third a filter. Incomplete:
  // context.options->read_tier is kBlockCacheTier, and the block is not in the cache. MemoryLimit:
  // the cache is full and its limit strict. Otherwise the errors of FetchBlock, or Corruption: the
  // block's content is malformed.
  Status Get(const BlockHandle& handle, BlockSlot* slot, const BlockReadContext& context,
             HandleGuard<Block>* block) const;
  Status Get(const BlockHandle& handle, const BlockReadContext& context,
             HandleGuard<DecodedIndex>* index) const;
  Status Get(const BlockHandle& handle, const BlockReadContext& context,
             HandleGuard<FilterBlock>* filter) const;

  // Does what Get does for a block that GetIfCached has just not found, without looking it up by
  // its key again.
  Status GetMissing(const BlockHandle& handle, BlockSlot* slot, const BlockReadContext& context,
                    HandleGuard<Block>* block) const;
  // Sets *block to the block if it is in the cache, and `slot`, unless null, to refer to it.
  // Otherwise returns false, with *block empty or as it was, and counts no miss.
  bool GetIfCached(const BlockHandle& handle, BlockSlot* slot, HandleGuard<Block>* block) const;

  // True if blocks may be searched within an epoch: not if that calls a user comparator or if
  // cached blocks are checked.
  [[nodiscard]] bool searches_in_place() const {
    return slot_cache != nullptr && BytesDecide(icmp->order()) && !checks_cached;
  }
  // Returns the block that a slot refers to and sets *entry to its entry; returns null and sets
  // *entry to null if the slot refers to none. Must be called within an epoch, in which both stay
  // valid. Counts a hit as a look-up in the cache would. Requires that slot_cache is not null.
  [[nodiscard]] const Block* Peek(const BlockSlot& slot, CacheEntry** entry) const {
    VARVE_ASSERT(Epoch::Inside());
    *entry = slot.load(std::memory_order_acquire);
    if (*entry == nullptr) return nullptr;
    VARVE_ASSERT((*entry)->embedded != 0);
    const Block* const block = BlockAfter(*entry);
    Block::Prefetch(block);
    (*entry)->Touch();
    CountSlotHit(**entry);
    block->WantIndex();
    return block;
  }
  // Prefetches the memory that a search of the slot's block starts with.
  template <CacheLevel level = CacheLevel::kFirst>
  static void Prefetch(const BlockSlot& slot) {
    // The block lies after its entry; the address is not dereferenced, and may be stale.
    const CacheEntry* const entry = slot.load(std::memory_order_relaxed);
    if (entry == nullptr) return;
    PrefetchLine<level>(entry);
    Block::Prefetch<level>(BlockAfter(entry));
  }

  // Read an index block or a filter past the cache; the caller owns the result. The errors are
  // those of FetchBlock, or Corruption: the block is malformed.
  Status Read(const BlockHandle& handle, const BlockReadContext& context,
              std::unique_ptr<DecodedIndex>* index) const;
  Status Read(const BlockHandle& handle, const BlockReadContext& context,
              std::unique_ptr<FilterBlock>* filter) const;

  // Reads the bytes of a meta block past the cache; such blocks are compressed without the
  // dictionary. See FetchBlock.
  Status ReadContents(const BlockHandle& handle, const BlockReadContext& context,
                      BlockContents* contents) const;
  // Returns how the file is to be read.
  [[nodiscard]] BlockFetch MakeFetch(const BlockReadContext& context) const;
  // Returns the best room for reading a data block that is not in the cache.
  [[nodiscard]] BlockRoom RoomFor(const BlockReadContext& context) const;
  // Reads a block past the cache and only tests its checksum. Corruption: the checksum differs, or
  // the handle reaches beyond the file.
  Status Verify(const BlockHandle& handle, const BlockReadContext& context) const;

 private:
  enum class Use : uint8_t {
    kOwn,   // there is no cache, or the read must not fill it: the caller keeps the block
    kOnce,  // the cache has not admitted the block: the caller keeps it, too
    kCache  // the block goes into the cache, and has the form of blocks there
  };
  Status Read(const BlockHandle& handle, const BlockReadContext& context, Use use,
              std::unique_ptr<Block>* block) const;
  // True if the block may go into the cache.
  [[nodiscard]] bool ForCache(const BlockReadContext& context) const {
    return cache != nullptr && context.fill_cache;
  }
  // True if the cache should get the block that is about to be read. Blocks that cost a transfer if
  // they are read again always are.
  [[nodiscard]] bool Admits(const BlockHandle& handle, const BlockCacheKey& key) const;
  // Describes how a block for the cache is laid out in memory.
  [[nodiscard]] Block::Piece MakePiece() const;
  // Remembers how much room for an entry index the blocks of this table need.
  void LearnIndexBytes(size_t bytes) const;
  Status ReadBlock(const BlockHandle& handle, BlockSlot* slot, const BlockReadContext& context,
                   HandleGuard<Block>* held) const;
  // Returns a guard of a block outside the cache. The guard keeps the cache, and so its allocator,
  // alive if the block's memory came from there.
  [[nodiscard]] HandleGuard<Block> OutOfCache(std::unique_ptr<Block> block) const;
  // Sets *block to the block that the slot refers to. Returns false, with *block unchanged, if the
  // slot refers to none, or to one that is being evicted.
  bool GetBySlot(BlockSlot* slot, HandleGuard<Block>* block) const;
  // Looks the block up in the cache, and makes the slot, unless null, refer to it. Returns false,
  // with *block unchanged, if it is not there.
  bool FindByKey(const BlockHandle& handle, BlockSlot* slot, HandleGuard<Block>* block) const;
  // Returns true if the block, which comes from the cache, is damaged; then it was dropped and
  // *block is empty.
  bool DropIfDamaged(const BlockHandle& handle, HandleGuard<Block>* block) const;
  void CountSlotHit(const CacheEntry& entry) const {
    AddPerfCount<&PerfContext::block_cache_hit_count>();
    if (statistics != nullptr) [[unlikely]]
      TickSlotHit(entry);
  }
  // Returns the block of an entry that a slot may refer to: it lies right after the entry.
  static const Block* BlockAfter(const CacheEntry* entry) {
    return reinterpret_cast<const Block*>(entry + 1);
  }
  // Counts a hit in the statistics.
  void TickSlotHit(const CacheEntry& entry) const;
  template <typename T>
  Status Miss(const BlockReadContext& context) const;
  template <typename T>
  Status Inserted(const Status& s, std::unique_ptr<T> object, size_t charge, Cache::Handle* handle,
                  HandleGuard<T>* held) const;
  template <typename T>
  bool FindCached(const BlockCacheKey& key, HandleGuard<T>* held) const;
  template <typename T>
  Status GetCached(const BlockHandle& handle, const BlockReadContext& context,
                   HandleGuard<T>* held) const;

  // Properties of the data blocks read last: the next ones are read to where such blocks stay.
  // Relaxed, as they are hints.
  mutable std::atomic<bool> compressed_{false};
  mutable std::atomic<size_t> index_bytes_{0};
};

}  // namespace varve
