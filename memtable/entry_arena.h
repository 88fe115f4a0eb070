// SPDX-License-Identifier: Apache-2.0
#pragma once

// Provides the memory of a memtable: pieces that live as long as it does, addressed by arena
// offsets of 32 bits.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "memtable/lock_ranks.h"
#include "util/base/assert.h"
#include "util/mem/arena_blocks.h"
#include "util/sync/mutex.h"

namespace varve {

// The address of a piece: the number of its block, then the distance from the block's start in
// units.
using ArenaOffset = uint32_t;

// A bump allocator for many writers: one atomic add a piece, a mutex once a block.
//
// An offset has 12 bits for the block, and 20 for the distance, which cover 2 MiB in units of two
// bytes. Larger blocks have larger units. Blocks grow with the size of the arena and as fewer
// numbers are left, so that numbers outlast the memory of any machine.
//
// Thread safety: all methods may be called from any thread. Lifetime: pieces live as long as the
// arena; nothing is destructed.
class EntryArena {
 public:
  // Allocated memory, by address and by the offset that finds it again.
  struct Piece {
    char* data;
    ArenaOffset offset;
  };
  // Pieces start at a multiple of their block's unit, which is a power of two from 2 to this. A
  // large piece in a block of its own has the unit 1.
  static constexpr size_t kMaxUnit = 512;

  // Takes the sizes of the first block and of the largest common one, in bytes. Throws
  // std::bad_alloc.
  EntryArena(size_t first_block_bytes, size_t max_block_bytes);
  EntryArena(const EntryArena&) = delete;
  EntryArena& operator=(const EntryArena&) = delete;

  // Returns n bytes, not initialised. Throws std::bad_alloc, with nothing taken.
  [[nodiscard]] Piece Allocate(size_t n) {
    // Acquire pairs with the release that published the block and its header.
    Header* const block = current_.load(std::memory_order_acquire);
    const size_t rounded = block->RoundUp(n);
    if (rounded >= n && rounded <= block->bytes) [[likely]] {
      // Relaxed: the add alone makes the piece exclusive, and the structure that links the piece
      // publishes its contents.
      const size_t distance = block->used.fetch_add(rounded, std::memory_order_relaxed);
      if (distance <= block->bytes - rounded) [[likely]]
        return PieceOf(*block, distance);
    }
    return AllocateSlow(n);
  }

  // Returns the piece at that offset. Requires that the thread that allocated the piece published
  // the offset with a release store, and that the caller loaded it with acquire, or allocated the
  // piece itself.
  [[nodiscard]] char* At(ArenaOffset offset) const {
    const Place place = PlaceOf(offset);
    return reinterpret_cast<char*>((place & ~kUnitMask) +
                                   (size_t{offset & kDistanceMask} << (place & kUnitMask)));
  }
  // Returns the offset of the byte `distance` after the start of `piece`. Requires that this byte
  // lies in the same block, and that `distance` is a multiple of the block's unit. That holds for
  // every multiple of kMaxUnit, and for the gap from the start of a piece to the next multiple of
  // 64: blocks start at such a multiple, so that a unit of 64 or more leaves no gap, and a smaller
  // one divides it.
  [[nodiscard]] ArenaOffset OffsetAfter(ArenaOffset piece, size_t distance) const {
    VARVE_ASSERT(distance % (size_t{1} << (PlaceOf(piece) & kUnitMask)) == 0);
    return piece + static_cast<ArenaOffset>(distance >> (PlaceOf(piece) & kUnitMask));
  }

  // Returns the bytes allocated from the system, bookkeeping included.
  [[nodiscard]] size_t MemoryUsage() const {
    return sizeof(*this) + blocks_.bytes() + list_bytes_.load(std::memory_order_relaxed);
  }
  // MemoryUsage without the free part of the current block. May be off by a block for a moment,
  // while another thread starts one.
  [[nodiscard]] size_t UsedBytes() const;
  // Returns the size of the largest block so far, or, in a small arena, of the largest common
  // block.
  [[nodiscard]] size_t LargestBlock() const {
    return largest_block_.load(std::memory_order_relaxed);
  }

 private:
  // An offset has a block's number in its upper bits, and in the lower ones the distance from the
  // block's start, in units of the block. As a unit has several bytes, 32 bits reach further than 4
  // GiB.
  static constexpr unsigned kDistanceBits = 20;
  static constexpr ArenaOffset kDistanceMask = (ArenaOffset{1} << kDistanceBits) - 1;
  static constexpr uint32_t kNumbers = uint32_t{1} << (32 - kDistanceBits);
  // A block's address, which is a multiple of 64, and the bits of its unit.
  using Place = uintptr_t;
  static constexpr Place kUnitMask = 63;
  using PlaceList = std::unique_ptr<std::atomic<Place>[]>;

  // The header at the start of each block. It has its own cache line because every allocation
  // writes `used`.
  struct alignas(64) Header {
    [[nodiscard]] size_t RoundUp(size_t n) const { return (n + unit_mask) & ~unit_mask; }

    // Bytes of the block, and its unit, as a mask and as a number of bits.
    size_t bytes;
    size_t unit_mask;
    unsigned unit_bits;
    ArenaOffset first_offset;
    // Includes the header, which takes whole units. May grow past `bytes` when threads race for the
    // end; such adds allocate nothing.
    std::atomic<size_t> used;
  };

  [[nodiscard]] Place PlaceOf(ArenaOffset offset) const {
    // Acquire: the list may be newer than the offset. Relaxed: the block was entered before
    // anything in it got an offset.
    const Place place = places_.load(std::memory_order_acquire)[offset >> kDistanceBits].load(
        std::memory_order_relaxed);
    VARVE_ASSERT(place != 0);
    return place;
  }
  static Piece PieceOf(const Header& block, size_t distance) {
    VARVE_ASSERT((distance & block.unit_mask) == 0 && distance <= block.bytes);
    return {const_cast<char*>(reinterpret_cast<const char*>(&block)) + distance,
            block.first_offset | static_cast<ArenaOffset>(distance >> block.unit_bits)};
  }

  // Does what Allocate does when the current block is full.
  Piece AllocateSlow(size_t n) VARVE_EXCLUDES(mu_);
  // Returns the smallest size of a new block.
  [[nodiscard]] size_t LeastBlock() const VARVE_REQUIRES(mu_);
  // Starts a block with room for a piece of n bytes that has no block of its own.
  void StartBlock(size_t n) VARVE_REQUIRES(mu_);
  // Makes room for one more block; throws, with nothing changed, if there is none.
  void ReserveNumber() VARVE_REQUIRES(mu_);
  // Enters a block into the list, which makes it reachable. Returns its number.
  uint32_t EnterBlock(char* data, unsigned unit_bits) VARVE_REQUIRES(mu_);

  mutable Mutex mu_{kEntryArenaRank};
  // Changed under mu_; bytes() may be read without it.
  ArenaBlocks blocks_;
  // By number: the last list is in use, the others are kept for concurrent readers.
  std::vector<PlaceList> place_lists_ VARVE_GUARDED_BY(mu_);
  uint32_t listed_ VARVE_GUARDED_BY(mu_) = 0;  // Capacity of the last list.
  uint32_t next_number_ VARVE_GUARDED_BY(mu_) = 0;
  // Written under mu_, read as statistics; publish nothing.
  std::atomic<size_t> list_bytes_{0};
  std::atomic<size_t> largest_block_;
  // Stored under mu_, with release, which publishes the list's contents.
  std::atomic<std::atomic<Place>*> places_{nullptr};
  // The block that pieces come from. Stored under mu_; the store publishes the header and the
  // block's entry in the list.
  std::atomic<Header*> current_{nullptr};
};

}  // namespace varve
