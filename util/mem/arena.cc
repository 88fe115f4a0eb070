// SPDX-License-Identifier: Apache-2.0

// How arenas get blocks: doubling from a small first one, then huge pages, recycled by a pool.

#include "util/mem/arena.h"

#include <algorithm>
#include <bit>
#include <new>
#include <utility>

namespace varve {
namespace {

constexpr size_t kMinBlockBytes = 1024;
constexpr std::align_val_t kSmallBlockAlignment{64};
constexpr std::align_val_t kDedicatedAlignment{Arena::kMaxAlignment};
// Dedicated pieces below this come from the heap: rounding them up to huge pages would waste a
// large part.
constexpr size_t kHugeDedicatedBytes = 4 * kHugePageBytes;

size_t RoundUp(size_t n, size_t multiple) {
  const size_t rounded = (n + multiple - 1) / multiple * multiple;
  if (rounded < n) throw std::bad_alloc();
  return rounded;
}

}  // namespace

ArenaBlockPool::~ArenaBlockPool() {
  Trim();
}

char* ArenaBlockPool::Take() {
  {
    MutexLock lock(&mu_);
    if (!kept_.empty()) {
      char* const block = kept_.back();
      kept_.pop_back();
      return block;
    }
  }
  return AllocateHugePages(kHugePageBytes);
}

void ArenaBlockPool::Give(char* block) {
  {
    MutexLock lock(&mu_);
    if (kept_.size() < max_kept_blocks_) {
      kept_.push_back(block);
      return;
    }
  }
  FreeHugePages(block, kHugePageBytes);
}

void ArenaBlockPool::Trim() {
  std::vector<char*> blocks;
  {
    MutexLock lock(&mu_);
    blocks.swap(kept_);
  }
  for (char* const block : blocks) FreeHugePages(block, kHugePageBytes);
}

size_t ArenaBlockPool::KeptBytes() const {
  MutexLock lock(&mu_);
  return kept_.size() * kHugePageBytes;
}

ArenaBlocks::ArenaBlocks(size_t first_block_bytes, ArenaBlockPool* pool, size_t max_block_bytes)
    : pool_(pool),
      max_block_bytes_(std::bit_ceil(std::clamp(max_block_bytes, kMinBlockBytes, kHugePageBytes))),
      next_block_bytes_(
          std::bit_ceil(std::clamp(first_block_bytes, kMinBlockBytes, max_block_bytes_))) {}

ArenaBlocks::~ArenaBlocks() {
  for (const Block& block : owned_) Release(block);
}

ArenaBlocks::Block ArenaBlocks::AddBlock() {
  const size_t size = next_block_bytes_;
  next_block_bytes_ = std::min(size * 2, max_block_bytes_);
  if (size < kHugePageBytes) {
    return Own(
        {static_cast<char*>(::operator new(size, kSmallBlockAlignment)), size, Origin::kSmall});
  }
  char* const data = pool_ != nullptr ? pool_->Take() : AllocateHugePages(size);
  return Own({data, size, Origin::kHugePage});
}

char* ArenaBlocks::AddDedicated(size_t bytes) {
  if (bytes < kHugeDedicatedBytes) {
    const size_t size = RoundUp(bytes, 64);
    char* const data = static_cast<char*>(::operator new(size, kDedicatedAlignment));
    return Own({data, size, Origin::kDedicated}).data;
  }
  const size_t size = RoundUp(bytes, kHugePageBytes);
  return Own({AllocateHugePages(size), size, Origin::kDedicatedHuge}).data;
}

const ArenaBlocks::Block& ArenaBlocks::Own(Block block) {
  const size_t list_before = owned_.capacity();
  try {
    owned_.push_back(block);
  } catch (...) {
    Release(block);
    throw;
  }
  const size_t list_growth = (owned_.capacity() - list_before) * sizeof(Block);
  bytes_.store(bytes() + block.bytes + list_growth, std::memory_order_relaxed);
  return owned_.back();
}

void ArenaBlocks::Release(const Block& block) {
  switch (block.origin) {
    case Origin::kSmall:
      ::operator delete(block.data, kSmallBlockAlignment);
      break;
    case Origin::kDedicated:
      ::operator delete(block.data, kDedicatedAlignment);
      break;
    case Origin::kHugePage:
      if (pool_ != nullptr) {
        pool_->Give(block.data);
        break;
      }
      [[fallthrough]];
    case Origin::kDedicatedHuge:
      FreeHugePages(block.data, block.bytes);
      break;
  }
}

char* Arena::AllocateSlow(size_t n, size_t alignment) {
  if (n > blocks_.dedicated_above()) return blocks_.AddDedicated(n);
  // A piece of this size fits a fresh block behind any gap except the very large alignments on a
  // small block; those get a block of their own.
  if (n + alignment > blocks_.next_block_bytes()) return blocks_.AddDedicated(n);
  const ArenaBlocks::Block block = blocks_.AddBlock();
  end_ = block.data + block.bytes;
  left_.store(block.bytes, std::memory_order_relaxed);
  return AllocateAligned(n, alignment);
}

size_t Arena::UsedBytes() const {
  const size_t total = blocks_.bytes();
  return sizeof(*this) + total - std::min(total, left_.load(std::memory_order_relaxed));
}

}  // namespace varve
