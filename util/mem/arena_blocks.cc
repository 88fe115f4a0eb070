// SPDX-License-Identifier: Apache-2.0

// Implements blocks that double from a small first one up to huge pages: on the heap while they are
// small, then mapped directly, so that they leave the process with the arena. A heap that many
// threads use keeps a multiple of what is alive.

#include "util/mem/arena_blocks.h"

#include <algorithm>
#include <bit>
#include <new>

#include "util/mem/warm_pages.h"

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
  FreeRestOfRun();
}

void ArenaBlocks::GrowTo(size_t bytes) {
  if (bytes <= next_block_bytes_) return;
  next_block_bytes_ = std::bit_ceil(bytes);
  if (next_block_bytes_ <= max_block_bytes_) return;
  max_block_bytes_ = next_block_bytes_;
  FreeRestOfRun();  // It has smaller blocks.
}

ArenaBlocks::Block ArenaBlocks::AddBlock() {
  const size_t size = next_block_bytes_;
  next_block_bytes_ = std::min(size * 2, max_block_bytes_);
  if (size < kMappedBlockBytes) {
    return Own(
        {static_cast<char*>(::operator new(size, kSmallBlockAlignment)), size, Origin::kSmall});
  }
  char* data = WarmPages::Default().Take(size);
  if (data != nullptr) {
    // A block of an earlier arena.
  } else if (size >= kHugePageBytes) {
    data = AllocateHugePages(size);
  } else if (size < max_block_bytes_) {
    data = AllocatePages(size);
  } else {
    data = TakeFromRun(size);
  }
  return Own({data, size, Origin::kMapped});
}

char* ArenaBlocks::TakeFromRun(size_t size) {
  if (run_bytes_ == 0) {
    run_ = AllocatePages(size * kBlocksInRun);
    run_bytes_ = size * kBlocksInRun;
  }
  char* const data = run_;
  run_ += size;
  run_bytes_ -= size;
  return data;
}

// This part of the mapping was never used.
void ArenaBlocks::FreeRestOfRun() {
  if (run_bytes_ != 0) FreePages(run_, run_bytes_);
  run_bytes_ = 0;
}

char* ArenaBlocks::AddDedicated(size_t bytes) {
  Block block;
  if (bytes < kHugeDedicatedBytes) {
    const size_t size = RoundedUp(bytes, 64);
    block = {static_cast<char*>(::operator new(size, kDedicatedAlignment)), size,
             Origin::kDedicated};
  } else {
    const size_t size = RoundedUp(bytes, kHugePageBytes);
    char* const warm = WarmPages::Default().Take(size);
    block = {warm != nullptr ? warm : AllocateHugePages(size), size, Origin::kMapped};
  }
  Own(block);
  // The common blocks grow as if the piece's bytes had been added in such blocks.
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
    case Origin::kMapped:
      if (!WarmPages::Default().Keep(block.data, block.bytes)) FreePages(block.data, block.bytes);
      break;
  }
}

}  // namespace varve
