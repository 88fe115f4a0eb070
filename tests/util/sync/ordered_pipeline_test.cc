// SPDX-License-Identifier: Apache-2.0

// Goal: items are prepared by any thread and finished in order and once, whatever the number of
// threads; errors, exceptions and giving up end the work where they should. Method: items that note
// what happens to them, with rings and threads of several sizes.

#include "util/sync/ordered_pipeline.h"

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <numeric>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

namespace varve {
namespace {

using Numbers = std::vector<int>;

Numbers UpTo(int n) {
  Numbers numbers(static_cast<size_t>(n));
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

// A ring of numbers; each is doubled when it is prepared and noted when it is finished.
struct Ring {
  explicit Ring(const OrderedPipeline::Options& options, bool prepares = true)
      : items(options.places),
        pipeline(
            options,
            {.prepare = prepares ? std::function<Status(size_t)>(
                                       [this](size_t place) { return Prepare(place); })
                                 : nullptr,
             .finish = [this](size_t place, uint64_t* weight) { return Finish(place, weight); }}) {}

  Status Prepare(size_t place) {
    items[place] *= 2;
    prepared++;
    return on_prepare == nullptr ? Status::OK() : on_prepare(items[place] / 2);
  }
  Status Finish(size_t place, uint64_t* weight) {
    EXPECT_EQ(finishing++, 0);
    finished.push_back(items[place]);
    *weight = 1;
    const Status s = on_finish == nullptr ? Status::OK() : on_finish(items[place]);
    finishing--;
    return s;
  }
  Status Put(int number, uint64_t weight = 3) {
    size_t place = 0;
    Status s = pipeline.Wait(weight, &place);
    if (!s.ok()) return s;
    items[place] = number;
    pipeline.Push(weight);
    return s;
  }

  Numbers items;
  std::function<Status(int)> on_prepare;
  std::function<Status(int)> on_finish;
  std::atomic<int> prepared{0};
  std::atomic<int> finishing{0};
  Numbers finished;  // looked at after Drain
  OrderedPipeline pipeline;
};

TEST(OrderedPipeline, FinishesInOrderWhateverTheThreads) {
  for (const size_t threads : {0u, 1u, 2u, 5u}) {
    for (const size_t places : {1u, 2u, 7u, 64u}) {
      for (const bool late : {false, true}) {
        Ring ring({.threads = threads, .places = places, .wake_late = late});
        for (int i = 0; i < 500; i++) ASSERT_TRUE(ring.Put(i).ok());
        ASSERT_TRUE(ring.pipeline.Drain().ok());
        Numbers wanted = UpTo(500);
        for (int& n : wanted) n *= 2;
        EXPECT_EQ(ring.finished, wanted);
        EXPECT_EQ(ring.prepared, 500);
        // It goes on after a wait.
        ASSERT_TRUE(ring.Put(7).ok());
        ASSERT_TRUE(ring.pipeline.Drain().ok());
        EXPECT_EQ(ring.finished.back(), 14);
        ring.pipeline.Stop();
      }
    }
  }
}

TEST(OrderedPipeline, WithNothingToPrepareTheOwnerFinishesOnlyWhereNobodyElseDoes) {
  for (const size_t threads : {0u, 1u}) {
    Ring ring({.threads = threads, .places = 3}, /*prepares=*/false);
    std::set<std::thread::id> ids;
    ring.on_finish = [&](int) {
      ids.insert(std::this_thread::get_id());
      return Status::OK();
    };
    for (int i = 0; i < 200; i++) ASSERT_TRUE(ring.Put(i).ok());
    ASSERT_TRUE(ring.pipeline.Drain().ok());
    EXPECT_EQ(ring.finished, UpTo(200));
    ASSERT_EQ(ids.size(), 1u);
    EXPECT_EQ(*ids.begin() == std::this_thread::get_id(), threads == 0);
  }
}

TEST(OrderedPipeline, APlaceIsGivenBackWithWhatBecameOfItsItem) {
  Ring ring({.threads = 1, .places = 3}, /*prepares=*/false);
  for (int i = 0; i < 3; i++) ASSERT_TRUE(ring.Put(i).ok());
  for (int i = 3; i < 50; i++) {
    size_t place = 0;
    ASSERT_TRUE(ring.pipeline.Wait(0, &place).ok());
    EXPECT_EQ(ring.items[place], i - 3);
    ring.items[place] = i;
    ring.pipeline.Push(0);
  }
  ASSERT_TRUE(ring.pipeline.Drain().ok());
}

TEST(OrderedPipeline, WeightsAreTheMostThatItemsMayTakeAndThenWhatTheyTook) {
  Ring ring({.threads = 2, .places = 8});
  for (int i = 0; i < 100; i++) {
    ASSERT_TRUE(ring.Put(i, 10).ok());
    EXPECT_GE(ring.pipeline.total_weight(), static_cast<uint64_t>(i) + 10);
    EXPECT_LE(ring.pipeline.total_weight(), static_cast<uint64_t>(i + 1) * 10);
  }
  ASSERT_TRUE(ring.pipeline.Drain().ok());
  EXPECT_EQ(ring.pipeline.total_weight(), 100u);
}

TEST(OrderedPipeline, NoMoreThanItsWeightIsOnItsWay) {
  std::atomic<bool> held{true};
  Ring ring({.threads = 1, .places = 16, .weight_max = 100}, /*prepares=*/false);
  ring.on_finish = [&](int) {
    while (held) std::this_thread::yield();
    return Status::OK();
  };
  std::atomic<int> put{0};
  std::thread owner([&] {
    // Each heavier than all that may wait: one at a time.
    for (int i = 0; i < 6; i++, put++) EXPECT_TRUE(ring.Put(i, 1000).ok());
    EXPECT_TRUE(ring.pipeline.Drain().ok());
  });
  while (put == 0) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(put, 1);
  held = false;
  owner.join();
  EXPECT_EQ(ring.finished, UpTo(6));
}

TEST(OrderedPipeline, TheFirstErrorStaysAndWhatComesAfterItIsNotWorkedOn) {
  const struct {
    bool in_prepare;
    bool throws;
  } kCases[] = {{false, false}, {false, true}, {true, false}, {true, true}};
  for (const auto& c : kCases) {
    for (const size_t threads : {0u, 1u, 3u}) {
      Ring ring({.threads = threads, .places = 4});
      const auto fail = [&](int n) -> Status {
        if (n != (c.in_prepare ? 10 : 20)) return Status::OK();
        if (c.throws) throw std::runtime_error("on fire");
        return Status::IOError("disk full");
      };
      (c.in_prepare ? ring.on_prepare : ring.on_finish) = fail;
      Status s;
      for (int i = 0; i < 1000 && s.ok(); i++) s = ring.Put(i);
      EXPECT_FALSE(s.ok());
      EXPECT_EQ(ring.pipeline.Drain().code(), s.code());
      EXPECT_EQ(s.IsIOError(), !c.throws) << s.ToString();
      EXPECT_EQ(s.IsAborted(), c.throws) << s.ToString();
      EXPECT_LE(ring.finished.size(), 11u);
      EXPECT_LT(ring.prepared, 40);
    }
  }
}

TEST(OrderedPipeline, WantOfMemoryIsTold) {
  Ring ring({.threads = 1, .places = 2});
  ring.on_prepare = [](int) -> Status { throw std::bad_alloc(); };
  ASSERT_TRUE(ring.Put(1).ok());
  EXPECT_TRUE(ring.pipeline.Drain().IsMemoryLimit());
}

TEST(OrderedPipeline, MayBeGivenUpAtAnyTime) {
  for (int count = 0; count < 40; count++) {
    Ring ring({.threads = 2, .places = 5});
    for (int i = 0; i < count; i++) ASSERT_TRUE(ring.Put(i).ok());
  }
}

TEST(OrderedPipelineDeathTest, WhatItsOwnerBreaksIsSeen) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  if (!lock_checks::kEnabled) GTEST_SKIP() << "assertions are off";
  EXPECT_DEATH(
      {
        Ring ring({.threads = 0, .places = 1});
        ring.pipeline.Push(0);
        ring.pipeline.Push(0);
      },
      "broken: pushed_ - finished_ < options_.places");
  EXPECT_DEATH(
      {
        Ring ring({.threads = 0, .places = 1});
        ring.pipeline.Push(0);
        ring.pipeline.Stop();
      },
      "broken: finished_ == pushed_");
}

}  // namespace
}  // namespace varve
