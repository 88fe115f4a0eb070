// SPDX-License-Identifier: Apache-2.0

// Hands out memory for entries. Usual pieces are cut off the current block with one atomic
// addition; this file has the rest: new blocks, large pieces, and the list of blocks by number that
// offsets refer to.
//
//      offset   [ number of the block | distance in units of the block ]
//      places_  number -> address of the block | size of its unit
//
// Blocks are never moved or freed while the arena lives, so an offset stays good; but the list of
// places grows by copying, and the old lists stay for readers that are in them.

#include "memtable/entry_arena.h"

#include <algorithm>
#include <bit>
#include <new>

#include "util/base/assert.h"
#include "util/base/canary.h"

namespace varve {

namespace {

constexpr uint32_t kFirstListed = 64;
// A new block has at least this many times what the arena holds divided by the numbers left. While
// most numbers are left, blocks have the requested size; when one in n is left, the arena holds n^8
// times as much as at first.
constexpr size_t kShareOfNumber = 8;
// Largest piece in a shared block; larger pieces have blocks of their own. It is a quarter of what
// units can address.
constexpr size_t kPieceMax = size_t{128} << 20;

}  // namespace

EntryArena::EntryArena(size_t first_block_bytes, size_t max_block_bytes)
    : blocks_(first_block_bytes, max_block_bytes), largest_block_(max_block_bytes) {
  MutexLock lock(&mu_);
  StartBlock(0);
}

// A large piece gets a block of its own, so that the current one keeps its free part; but not if it
// is smaller than LeastBlock, as the numbers of blocks are scarce. Any other piece comes from the
// current block, which another thread may have renewed meanwhile, or from a new one.
EntryArena::Piece EntryArena::AllocateSlow(size_t n) {
  MutexLock lock(&mu_);
  if (n > blocks_.dedicated_above() && n >= LeastBlock()) {
    // The number is reserved first: if there is none, no memory has been taken.
    ReserveNumber();
    char* const data = blocks_.AddDedicated(n);
    return {data, EnterBlock(data, 0) << kDistanceBits};
  }
  for (;;) {
    // Relaxed: current_ only changes under mu_, which this thread holds.
    Header* const block = current_.load(std::memory_order_relaxed);
    const size_t rounded = block->RoundUp(n);
    const size_t distance = block->used.fetch_add(rounded, std::memory_order_relaxed);
    // Another thread may have begun a new block since the caller found the last one full.
    if (distance <= block->bytes && rounded <= block->bytes - distance)
      return PieceOf(*block, distance);
    StartBlock(n);
  }
}

size_t EntryArena::LeastBlock() const {
  if (VARVE_CANARY(kWasteBlockNumbers)) return 0;
  const size_t left = kNumbers - std::min(next_number_, kNumbers - 1);
  return std::min(blocks_.bytes() / left * kShareOfNumber, kPieceMax);
}

// The number is reserved first and the block published last, so that an exception in between leaves
// the current block as it was. A larger block counts its offsets in larger units, as an offset has
// a fixed number of bits for the place within a block.
void EntryArena::StartBlock(size_t n) {
  ReserveNumber();
  // The block has room for several pieces that are large for a block, and too small for one of
  // their own.
  blocks_.GrowTo(n > blocks_.dedicated_above() ? std::max(LeastBlock(), 4 * n) : LeastBlock());
  const ArenaBlocks::Block block = blocks_.AddBlock();
  const auto reach = static_cast<unsigned>(std::bit_width((block.bytes - 1) >> kDistanceBits));
  const unsigned unit_bits = std::max(1U, reach);
  const uint32_t number = EnterBlock(block.data, unit_bits);
  Header* const header = new (block.data)
      Header{block.bytes, (size_t{1} << unit_bits) - 1, unit_bits, number << kDistanceBits, {}};
  header->used.store(header->RoundUp(sizeof(Header)), std::memory_order_relaxed);
  if (block.bytes > largest_block_.load(std::memory_order_relaxed)) {
    largest_block_.store(block.bytes, std::memory_order_relaxed);
  }
  // Release publishes the header and the list to the acquire loads of Allocate.
  current_.store(header, std::memory_order_release);
}

// The list of places is doubled by copying. Readers may still be in the old one, so it stays.
void EntryArena::ReserveNumber() {
  if (next_number_ < listed_) return;
  if (listed_ == kNumbers) throw std::bad_alloc();
  const uint32_t wanted = std::max(kFirstListed, 2 * listed_);
  place_lists_.reserve(place_lists_.size() + 1);
  PlaceList longer = std::make_unique<std::atomic<Place>[]>(wanted);
  for (uint32_t i = 0; i < next_number_; i++) {
    longer[i].store(place_lists_.back()[i].load(std::memory_order_relaxed),
                    std::memory_order_relaxed);
  }
  // Release publishes the copied places. Readers of an older list find all offsets that they can
  // know in it.
  places_.store(longer.get(), std::memory_order_release);
  place_lists_.push_back(std::move(longer));
  listed_ = wanted;
  list_bytes_.fetch_add(wanted * sizeof(Place), std::memory_order_relaxed);
}

uint32_t EntryArena::EnterBlock(char* data, unsigned unit_bits) {
  VARVE_ASSERT(next_number_ < listed_);
  VARVE_ASSERT((reinterpret_cast<Place>(data) & kUnitMask) == 0);
  VARVE_ASSERT(size_t{1} << unit_bits <= kMaxUnit);
  place_lists_.back()[next_number_].store(reinterpret_cast<Place>(data) | unit_bits,
                                          std::memory_order_relaxed);
  return next_number_++;
}

size_t EntryArena::UsedBytes() const {
  const Header* const block = current_.load(std::memory_order_acquire);
  const size_t used = std::min(block->bytes, block->used.load(std::memory_order_relaxed));
  return MemoryUsage() - (block->bytes - used);
}

}  // namespace varve
