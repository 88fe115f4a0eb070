// SPDX-License-Identifier: Apache-2.0
#pragma once

// Memory that is handed out piece by piece and given back all at once.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "util/mem/huge_pages.h"
#include "util/sync/mutex.h"

namespace varve {

// Keeps a bounded number of huge-page blocks of dead arenas for new ones, so that a stream of
// memtables does not fault in and clear the same pages again and again.
//
// Thread safety: all methods may be called from any thread.
// Lifetime: outlives every arena that uses it.
class ArenaBlockPool {
 public:
  // Keeps at most `max_kept_blocks` blocks of kHugePageBytes; further ones go to the system.
  explicit ArenaBlockPool(size_t max_kept_blocks = 4) : max_kept_blocks_(max_kept_blocks) {}
  ~ArenaBlockPool();
  ArenaBlockPool(const ArenaBlockPool&) = delete;
  ArenaBlockPool& operator=(const ArenaBlockPool&) = delete;

  // A block of kHugePageBytes, aligned to it, with undefined content.
  [[nodiscard]] char* Take() VARVE_EXCLUDES(mu_);
  void Give(char* block) VARVE_EXCLUDES(mu_);
  // Gives all kept memory back to the system.
  void Trim() VARVE_EXCLUDES(mu_);
  [[nodiscard]] size_t KeptBytes() const VARVE_EXCLUDES(mu_);

 private:
  const size_t max_kept_blocks_;
  mutable Mutex mu_;
  std::vector<char*> kept_ VARVE_GUARDED_BY(mu_);
};

// The blocks behind an arena: small ones while the arena is small, each twice as large as the one
// before, then huge-page blocks.
//
// Thread safety: bytes() may be called from any thread; everything else needs outside exclusion.
class ArenaBlocks {
 public:
  enum class Origin : uint8_t { kSmall, kHugePage, kDedicated, kDedicatedHuge };
  struct Block {
    char* data;
    size_t bytes;
    Origin origin;
  };

  // `first_block_bytes` is clamped to [1 KiB, 2 MiB] and rounded up to a power of two; blocks
  // double up to `max_block_bytes`, treated alike. `pool` may be null.
  ArenaBlocks(size_t first_block_bytes, ArenaBlockPool* pool,
              size_t max_block_bytes = kHugePageBytes);
  ~ArenaBlocks();
  ArenaBlocks(const ArenaBlocks&) = delete;
  ArenaBlocks& operator=(const ArenaBlocks&) = delete;

  // The next block to carve pieces from, next_block_bytes() large, aligned to 64.
  Block AddBlock();
  // A block for one piece that would waste too much of a common block, aligned to 4096.
  char* AddDedicated(size_t bytes);
  [[nodiscard]] size_t next_block_bytes() const { return next_block_bytes_; }
  // Pieces above this size get a block of their own.
  [[nodiscard]] size_t dedicated_above() const { return next_block_bytes_ / 4; }

  // Bytes of all blocks, and of the list of them.
  [[nodiscard]] size_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

 private:
  const Block& Own(Block block);
  void Release(const Block& block);

  ArenaBlockPool* const pool_;
  const size_t max_block_bytes_;
  size_t next_block_bytes_;
  std::vector<Block> owned_;
  // Written under outside exclusion, read by anyone as a statistic; publishes nothing.
  std::atomic<size_t> bytes_{0};
};

// A bump allocator for one writer.
//
// Thread safety: one thread allocates; MemoryUsage and UsedBytes may be called from any thread.
// Lifetime: pieces live as long as the arena; nothing is destructed.
class Arena {
 public:
  static constexpr size_t kDefaultBlockBytes = 4096;
  static constexpr size_t kMaxAlignment = 4096;

  explicit Arena(size_t first_block_bytes = kDefaultBlockBytes, ArenaBlockPool* pool = nullptr)
      : blocks_(first_block_bytes, pool) {}

  // `n` bytes at any alignment. `n` may be 0.
  [[nodiscard]] char* Allocate(size_t n) {
    const size_t left = left_.load(std::memory_order_relaxed);
    if (n <= left) [[likely]] {
      left_.store(left - n, std::memory_order_relaxed);
      return end_ - left;
    }
    return AllocateSlow(n, 1);
  }

  // `n` bytes at a multiple of `alignment`, a power of two up to kMaxAlignment.
  [[nodiscard]] char* AllocateAligned(size_t n, size_t alignment = alignof(std::max_align_t)) {
    const size_t left = left_.load(std::memory_order_relaxed);
    const size_t gap = (left - reinterpret_cast<uintptr_t>(end_)) & (alignment - 1);
    if (gap <= left && n <= left - gap) [[likely]] {
      left_.store(left - gap - n, std::memory_order_relaxed);
      return end_ - (left - gap);
    }
    return AllocateSlow(n, alignment);
  }

  // Bytes taken from the system, bookkeeping included.
  [[nodiscard]] size_t MemoryUsage() const { return sizeof(*this) + blocks_.bytes(); }
  // MemoryUsage without the part of the current block that is still free. May be off by a block
  // for a moment, while another thread starts one.
  [[nodiscard]] size_t UsedBytes() const;

 private:
  char* AllocateSlow(size_t n, size_t alignment);

  ArenaBlocks blocks_;
  // One past the current block.
  char* end_ = nullptr;
  // Free bytes before end_. Only the allocating thread writes it; it is atomic for UsedBytes,
  // which reads it as a statistic. Publishes nothing.
  std::atomic<size_t> left_{0};
};

}  // namespace varve
