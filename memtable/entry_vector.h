// SPDX-License-Identifier: Apache-2.0
#pragma once

// The memtable for loads, which is hardly read: entries by arrival, sorted when asked.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "varve/slice.h"
#include "varve/status.h"

#include "memtable/lock_ranks.h"
#include "memtable/memtable_rep.h"
#include "memtable/sorted_entry_array.h"
#include "util/iter/internal_iterator.h"
#include "util/key/internal_key.h"
#include "util/key/point_lookup.h"
#include "util/sync/mutex.h"

namespace varve {

// Adding appends an arena offset of four bytes. The first read after an addition sorts what came
// since the last one and merges it into a copy of what was sorted: a read costs the more, the more
// there is. An entry with the key, sequence and type of another is not noticed; both stay.
//
// Why it is right with any number of threads:
// 1. *A place has one writer.* A block's `used` is raised by as many places as are wanted; those
//    below the block's end belong to the thread alone, which stores offsets there. Places beyond
//    the end do not exist: what they were to hold goes into the next block. So every block but the
//    last has been given out to its end, and nothing is given out that is not filled, as the
//    entries have their memory before.
// 2. *An offset publishes its entry.* It is stored with release and loaded with acquire; 0 is none,
//    it stands for "not yet". Blocks are linked with release and followed with acquire.
// 3. *What was added is found.* An Add that has returned happened before the read that must see it:
//    the read finds the block, the raised `used` and the offset. A place that is given out and
//    still empty belongs to an Add under way, which no reader need see. It is kept in `unfilled`
//    and looked at again by every read until it is filled.
// 4. *Readers share the sorted entries*, which never change, and wait for each other's sort, which
//    all of them need, under mu_. Adding takes no lock but for a new block, and never this one.
//
// Thread safety: all methods from any thread. Lifetime: the arena outlives it, and it outlives its
// iterators.
class EntryVector final : public MemTableRep {
 public:
  // Throws std::bad_alloc.
  EntryVector(const InternalKeyComparator& icmp, EntryArena* arena);
  ~EntryVector() override;

  // OK, or throws std::bad_alloc.
  Status Add(std::span<const MemTableEntry> entries) override;

  // Fails the lookup with MemoryLimit if there is no memory to sort in.
  bool Get(PointLookup* lookup) const VARVE_EXCLUDES(mu_) override;
  // It walks what had been added when it was first positioned.
  [[nodiscard]] std::unique_ptr<InternalIterator> NewIterator() const override;
  [[nodiscard]] bool IsSortedByReads() const override { return true; }
  // 0 without memory to sort in.
  [[nodiscard]] uint64_t EstimateRank(const Slice& user_key) const VARVE_EXCLUDES(mu_) override;
  [[nodiscard]] EntryTotals totals() const override;
  // What iterators keep of earlier orders is not counted.
  [[nodiscard]] size_t MemoryUsage() const override {
    return sizeof(*this) + block_bytes_.load(std::memory_order_relaxed) +
           sorted_bytes_.load(std::memory_order_relaxed);
  }

  // All that has been added, in order; null if there is no memory for that.
  [[nodiscard]] std::shared_ptr<const SortedEntryArray> InOrder() const VARVE_EXCLUDES(mu_);

 private:
  using Place = std::atomic<ArenaOffset>;
  struct Block;
  // How far the places have been read.
  struct Cursor {
    const Block* block = nullptr;
    uint64_t through = 0;  // places of `block`
    // Those before it that were empty when they were read.
    std::vector<const Place*> unfilled;
  };

  ArenaOffset Store(const MemTableEntry& entry, uint64_t trailer);
  void Append(const ArenaOffset* offsets, size_t n);
  // Makes it unless it is there; the first one comes after null. Throws std::bad_alloc, with
  // nothing changed.
  Block* BlockAfter(Block* block) VARVE_EXCLUDES(blocks_mu_);
  void Count(const EntryTotals& added);
  // Whether there is nothing after the cursor.
  static bool AtEnd(const Cursor& cursor);
  // The offsets after the cursor, which moves on.
  static std::vector<ArenaOffset> ReadOn(Cursor* cursor);

  const InternalKeyComparator icmp_;
  EntryArena* const arena_;
  // Statistics; they publish nothing.
  std::atomic<size_t> block_bytes_{0};
  mutable std::atomic<size_t> sorted_bytes_{0};

  // Writers only, away from what readers load.
  alignas(64) std::atomic<Block*> current_{nullptr};
  std::atomic<uint64_t> bytes_{0};
  std::atomic<uint64_t> deletions_{0};
  Mutex blocks_mu_{kVectorBlocksRank};
  std::vector<std::unique_ptr<Block>> blocks_ VARVE_GUARDED_BY(blocks_mu_);  // owns them

  alignas(64) mutable Mutex mu_{kVectorSortRank};
  mutable Cursor cursor_ VARVE_GUARDED_BY(mu_);
  // What lies before the cursor.
  mutable std::shared_ptr<const SortedEntryArray> sorted_ VARVE_GUARDED_BY(mu_);
};

}  // namespace varve
