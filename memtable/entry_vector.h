// SPDX-License-Identifier: Apache-2.0
#pragma once

// The order of a memtable that is loaded and hardly read: entries by arrival, sorted when asked.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "varve/slice.h"
#include "varve/status.h"

#include "memtable/entry.h"
#include "memtable/entry_arena.h"
#include "memtable/sorted_entries.h"
#include "util/iter/internal_iterator.h"
#include "util/key/internal_key.h"
#include "util/key/point_lookup.h"
#include "util/sync/mutex.h"

namespace varve {

// Adding appends a name of four bytes. The first read after an addition sorts what came since the
// last one and merges it into a copy of what was sorted: a read costs the more, the more there is.
// An entry with the key, sequence and type of another is not noticed; both stay.
//
// Why it is right with any number of threads:
// 1. *A place has one writer.* A block's `used` is raised by as many places as are wanted; those
//    below the block's end belong to the thread alone, which stores names there. Places beyond the
//    end do not exist: what they were to hold goes into the next block. So every block but the last
//    has been given out to its end, and nothing is given out that is not filled, as the entries
//    have their memory before.
// 2. *A name publishes its entry.* It is stored with release and loaded with acquire; 0 is no name,
//    it stands for "not yet". Blocks are linked with release and followed with acquire.
// 3. *What was added is found.* An Add that has returned happened before the read that must see it:
//    the read finds the block, the raised `used` and the name. A place that is given out and still
//    empty belongs to an Add under way, which no reader need see. It is kept in `unfilled` and
//    looked at again by every read until it has its name.
// 4. *Readers share the sorted entries*, which never change, and wait for each other's sort, which
//    all of them need, under mu_. Adding takes no lock but for a new block, and never this one.
//
// Thread safety: all methods from any thread. Lifetime: the arena outlives it, and it outlives its
// iterators.
class EntryVector {
 public:
  // Throws std::bad_alloc.
  EntryVector(const InternalKeyComparator& icmp, EntryArena* arena);
  EntryVector(const EntryVector&) = delete;
  EntryVector& operator=(const EntryVector&) = delete;
  ~EntryVector();

  // How many AddTogether takes at most.
  static constexpr size_t kTogether = 16;
  // OK, or throws std::bad_alloc with nothing changed; of several, some may be in.
  Status Add(SequenceNumber seq, ValueType type, const Slice& key, const Slice& value) {
    const MemTableEntry entry{seq, type, key, value};
    return AddTogether({&entry, 1});
  }
  Status AddTogether(std::span<const MemTableEntry> entries);

  // After the tombstones and the filter of the memtable were asked. Fails the lookup with
  // MemoryLimit if there is no memory to sort in.
  bool Get(PointLookup* lookup) const VARVE_EXCLUDES(mu_);
  // Only the search tells where an entry is.
  static void Prefetch(std::span<PointLookup* const> /*lookups*/) {}
  // It walks what had been added when it was first positioned.
  [[nodiscard]] std::unique_ptr<InternalIterator> NewIterator() const;
  // How many entries lie before the first one of `user_key`; 0 without memory to sort in.
  [[nodiscard]] uint64_t EstimateRank(const Slice& user_key) const VARVE_EXCLUDES(mu_);
  // Nobody knows without sorting, and each sort finds its own.
  static bool CommonPrefix(std::string* /*prefix*/) { return false; }
  [[nodiscard]] EntryTotals totals() const;
  // Beyond the arena. What iterators keep of earlier orders is not counted.
  [[nodiscard]] size_t MemoryUsage() const {
    return block_bytes_.load(std::memory_order_relaxed) +
           sorted_bytes_.load(std::memory_order_relaxed);
  }

  // All that has been added, in order; null if there is no memory for that.
  [[nodiscard]] std::shared_ptr<const SortedEntries> InOrder() const VARVE_EXCLUDES(mu_);

 private:
  using Place = std::atomic<EntryRef>;
  struct Block;
  // How far the places have been read.
  struct Cursor {
    const Block* block = nullptr;
    uint64_t through = 0;  // places of `block`
    // Those before it that had no name when they were read.
    std::vector<const Place*> unfilled;
  };

  EntryRef Store(const MemTableEntry& entry, uint64_t trailer);
  void Append(const EntryRef* refs, size_t n);
  // Makes it unless it is there; the first one is behind null. Throws std::bad_alloc, with nothing
  // changed.
  Block* BlockAfter(Block* block) VARVE_EXCLUDES(blocks_mu_);
  void Count(const EntryTotals& added);
  // Whether there is nothing behind the cursor.
  static bool AtEnd(const Cursor& cursor);
  // The names behind the cursor, which moves on.
  static std::vector<EntryRef> ReadOn(Cursor* cursor);

  const InternalKeyComparator icmp_;
  EntryArena* const arena_;
  // Statistics; they publish nothing.
  std::atomic<size_t> block_bytes_{0};
  mutable std::atomic<size_t> sorted_bytes_{0};

  // Writers only, away from what readers load.
  alignas(64) std::atomic<Block*> current_{nullptr};
  std::atomic<uint64_t> bytes_{0};
  std::atomic<uint64_t> deletions_{0};
  Mutex blocks_mu_;
  std::vector<std::unique_ptr<Block>> blocks_ VARVE_GUARDED_BY(blocks_mu_);  // owns them

  alignas(64) mutable Mutex mu_;
  mutable Cursor cursor_ VARVE_GUARDED_BY(mu_);
  // What lies before the cursor.
  mutable std::shared_ptr<const SortedEntries> sorted_ VARVE_GUARDED_BY(mu_);
};

}  // namespace varve
