// SPDX-License-Identifier: Apache-2.0
#pragma once

// Defines a memtable for bulk loads, which is hardly read: entries in order of arrival, sorted when
// needed.

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

// Adding appends an arena offset of four bytes. The first read after an addition sorts what was
// added since the last one and merges it into a copy of what was sorted, so its cost grows with the
// table. An entry with the key, sequence and type of another is not detected; both stay.
//
// Why it is right with any number of threads:
// 1. *A place has one writer.* An Add raises a block's `used` by the number of places it needs.
//    Those below the block's end belong to its thread alone, which stores offsets there. Places
//    beyond the end do not exist: their offsets go into the next block. So every block but the last
//    is allocated to its end, and every allocated place is filled, because the entries are
//    allocated before.
// 2. *An offset publishes its entry.* It is stored with release and loaded with acquire; 0 is no
//    offset, it stands for "not yet". Blocks are linked with release and followed with acquire.
// 3. *What was added is found.* An Add that has returned happened before the read that must see it:
//    the read finds the block, the raised `used` and the offset. A place that is allocated and
//    still empty belongs to an Add in progress, which no reader need see. It is kept in `unfilled`
//    and checked by every read until it is filled.
// 4. *Readers share the sorted entries*, which never change, and wait under mu_ for each other's
//    sort, which all of them need. Adding takes no lock but for a new block, and never this one.
//
// Thread safety: all methods may be called from any thread. Lifetime: the arena outlives the
// vector, which outlives its iterators.
class EntryVector final : public MemTableRep {
 public:
  // Throws std::bad_alloc.
  EntryVector(const InternalKeyComparator& icmp, EntryArena* arena);
  ~EntryVector() override;

  // Returns OK, or throws std::bad_alloc.
  Status Add(std::span<const MemTableEntry> entries) override;

  // Fails the lookup with MemoryLimit if there is no memory for the sort.
  bool Get(PointLookup* lookup) const VARVE_EXCLUDES(mu_) override;
  // The iterator sees what had been added when it was first positioned.
  [[nodiscard]] std::unique_ptr<InternalIterator> NewIterator() const override;
  [[nodiscard]] bool IsSortedByReads() const override { return true; }
  // Returns 0 if there is no memory for the sort.
  [[nodiscard]] uint64_t EstimateRank(const Slice& user_key) const VARVE_EXCLUDES(mu_) override;
  [[nodiscard]] EntryTotals totals() const override;
  // Earlier orders that iterators hold are not counted.
  [[nodiscard]] size_t MemoryUsage() const override {
    return sizeof(*this) + block_bytes_.load(std::memory_order_relaxed) +
           sorted_bytes_.load(std::memory_order_relaxed);
  }

  // Returns all that has been added, in order; null if there is no memory for that.
  [[nodiscard]] std::shared_ptr<const SortedEntryArray> InOrder() const VARVE_EXCLUDES(mu_);

 private:
  // A place for an entry in a block; 0: it is not filled yet.
  using Place = std::atomic<ArenaOffset>;
  struct Block;
  // The position up to which the places have been read.
  struct Cursor {
    const Block* block = nullptr;
    uint64_t through = 0;  // Number of places of `block`.
    // The places before it that were empty when they were read.
    std::vector<const Place*> unfilled;
  };

  // Copies the entry into the arena.
  ArenaOffset Store(const MemTableEntry& entry, uint64_t trailer);
  // Takes places for the offsets, and fills them.
  void Append(const ArenaOffset* offsets, size_t n);
  // Returns the block after `block`, creating it if needed; null stands for the place before the
  // first block. Throws std::bad_alloc, with nothing changed.
  Block* BlockAfter(Block* block) VARVE_EXCLUDES(blocks_mu_);
  // Adds the bytes and deletions to the totals; the entries are counted by their places.
  void Count(const EntryTotals& added);
  // True if there is nothing after the cursor.
  static bool AtEnd(const Cursor& cursor);
  // Returns the offsets after the cursor, and advances it.
  static std::vector<ArenaOffset> ReadOn(Cursor* cursor);

  const InternalKeyComparator icmp_;
  EntryArena* const arena_;
  // Statistics; they publish nothing.
  std::atomic<size_t> block_bytes_{0};
  mutable std::atomic<size_t> sorted_bytes_{0};

  // Used by writers only, on cache lines apart from what readers load.
  alignas(64) std::atomic<Block*> current_{nullptr};
  std::atomic<uint64_t> bytes_{0};
  std::atomic<uint64_t> deletions_{0};
  Mutex blocks_mu_{kVectorBlocksRank};
  std::vector<std::unique_ptr<Block>> blocks_ VARVE_GUARDED_BY(blocks_mu_);  // Owns the blocks.

  // Only reads take it: they read on from the cursor, and merge what is new into sorted_.
  alignas(64) mutable Mutex mu_{kVectorSortRank};
  mutable Cursor cursor_ VARVE_GUARDED_BY(mu_);
  // The entries before the cursor.
  mutable std::shared_ptr<const SortedEntryArray> sorted_ VARVE_GUARDED_BY(mu_);
};

}  // namespace varve
