// SPDX-License-Identifier: Apache-2.0

// Implements blocks that double from a small first one up to huge pages: on the heap while they are
// small, then mapped directly, so that they leave the process with the arena. A heap that many
// threads use keeps a multiple of what is alive.

#include "util/mem/arena_blocks.h"

#include <algorithm>
#include <bit>
#include <new>

namespace varve {
namespace {

constexpr size_t kMinBlockBytes = 1024;
constexpr std::align_val_t kSmallBlockAlignment{64};
// Smaller blocks come from the heap.
constexpr size_t kMappedBlockBytes = 128 << 10;
// Number of largest-size blocks mapped in one call: the call needs the lock on the address space,
// for which all threads that add or remove pages compete. Pages are added as they are used.
constexpr size_t kBlocksInRun = 8;
constexpr std::align_val_t kDedicatedAlignment{4096};
// Smaller dedicated pieces come from the heap: rounding them up to huge pages would waste a large
// part.
constexpr size_t kHugeDedicatedBytes = 4 * kHugePageBytes;

size_t RoundedUp(size_t n, size_t multiple) {
  const size_t rounded = (n + multiple - 1) / multiple * multiple;
  if (rounded < n) throw std::bad_alloc();
  return rounded;
}

}  // namespace

ArenaBlocks::ArenaBlocks(size_t first_block_bytes, size_t max_block_bytes)
    : max_block_bytes_(std::bit_ceil(std::clamp(max_block_bytes, kMinBlockBytes, kHugePageBytes))),
      next_block_bytes_(
          std::bit_ceil(std::clamp(first_block_bytes, kMinBlockBytes, max_block_bytes_))) {}

ArenaBlocks::~ArenaBlocks() {
  for (const Block& block : owned_) Release(block);
  for (const Block& run : runs_) Release(run);
}

void ArenaBlocks::GrowTo(size_t bytes) {
  if (bytes <= next_block_bytes_) return;
  next_block_bytes_ = std::bit_ceil(bytes);
  if (next_block_bytes_ <= max_block_bytes_) return;
  max_block_bytes_ = next_block_bytes_;
  run_left_ = 0;  // These are smaller blocks.
}

ArenaBlocks::Block ArenaBlocks::AddBlock() {
  const size_t size = next_block_bytes_;
  next_block_bytes_ = std::min(size * 2, max_block_bytes_);
  if (size < kMappedBlockBytes) {
    return Own(
        {static_cast<char*>(::operator new(size, kSmallBlockAlignment)), size, Origin::kSmall});
  }
  if (size >= kHugePageBytes) return Own({AllocateHugePages(size), size, Origin::kMapped});
  if (size < max_block_bytes_) return Own({AllocatePages(size), size, Origin::kMapped});
  return Own({TakeFromRun(size), size, Origin::kPartOfRun});
}

char* ArenaBlocks::TakeFromRun(size_t size) {
  if (run_left_ == 0) {
    runs_.reserve(runs_.size() + 1);
    run_ = AllocatePages(size * kBlocksInRun);
    runs_.push_back({run_, size * kBlocksInRun, Origin::kMapped});
    run_left_ = kBlocksInRun;
  }
  run_left_--;
  return run_ + (kBlocksInRun - 1 - run_left_) * size;
}

char* ArenaBlocks::AddDedicated(size_t bytes) {
  Block block;
  if (bytes < kHugeDedicatedBytes) {
    const size_t size = RoundedUp(bytes, 64);
    block = {static_cast<char*>(::operator new(size, kDedicatedAlignment)), size,
             Origin::kDedicated};
  } else {
    const size_t size = RoundedUp(bytes, kHugePageBytes);
    block = {AllocateHugePages(size), size, Origin::kMapped};
  }
  Own(block);
  while (next_block_bytes_ < max_block_bytes_ && next_block_bytes_ <= this->bytes()) {
    next_block_bytes_ *= 2;
  }
  return block.data;
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
    case Origin::kPartOfRun:
      break;
    case Origin::kMapped:
      FreePages(block.data, block.bytes);
      break;
  }
}

}  // namespace varve
