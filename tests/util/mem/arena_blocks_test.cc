// SPDX-License-Identifier: Apache-2.0

// Blocks of arenas: how they grow, where they come from, and that large ones serve the next arena
// or leave the process.

#include "util/mem/arena_blocks.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <new>
#include <thread>
#include <vector>

#include "util/mem/warm_pages.h"

namespace varve {
namespace {

// Returns true if the page of that address is mapped.
bool IsMapped(char* data) {
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  unsigned char resident = 0;
  char* const start = data - reinterpret_cast<uintptr_t>(data) % page;
  return mincore(start, 1, &resident) == 0 || errno != ENOMEM;
}

// Waits until no block of an earlier arena is kept.
void LetWarmPagesGo() {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (WarmPages::Default().bytes() != 0 && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  // The last ones may be on their way to the system.
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
}

TEST(ArenaBlocksTest, EachIsTwiceAsLargeUpToTheLimit) {
  for (const size_t limit : {size_t{64} << 10, kHugePageBytes}) {
    ArenaBlocks blocks(4096, limit);
    EXPECT_EQ(blocks.bytes(), 0u);
    size_t expected = 4096;
    size_t sum = 0;
    for (int i = 0; i < 12; i++) {
      EXPECT_EQ(blocks.next_block_bytes(), expected);
      EXPECT_EQ(blocks.dedicated_above(), expected / 4);
      const ArenaBlocks::Block block = blocks.AddBlock();
      ASSERT_EQ(block.bytes, expected);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(block.data) % 64, 0u);
      std::memset(block.data, i, block.bytes);
      sum += block.bytes;
      EXPECT_GE(blocks.bytes(), sum);
      EXPECT_LE(blocks.bytes(), sum + 1024);
      expected = std::min(expected * 2, limit);
    }
    EXPECT_EQ(expected, limit);
  }
}

TEST(ArenaBlocksTest, SizesAreClampedAndRounded) {
  EXPECT_EQ(ArenaBlocks(1).next_block_bytes(), 1024u);
  EXPECT_EQ(ArenaBlocks(5000).next_block_bytes(), 8192u);
  EXPECT_EQ(ArenaBlocks(5000, 4096).next_block_bytes(), 4096u);
  EXPECT_EQ(ArenaBlocks(SIZE_MAX, SIZE_MAX).next_block_bytes(), kHugePageBytes);
}

TEST(ArenaBlocksTest, HugePagesAreAligned) {
  ArenaBlocks blocks(kHugePageBytes);
  for (int i = 0; i < 3; i++) {
    const ArenaBlocks::Block block = blocks.AddBlock();
    EXPECT_EQ(reinterpret_cast<uintptr_t>(block.data) % kHugePageBytes, 0u);
    std::memset(block.data, 'h', block.bytes);
  }
}

TEST(ArenaBlocksTest, LargeBlocksLeaveTheProcessWithTheArena) {
  std::vector<char*> large;
  {
    ArenaBlocks blocks(1024);
    while (large.size() < 6) {
      const ArenaBlocks::Block block = blocks.AddBlock();
      std::memset(block.data, 'l', block.bytes);
      if (block.bytes >= 128 << 10) large.push_back(block.data);
    }
    large.push_back(blocks.AddDedicated(4 * kHugePageBytes));
    for (char* const data : large) EXPECT_TRUE(IsMapped(data));
  }
  LetWarmPagesGo();
  for (char* const data : large) EXPECT_FALSE(IsMapped(data));
}

TEST(ArenaBlocksTest, ThoseOfTheLargestSizeAreMappedTogetherAndCountOneByOne) {
  constexpr size_t kSize = 256 << 10;
  LetWarmPagesGo();
  std::vector<char*> all;
  {
    ArenaBlocks blocks(kSize, kSize);
    size_t beside = 0;
    for (int i = 0; i < 20; i++) {
      const ArenaBlocks::Block block = blocks.AddBlock();
      ASSERT_EQ(block.bytes, kSize);
      EXPECT_EQ(block.data[0], 0) << "nobody has had it before";
      std::memset(block.data, 'r', kSize);
      if (!all.empty() && block.data == all.back() + kSize) beside++;
      all.push_back(block.data);
      EXPECT_LE(blocks.bytes(), all.size() * kSize + 4096);
    }
    EXPECT_GE(beside, 17u) << "20 blocks in 3 runs";
  }
  LetWarmPagesGo();
  for (char* const data : all) EXPECT_FALSE(IsMapped(data));
}

TEST(ArenaBlocksTest, TheNextArenaGetsTheBlocksOfTheLast) {
  constexpr size_t kSize = 256 << 10;
  LetWarmPagesGo();
  std::vector<char*> blocks_of[2];
  size_t kept = 0;
  for (auto& taken : blocks_of) {
    {
      ArenaBlocks blocks(kSize, kSize);
      for (int i = 0; i < 10; i++) taken.push_back(blocks.AddBlock().data);
      taken.push_back(blocks.AddDedicated(4 * kHugePageBytes));
      EXPECT_EQ(WarmPages::Default().bytes(), 0u) << "all that was kept is in use";
    }
    kept = WarmPages::Default().bytes();
    std::sort(taken.begin(), taken.end());
  }
  if (kept == 0) GTEST_SKIP() << "a build with a sanitizer keeps nothing";
  EXPECT_EQ(kept, 10 * kSize + 4 * kHugePageBytes);
  EXPECT_EQ(blocks_of[0], blocks_of[1]);
}

TEST(ArenaBlocksTest, TheOthersGrowWithDedicatedOnes) {
  ArenaBlocks blocks(4096);
  size_t sum = 0;
  for (const size_t bytes : {size_t{1}, size_t{5000}, size_t{3} << 20, size_t{9} << 20}) {
    const size_t before = blocks.bytes();
    char* const data = blocks.AddDedicated(bytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(data) % 4096, 0u);
    std::memset(data, 'd', bytes);
    EXPECT_GE(blocks.bytes(), before + bytes);
    sum += bytes;
    EXPECT_LE(blocks.next_block_bytes(), std::max(size_t{4096}, 4 * sum));
  }
  EXPECT_EQ(blocks.next_block_bytes(), kHugePageBytes);
}

TEST(ArenaBlocksTest, ImpossibleSizesChangeNothing) {
  ArenaBlocks blocks(4096);
  EXPECT_THROW((void)blocks.AddDedicated(SIZE_MAX), std::bad_alloc);
  EXPECT_THROW((void)blocks.AddDedicated(SIZE_MAX / 2), std::bad_alloc);
  EXPECT_EQ(blocks.bytes(), 0u);
  EXPECT_EQ(blocks.AddBlock().bytes, 4096u);
}

}  // namespace
}  // namespace varve
