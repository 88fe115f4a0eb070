// SPDX-License-Identifier: Apache-2.0

// Cells of many threads, emptied by one of them; their end, and that of the threads.

#include "util/sync/thread_slots.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

namespace varve {
namespace {

constexpr int kThreads = 150;
constexpr int kReleasesMost = 10 * kThreads;

char in_use;

// A value that a thread keeps in its cell. The thread puts the same one back after each release.
struct Kept {
  std::atomic<int> released{0};
  std::atomic<int> put{0};
};

std::atomic<int> releases;

// Comes back once the cell is full again: no thread is slow.
void Release(void* p) {
  auto* const kept = static_cast<Kept*>(p);
  const int n = kept->released.fetch_add(1) + 1;
  if (++releases > kReleasesMost) return;  // for ever, if it is not ended here
  while (kept->put.load() <= n) std::this_thread::yield();
}

TEST(ThreadSlotsTest, EachCellIsEmptiedOnceHoweverFastItIsFull) {
  releases = 0;
  std::vector<Kept> kept(kThreads);
  std::vector<std::thread> threads;
  std::atomic<bool> over{false};
  {
    ThreadSlots slots(&Release, &in_use);
    std::atomic<int> ready{0};
    for (Kept& own : kept) {
      threads.emplace_back([&] {
        while (!over.load()) {
          if (own.put.load() > own.released.load()) {
            std::this_thread::yield();
            continue;
          }
          slots.Exchange(&own);
          if (own.put.fetch_add(1) == 0) ready++;
        }
        slots.Exchange(nullptr);
      });
    }
    while (ready.load() < kThreads) std::this_thread::yield();
    slots.Scrape();
    for (const Kept& own : kept) EXPECT_EQ(own.released.load(), 1);
    EXPECT_EQ(releases.load(), kThreads);
    over = true;
    for (std::thread& thread : threads) thread.join();
  }
  EXPECT_EQ(releases.load(), kThreads);
}

// The thread that destroys an instance may take away what releases need: the database under a
// super-version.
TEST(ThreadSlotsTest, AnExitingThreadsReleaseEndsBeforeTheInstanceDoes) {
  struct Leftover {
    std::atomic<bool> begun{false};
    std::atomic<bool> may_end{false};
    std::atomic<bool> ended{false};
  };
  Leftover left;
  auto slots = std::make_unique<ThreadSlots>(
      [](void* p) {
        auto* const leftover = static_cast<Leftover*>(p);
        leftover->begun = true;
        while (!leftover->may_end.load()) std::this_thread::yield();
        leftover->ended = true;
      },
      &in_use);
  std::thread exits([&] { slots->Exchange(&left); });
  while (!left.begun.load()) std::this_thread::yield();
  std::atomic<bool> ended_first{false};
  std::thread destroys([&] {
    slots.reset();
    ended_first = left.ended.load();
  });
  // Time for a destructor that does not wait.
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  left.may_end = true;
  destroys.join();
  exits.join();
  EXPECT_TRUE(ended_first.load());
}

TEST(ThreadSlotsTest, InstancesWithoutCellsKeepNothing) {
  constexpr size_t kCells = 65536;
  static std::atomic<int> released;
  released = 0;
  std::vector<std::unique_ptr<ThreadSlots>> all;
  for (size_t i = 0; i < kCells + 3; i++) {
    all.push_back(std::make_unique<ThreadSlots>([](void*) { released++; }, &in_use));
  }
  int value = 0;
  int with_cells = 0;
  std::thread([&] {
    for (const auto& slots : all) {
      EXPECT_EQ(slots->Exchange(&in_use), nullptr);
      with_cells += slots->CompareExchange(&in_use, &value) ? 1 : 0;
    }
    // Threads without a value do not disturb threads with one.
    EXPECT_EQ(all.front()->Exchange(&in_use), &value);
    EXPECT_EQ(all.back()->Exchange(&in_use), nullptr);
    EXPECT_TRUE(all.front()->CompareExchange(&in_use, &value));
    all.back()->Scrape();
  }).join();
  EXPECT_GT(with_cells, 0);
  EXPECT_LE(with_cells, static_cast<int>(kCells));
  EXPECT_EQ(released.load(), with_cells);
}

}  // namespace
}  // namespace varve
