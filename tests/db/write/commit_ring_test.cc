// SPDX-License-Identifier: Apache-2.0

// Tests the ring alone: the published number when slots are completed in any order.

#include "db/write/commit_ring.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <random>
#include <thread>
#include <vector>

#include "db/write/tiny_lock.h"

namespace varve {
namespace {

class Published : public CommitRing::Listener {
 public:
  void Publish(SequenceNumber sequence) override {
    EXPECT_GT(sequence, last.load());
    last = sequence;
  }
  std::atomic<SequenceNumber> last{0};
};

TEST(CommitRingTest, OnlyACompletePrefixIsPublished) {
  constexpr size_t kWrites = 5000;  // several laps
  Published published;
  CommitRing ring(&published);
  std::mt19937 random(17);
  std::vector<bool> complete(kWrites, false);
  std::vector<CommitRing::Ticket> open;
  size_t taken = 0;
  size_t prefix = 0;
  bool was_full = false;
  while (prefix < kWrites) {
    was_full = was_full || !ring.HasRoom();
    if (taken < kWrites && ring.HasRoom() && (open.empty() || random() % 512 != 0)) {
      open.push_back(ring.Take(++taken));
      continue;
    }
    const size_t pick = taken - prefix > 900 && random() % 2 == 0 ? 0 : random() % open.size();
    const CommitRing::Ticket ticket = open[pick];
    open.erase(open.begin() + static_cast<ptrdiff_t>(pick));
    complete[ticket] = true;
    ring.Complete(ticket);
    while (prefix < kWrites && complete[prefix]) prefix++;
    ASSERT_EQ(published.last, prefix);
  }
  EXPECT_TRUE(was_full);
}

TEST(CommitRingTest, WritersThatWaitAreWokenInAnyInterleaving) {
  constexpr int kThreads = 6;
  constexpr int kEach = 4000;
  Published published;
  CommitRing ring(&published);
  TinyLock lock;
  SequenceNumber last = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; t++) {
    threads.emplace_back([&, t] {
      std::mt19937 random(static_cast<unsigned>(t));
      for (int i = 0; i < kEach; i++) {
        lock.Lock();
        const SequenceNumber own = ++last;
        const CommitRing::Ticket ticket = ring.Take(own);
        lock.Unlock();
        if (random() % 8 == 0) std::this_thread::yield();
        ring.Complete(ticket);
        ring.WaitRetired(ticket);
        ASSERT_GE(published.last, own);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(published.last, static_cast<SequenceNumber>(kThreads * kEach));
}

// No writer waits in order, and now and then a slot stays open for laps of the others.
TEST(CommitRingTest, WritersWithoutRoomSleepUntilThereIsSome) {
  constexpr int kThreads = 6;
  constexpr int kEach = 20'000;
  Published published;
  CommitRing ring(&published);
  TinyLock lock;
  SequenceNumber last = 0;
  std::atomic<int> without_room{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; t++) {
    threads.emplace_back([&, t] {
      std::mt19937 random(static_cast<unsigned>(t));
      for (int i = 0; i < kEach;) {
        lock.Lock();
        const bool room = ring.HasRoom();
        const CommitRing::Ticket ticket = room ? ring.Take(++last) : ring.next();
        lock.Unlock();
        if (!room) {
          without_room++;
          ring.AwaitRoom(ticket);
          continue;
        }
        if (random() % 2000 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
        ring.Complete(ticket);
        i++;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(published.last, static_cast<SequenceNumber>(kThreads * kEach));
  EXPECT_GT(without_room, 0);
}

}  // namespace
}  // namespace varve
