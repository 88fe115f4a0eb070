// SPDX-License-Identifier: Apache-2.0

// Goal: an arena gets the memory of the one before it, the process keeps a bounded amount, and
// nothing once it is idle. Method: the process's instance, with memory that is mostly not touched.

#include "util/mem/warm_pages.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <thread>
#include <vector>

#include "util/mem/huge_pages.h"

namespace varve {
namespace {

constexpr size_t kWarmPiece = size_t{1} << 20;

bool PageIsMapped(char* data) {
  unsigned char resident = 0;
  return mincore(data, 1, &resident) == 0 || errno != ENOMEM;
}

template <typename Condition>
bool WarmSoon(Condition condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!condition() && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return condition();
}

class WarmPagesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(WarmSoon([&] { return warm_.bytes() == 0; })) << "an earlier test's";
    char* const piece = AllocatePages(kWarmPiece);
    keeps_ = warm_.Keep(piece, kWarmPiece);
    FreePages(keeps_ ? warm_.Take(kWarmPiece) : piece, kWarmPiece);
    if (!keeps_) GTEST_SKIP() << "a build with a sanitizer keeps nothing";
  }

  WarmPages& warm_ = WarmPages::Default();
  bool keeps_ = false;
};

TEST_F(WarmPagesTest, WhoAsksForTheSizeGetsWhatWasKeptLast) {
  char* const first = AllocatePages(kWarmPiece);
  char* const second = AllocatePages(kWarmPiece);
  char* const larger = AllocatePages(2 * kWarmPiece);
  ASSERT_TRUE(warm_.Keep(first, kWarmPiece));
  ASSERT_TRUE(warm_.Keep(second, kWarmPiece));
  ASSERT_TRUE(warm_.Keep(larger, 2 * kWarmPiece));
  EXPECT_EQ(warm_.bytes(), 4 * kWarmPiece);
  EXPECT_EQ(warm_.Take(kWarmPiece / 2), nullptr);
  EXPECT_EQ(warm_.Take(kWarmPiece), second);
  EXPECT_EQ(warm_.Take(kWarmPiece), first);
  EXPECT_EQ(warm_.Take(kWarmPiece), nullptr);
  EXPECT_EQ(warm_.Take(2 * kWarmPiece), larger);
  EXPECT_EQ(warm_.bytes(), 0u);
  for (char* const piece : {first, second}) FreePages(piece, kWarmPiece);
  FreePages(larger, 2 * kWarmPiece);
}

TEST_F(WarmPagesTest, ThereIsALimit) {
  char* const large = AllocatePages(WarmPages::kMostBytes + kWarmPiece);
  EXPECT_FALSE(warm_.Keep(large, WarmPages::kMostBytes + kWarmPiece));
  EXPECT_FALSE(warm_.Keep(large, WarmPages::kLeastBytes - 4096));
  size_t kept = 0;
  while (kept <= WarmPages::kMostBytes / kWarmPiece &&
         warm_.Keep(large + kept * kWarmPiece, kWarmPiece)) {
    kept++;
  }
  EXPECT_EQ(kept, WarmPages::kMostBytes / kWarmPiece);
  EXPECT_EQ(warm_.bytes(), WarmPages::kMostBytes);
  while (warm_.Take(kWarmPiece) != nullptr) kept--;
  EXPECT_EQ(kept, 0u);
  FreePages(large, WarmPages::kMostBytes + kWarmPiece);
}

TEST_F(WarmPagesTest, AnIdleProcessKeepsNothing) {
  std::vector<char*> pieces;
  for (int i = 0; i < 5; i++) {
    pieces.push_back(AllocatePages(kWarmPiece));
    pieces.back()[0] = 'x';
    ASSERT_TRUE(warm_.Keep(pieces.back(), kWarmPiece));
  }
  EXPECT_TRUE(WarmSoon([&] { return warm_.bytes() == 0; }));
  for (char* const piece : pieces) EXPECT_TRUE(WarmSoon([&] { return !PageIsMapped(piece); }));
}

TEST_F(WarmPagesTest, WhatIsInUseStays) {
  std::vector<char*> pieces;
  for (int i = 0; i < 5; i++) {
    pieces.push_back(AllocatePages(kWarmPiece));
    ASSERT_TRUE(warm_.Keep(pieces.back(), kWarmPiece));
  }
  // Two are taken and kept again all the time.
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::milliseconds(2500);
  auto last = Clock::now();
  while (Clock::now() < end) {
    char* const one = warm_.Take(kWarmPiece);
    char* const other = warm_.Take(kWarmPiece);
    if (other == nullptr && Clock::now() - last > std::chrono::milliseconds(400)) {
      if (one != nullptr) FreePages(one, kWarmPiece);
      GTEST_SKIP() << "the machine is too busy: this thread did not run";
    }
    last = Clock::now();
    ASSERT_EQ(one, pieces[4]);
    ASSERT_EQ(other, pieces[3]);
    ASSERT_TRUE(warm_.Keep(other, kWarmPiece));
    ASSERT_TRUE(warm_.Keep(one, kWarmPiece));
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(warm_.bytes(), 2 * kWarmPiece);
  for (int i = 0; i < 3; i++) EXPECT_FALSE(PageIsMapped(pieces[i])) << i;
  EXPECT_TRUE(WarmSoon([&] { return warm_.bytes() == 0; }));
}

TEST_F(WarmPagesTest, AChildOfForkGoesOn) {
  char* const piece = AllocatePages(kWarmPiece);
  piece[0] = 'p';
  ASSERT_TRUE(warm_.Keep(piece, kWarmPiece));
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);
    char* const same = warm_.Take(kWarmPiece);
    if (same != piece || same[0] != 'p' || !warm_.Keep(same, kWarmPiece)) ::_exit(1);
    ::_exit(WarmSoon([&] { return warm_.bytes() == 0; }) ? 0 : 2);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace varve
