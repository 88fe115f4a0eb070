// SPDX-License-Identifier: Apache-2.0

// The memtable's arena: pieces do not overlap, names lead back to them.

#include "memtable/entry_arena.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <new>
#include <random>
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
    ASSERT_EQ(arena.At(piece.at.ref), piece.at.data);
    for (size_t i = 0; i < piece.bytes; i++) ASSERT_EQ(piece.at.data[i], piece.fill);
  }
}

TEST(EntryArenaTest, ThreadsGetSeparatePiecesAndNames) {
  for (const size_t expected : {size_t{1} << 20, size_t{1} << 31}) {
    EntryArena arena(4096, 1 << 16, expected);
    constexpr size_t kThreads = 4;
    std::vector<std::vector<FilledPiece>> pieces(kThreads);
    std::vector<std::thread> threads;
    for (size_t t = 0; t < kThreads; t++) {
      threads.emplace_back([&, t] {
        std::mt19937 random(static_cast<uint32_t>(t));
        for (size_t i = 0; i < 5000; i++) {
          const size_t bytes = i % 100 == 0 ? random() % 40000 : random() % 200;
          const FilledPiece piece{arena.Allocate(bytes), bytes, static_cast<char>(t * 50 + i)};
          const uintptr_t alignment = expected > (size_t{1} << 30) ? 8 : 2;
          ASSERT_EQ(reinterpret_cast<uintptr_t>(piece.at.data) % alignment, 0u);
          std::memset(piece.at.data, piece.fill, bytes);
          pieces[t].push_back(piece);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (const auto& list : pieces) CheckUntouched(arena, list);
    EXPECT_GE(arena.MemoryUsage(), arena.UsedBytes());
  }
}

TEST(EntryArenaTest, ImpossibleSizesChangeNothing) {
  EntryArena arena(4096, 1 << 16, 1 << 20);
  const size_t before = arena.MemoryUsage();
  EXPECT_THROW((void)arena.Allocate(SIZE_MAX), std::bad_alloc);
  EXPECT_THROW((void)arena.Allocate(SIZE_MAX / 2), std::bad_alloc);
  EXPECT_EQ(arena.MemoryUsage(), before);
  EXPECT_NE(arena.Allocate(1).data, nullptr);
}

TEST(EntryArenaTest, SaysWhenItRunsOutOfNames) {
  EntryArena arena(4096, 4096, 1 << 20);
  size_t pieces = 0;
  // Each one gets a block of its own, and so a number.
  EXPECT_THROW(
      {
        for (;; pieces++) {
          ASSERT_EQ(arena.NearlyOutOfNames(), pieces + 1 > 4096 / 8 * 7);
          (void)arena.Allocate(5000);
        }
      },
      std::bad_alloc);
  EXPECT_EQ(pieces, 4095u);
}

}  // namespace
}  // namespace varve
