// SPDX-License-Identifier: Apache-2.0

// Blocks, and the directory that turns names into addresses.

#include "memtable/entry_arena.h"

#include <algorithm>
#include <new>

namespace varve {

namespace {

constexpr size_t kWideAbove = size_t{1} << 30;
constexpr unsigned kBlockBits = 21;
static_assert(size_t{1} << kBlockBits == kHugePageBytes);

}  // namespace

EntryArena::EntryArena(size_t first_block_bytes, size_t max_block_bytes, size_t expected_bytes)
    : unit_bits_(expected_bytes > kWideAbove ? 3 : 1),
      offset_bits_(kBlockBits - unit_bits_),
      offset_mask_((uint32_t{1} << offset_bits_) - 1),
      blocks_(first_block_bytes, max_block_bytes) {
  MutexLock lock(&mu_);
  StartBlock();
}

EntryArena::Piece EntryArena::AllocateSlow(size_t n) {
  MutexLock lock(&mu_);
  if (n > blocks_.dedicated_above()) {
    ReserveNumber();
    char* const data = blocks_.AddDedicated(n);
    return {data, EnterBlock(data) << offset_bits_};
  }
  const size_t rounded = RoundUp(n);
  for (;;) {
    // Relaxed: current_ only changes under mu_, which this thread holds.
    Header* const block = current_.load(std::memory_order_relaxed);
    const size_t offset = block->used.fetch_add(rounded, std::memory_order_relaxed);
    if (offset <= block->bytes && rounded <= block->bytes - offset) return PieceOf(*block, offset);
    StartBlock();
  }
}

void EntryArena::StartBlock() {
  ReserveNumber();
  const ArenaBlocks::Block block = blocks_.AddBlock();
  const uint32_t number = EnterBlock(block.data);
  Header* const header = new (block.data) Header{block.bytes - sizeof(Header), number, {}};
  // Release publishes the header and the directory to the acquire loads of Allocate.
  current_.store(header, std::memory_order_release);
}

void EntryArena::ReserveNumber() {
  const uint32_t number = next_number_.load(std::memory_order_relaxed);
  if (number >= std::min(max_numbers(), kMaxChunks * kChunkSize)) throw std::bad_alloc();
  const size_t chunk = number / kChunkSize;
  if (chunk < chunks_.size()) return;
  chunks_.push_back(std::make_unique<Chunk>());
  directory_[chunk].store(chunks_.back().get(), std::memory_order_relaxed);
  chunk_bytes_.store(chunks_.size() * (sizeof(Chunk) + sizeof(chunks_[0])),
                     std::memory_order_relaxed);
}

uint32_t EntryArena::EnterBlock(char* data) {
  const uint32_t number = next_number_.load(std::memory_order_relaxed);
  (*chunks_[number / kChunkSize])[number % kChunkSize].store(data, std::memory_order_relaxed);
  next_number_.store(number + 1, std::memory_order_relaxed);
  return number;
}

size_t EntryArena::UsedBytes() const {
  const Header* const block = current_.load(std::memory_order_acquire);
  const size_t used = std::min(block->bytes, block->used.load(std::memory_order_relaxed));
  return MemoryUsage() - (block->bytes - used);
}

}  // namespace varve
