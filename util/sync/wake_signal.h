// SPDX-License-Identifier: Apache-2.0
#pragma once

// Wakes threads that wait for something that other threads do very often, at almost no cost to
// those: a notifier executes one load unless a thread sleeps, and wakes each sleeper at most once.
//
// A thread that waits arms the signal, then looks if what it waits for has come, and sleeps if not.
//
//   const uint32_t round = signal.Arm();
//   if (!there()) signal.Sleep(round, nanos);
//
// Invariants
// 1. No wake-up is lost. Arm makes every running thread execute a fence after it has set armed_. So
//    a thread that changes something and then loads armed_ sees it set, or the change is seen by
//    the look that follows Arm.
// 2. The notifier that resets armed_ counts a round, which ends the sleep of every thread that read
//    the round before; threads that arm later set armed_ again.
// 3. Where the system has no such fences, a wake-up may be lost, so sleeps are 1 ms at most.

#include <atomic>
#include <cstdint>

namespace varve {

// Thread safety: any thread may call anything.
class WakeSignal {
 public:
  WakeSignal() = default;
  WakeSignal(const WakeSignal&) = delete;
  WakeSignal& operator=(const WakeSignal&) = delete;

  // Must be called after a change that threads may wait for.
  void Notify() {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (armed_.load(std::memory_order_relaxed)) [[unlikely]]
      Wake();
  }

  // Returns the argument of Sleep. Costs a system call.
  [[nodiscard]] uint32_t Arm();
  // Sleeps until a Notify, for up to that time; may return early.
  void Sleep(uint32_t round, uint64_t nanos_max) const;

 private:
  // Ends the sleeps; called if armed_ seems to be set.
  void Wake();

  // Read by every notifier, written only by threads that sleep or end a sleep.
  alignas(64) std::atomic<bool> armed_{false};
  std::atomic<bool> has_fence_{true};  // false once a fence of Arm has failed
  std::atomic<uint32_t> rounds_{0};    // the word that sleepers sleep on
};

}  // namespace varve
