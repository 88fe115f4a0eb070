// SPDX-License-Identifier: Apache-2.0

// Goal: it is known when threads wait for a processor. Method: more threads than processors, that
// compute; whatever else the machine does can only add to that.

#include "util/sync/cpu_demand.h"

#include <gtest/gtest.h>
#include <sys/sysinfo.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

namespace varve {
namespace {

TEST(CpuDemandTest, TheFourthWordHasTheNumber) {
  EXPECT_EQ(ParseRunnableThreads("0.20 0.18 0.12 1/80 11206\n"), 1u);
  EXPECT_EQ(ParseRunnableThreads("100.20 0.18 0.12 345/9000 1"), 345u);
  for (const char* text :
       {"", " ", "0.2 0.1 0.1", "0.2 0.1 0.1 ", "0.2 0.1 0.1 x/3 4", "0.2 0.1 0.1 17", "0.2 0.1"}) {
    EXPECT_EQ(ParseRunnableThreads(text), 0u) << text;
  }
}

TEST(CpuDemandTest, ManyWhoComputeAreTooMany) {
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < ::get_nprocs() + 4; i++) {
    threads.emplace_back([&] {
      while (!stop.load(std::memory_order_relaxed)) {
      }
    });
  }
  bool is_short = false;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!is_short && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    is_short = ProcessorsAreShort();
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(is_short);
}

}  // namespace
}  // namespace varve
