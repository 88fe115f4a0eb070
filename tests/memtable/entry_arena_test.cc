// SPDX-License-Identifier: Apache-2.0

// Tests the memtable's arena: pieces do not overlap, offsets lead back to them.

#include "memtable/entry_arena.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <new>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace varve {
namespace {

struct FilledPiece {
  EntryArena::Piece at;
  size_t bytes;
  char fill;
};

void CheckUntouched(const EntryArena& arena, const std::vector<FilledPiece>& pieces) {
  for (const FilledPiece& piece : pieces) {
    ASSERT_EQ(arena.At(piece.at.offset), piece.at.data);
    for (size_t i = 0; i < piece.bytes; i++) ASSERT_EQ(piece.at.data[i], piece.fill);
  }
}

TEST(EntryArenaTest, ThreadsGetSeparatePiecesAndOffsets) {
  EntryArena arena(4096, 1 << 16);
  constexpr size_t kThreads = 4;
  std::vector<std::vector<FilledPiece>> pieces(kThreads);
  std::vector<std::thread> threads;
  for (size_t t = 0; t < kThreads; t++) {
    threads.emplace_back([&, t] {
      std::mt19937 random(static_cast<uint32_t>(t));
      for (size_t i = 0; i < 5000; i++) {
        const size_t bytes = i % 100 == 0 ? random() % 40000 : random() % 200;
        const FilledPiece piece{arena.Allocate(bytes), bytes, static_cast<char>(t * 50 + i)};
        ASSERT_EQ(reinterpret_cast<uintptr_t>(piece.at.data) % 2, 0u);
        std::memset(piece.at.data, piece.fill, bytes);
        pieces[t].push_back(piece);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& list : pieces) CheckUntouched(arena, list);
  EXPECT_GE(arena.MemoryUsage(), arena.UsedBytes());
}

TEST(EntryArenaTest, ImpossibleSizesChangeNothing) {
  EntryArena arena(4096, 1 << 16);
  const size_t before = arena.MemoryUsage();
  EXPECT_THROW((void)arena.Allocate(SIZE_MAX), std::bad_alloc);
  EXPECT_THROW((void)arena.Allocate(SIZE_MAX / 2), std::bad_alloc);
  EXPECT_EQ(arena.MemoryUsage(), before);
  EXPECT_NE(arena.Allocate(1).data, nullptr);
}

// Allocates pieces of one size, which are not touched: the memory is the system's until then.
void AllocateAlike(EntryArena* arena, size_t bytes, size_t total) {
  std::vector<EntryArena::Piece> pieces;
  for (size_t i = 0; i < total / bytes; i++) pieces.push_back(arena->Allocate(bytes));
  std::vector<uintptr_t> begins;
  for (const EntryArena::Piece& piece : pieces) {
    ASSERT_EQ(arena->At(piece.offset), piece.data);
    begins.push_back(reinterpret_cast<uintptr_t>(piece.data));
  }
  std::sort(begins.begin(), begins.end());
  for (size_t i = 1; i < begins.size(); i++) ASSERT_GE(begins[i] - begins[i - 1], bytes);
}

// Whatever its blocks are, and its pieces: more than there are numbers for blocks of that size.
TEST(EntryArenaTest, OffsetsOutlastMemory) {
  constexpr size_t kMiB = size_t{1} << 20;
  for (const size_t max_block : {size_t{4} << 10, size_t{128} << 10, kMiB, 2 * kMiB}) {
    for (const size_t bytes : {size_t{900}, size_t{5000}, size_t{40} << 10}) {
      const size_t total = bytes < 10000 ? 24 * kMiB : 6000 * bytes;
      EntryArena arena(4096, max_block);
      SCOPED_TRACE(std::to_string(max_block) + " " + std::to_string(bytes));
      AllocateAlike(&arena, bytes, total);
      EXPECT_LE(arena.MemoryUsage(), total + total / 3 + 2 * kMiB) << "much of it is wasted";
    }
  }
}

// Their units are larger, too.
TEST(EntryArenaTest, BlocksGrowWithWhatTheArenaHolds) {
  EntryArena arena(4096, 2 << 20);
  // Almost nothing is used of blocks of their own.
  for (int i = 0; i < 16; i++) (void)arena.Allocate(size_t{128} << 20);
  EXPECT_EQ(arena.LargestBlock(), size_t{2} << 20);
  std::vector<FilledPiece> pieces;
  for (size_t i = 0; i < 200000; i++) {
    const FilledPiece piece{arena.Allocate(60), 60, static_cast<char>(i)};
    std::memset(piece.at.data, piece.fill, piece.bytes);
    pieces.push_back(piece);
  }
  EXPECT_GE(arena.LargestBlock(), size_t{4} << 20);
  CheckUntouched(arena, pieces);
}

}  // namespace
}  // namespace varve
