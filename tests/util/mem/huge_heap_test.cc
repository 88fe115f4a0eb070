// SPDX-License-Identifier: Apache-2.0

#include "util/mem/huge_heap.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "util/mem/huge_pages.h"

namespace varve {
namespace {

struct Piece {
  char* data;
  size_t bytes;
  char mark;
};

Piece Take(size_t bytes, char mark) {
  const Piece piece{HugeHeap::Allocate(bytes), bytes, mark};
  EXPECT_NE(piece.data, nullptr);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(piece.data) % 64, 16u);
  memset(piece.data, mark, bytes);
  return piece;
}

bool Untouched(const Piece& piece) {
  return std::all_of(piece.data, piece.data + piece.bytes,
                     [&piece](char c) { return c == piece.mark; });
}

TEST(HugeHeap, PiecesOfAllSizesKeepTheirBytes) {
  std::mt19937 random(7);
  std::vector<Piece> pieces;
  for (int i = 0; i < 20000; i++) {
    const char mark = static_cast<char>(i);
    const size_t most = i % 10 == 0 ? HugeHeap::kMostBytes + 100 : 6000;
    if (pieces.size() < 2000 || i % 2 == 0) pieces.push_back(Take(random() % most, mark));
    if (pieces.size() < 1500) continue;
    std::swap(pieces[random() % pieces.size()], pieces.back());
    ASSERT_TRUE(Untouched(pieces.back())) << i;
    HugeHeap::Free(pieces.back().data, pieces.back().bytes);
    pieces.pop_back();
  }
  for (const Piece& piece : pieces) {
    ASSERT_TRUE(Untouched(piece));
    HugeHeap::Free(piece.data, piece.bytes);
  }
}

// Empty regions are kept for the next caller: a quarter of what is in use.
// Free chunks above 64 KiB are in lists by factors of two: sizes at their edges, and at the largest
// piece, are split from and joined to chunks of all lists.
TEST(HugeHeap, LargePiecesAtTheEdgesOfTheListsKeepTheirBytes) {
  constexpr size_t kUnit = 64;
  constexpr size_t kHeader = 16;
  std::vector<size_t> sizes;
  for (const size_t units : {1022, 1023, 1024, 1025, 2047, 2048, 4096, 8191, 8192, 16383, 16384}) {
    for (const size_t less : {0, 1}) sizes.push_back(units * kUnit - kHeader - less);
  }
  sizes.push_back(HugeHeap::kMostBytes);
  sizes.push_back(HugeHeap::kMostBytes + 1);
  std::mt19937 random(11);
  std::vector<Piece> pieces;
  for (int i = 0; i < 2000; i++) {
    pieces.push_back(Take(sizes[random() % sizes.size()], static_cast<char>(i)));
    if (pieces.size() < 40) continue;
    std::swap(pieces[random() % pieces.size()], pieces.back());
    EXPECT_TRUE(Untouched(pieces.back()));
    HugeHeap::Free(pieces.back().data, pieces.back().bytes);
    pieces.pop_back();
  }
  for (const Piece& piece : pieces) {
    EXPECT_TRUE(Untouched(piece));
    HugeHeap::Free(piece.data, piece.bytes);
  }
}

TEST(HugeHeap, ContainersBeginAtCacheLines) {
  std::vector<uint64_t, HugeHeapAllocator<uint64_t>> words;
  for (uint64_t i = 0; i < 300000; i++) {
    words.push_back(i);
    if (i % 1000 == 0) {
      EXPECT_EQ(reinterpret_cast<uintptr_t>(words.data()) % 64, 0u) << i;
    }
  }
  words.shrink_to_fit();
  EXPECT_EQ(reinterpret_cast<uintptr_t>(words.data()) % 64, 0u);
  for (uint64_t i = 0; i < words.size(); i++) ASSERT_EQ(words[i], i);
  EXPECT_GE(HugeHeapAllocator<uint64_t>::OccupiedBytes(words.capacity()), words.size() * 8);
  EXPECT_EQ(HugeHeapAllocator<uint64_t>::OccupiedBytes(0), 0u);
}

TEST(HugeHeap, SomeEmptyRegionsAreKept) {
  constexpr size_t kRegions = 40;
  constexpr size_t kBytes = 64000;
  std::vector<Piece> pieces;
  while (pieces.size() < kRegions * (kHugePageBytes / kBytes)) pieces.push_back(Take(kBytes, 'x'));
  const size_t filled = HugeHeap::MappedBytes();
  if (filled < kRegions * kHugePageBytes) {  // they come from the standard heap
    for (const Piece& piece : pieces) HugeHeap::Free(piece.data, piece.bytes);
    return;
  }
  const size_t few = pieces.size() / 8;
  for (size_t i = 0; i < few; i++) HugeHeap::Free(pieces[i].data, pieces[i].bytes);
  EXPECT_EQ(HugeHeap::MappedBytes(), filled);
  for (size_t i = 0; i < few; i++) pieces[i] = Take(kBytes, 'y');
  EXPECT_EQ(HugeHeap::MappedBytes(), filled);
  const size_t half = pieces.size() / 2;
  for (size_t i = 0; i < half; i++) HugeHeap::Free(pieces[i].data, pieces[i].bytes);
  EXPECT_LE(HugeHeap::MappedBytes(), filled / 4 * 3);
  for (size_t i = half; i < pieces.size(); i++) HugeHeap::Free(pieces[i].data, pieces[i].bytes);
  EXPECT_LE(HugeHeap::MappedBytes(), filled / 10);
}

// Blocks of about one size that come and go for long take no more memory than at first, and all of
// it but one region is given back.
TEST(HugeHeap, MemoryIsUsedAgainAndGivenBack) {
  std::mt19937 random(9);
  const size_t before = HugeHeap::MappedBytes();
  std::vector<Piece> pieces;
  size_t bytes = 0;
  for (int i = 0; i < 4000; i++) {
    pieces.push_back(Take(4200 + random() % 400, 'x'));
    bytes += pieces.back().bytes;
  }
  const size_t filled = HugeHeap::MappedBytes();
  for (int i = 0; i < 100000; i++) {
    Piece& piece = pieces[random() % pieces.size()];
    HugeHeap::Free(piece.data, piece.bytes);
    piece = Take(4200 + random() % 400, 'x');
  }
  if (filled != before) {
    EXPECT_LT(filled - before, bytes + bytes / 20 + 2 * kHugePageBytes);
    EXPECT_LT(HugeHeap::MappedBytes() - before, bytes + bytes / 10 + 2 * kHugePageBytes);
  }
  for (const Piece& piece : pieces) HugeHeap::Free(piece.data, piece.bytes);
  EXPECT_LE(HugeHeap::MappedBytes(), before + kHugePageBytes);
}

// Pieces that come and go in turns are not joined and broken up in between.
TEST(HugeHeap, ThePieceThatWentLastIsTheNextOfItsSize) {
  std::vector<Piece> pieces;
  for (int i = 0; i < 50; i++) pieces.push_back(Take(4000 + static_cast<size_t>(i) * 64, 'x'));
  if (HugeHeap::MappedBytes() != 0) {
    for (int round = 0; round < 3; round++) {
      for (size_t i = 0; i < pieces.size(); i += 2) {
        const char* const data = pieces[i].data;
        HugeHeap::Free(pieces[i].data, pieces[i].bytes);
        HugeHeap::Free(pieces[i + 1].data, pieces[i + 1].bytes);
        pieces[i + 1] = Take(pieces[i + 1].bytes, 'y');
        pieces[i] = Take(pieces[i].bytes, 'y');
        EXPECT_EQ(pieces[i].data, data);
      }
    }
  }
  for (const Piece& piece : pieces) HugeHeap::Free(piece.data, piece.bytes);
}

TEST(HugeHeap, ThreadsFreeWhatOthersTook) {
  std::vector<std::thread> threads;
  std::vector<std::vector<Piece>> all(4);
  for (size_t t = 0; t < all.size(); t++) {
    threads.emplace_back([&all, t] {
      std::mt19937 random(static_cast<unsigned>(t));
      for (int i = 0; i < 20000; i++) {
        all[t].push_back(Take(random() % 5000, static_cast<char>(t)));
        if (i % 4 == 0) continue;
        ASSERT_TRUE(Untouched(all[t].back()));
        HugeHeap::Free(all[t].back().data, all[t].back().bytes);
        all[t].pop_back();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  threads.clear();
  for (size_t t = 0; t < all.size(); t++) {
    threads.emplace_back([&pieces = all[(t + 1) % all.size()]] {
      for (const Piece& piece : pieces) {
        ASSERT_TRUE(Untouched(piece));
        HugeHeap::Free(piece.data, piece.bytes);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace varve
