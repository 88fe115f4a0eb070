// SPDX-License-Identifier: Apache-2.0
#pragma once

// Provides the memory of an arena, allocated from the system block by block and freed all at once.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "util/mem/huge_pages.h"

namespace varve {

// The blocks of an arena: small ones while the arena is small, each twice as large as the one
// before, then huge-page blocks, and larger ones on request. Dedicated blocks make the common
// blocks grow, too: an arena of nothing but large pieces soon has blocks that hold several of them,
// in a few huge pages. Large blocks leave the heap alone: when the arena is gone, they serve the
// next ones for a while (WarmPages), or go back to the system. All blocks live as long as this.
//
// Thread safety: bytes() may be called from any thread; everything else needs external
// synchronization.
class ArenaBlocks {
 public:
  enum class Origin : uint8_t {
    kSmall,      // from the heap
    kMapped,     // whole pages of the system
    kDedicated,  // from the heap, for one piece
  };
  struct Block {
    char* data;
    size_t bytes;
    Origin origin;
  };

  // `first_block_bytes` is clamped to [1 KiB, 2 MiB] and rounded up to a power of two; blocks
  // double up to `max_block_bytes`, which is adjusted likewise.
  explicit ArenaBlocks(size_t first_block_bytes, size_t max_block_bytes = kHugePageBytes);
  ~ArenaBlocks();
  ArenaBlocks(const ArenaBlocks&) = delete;
  ArenaBlocks& operator=(const ArenaBlocks&) = delete;

  // Makes future blocks at least this large (rounded to a power of two), beyond max_block_bytes if
  // needed.
  void GrowTo(size_t bytes);
  // Returns the next block to carve pieces from: next_block_bytes() large, aligned to 64. Throws
  // std::bad_alloc.
  Block AddBlock();
  // Returns a block for one piece that would waste too much of a common block, aligned to 4096.
  // Throws std::bad_alloc.
  char* AddDedicated(size_t bytes);
  [[nodiscard]] size_t next_block_bytes() const { return next_block_bytes_; }
  // Pieces above this size get a block of their own.
  [[nodiscard]] size_t dedicated_above() const { return next_block_bytes_ / 4; }

  // Returns the bytes of all blocks, and of the list of them.
  [[nodiscard]] size_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

 private:
  // Adds a block to owned_, and its bytes to the sum; releases it and throws if there is no memory.
  const Block& Own(Block block);
  // Gives a block back to where it came from.
  static void Release(const Block& block);
  // Returns the next `size` bytes of the run, mapping a new run if it is used up.
  char* TakeFromRun(size_t size);
  // Unmaps the part of the run that no block has.
  void FreeRestOfRun();

  size_t max_block_bytes_;
  size_t next_block_bytes_;
  std::vector<Block> owned_;
  // The rest of the last run: blocks of the largest size are mapped several at a time.
  char* run_ = nullptr;
  size_t run_bytes_ = 0;
  // Written under external synchronization, read by any thread as a statistic; publishes nothing.
  std::atomic<size_t> bytes_{0};
};

}  // namespace varve
