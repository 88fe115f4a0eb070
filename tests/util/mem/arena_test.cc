// SPDX-License-Identifier: Apache-2.0

// Arenas: pieces do not overlap, alignment, accounting, growth, recycling, many writers.

#include "util/mem/arena.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <new>
#include <random>
#include <thread>
#include <vector>

namespace varve {
namespace {

struct Piece {
  char* data;
  size_t bytes;
  char fill;
};

void CheckUntouched(const std::vector<Piece>& pieces) {
  for (const Piece& piece : pieces) {
    for (size_t i = 0; i < piece.bytes; i++) ASSERT_EQ(piece.data[i], piece.fill);
  }
}

TEST(ArenaTest, PiecesDoNotOverlapAndAreAligned) {
  std::mt19937 random(1);
  Arena arena;
  std::vector<Piece> pieces;
  size_t asked = 0;
  for (int i = 0; i < 20000; i++) {
    const size_t bytes = i % 500 == 0 ? random() % 20000 : random() % 100;
    const size_t alignment = size_t{1} << random() % 8;
    char* const data = i % 3 == 0 ? arena.Allocate(bytes) : arena.AllocateAligned(bytes, alignment);
    ASSERT_NE(data, nullptr);
    if (i % 3 != 0) {
      ASSERT_EQ(reinterpret_cast<uintptr_t>(data) % alignment, 0u);
    }
    pieces.push_back({data, bytes, static_cast<char>(i)});
    std::memset(data, pieces.back().fill, bytes);
    asked += bytes;
    ASSERT_GE(arena.UsedBytes(), asked);
    ASSERT_GE(arena.MemoryUsage(), arena.UsedBytes());
  }
  CheckUntouched(pieces);
}

TEST(ArenaTest, SmallArenasStaySmallAndLargeOnesUseHugeBlocks) {
  Arena arena;
  EXPECT_LT(arena.MemoryUsage(), 256u);
  (void)arena.Allocate(100);
  EXPECT_LT(arena.MemoryUsage(), 8192u);
  for (int i = 0; i < 8 << 10; i++) (void)arena.Allocate(1024);
  EXPECT_GE(arena.MemoryUsage(), size_t{8} << 20);
  EXPECT_LE(arena.MemoryUsage(), (size_t{8} << 20) + 2 * kHugePageBytes);
  EXPECT_LE(arena.UsedBytes(), arena.MemoryUsage());
}

TEST(ArenaTest, LargePiecesDoNotEndTheCurrentBlock) {
  Arena arena(4096);
  char* const first = arena.Allocate(8);
  char* const large = arena.AllocateAligned(3 << 20, 4096);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(large) % 4096, 0u);
  char* const huge = arena.Allocate(size_t{9} << 20);
  huge[(size_t{9} << 20) - 1] = 'x';
  char* const second = arena.Allocate(8);
  EXPECT_EQ(second, first + 8);
  EXPECT_GE(arena.MemoryUsage(), size_t{12} << 20);
}

TEST(ArenaTest, LargeAlignmentsDoNotWasteBlocks) {
  Arena arena(1024);
  char* const data = arena.AllocateAligned(200, Arena::kMaxAlignment);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(data) % Arena::kMaxAlignment, 0u);
  EXPECT_LT(arena.MemoryUsage(), 1024u);
}

TEST(ArenaTest, EmptyPiecesAndImpossibleSizes) {
  Arena arena;
  EXPECT_NE(arena.Allocate(1), nullptr);
  EXPECT_NE(arena.Allocate(0), nullptr);
  EXPECT_THROW((void)arena.Allocate(SIZE_MAX), std::bad_alloc);
  EXPECT_THROW((void)arena.AllocateAligned(SIZE_MAX - 2, 64), std::bad_alloc);
  EXPECT_NE(arena.Allocate(1), nullptr);
}

TEST(ArenaBlockPoolTest, KeepsAtMostItsBound) {
  ArenaBlockPool pool(2);
  EXPECT_EQ(pool.KeptBytes(), 0u);
  char* const a = pool.Take();
  char* const b = pool.Take();
  char* const c = pool.Take();
  for (char* block : {a, b, c}) {
    EXPECT_EQ(reinterpret_cast<uintptr_t>(block) % kHugePageBytes, 0u);
    std::memset(block, 'f', kHugePageBytes);
    pool.Give(block);
  }
  EXPECT_EQ(pool.KeptBytes(), 2 * kHugePageBytes);
  EXPECT_EQ(pool.Take(), b);
  EXPECT_EQ(pool.KeptBytes(), kHugePageBytes);
  pool.Give(b);
  pool.Trim();
  EXPECT_EQ(pool.KeptBytes(), 0u);
}

TEST(ArenaBlockPoolTest, ArenasHandTheirBlocksOn) {
  ArenaBlockPool pool(4);
  {
    Arena arena(kHugePageBytes, &pool);
    for (int i = 0; i < 12; i++) (void)arena.Allocate(512 << 10);
  }
  EXPECT_EQ(pool.KeptBytes(), 3 * kHugePageBytes);
  {
    Arena arena(kHugePageBytes, &pool);
    (void)arena.Allocate(100);
    EXPECT_EQ(pool.KeptBytes(), 2 * kHugePageBytes);
  }
  EXPECT_EQ(pool.KeptBytes(), 3 * kHugePageBytes);
}

}  // namespace
}  // namespace varve
