// SPDX-License-Identifier: Apache-2.0

// Epochs: nothing is freed under a reader, everything is once they have left.

#include "util/sync/epoch.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>
#include <utility>
#include <vector>

namespace varve {
namespace {

TEST(EpochTest, AReaderHoldsWhatWasStampedWhileItWasInside) {
  const uint64_t before = Epoch::Stamp();
  EXPECT_GT(Epoch::FreeBelow(), before);
  uint64_t during = 0;
  {
    const Epoch::Guard guard;
    EXPECT_TRUE(Epoch::Inside());
    during = Epoch::Stamp();
    EXPECT_LE(Epoch::FreeBelow(), during);
    EXPECT_GT(Epoch::FreeBelow(), before) << "what went before this reader came is free to go";
  }
  EXPECT_FALSE(Epoch::Inside());
  EXPECT_GT(Epoch::FreeBelow(), during);
}

TEST(EpochTest, WhoeverAsksForAStampOnceNeedNotAskAgain) {
  const uint64_t stamp = Epoch::Stamp();
  EXPECT_TRUE(Epoch::IsFree(stamp));
  const uint64_t asked = Epoch::Stamp();
  EXPECT_GT(asked, stamp) << "the first to ask made a barrier";
  EXPECT_TRUE(Epoch::IsFree(stamp));
  EXPECT_GT(Epoch::KnownFree(), stamp);
  EXPECT_EQ(Epoch::Stamp(), asked) << "a second barrier";

  std::atomic<int> stage{0};
  std::thread reader([&] {
    {
      const Epoch::Guard guard;
      stage = 1;
      while (stage != 2) std::this_thread::yield();
    }
    stage = 3;
  });
  while (stage != 1) std::this_thread::yield();
  const uint64_t held = Epoch::Stamp();
  EXPECT_FALSE(Epoch::IsFree(held));
  const uint64_t refused = Epoch::Stamp();
  EXPECT_FALSE(Epoch::IsFree(held));
  stage = 2;
  while (stage != 3) std::this_thread::yield();
  EXPECT_TRUE(Epoch::IsFree(held)) << "its leaving is seen without a barrier";
  EXPECT_EQ(Epoch::Stamp(), refused);
  reader.join();
}

TEST(EpochTest, WaitingEndsWhenTheReaderLeaves) {
  std::atomic<bool> inside{false};
  std::atomic<bool> leave{false};
  std::atomic<bool> left{false};
  std::thread reader([&] {
    const Epoch::Guard guard;
    inside = true;
    while (!leave) std::this_thread::yield();
    left = true;
  });
  while (!inside) std::this_thread::yield();
  std::thread releaser([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    leave = true;
  });
  Epoch::WaitForReaders();
  EXPECT_TRUE(left);
  reader.join();
  releaser.join();
}

// Readers follow a shared pointer while its objects are replaced and poisoned.
TEST(EpochTest, NoReaderSeesAFreedObject) {
  constexpr uint64_t kAlive = 0x600dca11;
  struct Object {
    std::atomic<uint64_t> word{kAlive};
  };
  std::atomic<Object*> shared{new Object};
  std::atomic<bool> stop{false};
  std::atomic<uint64_t> reads{0};
  std::vector<std::thread> readers;
  for (int t = 0; t < 3; t++) {
    readers.emplace_back([&] {
      while (!stop) {
        const Epoch::Guard guard;
        const Object* const object = shared.load(std::memory_order_acquire);
        for (int i = 0; i < 20; i++) {
          ASSERT_EQ(object->word.load(std::memory_order_relaxed), kAlive);
        }
        reads++;
      }
    });
  }
  std::vector<std::pair<uint64_t, Object*>> limbo;
  const auto free_what_may_go = [&limbo] {
    const uint64_t below = Epoch::FreeBelow();
    std::erase_if(limbo, [below](const auto& item) {
      if (item.first >= below) return false;
      item.second->word.store(0, std::memory_order_relaxed);
      delete item.second;
      return true;
    });
  };
  for (int i = 0; i < 20000 || reads < 1000; i++) {
    Object* const old = shared.exchange(new Object, std::memory_order_acq_rel);
    limbo.emplace_back(Epoch::Stamp(), old);
    if (i % 16 == 0) free_what_may_go();
  }
  stop = true;
  for (std::thread& reader : readers) reader.join();
  free_what_may_go();
  EXPECT_TRUE(limbo.empty());
  EXPECT_GT(reads, 0u);
  delete shared.load();
}

TEST(EpochTest, AnInnerGuardDoesNotEndAnOuterOne) {
  const Epoch::Guard outer;
  { const Epoch::Guard inner; }
  EXPECT_TRUE(Epoch::Inside());
}

TEST(EpochTest, AChildOfForkDoesNotWaitForReadersItDoesNotHave) {
  std::atomic<bool> inside{false};
  std::atomic<bool> leave{false};
  std::thread reader([&] {
    const Epoch::Guard guard;
    inside = true;
    while (!leave) std::this_thread::yield();
  });
  while (!inside) std::this_thread::yield();
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);  // ends a child that waits for ever
    Epoch::WaitForReaders();
    _exit(0);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  leave = true;
  reader.join();
}

TEST(EpochTest, RecordsPassFromThreadToThread) {
  for (int i = 0; i < 100; i++) {
    std::thread([] { const Epoch::Guard guard; }).join();
  }
  EXPECT_GT(Epoch::FreeBelow(), 0u);
}

}  // namespace
}  // namespace varve
