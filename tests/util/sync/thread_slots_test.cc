// SPDX-License-Identifier: Apache-2.0

// Cells of many threads, emptied by one of them.

#include "util/sync/thread_slots.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace varve {
namespace {

constexpr int kThreads = 150;
constexpr int kReleasesMost = 10 * kThreads;

char in_use;

// What a thread keeps in its cell. It puts the same back whenever it was released.
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

}  // namespace
}  // namespace varve
