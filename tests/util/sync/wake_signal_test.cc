// SPDX-License-Identifier: Apache-2.0

// Goal: a thread that sleeps on the signal is woken by each notification that comes after it has
// armed, however the two meet, and a notification without sleepers does nothing. Method: pairs of
// threads hand a number to each other, with sleeps that would take far too long if a wake-up were
// lost.

#include "util/sync/wake_signal.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

namespace varve {
namespace {

constexpr uint64_t kNanosPerSecond = 1000 * 1000 * 1000;

using Clock = std::chrono::steady_clock;

// Waits until `number` is at least `wanted`.
void Await(WakeSignal* signal, const std::atomic<uint64_t>& number, uint64_t wanted) {
  while (number.load(std::memory_order_acquire) < wanted) {
    const uint32_t round = signal->Arm();
    if (number.load(std::memory_order_acquire) >= wanted) return;
    signal->Sleep(round, 60 * kNanosPerSecond);
  }
}

TEST(WakeSignalTest, SleepsForTheGivenTime) {
  WakeSignal signal;
  const auto begin = Clock::now();
  signal.Sleep(signal.Arm(), 2 * 1000 * 1000);
  EXPECT_LT(Clock::now() - begin, std::chrono::seconds(30));
}

TEST(WakeSignalTest, ANotificationAfterArmingEndsTheSleepToCome) {
  WakeSignal signal;
  const uint32_t round = signal.Arm();
  signal.Notify();
  const auto begin = Clock::now();
  signal.Sleep(round, 60 * kNanosPerSecond);
  EXPECT_LT(Clock::now() - begin, std::chrono::seconds(30));
}

TEST(WakeSignalTest, NoWakeUpIsLost) {
  WakeSignal there;
  WakeSignal back;
  std::atomic<uint64_t> sent{0};
  std::atomic<uint64_t> answered{0};
  constexpr uint64_t kRounds = 10000;
  const auto begin = Clock::now();
  std::thread other([&] {
    for (uint64_t i = 1; i <= kRounds; i++) {
      Await(&there, sent, i);
      answered.store(i, std::memory_order_release);
      back.Notify();
    }
  });
  for (uint64_t i = 1; i <= kRounds; i++) {
    sent.store(i, std::memory_order_release);
    there.Notify();
    Await(&back, answered, i);
  }
  other.join();
  EXPECT_LT(Clock::now() - begin, std::chrono::seconds(50));
}

TEST(WakeSignalTest, AllSleepersAreWoken) {
  WakeSignal signal;
  std::atomic<uint64_t> number{0};
  constexpr uint64_t kRounds = 300;
  const auto begin = Clock::now();
  std::vector<std::thread> waiters;
  std::atomic<uint64_t> seen{0};
  for (int i = 0; i < 4; i++) {
    waiters.emplace_back([&] {
      for (uint64_t n = 1; n <= kRounds; n++) {
        Await(&signal, number, n);
        seen.fetch_add(1, std::memory_order_acq_rel);
      }
    });
  }
  for (uint64_t n = 1; n <= kRounds; n++) {
    number.store(n, std::memory_order_release);
    signal.Notify();
    while (seen.load(std::memory_order_acquire) < 4 * n) std::this_thread::yield();
  }
  for (std::thread& waiter : waiters) waiter.join();
  EXPECT_LT(Clock::now() - begin, std::chrono::seconds(50));
}

}  // namespace
}  // namespace varve
