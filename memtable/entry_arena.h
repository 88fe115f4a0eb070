// SPDX-License-Identifier: Apache-2.0
#pragma once

// Memory of a memtable: pieces that live as long as it does, named by 32 bits instead of a pointer.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "util/mem/arena_blocks.h"
#include "util/sync/mutex.h"

namespace varve {

// Names a piece: the number of its block, then the distance from the block's start in units.
using EntryRef = uint32_t;

// A bump allocator for many writers: one atomic add a piece, a mutex once a block.
//
// Thread safety: all methods may be called from any thread.
// Lifetime: pieces live as long as the arena; nothing is destructed.
class EntryArena {
 public:
  struct Piece {
    char* data;
    EntryRef ref;
  };

  // Pieces are aligned to 2 bytes; to 8 if `expected_bytes` is more than a gigabyte, so that the
  // names suffice.
  EntryArena(size_t first_block_bytes, size_t max_block_bytes, size_t expected_bytes);
  EntryArena(const EntryArena&) = delete;
  EntryArena& operator=(const EntryArena&) = delete;

  // Throws std::bad_alloc, also when there is no name left.
  [[nodiscard]] Piece Allocate(size_t n) {
    const size_t rounded = RoundUp(n);
    // Acquire pairs with the release that published the block and its header.
    Header* const block = current_.load(std::memory_order_acquire);
    if (rounded >= n && rounded <= block->bytes) [[likely]] {
      // Relaxed: the add alone makes the piece exclusive, and publishing what is written into it
      // is the business of the structure that links it.
      const size_t offset = block->used.fetch_add(rounded, std::memory_order_relaxed);
      if (offset <= block->bytes - rounded) [[likely]]
        return PieceOf(*block, offset);
    }
    return AllocateSlow(n);
  }

  // The piece of that name. Requires: the name was reached through a store that released it.
  [[nodiscard]] char* At(EntryRef ref) const {
    const uint32_t number = ref >> offset_bits_;
    // Relaxed: the block was entered before anything in it got a name.
    const Chunk* const chunk = directory_[number / kChunkSize].load(std::memory_order_relaxed);
    return (*chunk)[number % kChunkSize].load(std::memory_order_relaxed) +
           (size_t{ref & offset_mask_} << unit_bits_);
  }
  // The name of the byte `distance` (a multiple of 8) behind the start of `piece`.
  [[nodiscard]] EntryRef RefBehind(EntryRef piece, size_t distance) const {
    return piece + static_cast<EntryRef>(distance >> unit_bits_);
  }

  // Bytes taken from the system, bookkeeping included.
  [[nodiscard]] size_t MemoryUsage() const {
    return sizeof(*this) + blocks_.bytes() + chunk_bytes_.load(std::memory_order_relaxed);
  }
  // MemoryUsage without the part of the current block that is still free. May be off by a block
  // for a moment, while another thread starts one.
  [[nodiscard]] size_t UsedBytes() const;
  // Whether most of the names are given out.
  [[nodiscard]] bool NearlyOutOfNames() const {
    return next_number_.load(std::memory_order_relaxed) > max_numbers() / 8 * 7;
  }

 private:
  static constexpr uint32_t kChunkSize = 64;
  static constexpr uint32_t kMaxChunks = 256;
  using Chunk = std::array<std::atomic<char*>, kChunkSize>;

  // Lies at the start of its block; on its own cache line because every allocation writes `used`.
  struct alignas(64) Header {
    size_t bytes;
    uint32_t number;
    // Behind the header. May grow past `bytes` when threads race for the end; such adds hand
    // nothing out.
    std::atomic<size_t> used;
  };

  [[nodiscard]] size_t RoundUp(size_t n) const {
    const size_t unit = size_t{1} << unit_bits_;
    return (n + unit - 1) & ~(unit - 1);
  }
  [[nodiscard]] uint32_t max_numbers() const { return uint32_t{1} << (32 - offset_bits_); }
  [[nodiscard]] Piece PieceOf(const Header& block, size_t offset) const {
    const size_t distance = sizeof(Header) + offset;
    return {const_cast<char*>(reinterpret_cast<const char*>(&block)) + distance,
            block.number << offset_bits_ | static_cast<EntryRef>(distance >> unit_bits_)};
  }

  Piece AllocateSlow(size_t n) VARVE_EXCLUDES(mu_);
  void StartBlock() VARVE_REQUIRES(mu_);
  // Makes room for one more block; throws, with nothing changed, when there is none.
  void ReserveNumber() VARVE_REQUIRES(mu_);
  uint32_t EnterBlock(char* data) VARVE_REQUIRES(mu_);

  const unsigned unit_bits_;
  const unsigned offset_bits_;
  const uint32_t offset_mask_;
  mutable Mutex mu_;
  // Its bytes() may be read without mu_.
  ArenaBlocks blocks_;
  std::vector<std::unique_ptr<Chunk>> chunks_ VARVE_GUARDED_BY(mu_);
  // Written under mu_, read as statistics; publish nothing.
  std::atomic<uint32_t> next_number_{0};
  std::atomic<size_t> chunk_bytes_{0};
  // The block that pieces come from. Stored under mu_; the store publishes the header and the
  // block's entry in the directory.
  std::atomic<Header*> current_{nullptr};
  // Chunks by number; written under mu_ before the number is used.
  std::array<std::atomic<Chunk*>, kMaxChunks> directory_{};
};

}  // namespace varve
