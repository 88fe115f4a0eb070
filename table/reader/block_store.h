// SPDX-License-Identifier: Apache-2.0
#pragma once

// The blocks of one open table: out of the block cache, or from the file and then into it.

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

// How one caller reads blocks.
struct BlockReadContext {
  const ReadOptions* options = nullptr;
  FilePrefetcher* prefetcher = nullptr;
  uint64_t prefetch_limit = 0;
  bool fill_cache = true;
  Env::IOActivity activity = Env::IOActivity::kUnknown;  // unless the options have one
  // Bytes of the file that the caller has read already, and where they start.
  Slice preread;
  uint64_t preread_offset = 0;
  BlockBuffer* preread_buffer = nullptr;  // nullable: owns them, if they are one block
  // High priority in the cache, for indexes and filters.
  bool high_priority = false;
  // Counts the indexes and filters that are read from the file; may be null.
  size_t* meta_reads = nullptr;
};

// Thread safety: const methods from any thread; it is filled in before it is shared.
// Lifetime: what a guard has from the cache goes before the store; what it is moved or shared
// to may outlive both.
class BlockStore {
 public:
  // Set once, while the table is being opened.
  BlockFile file;
  std::shared_ptr<Cache> cache;  // null: every read goes to the file
  // The same, if it is of a kind that slots may refer to; else null.
  ClockCache* slot_cache = nullptr;
  BlockCacheKeyBase cache_keys;
  const InternalKeyComparator* icmp = nullptr;
  Statistics* statistics = nullptr;
  IndexForm index_form;
  // Data blocks in the cache have a checksum, which is compared when they are taken from there. One
  // that is not what it was is dropped, and read from the file again.
  bool checks_cached = false;
  // Of the file's last bytes, while the table is being opened.
  Slice preread;
  uint64_t preread_offset = 0;

  // With read_tier kBlockCacheTier, Incomplete if the block is not in the cache. MemoryLimit if the
  // cache is full and its limit strict.
  // `slot`, which may be null, is tried first and refers to the block from then on.
  Status Get(const BlockHandle& handle, BlockSlot* slot, const BlockReadContext& context,
             HandleGuard<Block>* block) const;
  Status Get(const BlockHandle& handle, const BlockReadContext& context,
             HandleGuard<DecodedIndex>* index) const;
  Status Get(const BlockHandle& handle, const BlockReadContext& context,
             HandleGuard<FilterBlock>* filter) const;

  // The same for a block that GetIfCached has just not found.
  Status GetMissing(const BlockHandle& handle, BlockSlot* slot, const BlockReadContext& context,
                    HandleGuard<Block>* block) const;
  // The block if it is in the cache; else false, and no miss is counted.
  bool GetIfCached(const BlockHandle& handle, BlockSlot* slot, HandleGuard<Block>* block) const;

  // Whether blocks may be searched within an epoch: not where that calls a comparator of the user,
  // nor where they are checked.
  [[nodiscard]] bool searches_in_place() const {
    return slot_cache != nullptr && BytesDecide(icmp->order()) && !checks_cached;
  }
  // The block a slot refers to, within the current epoch; null if it refers to none. What a look-up
  // in the cache would count is counted.
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
  // Asks for the memory that a search after the slot starts with.
  template <CacheLevel level = CacheLevel::kFirst>
  static void Prefetch(const BlockSlot& slot) {
    // The block lies after its entry; the address is not read, and may be stale.
    const CacheEntry* const entry = slot.load(std::memory_order_relaxed);
    if (entry == nullptr) return;
    PrefetchLine<level>(entry);
    Block::Prefetch<level>(BlockAfter(entry));
  }

  // Past the cache, owned by the caller.
  Status Read(const BlockHandle& handle, const BlockReadContext& context,
              std::unique_ptr<DecodedIndex>* index) const;
  Status Read(const BlockHandle& handle, const BlockReadContext& context,
              std::unique_ptr<FilterBlock>* filter) const;

  // The bytes of a meta block.
  Status ReadContents(const BlockHandle& handle, const BlockReadContext& context,
                      BlockContents* contents) const;
  [[nodiscard]] BlockFetch MakeFetch(const BlockReadContext& context) const;
  // Where a data block that is not in the cache is best read to.
  [[nodiscard]] BlockRoom RoomFor(const BlockReadContext& context) const;
  // Reads a block and tests its checksum only.
  Status Verify(const BlockHandle& handle, const BlockReadContext& context) const;

 private:
  // With `for_cache` in the form that blocks have in the cache.
  Status Read(const BlockHandle& handle, const BlockReadContext& context, bool for_cache,
              std::unique_ptr<Block>* block) const;
  [[nodiscard]] bool ForCache(const BlockReadContext& context) const {
    return cache != nullptr && context.fill_cache;
  }
  [[nodiscard]] Block::Piece MakePiece() const;
  void LearnIndexBytes(size_t bytes) const;
  Status ReadBlock(const BlockHandle& handle, BlockSlot* slot, const BlockReadContext& context,
                   HandleGuard<Block>* held) const;
  // What keeps the block may outlive the cache, unlike its allocator.
  [[nodiscard]] HandleGuard<Block> OutOfCache(std::unique_ptr<Block> block) const;
  bool GetBySlot(BlockSlot* slot, HandleGuard<Block>* block) const;
  bool FindByKey(const BlockHandle& handle, BlockSlot* slot, HandleGuard<Block>* block) const;
  // Whether the block, from the cache, is damaged; then nobody has it any more.
  bool DropIfDamaged(const BlockHandle& handle, HandleGuard<Block>* block) const;
  void CountSlotHit(const CacheEntry& entry) const {
    AddPerfCount<&PerfContext::block_cache_hit_count>();
    if (statistics != nullptr) [[unlikely]]
      TickSlotHit(entry);
  }
  // A block that a slot may refer to lies right after its entry.
  static const Block* BlockAfter(const CacheEntry* entry) {
    return reinterpret_cast<const Block*>(entry + 1);
  }
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

  // What data blocks that were read last were like: the next are read to where such blocks stay.
  // Relaxed: hints.
  mutable std::atomic<bool> compressed_{false};
  mutable std::atomic<size_t> index_bytes_{0};
};

}  // namespace varve
